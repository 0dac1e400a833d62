//! The conformance cases for every store of this crate, and for the contract over each.

#![cfg_attr(
    any(feature = "sqlite", feature = "postgres", feature = "mysql"),
    expect(clippy::panic, reason = "a store that cannot be opened fails its case")
)]

#[cfg(any(feature = "postgres", feature = "mysql"))]
use std::time::Duration;
use std::{process::ExitCode, sync::Arc};

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
        .http("api_sqlite", sqlite(), api);
    #[cfg(feature = "postgres")]
    let suite = suite.store("postgres", server("TEST_POSTGRES_URL")).http(
        "api_postgres",
        server("TEST_POSTGRES_URL"),
        api,
    );
    #[cfg(feature = "mysql")]
    let suite = suite.store("mysql", server("TEST_MYSQL_URL")).http(
        "api_mysql",
        server("TEST_MYSQL_URL"),
        api,
    );
    suite.run()
}

fn memory() -> Store {
    Store::volatile(MemoryCatalogue::new)
}

#[cfg(feature = "sqlite")]
fn sqlite() -> Store {
    Store::persistent(
        |folder| format!("sqlite://{}/robots.db", folder.display()),
        |url| robot_core::open(url).unwrap_or_else(|error| panic!("{error}")),
    )
}

/// A store on a server, on a machine that is busy with other work.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn server(variable: &'static str) -> Store {
    let patient = OpenOptions {
        timeout: Duration::from_secs(20),
        ..OpenOptions::default()
    };
    Store::persistent(
        move |_| scratch_database(variable),
        move |url| patient.open(url).unwrap_or_else(|error| panic!("{error}")),
    )
}

fn api(catalogue: Arc<dyn Catalogue>, configuration: Configuration) -> Api {
    configuration.api(catalogue)
}
