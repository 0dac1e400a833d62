//! Tests of the cases: each fails for a store with a fault, and passes without one.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{
    cases, faults,
    faulty_store::{Disk, Fault, FaultyStore},
    reopening,
};
use crate::conformance::opening::Retention;

/// The names of all cases.
fn names() -> BTreeSet<&'static str> {
    let reopening = reopening::cases(Retention::Persistent).iter();
    let reopening = reopening.map(|(name, _)| *name);
    cases().map(|(name, _)| name).chain(reopening).collect()
}

/// Whether a case fails for a store with this fault.
fn fails(fault: Fault, case: &str) -> bool {
    let disk = Disk::default();
    let open = move || Box::new(FaultyStore::open(&disk, fault)) as Box<_>;
    let run = || {
        let mut reopening = reopening::cases(Retention::Persistent).iter();
        if let Some((_, run)) = reopening.find(|(name, _)| *name == case) {
            return run(&open);
        }
        let (_, run) = cases().find(|(name, _)| *name == case).unwrap();
        run(&open());
    };
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn every_case_finds_its_faults() {
    let pairs = (0..).zip(faults::ALL).flat_map(|(number, (fault, cases))| {
        let cases = cases.split_whitespace();
        cases.map(move |case| (number, *fault, case))
    });
    let found: BTreeSet<_> = pairs.clone().map(|(_, _, case)| case).collect();
    assert_eq!(names(), found);
    // A race may not happen while the machine is busy.
    let is_found = |fault, case| (0..50).any(|_| fails(fault, case));
    let missed = pairs.filter(|(_, fault, case)| !is_found(*fault, case));
    let missed: Vec<(i32, _)> = missed.map(|(number, _, case)| (number, case)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn store_without_a_fault_passes() {
    let failed: Vec<_> = names()
        .into_iter()
        .filter(|case| fails(Fault::None, case))
        .collect();
    assert_eq!(failed, [""; 0]);
}

#[test]
fn persistent_store_is_not_volatile() {
    for (_, run) in reopening::cases(Retention::Volatile) {
        let disk = Disk::default();
        let open = move || Box::new(FaultyStore::open(&disk, Fault::None)) as Box<_>;
        assert!(catch_unwind(AssertUnwindSafe(|| run(&open))).is_err());
    }
}
