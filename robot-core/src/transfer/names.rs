//! The names that an import has in flight.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
};

/// Names, by 64-bit hashes with a random key, so that no input can be made to collide. Two equal
/// hashes would be taken for one name; among a million names the probability is one in 30 million.
#[derive(Debug, Default)]
pub(super) struct Names {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

impl Names {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.hashes.contains(&self.hasher.hash_one(name))
    }

    /// Adds a name. Returns whether it is new, and its hash.
    pub(super) fn insert(&mut self, name: &str) -> (bool, u64) {
        let hash = self.hasher.hash_one(name);
        (self.hashes.insert(hash), hash)
    }

    /// Removes the name with this hash.
    pub(super) fn remove(&mut self, hash: u64) {
        self.hashes.remove(&hash);
    }
}
