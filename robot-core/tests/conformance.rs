//! The conformance cases for every store, and for the HTTP contract on each.

#![cfg_attr(
    any(feature = "sqlite", feature = "postgres", feature = "mysql"),
    expect(clippy::panic, reason = "a store that cannot be opened fails its case")
)]

use std::{path::Path, process::ExitCode, sync::Arc};

#[cfg(any(feature = "postgres", feature = "mysql"))]
use robot_core::conformance::scratch_database;
use robot_core::{
    Catalogue, MemoryCatalogue,
    conformance::Suite,
    http::{Api, Behaviour},
};

fn main() -> ExitCode {
    let suite = Suite::new()
        .store("memory", memory)
        .http("api_memory", memory, api);
    #[cfg(feature = "sqlite")]
    let suite =
        suite
            .store("sqlite", sqlite)
            .store("opened", opened)
            .http("api_sqlite", sqlite, api);
    #[cfg(feature = "postgres")]
    let suite = suite
        .store("postgres", postgres)
        .http("api_postgres", postgres, api);
    #[cfg(feature = "mysql")]
    let suite = suite.store("mysql", mysql).http("api_mysql", mysql, api);
    suite.run()
}

fn memory(_: &Path) -> MemoryCatalogue {
    MemoryCatalogue::new()
}

#[cfg(feature = "sqlite")]
fn sqlite(folder: &Path) -> robot_core::SqliteCatalogue {
    let url = format!("sqlite://{}/robots.db", folder.display());
    robot_core::SqliteCatalogue::open(&url).unwrap_or_else(|error| panic!("{error}"))
}

/// As most programs open it.
#[cfg(feature = "sqlite")]
fn opened(folder: &Path) -> Arc<dyn Catalogue> {
    open(&format!("sqlite://{}/robots.db", folder.display()))
}

#[cfg(feature = "postgres")]
fn postgres(_: &Path) -> Arc<dyn Catalogue> {
    open(&scratch_database("TEST_POSTGRES_URL"))
}

#[cfg(feature = "mysql")]
fn mysql(_: &Path) -> Arc<dyn Catalogue> {
    open(&scratch_database("TEST_MYSQL_URL"))
}

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
fn open(url: &str) -> Arc<dyn Catalogue> {
    robot_core::open(url).unwrap_or_else(|error| panic!("{error}"))
}

fn api(catalogue: Arc<dyn Catalogue>, behaviour: Behaviour) -> Api {
    Api::new(catalogue).behaviour(behaviour)
}
