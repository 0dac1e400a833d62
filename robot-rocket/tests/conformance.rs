//! The routes, mounted at the root and under a base path, pass every case as their clients
//! see them.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{net::SocketAddr, path::Path, process::ExitCode, sync::Arc, sync::mpsc, thread};

use robot_core::{
    Catalogue, DatabaseCatalogue, MemoryCatalogue,
    conformance::{Client, Service, Suite, TcpClient},
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
        .http("rocket_memory", memory, |catalogue, behaviour| {
            serve("/", catalogue, behaviour)
        })
        .http("rocket_sqlite", sqlite, |catalogue, behaviour| {
            serve("/", catalogue, behaviour)
        })
        .http("rocket_under_a_base", memory, |catalogue, behaviour| {
            serve("/some/base", catalogue, behaviour)
        })
        .run()
}

fn memory(_: &Path) -> MemoryCatalogue {
    MemoryCatalogue::new()
}

fn sqlite(folder: &Path) -> DatabaseCatalogue {
    let url = format!("sqlite://{}/robots.db", folder.display());
    DatabaseCatalogue::open(&url).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts the routes on a free port.
fn serve(base: &'static str, catalogue: Arc<dyn Catalogue>, behaviour: Behaviour) -> impl Client {
    let mut settings = Settings::default();
    settings.behaviour = behaviour;
    let figment = Config::figment().merge(("port", 0)).merge(("workers", 2));
    let (ready, listening) = mpsc::channel();
    let rocket = mount(rocket::custom(figment), base, catalogue, &settings).attach(
        AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
            let address = SocketAddr::new(rocket.config().address, rocket.config().port);
            let sent = ready.send((address, rocket.shutdown()));
            Box::pin(async move { assert!(sent.is_ok()) })
        }),
    );
    thread::spawn(|| rocket::execute(rocket.launch()).is_ok());
    let (address, shutdown) = listening.recv().unwrap_or_else(|error| panic!("{error}"));
    let client = TcpClient::new(address).under(base.trim_end_matches('/'));
    Service::new(client, move || {
        shutdown.notify();
    })
}
