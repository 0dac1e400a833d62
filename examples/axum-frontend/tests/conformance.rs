//! This frontend passes every case of the contract, as its clients see it.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{io, process::ExitCode, sync::LazyLock};

use robot_core::{
    conformance::{Suite, TcpClient},
    http::{Api, Behaviour},
};
use tokio::{net::TcpListener, runtime::Runtime};

/// What all the services run on.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().unwrap_or_else(|error| panic!("{error}")));

fn main() -> ExitCode {
    Suite::new()
        .http("axum_memory", |_, behaviour| client("memory:", behaviour))
        .http("axum_sqlite", |folder, behaviour| {
            client(
                &format!("sqlite://{}/robots.db", folder.display()),
                behaviour,
            )
        })
        .run()
}

fn client(url: &str, behaviour: Behaviour) -> TcpClient {
    let catalogue = robot_core::open(url).unwrap_or_else(|error| panic!("{error}"));
    let api = Api::new(catalogue).behaviour(behaviour);
    serve(api).unwrap_or_else(|error| panic!("{error}"))
}

/// Serves on a free port, for as long as this process lives.
fn serve(api: Api) -> io::Result<TcpClient> {
    let listener = RUNTIME.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let client = TcpClient::new(listener.local_addr()?);
    RUNTIME.spawn(async { axum::serve(listener, axum_frontend::router(api)).await });
    Ok(client)
}
