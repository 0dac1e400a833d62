//! The conformance cases, over HTTP.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{io, path::Path, process::ExitCode, sync::Arc};

use robot_core::{
    Catalogue, MemoryCatalogue, SqliteCatalogue,
    conformance::{Client, Service, Suite, TcpClient},
    http::{Api, Behaviour},
};
use tokio::{net::TcpListener, runtime::Runtime};

fn main() -> ExitCode {
    Suite::new()
        .http("axum_memory", |_| MemoryCatalogue::new(), client)
        .http("axum_sqlite", sqlite, client)
        .run()
}

fn sqlite(folder: &Path) -> SqliteCatalogue {
    let url = format!("sqlite://{}/robots.db", folder.display());
    SqliteCatalogue::open(&url).unwrap_or_else(|error| panic!("{error}"))
}

fn client(catalogue: Arc<dyn Catalogue>, behaviour: Behaviour) -> impl Client {
    let api = Api::new(catalogue).behaviour(behaviour);
    serve(api).unwrap_or_else(|error| panic!("{error}"))
}

/// Serves on a free port, until the client is dropped.
fn serve(api: Api) -> io::Result<impl Client> {
    let runtime = Runtime::new()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let client = TcpClient::new(listener.local_addr()?);
    runtime.spawn(async { axum::serve(listener, axum_frontend::router(api)).await });
    Ok(Service::new(client, || runtime.shutdown_background()))
}
