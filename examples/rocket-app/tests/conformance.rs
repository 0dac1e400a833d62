//! The catalogue in the application passes every case of the contract, as its clients see it.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{net::SocketAddr, process::ExitCode, sync::mpsc, thread};

use robot_core::{
    conformance::{Suite, TcpClient},
    http::Behaviour,
};
use rocket::{Config, Orbit, Rocket, fairing::AdHoc};

fn main() -> ExitCode {
    // Whatever logger is there first silences Rocket's, which tells of every request.
    env_logger::builder().parse_filters("off").init();
    Suite::new()
        .http("application_memory", |_, behaviour| {
            client("memory:", behaviour)
        })
        .http("application_sqlite", |folder, behaviour| {
            client(
                &format!("sqlite://{}/robots.db", folder.display()),
                behaviour,
            )
        })
        .run()
}

/// A client of the catalogue in an application that lives as long as this process.
fn client(url: &str, behaviour: Behaviour) -> TcpClient {
    let catalogue = robot_core::open(url).unwrap_or_else(|error| panic!("{error}"));
    let figment = Config::figment()
        .merge(("port", 0))
        .merge(("workers", 2))
        .merge(("behaviour", behaviour.to_string()));
    let (ready, listening) = mpsc::channel();
    let application = rocket_app::application(figment, catalogue)
        .unwrap_or_else(|error| panic!("{error}"))
        .attach(AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
            let config = rocket.config();
            let sent = ready.send(SocketAddr::new(config.address, config.port));
            Box::pin(async move { assert_eq!(sent, Ok(())) })
        }));
    thread::spawn(|| rocket::execute(application.launch()).is_ok());
    let address = listening.recv().unwrap_or_else(|error| panic!("{error}"));
    TcpClient::new(address).under("/catalogue")
}
