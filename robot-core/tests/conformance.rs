//! The conformance cases for every store of this crate, and for the contract over each.

#![cfg_attr(
    any(feature = "sqlite", feature = "postgres", feature = "mysql"),
    expect(clippy::panic, reason = "a store that cannot be opened fails its case")
)]

use std::{path::Path, process::ExitCode, sync::Arc};

#[cfg(feature = "mysql")]
use robot_core::MysqlCatalogue;
#[cfg(feature = "postgres")]
use robot_core::PostgresCatalogue;
#[cfg(feature = "sqlite")]
use robot_core::SqliteCatalogue;
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
fn sqlite(folder: &Path) -> SqliteCatalogue {
    let url = format!("sqlite://{}/robots.db", folder.display());
    SqliteCatalogue::open(&url).unwrap_or_else(|error| panic!("{error}"))
}

/// The trait object that most programs use.
#[cfg(feature = "sqlite")]
fn opened(folder: &Path) -> Arc<dyn Catalogue> {
    let url = format!("sqlite://{}/robots.db", folder.display());
    robot_core::open(&url).unwrap_or_else(|error| panic!("{error}"))
}

#[cfg(feature = "postgres")]
fn postgres(_: &Path) -> PostgresCatalogue {
    let url = scratch_database("TEST_POSTGRES_URL");
    PostgresCatalogue::open(&url).unwrap_or_else(|error| panic!("{error}"))
}

#[cfg(feature = "mysql")]
fn mysql(_: &Path) -> MysqlCatalogue {
    let url = scratch_database("TEST_MYSQL_URL");
    MysqlCatalogue::open(&url).unwrap_or_else(|error| panic!("{error}"))
}

fn api(catalogue: Arc<dyn Catalogue>, behaviour: Behaviour) -> Api {
    Api::new(catalogue).behaviour(behaviour)
}
