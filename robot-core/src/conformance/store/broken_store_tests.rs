//! Tests of the cases: each fails for the store with its bug, and passes without one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    broken_bugs::{BUGS, Bug},
    broken_store::{BrokenStore, Disk},
    cases, reopening,
};
use crate::conformance::opening::Retention;

/// Whether a case fails for a store with this bug.
fn fails(bug: Bug, case: &str) -> bool {
    let disk = Disk::default();
    let open = move || Box::new(BrokenStore::open(&disk, bug)) as Box<_>;
    let run = || {
        let reopening = reopening::cases(Retention::Persistent).iter();
        if let Some((_, run)) = reopening.clone().find(|(name, _)| *name == case) {
            return run(&open);
        }
        let (_, run) = cases().find(|(name, _)| *name == case).unwrap();
        run(&open());
    };
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn every_seeded_bug_is_found() {
    let pairs = BUGS
        .iter()
        .flat_map(|(bug, cases)| cases.iter().map(move |case| (bug, case)));
    let missed: Vec<_> = pairs.filter(|(bug, case)| !fails(**bug, case)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn correct_store_passes() {
    for case in BUGS.iter().flat_map(|(_, cases)| *cases) {
        assert!(!fails(Bug::None, case), "{case}");
    }
}

#[test]
fn every_case_of_reopening_finds_a_bug() {
    for (case, _) in reopening::cases(Retention::Persistent) {
        let mut cases = BUGS.iter().flat_map(|(_, cases)| *cases);
        assert!(cases.any(|found| found == case), "{case}");
    }
}

#[test]
fn persistent_store_is_not_volatile() {
    for (_, run) in reopening::cases(Retention::Volatile) {
        let disk = Disk::default();
        let open = move || Box::new(BrokenStore::open(&disk, Bug::None)) as Box<_>;
        assert!(catch_unwind(AssertUnwindSafe(|| run(&open))).is_err());
    }
}
