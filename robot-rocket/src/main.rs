//! The server: the catalogue of a database at `/`.

mod logging;

use std::{
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use clap::Parser;
use robot_core::redact;
use robot_rocket::{Settings, SettingsError, database_url, execute, mount, open_options};
use rocket::{Build, Config, Orbit, Rocket, error::ErrorKind, fairing::AdHoc, tokio::time::sleep};

/// Serves a catalogue of robots as JSON over HTTP.
///
/// Settings come from the environment or from a file Rocket.toml in the working directory.
#[derive(Parser)]
#[command(version, after_help = SETTINGS)]
struct Arguments {}

const SETTINGS: &str = "\
Settings:
  DATABASE_URL          the store: sqlite://robots.db (default), memory:,
                        sqlite:///var/lib/robots.db,
                        postgres://user:password@host/database, mysql://user:password@host/database
                        (the last two where the server was built for them)
  ROCKET_DATABASE_TIMEOUT
                        seconds to wait for a database that is busy or away: 2 (default)
  ROCKET_DATABASE_CONNECTIONS
                        connections to the database at a time: 4 for each core, up to 32 (default)
  ROCKET_WORKERS        threads that serve requests: as many as there are cores, two at
                        least (default)
  ROCKET_PORT           the port: 8000 (default), or 0 for a free one
  ROCKET_ADDRESS        the address: 127.0.0.1 (default), or 0.0.0.0 for every network
  ROCKET_BEHAVIOUR      the status codes: A (default), or B for the older ones
  ROCKET_ALLOWED_HOSTS  names that the server answers to: robots.example,robots
                        (default: on 127.0.0.1 localhost alone, on other addresses any)
  ROCKET_API_TOKENS     who may read and write: what 'robot-cli token new' says, with commas between
                        (default: on 127.0.0.1 everybody may, on other addresses this must be set)
  ROCKET_ALLOW_ANONYMOUS
                        without a token one may: true (do everything), read, false (do nothing)
  ROCKET_ALLOWED_ORIGINS
                        origins of web pages that may use it, too: https://app.example (default: none)
  ROCKET_TLS            serves https: {certs=\"chain.pem\",key=\"key.pem\"} (default: http)
  ROCKET_STATIC_DIR     a folder whose files are served first (default: none)
  RUST_LOG              what is logged: info, error (default: warnings, but none of Rocket's)

Examples:
  robot-rocket
  ROCKET_PORT=9000 DATABASE_URL=sqlite:///var/lib/robots.db robot-rocket
  curl -d '{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}' http://127.0.0.1:8000/api/robots
  curl http://127.0.0.1:8000/api/robots";

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
    let config: Config = figment
        .extract()
        .map_err(|error| SettingsError::from(error).to_string())?;
    if config.workers == 0 || config.max_blocking == 0 {
        return Err("wrong setting: workers and max_blocking must be 1 or more".to_owned());
    }
    // Rocket would serve without a word what was to be encrypted.
    if cfg!(not(feature = "tls")) && figment.contains("tls") {
        return Err("wrong setting: this server was built without the feature tls".to_owned());
    }
    let settings = Settings::read(&figment).map_err(|error| error.to_string())?;
    let url = database_url(&figment).map_err(|error| error.to_string())?;
    let options = open_options(&figment).map_err(|error| error.to_string())?;
    let catalogue = options
        .open(&url)
        .map_err(|error| format!("{error} (set the store with DATABASE_URL)"))?;
    let rocket = mount(rocket::custom(figment), "/", catalogue, &settings)
        .attach(greeting(redact(&url), &settings));
    let outcome = execute(&config, served(rocket, &config)).map_err(|error| {
        format!("cannot wait for requests: {error}; let it open more files (ulimit -n)")
    });
    match outcome? {
        Ok(()) => Ok(()),
        Err(error) => match error.kind() {
            // It was told to stop, and gave up the requests that took too long to finish.
            ErrorKind::Shutdown(_, None) => Ok(()),
            kind => Err(explain(kind, &config)),
        },
    }
}

/// Serves until the server is told to stop, and requests under way have had their time.
async fn served(rocket: Rocket<Build>, config: &Config) -> Result<(), rocket::Error> {
    let is_waited_for = Arc::new(AtomicBool::new(false));
    let waits = Arc::clone(&is_waited_for);
    let rocket = rocket.attach(AdHoc::on_shutdown("waiting", move |_| {
        waits.store(true, Ordering::Relaxed);
        Box::pin(async {})
    }));
    let Err(error) = rocket.launch().await else {
        return Ok(());
    };
    // Rocket waits for nobody where it sees that it listens no more before it sees why, which is
    // a matter of chance. It tells of neither.
    if let ErrorKind::Shutdown(rocket, None) = error.kind()
        && !is_waited_for.load(Ordering::Relaxed)
    {
        let seconds = config.shutdown.grace + config.shutdown.mercy;
        let deadline = Instant::now() + Duration::from_secs(seconds.into());
        while Arc::strong_count(rocket) > 1 && Instant::now() < deadline {
            sleep(Duration::from_millis(10)).await;
        }
    }
    Err(error)
}

/// Tells the person who starts the server where it listens, once it does.
fn greeting(store: String, settings: &Settings) -> AdHoc {
    let behaviour = settings.behaviour;
    AdHoc::on_liftoff("greeting", move |rocket: &Rocket<Orbit>| {
        let config = rocket.config();
        let address = SocketAddr::new(config.address, config.port);
        let scheme = if config.tls_enabled() {
            "https"
        } else {
            "http"
        };
        // Nobody may be there to read it; the server serves all the same.
        let _ = writeln!(
            io::stdout(),
            "Robots at {scheme}://{address}/api/robots (store {store}, behaviour {behaviour}); \
             for people at {scheme}://{address}/; Ctrl-C stops the server"
        );
        Box::pin(async {})
    })
}

/// Says why the server does not run, and what to do.
fn explain(error: &ErrorKind, config: &Config) -> String {
    match error {
        ErrorKind::Bind(cause) => format!(
            "cannot listen on {}: {cause}; {}choose another ROCKET_PORT or ROCKET_ADDRESS",
            SocketAddr::new(config.address, config.port),
            match cause.kind() {
                io::ErrorKind::AddrInUse => "stop the program that does, or ",
                _ => "",
            }
        ),
        other => format!("cannot go on: {other}"),
    }
}
