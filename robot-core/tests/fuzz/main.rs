//! Fuzz tests of the HTTP contract: bodies, paths, queries and headers that are random, or valid
//! except for a few bytes.
//!
//! Each property compares the answers with a simple model, which is written independently of the
//! tested code. All runs have the same cases. `PROPTEST_CASES=1000000` sets the number of cases per
//! property, and `PROPTEST_RNG_SEED=7` another seed. A release build is much faster.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bodies;
mod definitions;
mod encoding;
mod lists;
mod mutation;
mod paths;
mod requests;
mod service;
mod verdict;

use std::env;

use proptest::{prelude::*, test_runner::RngSeed};

/// This number of cases and a fixed seed, unless the environment sets others.
fn configuration(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: env::var_os("PROPTEST_CASES").map_or(cases, |_| default.cases),
        rng_seed: match default.rng_seed {
            RngSeed::Random => RngSeed::Fixed(1977),
            RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
        },
        failure_persistence: None,
        ..default
    }
}
