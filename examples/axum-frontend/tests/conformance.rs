//! The conformance cases, over HTTP.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{io, process::ExitCode, sync::Arc};

use robot_core::{
    Catalogue,
    conformance::{Client, Configuration, Service, Store, Suite, TcpClient},
    http::Api,
};
use tokio::{net::TcpListener, runtime::Runtime};

fn main() -> ExitCode {
    Suite::new().http("axum_sqlite", sqlite(), client).run()
}

fn sqlite() -> Store {
    Store::persistent(
        |folder| format!("sqlite://{}/robots.db", folder.display()),
        |url| robot_core::open(url).unwrap_or_else(|error| panic!("{error}")),
    )
}

fn client(catalogue: Arc<dyn Catalogue>, configuration: Configuration) -> impl Client {
    serve(configuration.api(catalogue)).unwrap_or_else(|error| panic!("{error}"))
}

/// Serves on a free port, until the client is dropped.
fn serve(api: Api) -> io::Result<impl Client> {
    let runtime = Runtime::new()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let client = TcpClient::new(listener.local_addr()?);
    runtime.spawn(async { axum::serve(listener, axum_frontend::router(api)).await });
    Ok(Service::new(client, || runtime.shutdown_background()))
}
