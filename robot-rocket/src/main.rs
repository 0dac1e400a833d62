//! The server program: the catalogue of a database at `/`.

mod logging;

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use clap::Parser;
use robot_core::{StoreFiles, redact};
use robot_rocket::{ServerSettings, Settings, execute, mount};
use rocket::{Build, Config, Orbit, Rocket, error::ErrorKind, fairing::AdHoc, tokio::time::sleep};

/// Serve a catalogue of robots over HTTP.
///
/// Settings are environment variables, or keys of Rocket.toml in the working directory or
/// above.
#[derive(Parser)]
#[command(version, after_help = SETTINGS)]
struct Arguments {}

const SETTINGS: &str = "\
Settings:
  DATABASE_URL                  store: sqlite://robots.db (default), memory:, postgres://..., mysql://...
  ROCKET_PORT                   8000 (default), or 0 for a free port
  ROCKET_ADDRESS                127.0.0.1 (default), or 0.0.0.0 for all networks
  ROCKET_API_TOKENS             entries that 'robot-cli token new' prints, separated by commas
                                (required unless the address is a loopback address)
  ROCKET_ALLOW_ANONYMOUS        permissions without a token: true (all), read, false (none)
  ROCKET_ALLOWED_HOSTS          accepted host names: robots.example,robots
                                (default: on a loopback address localhost, otherwise any)
  ROCKET_ALLOWED_ORIGINS        other origins whose pages may use the API: https://app.example
  ROCKET_TLS                    HTTPS: {certs=\"chain.pem\",key=\"key.pem\"}
  ROCKET_STATIC_DIR             folder of static files, which take precedence over all routes
  ROCKET_BEHAVIOUR              status codes: A (default), or B for the older ones
  ROCKET_WORKERS                worker threads (default: one per core, at least 2)
  ROCKET_MAX_BLOCKING           requests that may block at the same time; others get 503 (default: 512)
  ROCKET_SHUTDOWN               seconds for running requests: {grace=2,mercy=3} (default)
  ROCKET_DATABASE_TIMEOUT       seconds until a busy or unreachable database is an error (default: 2)
  ROCKET_DATABASE_CONNECTIONS   maximum connections to the database (default: 4 per core, up to 32)
  ROCKET_IMPORT_TIMEOUT         seconds that a client may take to send an import (default: 3600)
  ROCKET_IMPORT_MINIMUM_RATE    bytes per second that it must send on average (default: 1000)
  RUST_LOG                      log level: error, warn, info (default: warn, without Rocket's)

Examples:
  robot-rocket
  ROCKET_PORT=9000 DATABASE_URL=sqlite:///var/lib/robots.db robot-rocket
  curl -d '{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}' http://127.0.0.1:8000/api/robots";

fn main() -> ExitCode {
    let Arguments {} = Arguments::parse();
    logging::start();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("robot-rocket: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let figment = robot_rocket::figment();
    let ServerSettings {
        config,
        catalogue: settings,
        database_url: url,
        options,
        warnings,
        ..
    } = ServerSettings::read(&figment).map_err(|error| error.to_string())?;
    for warning in warnings {
        log::warn!("{warning}");
    }
    // Before the store is opened, which may create it.
    settings
        .check_store(&StoreFiles::of_url(&url))
        .map_err(|error| error.to_string())?;
    check_address(&config)?;
    let catalogue = options
        .open(&url)
        .map_err(|error| format!("{error} (set the store with DATABASE_URL)"))?;
    let rocket = mount(rocket::custom(figment), "/", catalogue, &settings)
        .attach(greeting(redact(&url), &settings));
    let outcome = execute(&config, served(rocket, &config)).map_err(|error| {
        format!("cannot start the server: {error}; allow it more open files (ulimit -n)")
    });
    match outcome? {
        Ok(()) => Ok(()),
        Err(error) => match error.kind() {
            // The shutdown timeout ended requests that took too long.
            ErrorKind::Shutdown(_, None) => Ok(()),
            kind => Err(explain(kind, &config)),
        },
    }
}

/// Serves until shutdown, and waits for active requests up to the shutdown timeout.
async fn served(rocket: Rocket<Build>, config: &Config) -> Result<(), rocket::Error> {
    let has_waited = Arc::new(AtomicBool::new(false));
    let waited = Arc::clone(&has_waited);
    let rocket = rocket.attach(AdHoc::on_shutdown("waiting", move |_| {
        waited.store(true, Ordering::Relaxed);
        Box::pin(async {})
    }));
    let Err(error) = rocket.launch().await else {
        return Ok(());
    };
    // Rocket does not wait for active requests if its listener ends before it handles the shutdown,
    // which is a race.
    if let ErrorKind::Shutdown(rocket, None) = error.kind()
        && !has_waited.load(Ordering::Relaxed)
    {
        let seconds = config.shutdown.grace + config.shutdown.mercy;
        let deadline = Instant::now() + Duration::from_secs(seconds.into());
        while Arc::strong_count(rocket) > 1 && Instant::now() < deadline {
            sleep(Duration::from_millis(10)).await;
        }
    }
    Err(error)
}

/// Prints the address, the store and the permissions once the server listens.
fn greeting(store: String, settings: &Settings) -> AdHoc {
    let (behaviour, access) = (settings.behaviour, settings.access.to_string());
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

/// Checks that the server can listen on its address. Rocket listens only once the store is open.
/// Another program may take the address in between, but not a second server that is running.
fn check_address(config: &Config) -> Result<(), String> {
    match TcpListener::bind(SocketAddr::new(config.address, config.port)) {
        Ok(_) => Ok(()),
        Err(cause) => Err(cannot_listen(&cause, config)),
    }
}

/// The error message: the cause, and the solution.
fn explain(error: &ErrorKind, config: &Config) -> String {
    match error {
        ErrorKind::Bind(cause) if cause.raw_os_error().is_some() => cannot_listen(cause, config),
        ErrorKind::Bind(cause) | ErrorKind::Io(cause) if config.tls_enabled() => {
            format!("cannot serve HTTPS: {cause}; check the files of the setting tls")
        }
        other => format!("cannot serve: {other}"),
    }
}

fn cannot_listen(cause: &io::Error, config: &Config) -> String {
    let remedy = match cause.kind() {
        io::ErrorKind::AddrInUse => {
            "stop the program that uses this port, or choose another ROCKET_PORT or ROCKET_ADDRESS"
        }
        io::ErrorKind::AddrNotAvailable => {
            "set ROCKET_ADDRESS to an address of this machine, or to 0.0.0.0 for all of them"
        }
        io::ErrorKind::PermissionDenied => {
            "choose a ROCKET_PORT of 1024 or more, or permit the server to use this one"
        }
        _ => "choose another ROCKET_PORT or ROCKET_ADDRESS",
    };
    let address = SocketAddr::new(config.address, config.port);
    format!("cannot listen on {address}: {cause}; {remedy}")
}
