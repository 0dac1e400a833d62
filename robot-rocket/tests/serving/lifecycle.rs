//! Start and shutdown of a served application.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU16, AtomicUsize, Ordering},
    },
    time::Duration,
};

use robot_rocket::{ServeError, ServeOptions, serve};
use rocket::{Build, Rocket, State, fairing::AdHoc, get, routes, tokio::time::sleep};

use crate::application::{Served, assert_status, body, figment};

/// The number of requests that have ended.
type Ended = Arc<AtomicUsize>;

#[get("/slow")]
async fn slow(ended: &State<Ended>) -> &'static str {
    sleep(Duration::from_millis(700)).await;
    ended.fetch_add(1, Ordering::SeqCst);
    "slow"
}

fn rocket(ended: &Ended) -> Rocket<Build> {
    rocket::custom(figment())
        .manage(Arc::clone(ended))
        .mount("/", routes![slow])
}

#[test]
fn liftoff_fairing_sees_the_chosen_port() {
    let seen = Arc::new(AtomicU16::new(0));
    let port = Arc::clone(&seen);
    let rocket = rocket(&Ended::default()).attach(AdHoc::on_liftoff("port", move |rocket| {
        port.store(rocket.config().port, Ordering::SeqCst);
        Box::pin(async {})
    }));
    let options = ServeOptions::bind(rocket.figment()).unwrap();
    let address = options.address();
    let served = Served::start_with(rocket, options);
    assert_ne!(address.port(), 0);
    assert_eq!(served.address, address);
    assert_eq!(seen.load(Ordering::SeqCst), address.port());
}

#[test]
fn shutdown_finishes_requests_then_runs_fairings() {
    let ended = Ended::default();
    let at_shutdown = Arc::new(AtomicUsize::new(usize::MAX));
    let (requests, seen) = (Arc::clone(&ended), Arc::clone(&at_shutdown));
    let rocket = rocket(&ended).attach(AdHoc::on_shutdown("count", move |_| {
        seen.store(requests.load(Ordering::SeqCst), Ordering::SeqCst);
        Box::pin(async {})
    }));
    let served = Served::start(rocket);
    let (mut active, idle) = (served.connect(), served.connect());
    active.send("GET /slow", "", "");
    std::thread::sleep(Duration::from_millis(200));
    served.stop().unwrap();
    assert_eq!(at_shutdown.load(Ordering::SeqCst), 1);
    let answer = io::read_to_string(active.0).unwrap();
    assert_status(&answer, 200);
    assert_eq!(body(&answer), "slow");
    assert_eq!(io::read_to_string(idle.0).unwrap(), "");
}

#[test]
fn failed_fairing_is_reported() {
    let rocket =
        rocket(&Ended::default()).attach(AdHoc::try_on_ignite("fails", async |rocket| Err(rocket)));
    let options = ServeOptions::bind(rocket.figment()).unwrap();
    let error = rocket::execute(serve(rocket, options)).unwrap_err();
    assert!(matches!(error, ServeError::Launch(_)));
    // Rocket panics if its error is dropped without a look at it.
    assert!(error.to_string().contains("cannot be launched"), "{error}");
}
