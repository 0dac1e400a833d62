//! Tests of the stores in databases beyond the conformance cases: reopening, locks, failures, search and
//! backup.

#![cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod backend;
mod definitions_beside_writers;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod lost_connections;
mod model;
mod opening;
#[cfg(feature = "postgres")]
mod postgres_index;
mod reads_beside_writers;
mod search;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod servers;
#[cfg(feature = "sqlite")]
mod sqlite;
mod steps;
mod upgrade;

use std::{
    fmt::Debug,
    thread,
    time::{Duration, Instant},
};

use robot_core::{CatalogueExt, Definition, Draft, Kind, Robot, Sort};

/// How long something may take without progress, on a busy machine.
const STALL_LIMIT: Duration = Duration::from_secs(60);

/// Waits until a condition is met. The limit begins again whenever what is seen changes.
#[track_caller]
fn wait_for_progress<Seen: Debug + PartialEq>(
    what: &str,
    mut look: impl FnMut() -> Seen,
    is_met: impl Fn(&Seen) -> bool,
) {
    let (mut last, mut changed, mut looks) = (look(), Instant::now(), 0);
    while !is_met(&last) {
        // A thread that did not run has not looked.
        assert!(
            changed.elapsed() < STALL_LIMIT || looks < 100,
            "{what}: no progress within {STALL_LIMIT:?}; seen last: {last:?}"
        );
        thread::sleep(Duration::from_millis(5));
        let seen = look();
        looks += 1;
        if seen != last {
            (last, changed, looks) = (seen, Instant::now(), 0);
        }
    }
}

/// Waits until a condition is met that shows no progress.
#[track_caller]
fn wait_for(what: &str, is_met: impl FnMut() -> bool) {
    wait_for_progress(what, is_met, |is_met| *is_met);
}

/// The orders in which equal catalogues have the same lists: not those by times.
fn sorts(definition: &Definition) -> Vec<Sort> {
    let is_time = |sort: &Sort| *sort.field.kind() == Kind::Timestamp;
    Sort::all(definition)
        .filter(|sort| !is_time(sort))
        .collect()
}

fn draft(name: &str) -> Draft {
    Draft::new(name, "droid", 1977)
}

fn names(catalogue: &(impl CatalogueExt + ?Sized), containing: &str) -> Vec<String> {
    let robots = catalogue.search(containing).unwrap();
    robots.iter().map(Robot::name).map(str::to_owned).collect()
}
