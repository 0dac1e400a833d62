//! Server for the catalogue of `DATABASE_URL`, on the port `PORT` of the loopback address.

use std::{
    env::{self, VarError},
    error::Error,
    io::{self, Write},
    net::Ipv4Addr,
    process::ExitCode,
    time::Duration,
};

use robot_core::{
    DEFAULT_URL,
    http::{Api, ApiSettings, Hosts},
};
use tokio::{net::TcpListener, runtime::Runtime, select, signal::unix, time::sleep};

/// The shutdown timeout: how long active requests may continue.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("warn"));
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("axum-frontend: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let port = setting("PORT", "8000")?;
    let port = port
        .parse()
        .map_err(|_| format!("PORT is '{port}'; it must be a number from 0 to 65535"))?;
    let url = setting("DATABASE_URL", DEFAULT_URL)?;
    let catalogue = robot_core::open(&url)
        .map_err(|error| format!("{error} (set the store with DATABASE_URL)"))?;
    let settings = ApiSettings {
        hosts: Hosts::Only(Vec::new()),
        ..ApiSettings::default()
    };
    let api = Api::with_settings(catalogue, settings);
    Runtime::new()?.block_on(serve(port, api))
}

fn setting(name: &str, default: &str) -> Result<String, String> {
    match env::var(name) {
        Err(VarError::NotPresent) => Ok(default.to_owned()),
        value => value.map_err(|_| format!("{name} is not UTF-8")),
    }
}

async fn serve(port: u16, api: Api) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(|cause| format!("cannot listen on port {port}: {cause} (set it with PORT)"))?;
    let address = listener.local_addr()?;
    let (shutdown, deadline) = (shutdown_signal()?, shutdown_signal()?);
    let waiting = api.clone();
    let shutdown = async move {
        shutdown.await;
        waiting.stop_waiting();
    };
    // The server runs even if its output is closed.
    let _ = writeln!(io::stdout(), "Robots at http://{address}/api/robots");
    let server = axum::serve(listener, axum_frontend::router(api)).with_graceful_shutdown(shutdown);
    select! {
        served = server => Ok(served?),
        // A client that neither reads nor disconnects must not prevent the shutdown.
        () = async { deadline.await; sleep(SHUTDOWN_TIMEOUT).await } => Ok(()),
    }
}

/// Waits for Ctrl-C or `SIGTERM`.
fn shutdown_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = unix::signal(unix::SignalKind::interrupt())?;
    let mut terminate = unix::signal(unix::SignalKind::terminate())?;
    Ok(async move {
        select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
    })
}
