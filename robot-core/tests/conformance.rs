//! The conformance cases for every store of this crate, and for the contract over each.

#![cfg_attr(
    any(feature = "sqlite", feature = "postgres", feature = "mysql"),
    expect(clippy::panic, reason = "a store that cannot be opened fails its case")
)]

#[cfg(any(feature = "postgres", feature = "mysql"))]
use std::time::Duration;
use std::{process::ExitCode, sync::Arc};

#[cfg(feature = "mysql")]
use robot_core::MysqlCatalogue;
#[cfg(feature = "postgres")]
use robot_core::PostgresCatalogue;
#[cfg(feature = "sqlite")]
use robot_core::SqliteCatalogue;
use robot_core::{
    Catalogue, MemoryCatalogue,
    conformance::{Configuration, Store, Suite},
    http::Api,
};
#[cfg(any(feature = "postgres", feature = "mysql"))]
use robot_core::{OpenOptions, conformance::scratch_database};

fn main() -> ExitCode {
    let suite = Suite::new()
        .store("memory", memory())
        .http("api_memory", memory(), api);
    #[cfg(feature = "sqlite")]
    let suite = suite
        .store("sqlite", sqlite())
        .store("opened", opened())
        .http("api_sqlite", sqlite(), api);
    #[cfg(feature = "postgres")]
    let suite = suite
        .store("postgres", postgres())
        .http("api_postgres", postgres(), api);
    #[cfg(feature = "mysql")]
    let suite = suite
        .store("mysql", mysql())
        .http("api_mysql", mysql(), api);
    suite.run()
}

fn memory() -> Store {
    Store::volatile(MemoryCatalogue::new)
}

#[cfg(feature = "sqlite")]
fn sqlite() -> Store {
    Store::persistent(
        |folder| format!("sqlite://{}/robots.db", folder.display()),
        |url| SqliteCatalogue::open(url).unwrap_or_else(|error| panic!("{error}")),
    )
}

/// The trait object that most programs use.
#[cfg(feature = "sqlite")]
fn opened() -> Store {
    Store::persistent(
        |folder| format!("sqlite://{}/robots.db", folder.display()),
        |url| robot_core::open(url).unwrap_or_else(|error| panic!("{error}")),
    )
}

#[cfg(feature = "postgres")]
fn postgres() -> Store {
    Store::persistent(
        |_| scratch_database("TEST_POSTGRES_URL"),
        |url| {
            PostgresCatalogue::open_with(url, &patient()).unwrap_or_else(|error| panic!("{error}"))
        },
    )
}

#[cfg(feature = "mysql")]
fn mysql() -> Store {
    Store::persistent(
        |_| scratch_database("TEST_MYSQL_URL"),
        |url| MysqlCatalogue::open_with(url, &patient()).unwrap_or_else(|error| panic!("{error}")),
    )
}

/// Options for a server on a machine that is busy with other work.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn patient() -> OpenOptions {
    OpenOptions {
        timeout: Duration::from_secs(20),
        ..OpenOptions::default()
    }
}

fn api(catalogue: Arc<dyn Catalogue>, configuration: Configuration) -> Api {
    configuration.api(catalogue)
}
