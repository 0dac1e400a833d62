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
use robot_core::{Schemes, StoreFiles, redact};
#[cfg(feature = "otlp")]
use robot_rocket::TraceExport;
use robot_rocket::{
    LogFormat, ServeError, ServeOptions, ServerSettings, Settings, execute, mount, mount_health,
    serve, serve_metrics,
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

const SETTINGS: &str = "\
Settings:
  DATABASE_URL                        store: sqlite://robots.db (default), memory:, postgres://...,
                                      mysql://...
  ROCKET_PORT                         8000 (default), or 0 for a free port
  ROCKET_ADDRESS                      127.0.0.1 (default), or 0.0.0.0 for all networks
  ROCKET_API_TOKENS                   entries that 'robot-cli token new' prints, separated by
                                      commas (an address that is not a loopback address needs this
                                      or one of the next two)
  ROCKET_API_TOKENS_FILE              file with one entry per line, instead of ROCKET_API_TOKENS
  ROCKET_ALLOW_ANONYMOUS              permissions without a token: true (all), read, false (none)
  ROCKET_ALLOWED_HOSTS                accepted host names: robots.example,robots (default: on a
                                      loopback address localhost, otherwise any)
  ROCKET_ALLOWED_ORIGINS              other origins whose pages may use the API:
                                      https://app.example
  ROCKET_TLS                          HTTPS: {certs=\"chain.pem\",key=\"key.pem\"}
  ROCKET_STATIC_DIR                   folder of static files, which take precedence over all routes
  ROCKET_BEHAVIOUR                    status codes: A (default), or B for the older ones
  ROCKET_WORKERS                      worker threads (default: one more than cores)
  ROCKET_MAX_BLOCKING                 requests that may block at the same time; others get 503
                                      (default: 512)
  ROCKET_MAX_CONNECTIONS              connections; others get 503 (default: 7/8 of the files that
                                      the server may open, up to 20000)
  ROCKET_MAX_CONNECTIONS_PER_ADDRESS  connections of one client address, except loopback; others
                                      get 503 (default: a quarter of all)
  ROCKET_HEADER_TIMEOUT               seconds that a client may take to send a request head
                                      (default: 10)
  ROCKET_WRITE_TIMEOUT                seconds that a client may read nothing of a response
                                      (default: 30)
  ROCKET_KEEP_ALIVE                   seconds that a connection may be idle between two requests
                                      (default: 75)
  ROCKET_SHUTDOWN                     seconds for running requests, grace and mercy together:
                                      {grace=2,mercy=3} (default)
  ROCKET_DATABASE_TIMEOUT             seconds until a busy or unreachable database is an error
                                      (default: 2)
  ROCKET_DATABASE_CONNECTIONS         maximum connections to the database (default: 4 per core, up
                                      to 32)
  ROCKET_IMPORT_TIMEOUT               seconds that a client may take to send an import (default:
                                      3600)
  ROCKET_IMPORT_MINIMUM_RATE          bytes per second that it must send on average (default: 1000)
  ROCKET_LOG_FORMAT                   text (default), or json: one object per line
  ROCKET_METRICS_ADDRESS              address of metrics for Prometheus: 127.0.0.1:9100 (default:
                                      none)
  ROCKET_SLOW_STATEMENT               milliseconds from which statements are logged (default:
                                      500)
  RUST_LOG                            log level: error, warn, info (with a line for each request)
                                      (default: warn, and info for reloads)

SIGHUP reloads the tokens and the files of ROCKET_TLS.

Examples:
  robot-rocket
  robot-rocket --check
  robot-rocket --ready
  robot-rocket --ready http://127.0.0.1:9000
  ROCKET_PORT=9000 DATABASE_URL=sqlite:///var/lib/robots.db robot-rocket
  curl -d '{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}' http://127.0.0.1:8000/api/robots";

/// An error, of which only the message is of interest.
type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    let Arguments { check, ready } = Arguments::parse();
    let figment = robot_rocket::figment();
    let log = logging::start(&figment);
    let is_start = !check && ready.is_none();
    let is_json = LogFormat::read(&figment) == LogFormat::Json;
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
fn check_settings(figment: &Figment) -> Result<(), Failure> {
    let table = read_settings(figment)?.table;
    writeln!(
        io::stdout(),
        "{table}\nThe settings are valid. The database was not opened, and the address not bound."
    )
    .map_err(|error| format!("cannot print the settings: {error}").into())
}

/// Reads and checks all settings, before the store is opened, which may create it.
fn read_settings(figment: &Figment) -> Result<ServerSettings, Failure> {
    let settings = ServerSettings::read(figment)?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    Schemes::new().of_url(&settings.database_url)?;
    let files = StoreFiles::of_url(&settings.database_url);
    settings.catalogue.check_store(&files)?;
    Ok(settings)
}

fn run(figment: Figment) -> Result<(), Failure> {
    let settings = read_settings(&figment)?;
    let ServerSettings {
        config,
        catalogue: settings,
        database_url: url,
        options: store,
        metrics_address,
        ..
    } = settings;
    let options = ServeOptions::bind(&figment).map_err(|error| explain(&error, LISTEN))?;
    #[cfg(unix)]
    reload::Reload {
        access: settings.api.access.clone(),
        certificates: options.certificates().cloned(),
        address: config.address,
    }
    .at_signals(&config)
    .map_err(|error| format!("cannot receive SIGHUP: {error}; allow more threads (ulimit -u)"))?;
    // Before the store is opened, so that its metrics are recorded.
    if let Some(address) = metrics_address {
        serve_metrics(address, settings.api.hosts.clone())
            .map_err(|error| explain(&error, "ROCKET_METRICS_ADDRESS"))?;
    }
    #[cfg(feature = "otlp")]
    let _traces = TraceExport::start().map_err(|error| {
        format!("cannot export traces: {error}; allow more open files (ulimit -n)")
    })?;
    let server = async {
        let store = store.use_current_runtime();
        let name = redact(&url);
        let opened = rocket::tokio::task::spawn_blocking(move || store.open(&url)).await?;
        let catalogue =
            opened.map_err(|error| format!("{error} (set the store with DATABASE_URL)"))?;
        let rocket = mount_health(rocket::custom(figment), catalogue.clone());
        let rocket = mount(rocket, "/", catalogue, &settings).attach(greeting(name, &settings));
        let served = serve(rocket, options).await;
        served.map_err(|error| explain(&error, LISTEN).into())
    };
    execute(&config, server).map_err(|error| {
        format!("cannot start the server: {error}; allow it more open files (ulimit -n)")
    })?
}

/// Prints the address, the store and the permissions once the server listens.
fn greeting(store: String, settings: &Settings) -> AdHoc {
    let (behaviour, access) = (settings.api.behaviour, settings.api.access.to_string());
    AdHoc::on_liftoff("greeting", move |rocket: &Rocket<Orbit>| {
        let config = rocket.config();
        let address = SocketAddr::new(config.address, config.port);
        let scheme = if config.tls_enabled() {
            "https"
        } else {
            "http"
        };
        // The server runs even if its output is closed.
        let _ = writeln!(
            io::stdout(),
            "Robots at {scheme}://{address}/api/robots (store {store}, behaviour {behaviour}; {access}); \
             for people at {scheme}://{address}/; Ctrl-C stops the server"
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
    let other = format!("choose another {settings}");
    let remedy = match cause.kind() {
        io::ErrorKind::AddrInUse => format!("stop the program that uses this port, or {other}"),
        io::ErrorKind::AddrNotAvailable => {
            format!("{other}: one of this machine, or 0.0.0.0 for all of its addresses")
        }
        io::ErrorKind::PermissionDenied => {
            format!("{other} with a port of 1024 or more, or permit the server to use this one")
        }
        _ => other,
    };
    format!("{error}; {remedy}")
}
