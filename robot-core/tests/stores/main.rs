//! Tests of the stores beyond the conformance cases: reopening, locks, failures, search and backup.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg_attr(
    any(feature = "sqlite", feature = "postgres", feature = "mysql"),
    expect(clippy::panic, reason = "a test fails by panicking")
)]

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod backend;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod lost_connections;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod model;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod opening;
#[cfg(feature = "postgres")]
mod postgres_index;
mod search;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod servers;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod upgrade;

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
use robot_core::Draft;
use robot_core::{CatalogueExt, Robot};

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
fn draft(name: &str) -> Draft {
    Draft::new(name, "droid", 1977)
}

fn names(catalogue: &(impl CatalogueExt + ?Sized), containing: &str) -> Vec<String> {
    let robots = catalogue.search(containing).unwrap();
    robots.iter().map(Robot::name).map(str::to_owned).collect()
}
