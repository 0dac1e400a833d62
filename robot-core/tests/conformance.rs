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
        .store("memory", memory)
        .store("sqlite", sqlite)
        .store("opened", |folder| opened(&url(folder)))
        .http("api_memory", memory, api)
        .http("api_sqlite", sqlite, api)
        .run()
}

fn memory(_: &Path) -> MemoryCatalogue {
    MemoryCatalogue::new()
}

fn sqlite(folder: &Path) -> DatabaseCatalogue {
    DatabaseCatalogue::open(&url(folder)).unwrap_or_else(|error| panic!("{error}"))
}

fn opened(url: &str) -> Arc<dyn Catalogue> {
    robot_core::open(url).unwrap_or_else(|error| panic!("{error}"))
}

fn url(folder: &Path) -> String {
    format!("sqlite://{}/robots.db", folder.display())
}

fn api(catalogue: Arc<dyn Catalogue>, behaviour: Behaviour) -> Api {
    Api::new(catalogue).behaviour(behaviour)
}
