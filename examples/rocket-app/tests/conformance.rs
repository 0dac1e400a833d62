//! The conformance cases for the catalogue in the application.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{net::SocketAddr, process::ExitCode, sync::Arc, sync::mpsc, thread};

use robot_core::{
    Catalogue, MemoryCatalogue,
    conformance::{Client, Configuration, Service, Store, Suite, TcpClient},
};
use robot_rocket::{ServeOptions, serve};
use rocket::{Config, Orbit, Rocket, fairing::AdHoc};

fn main() -> ExitCode {
    // Installed first, it replaces Rocket's logger, which logs every request.
    env_logger::builder().parse_filters("off").init();
    Suite::new()
        .http("application", Store::volatile(MemoryCatalogue::new), client)
        .run()
}

/// Starts the application; it stops when the client is dropped.
fn client(catalogue: Arc<dyn Catalogue>, configuration: Configuration) -> impl Client {
    let figment = Config::figment()
        .merge(("port", 0))
        .merge(("workers", 2))
        .merge(("shutdown.grace", 0))
        .merge(("shutdown.mercy", 0))
        .merge(("behaviour", configuration.behaviour.to_string()));
    let (ready, listening) = mpsc::channel();
    let application = rocket_app::application(figment, catalogue)
        .unwrap_or_else(|error| panic!("{error}"))
        .attach(AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
            let address = SocketAddr::new(rocket.config().address, rocket.config().port);
            let sent = ready.send((address, rocket.shutdown()));
            Box::pin(async move { assert!(sent.is_ok()) })
        }));
    let options = ServeOptions::bind(application.figment());
    let options = options.unwrap_or_else(|error| panic!("{error}"));
    thread::spawn(|| {
        rocket::execute(serve(application, options)).unwrap_or_else(|error| panic!("{error}"));
    });
    let (address, shutdown) = listening.recv().unwrap_or_else(|error| panic!("{error}"));
    Service::new(TcpClient::new(address).under("/catalogue"), move || {
        shutdown.notify();
    })
}
