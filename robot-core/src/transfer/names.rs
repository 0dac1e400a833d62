//! The names that an import has in flight.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

/// Names, by 64-bit hashes with a random key, so that no input can be made to collide. Two equal
/// hashes would be taken for one name; among a million names the probability is one in 30 million.
#[derive(Default)]
pub(super) struct Names {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

impl Names {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.hashes.contains(&self.hasher.hash_one(name))
    }

    pub(super) fn insert(&mut self, name: &str) {
        self.hashes.insert(self.hasher.hash_one(name));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.hashes.remove(&self.hasher.hash_one(name));
    }
}
