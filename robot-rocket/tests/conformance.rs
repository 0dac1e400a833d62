//! The routes, mounted at the root and under a base path, pass every case as their clients
//! see them.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{net::SocketAddr, path::Path, process::ExitCode, sync::mpsc, thread};

use robot_core::{
    conformance::{Suite, TcpClient},
    http::Behaviour,
};
use robot_rocket::{Settings, mount};
use rocket::{Config, Orbit, Rocket, fairing::AdHoc};

fn main() -> ExitCode {
    // Whatever logger is there first silences Rocket's, which tells of every request.
    env_logger::builder()
        .filter_level(log::LevelFilter::Off)
        .init();
    Suite::new()
        .http("rocket_memory", |_, behaviour| {
            TcpClient::new(serve("memory:", behaviour, "/"))
        })
        .http("rocket_sqlite", |folder: &Path, behaviour| {
            let url = format!("sqlite://{}/robots.db", folder.display());
            TcpClient::new(serve(&url, behaviour, "/"))
        })
        .http("rocket_under_a_base", |_, behaviour| {
            TcpClient::new(serve("memory:", behaviour, "/some/base")).under("/some/base")
        })
        .run()
}

/// Starts the routes on a free port, for as long as this process lives.
fn serve(url: &str, behaviour: Behaviour, base: &'static str) -> SocketAddr {
    let catalogue = robot_core::open(url).unwrap_or_else(|error| panic!("{error}"));
    let mut settings = Settings::default();
    settings.behaviour = behaviour;
    let figment = Config::figment().merge(("port", 0)).merge(("workers", 2));
    let (ready, listening) = mpsc::channel();
    let rocket = mount(rocket::custom(figment), base, catalogue, &settings).attach(
        AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
            let config = rocket.config();
            let sent = ready.send(SocketAddr::new(config.address, config.port));
            Box::pin(async move { assert_eq!(sent, Ok(())) })
        }),
    );
    thread::spawn(|| rocket::execute(rocket.launch()).is_ok());
    listening.recv().unwrap_or_else(|error| panic!("{error}"))
}
