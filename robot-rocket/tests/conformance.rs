//! The conformance cases, over HTTP, for routes at the root and under a base path.

#![expect(clippy::panic, reason = "a service that does not start fails its case")]

use std::{
    io,
    net::SocketAddr,
    process::ExitCode,
    sync::{Arc, LazyLock, mpsc},
    thread,
};

use libtest_mimic::Arguments;
use robot_core::{
    Catalogue, MemoryCatalogue,
    conformance::{
        Answer, Call, Client, Configuration, Framing, Pace, Service, Store, Suite, TcpClient,
    },
};
use robot_rocket::{ServeOptions, Settings, mount, serve};
use rocket::{Build, Config, Orbit, Rocket, fairing::AdHoc};

use described::Descriptions;

mod described;

fn main() -> ExitCode {
    // Installed first, it replaces Rocket's logger, which logs every request.
    env_logger::builder().parse_filters("off").init();
    let suite = Suite::new().http("rocket_memory", memory(), watched).http(
        "rocket_launch_under_a_base",
        memory(),
        launched_by_rocket,
    );
    // Results that a handler waits for: they come in the same way from all database stores.
    #[cfg(feature = "sqlite")]
    let suite = suite.http("rocket_sqlite", sqlite(), at_the_root);
    let result = suite.run();
    let arguments = Arguments::from_args();
    let has_run_all = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let missing = if has_run_all {
        DESCRIPTIONS.missing()
    } else {
        Vec::new()
    };
    if missing.is_empty() {
        return result;
    }
    eprintln!(
        "described, but produced by no case:\n{}",
        missing.join("\n")
    );
    ExitCode::FAILURE
}

static DESCRIPTIONS: LazyLock<Descriptions> = LazyLock::new(Descriptions::default);

/// A server at the root, whose answers are compared with its description.
fn watched(catalogue: Arc<dyn Catalogue>, configuration: Configuration) -> impl Client {
    let client = start("/", catalogue, configuration, serve_bound);
    DESCRIPTIONS.watch(client, configuration)
}

fn memory() -> Store {
    Store::volatile(MemoryCatalogue::new)
}

#[cfg(feature = "sqlite")]
fn sqlite() -> Store {
    Store::persistent(
        |folder| format!("sqlite://{}/robots.db", folder.display()),
        |url| robot_core::open(url).unwrap_or_else(|error| panic!("{error}")),
    )
}

#[cfg(feature = "sqlite")]
fn at_the_root(catalogue: Arc<dyn Catalogue>, configuration: Configuration) -> impl Client {
    start("/", catalogue, configuration, serve_bound)
}

fn launched_by_rocket(catalogue: Arc<dyn Catalogue>, configuration: Configuration) -> impl Client {
    FirstBytes(start("/some/base", catalogue, configuration, launch))
}

/// Sends some bytes of each body that stops. Rocket's server reads the first 14 bytes of a body before
/// it calls a handler, and waits for them without a deadline.
struct FirstBytes<C>(C);

impl<C: Client> Client for FirstBytes<C> {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        let pace = match pace {
            Pace::StopAfter(sent) => Pace::StopAfter(sent.max(14)),
            other => other,
        };
        self.0.deliver(call, framing, pace)
    }
}

fn serve_bound(rocket: Rocket<Build>) {
    let options = ServeOptions::bind(rocket.figment()).unwrap_or_else(|error| panic!("{error}"));
    rocket::execute(serve(rocket, options)).unwrap_or_else(|error| panic!("{error}"));
}

fn launch(rocket: Rocket<Build>) {
    if let Err(error) = rocket::execute(rocket.launch()) {
        // A case may leave a connection open, which is an error at shutdown. Rocket panics if an
        // error is dropped without a look at it.
        error.kind();
    }
}

/// Starts the routes on a free port. Returns when the service accepts connections.
fn start(
    base: &'static str,
    catalogue: Arc<dyn Catalogue>,
    configuration: Configuration,
    run: impl FnOnce(Rocket<Build>) + Send + 'static,
) -> Service<TcpClient> {
    let mut settings = Settings::default();
    settings.api.behaviour = configuration.behaviour;
    settings.api.body_limits.deadline = configuration.body_deadline;
    let figment = Config::figment().merge(("port", 0)).merge(("workers", 2));
    let (ready, listening) = mpsc::channel();
    let rocket = mount(rocket::custom(figment), base, catalogue, &settings).attach(
        AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
            let address = SocketAddr::new(rocket.config().address, rocket.config().port);
            let sent = ready.send((address, rocket.shutdown()));
            Box::pin(async move { assert!(sent.is_ok()) })
        }),
    );
    thread::spawn(|| run(rocket));
    let (address, shutdown) = listening.recv().unwrap_or_else(|error| panic!("{error}"));
    let client = TcpClient::new(address).under(base.trim_end_matches('/'));
    Service::new(client, move || {
        shutdown.notify();
    })
}
