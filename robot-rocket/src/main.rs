//! The server program: the catalogue of a database at `/`.

mod logging;
mod ready;
#[cfg(unix)]
mod reload;

use std::{
    error::Error,
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
};

use clap::Parser;
use hyper::Uri;
use robot_core::{OpenOptions, Pruner, Schemes, StoreFiles, redact};
#[cfg(feature = "otlp")]
use robot_rocket::TraceExport;
use robot_rocket::{
    ServeError, ServeOptions, ServerSettings, Settings, execute, mount, mount_health, serve,
    serve_metrics,
};
use rocket::{Orbit, Rocket, fairing::AdHoc, figment::Figment};

/// Serve a catalogue of robots over HTTP.
///
/// Settings are environment variables, or keys of Rocket.toml in the working directory or
/// above.
#[derive(Parser)]
#[command(version, after_help = SETTINGS)]
#[expect(clippy::option_option, reason = "an option with or without a value")]
struct Arguments {
    /// Check the settings, print them with their origin, and exit with status 0 or 1
    ///
    /// Reports every wrong setting that a start would report. Secrets are not shown, and the
    /// database is not opened.
    #[arg(long)]
    check: bool,

    /// Ask the running server whether it is ready, and exit with status 0 or 1
    ///
    /// Requests /readyz of the server that was started with the same settings, or of the
    /// server at URL, which must be on this machine.
    #[arg(long, value_name = "URL", conflicts_with = "check")]
    ready: Option<Option<Uri>>,
}

/// The settings, for `--help`.
const SETTINGS: &str = include_str!("settings.txt");

/// An error, of which only the message is of interest.
type AnyError = Box<dyn Error>;

fn main() -> ExitCode {
    let Arguments { check, ready } = Arguments::parse();
    let figment = robot_rocket::figment();
    let log = logging::start(&figment);
    let is_start = !check && ready.is_none();
    let is_json = logging::is_json(&figment);
    let result = if check {
        check_settings(&figment)
    } else if let Some(url) = ready {
        ready::check(url.as_ref(), &figment)
    } else {
        run(figment)
    };
    let Err(message) = result else {
        return ExitCode::SUCCESS;
    };
    if is_start && is_json && tracing::enabled!(tracing::Level::ERROR) {
        tracing::error!("{message}");
    } else {
        // Before the last message.
        drop(log);
        eprintln!("robot-rocket: {message}");
    }
    ExitCode::FAILURE
}

/// Prints the settings of a start.
fn check_settings(figment: &Figment) -> Result<(), AnyError> {
    let table = read_settings(figment)?.table.join("\n");
    writeln!(
        io::stdout(),
        "{table}\n\nThe settings are valid. The database was not opened, and the address not bound."
    )
    .map_err(|error| format!("cannot print the settings: {error}").into())
}

/// Reads and checks all settings, before the store is opened, which may create it.
fn read_settings(figment: &Figment) -> Result<ServerSettings, AnyError> {
    let settings = ServerSettings::read(figment)?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    Schemes::default().of_url(&settings.database_url)?;
    let files = StoreFiles::of_url(&settings.database_url);
    settings.catalogue.check_store(&files)?;
    Ok(settings)
}

fn run(figment: Figment) -> Result<(), AnyError> {
    let settings = read_settings(&figment)?;
    let options = ServeOptions::bind(&figment).map_err(|error| explain(&error, LISTEN))?;
    #[cfg(unix)]
    let reload = reload::Reload {
        access: settings.catalogue.api.access.clone(),
        certificates: options.certificates().cloned(),
        address: settings.config.address,
    };
    // Before the store is opened, so that its metrics are recorded.
    if let Some(address) = settings.metrics_address {
        serve_metrics(address, settings.catalogue.api.hosts.clone())
            .map_err(|error| explain(&error, "ROCKET_METRICS_ADDRESS"))?;
    }
    #[cfg(feature = "otlp")]
    let _traces = TraceExport::start();
    let server = async {
        #[cfg(unix)]
        reload
            .at_signals(&settings.config)
            .map_err(|error| format!("cannot receive SIGHUP: {error}"))?;
        let store = OpenOptions {
            use_current_runtime: true,
            ..settings.options
        };
        let url = settings.database_url;
        let greeting = greeting(redact(&url), &settings.catalogue);
        let opened = rocket::tokio::task::spawn_blocking(move || store.open(&url)).await?;
        let catalogue =
            opened.map_err(|error| format!("{error} (set the store with DATABASE_URL)"))?;
        let _pruner = Pruner::start(catalogue.clone(), settings.retention)?;
        let rocket = mount_health(rocket::custom(figment), catalogue.clone());
        let rocket = mount(rocket, "/", catalogue, &settings.catalogue).attach(greeting);
        let served = serve(rocket, options).await;
        served.map_err(|error| explain(&error, LISTEN).into())
    };
    execute(&settings.config, server).map_err(|error| {
        format!("cannot start the server: {error}; allow it more open files (ulimit -n)")
    })?
}

/// Prints the address, the store and the permissions once the server listens.
fn greeting(store: String, settings: &Settings) -> AdHoc {
    let (behaviour, access) = (settings.api.behaviour, settings.api.access.to_string());
    AdHoc::on_liftoff("greeting", move |rocket: &Rocket<Orbit>| {
        let config = rocket.config();
        let address = SocketAddr::new(config.address, config.port);
        let s = if config.tls_enabled() { "s" } else { "" };
        // The server runs even if its output is closed.
        let _ = writeln!(
            io::stdout(),
            "Robots at http{s}://{address}/v1/robots (store {store}, behaviour {behaviour}; {access}); \
             for people at http{s}://{address}/; Ctrl-C stops the server"
        );
        Box::pin(async {})
    })
}

/// The settings of the address.
const LISTEN: &str = "ROCKET_PORT or ROCKET_ADDRESS";

/// The error message: the cause, and what to do about an address of these settings that cannot be bound.
fn explain(error: &ServeError, settings: &str) -> String {
    let ServeError::Listen { cause, .. } = error else {
        return error.to_string();
    };
    let remedy = match cause.kind() {
        io::ErrorKind::AddrInUse => "stop the program that uses this port, or ",
        io::ErrorKind::PermissionDenied => "permit the server to use a port below 1024, or ",
        _ => "",
    };
    format!("{error}; {remedy}choose another {settings} of this machine")
}
