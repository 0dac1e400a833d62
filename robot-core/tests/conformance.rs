//! Every store of this crate, and the contract over each, passes every case.

#![expect(clippy::panic, reason = "a store that cannot be opened fails its case")]

use std::{path::Path, process::ExitCode, sync::Arc};

use robot_core::{
    Catalogue, DatabaseCatalogue, MemoryCatalogue,
    conformance::Suite,
    http::{Api, Behaviour},
};

fn main() -> ExitCode {
    Suite::new()
        .store("memory", |_| MemoryCatalogue::new())
        .store("sqlite", sqlite)
        .store("opened", |folder| open(&sqlite_url(folder)))
        .http("api_memory", |_, behaviour| api("memory:", behaviour))
        .http("api_sqlite", |folder, behaviour| {
            api(&sqlite_url(folder), behaviour)
        })
        .run()
}

fn sqlite_url(folder: &Path) -> String {
    format!("sqlite://{}/robots.db", folder.display())
}

fn sqlite(folder: &Path) -> DatabaseCatalogue {
    DatabaseCatalogue::open(&sqlite_url(folder)).unwrap_or_else(|error| panic!("{error}"))
}

fn open(url: &str) -> Arc<dyn Catalogue> {
    robot_core::open(url).unwrap_or_else(|error| panic!("{error}"))
}

fn api(url: &str, behaviour: Behaviour) -> Api {
    Api::new(open(url)).behaviour(behaviour)
}
