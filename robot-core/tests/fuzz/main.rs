//! The HTTP contract against what nobody sends in good faith: bodies, paths, queries and headers
//! that are random, or right but for a few bytes.
//!
//! Each property is held against a model that is as naive as can be, and written apart from the
//! code that it judges. The cases are the same in every run. `PROPTEST_CASES=1000000` tries so
//! many of each property, and `PROPTEST_RNG_SEED=7` tries others; a release build is quickest.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accept;
mod bodies;
mod encoding;
mod json;
mod lists;
mod mutation;
mod paths;
mod requests;
mod service;
mod verdict;

use std::env;

use proptest::{prelude::*, test_runner::RngSeed};

/// So many cases, unless the environment asks for another number or for others.
fn configuration(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: match env::var_os("PROPTEST_CASES") {
            Some(_) => asked.cases,
            None => cases,
        },
        rng_seed: match asked.rng_seed {
            RngSeed::Random => RngSeed::Fixed(1977),
            RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
        },
        failure_persistence: None,
        ..asked
    }
}
