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
mod upgrade;

use robot_core::{CatalogueExt, Draft, Robot};

fn draft(name: &str) -> Draft {
    Draft::new(name, "droid", 1977)
}

fn names(catalogue: &(impl CatalogueExt + ?Sized), containing: &str) -> Vec<String> {
    let robots = catalogue.search(containing).unwrap();
    robots.iter().map(Robot::name).map(str::to_owned).collect()
}
