//! Health checks for supervisors and load balancers: `/livez` and `/readyz`. They take no permit, so that
//! they are answered while all blocking threads are busy.

use std::{
    io::Cursor,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use ::metrics::gauge;
use futures_util::FutureExt;
use robot_core::{Catalogue, Pending, RobotId};
use rocket::{
    Build, Data, Request, Response, Rocket, Route,
    fairing::AdHoc,
    http::{Method, Status},
    route::{Handler, Outcome},
    tokio::{self, sync::watch, time},
};

use crate::{metrics, routes, routing};

/// How long a read of the store may take. With the rest of the request, the answer takes less than a
/// second, the default time limit of Kubernetes.
const READ_TIMEOUT: Duration = Duration::from_millis(800);

/// The interval of the checks that no client requests. Shorter, and an idle server reads more often;
/// longer, and the metric shows an outage later. Prometheus usually reads it every 15 seconds or less
/// often.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Mounts health checks at `/livez` and `/readyz`. The first one answers 200 as long as the process
/// answers. The second one answers 200 if the catalogue can be read, and otherwise, or while the
/// application stops, 503 with the reason. They need no token and accept every `Host`.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::MemoryCatalogue;
/// use robot_rocket::mount_health;
/// use rocket::{http::Status, local::blocking::Client};
///
/// let rocket = mount_health(rocket::build(), Arc::new(MemoryCatalogue::new()));
/// let client = Client::untracked(rocket)?;
/// let response = client.get("/readyz").dispatch();
/// assert_eq!(response.status(), Status::Ok);
/// assert_eq!(response.into_string().as_deref(), Some("ready\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn mount_health(rocket: Rocket<Build>, catalogue: Arc<dyn Catalogue>) -> Rocket<Build> {
    let readiness = Arc::new(Readiness {
        catalogue,
        read: Mutex::default(),
        logged: Mutex::new(State::Ready),
    });
    let rocket = rocket.attach(periodic_checks(&readiness));
    let checks = [("/livez", None), ("/readyz", Some(readiness))];
    let routes = checks.into_iter().flat_map(|(path, readiness)| {
        routes::METHODS
            .map(|method| Route::ranked(routing::HEALTH, method, path, Check(readiness.clone())))
    });
    rocket.mount("/", routes.collect::<Vec<_>>())
}

/// Checks the store from time to time if metrics are served, which then show an outage although no
/// request is made.
fn periodic_checks(readiness: &Arc<Readiness>) -> AdHoc {
    let readiness = Arc::downgrade(readiness);
    AdHoc::on_liftoff("periodic health checks", |_| {
        if metrics::are_served() {
            tokio::spawn(async move {
                while let Some(readiness) = readiness.upgrade() {
                    // The result is recorded.
                    let _ = readiness.state().await;
                    drop(readiness);
                    time::sleep(CHECK_INTERVAL).await;
                }
            });
        }
        Box::pin(async {})
    })
}

/// A check of the store, or only whether the process answers.
#[derive(Clone)]
struct Check(Option<Arc<Readiness>>);

#[rocket::async_trait]
impl Handler for Check {
    async fn handle<'r>(&self, request: &'r Request<'_>, _: Data<'r>) -> Outcome<'r> {
        let is_stopping = || request.rocket().shutdown().now_or_never().is_some();
        let (status, text) = match (request.method(), &self.0) {
            (Method::Get | Method::Head, None) => (Status::Ok, "alive\n"),
            (Method::Get | Method::Head, Some(_)) if is_stopping() => {
                (Status::ServiceUnavailable, "the server is stopping\n")
            }
            (Method::Get | Method::Head, Some(readiness)) => match readiness.state().await {
                Ok(()) => (Status::Ok, "ready\n"),
                Err(reason) => (Status::ServiceUnavailable, reason),
            },
            (Method::Options, _) => (Status::NoContent, ""),
            _ => (Status::MethodNotAllowed, ""),
        };
        let response = Response::build()
            .status(status)
            .raw_header("allow", "GET, HEAD, OPTIONS")
            .raw_header("content-type", "text/plain; charset=utf-8")
            .raw_header("cache-control", "no-store")
            .sized_body(text.len(), Cursor::new(text))
            .finalize();
        Outcome::Success(response)
    }
}

/// Whether the store can be read.
struct Readiness {
    catalogue: Arc<dyn Catalogue>,
    /// The last read, of which the result may not be known yet. Checks at the same time share it, so that
    /// a store that does not answer takes one thread.
    read: Mutex<Option<Read>>,
    /// The state that the log has.
    logged: Mutex<State>,
}

/// The state of the store, of which changes are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Ready,
    /// A read takes too long. Its result may still follow.
    Slow,
    Failed,
}

const SLOW: &str =
    "the database has not answered within 0.8 seconds; the log has the cause if it is known\n";

/// The result of a read, once it is known.
type Read = watch::Receiver<Option<bool>>;

impl Readiness {
    /// The result of a check, which `/readyz` answers: an error if the store is not ready.
    async fn state(self: &Arc<Self>) -> Result<(), &'static str> {
        let mut read = self.read();
        let state = match time::timeout(READ_TIMEOUT, read.wait_for(Option::is_some)).await {
            Ok(Ok(result)) if *result == Some(true) => {
                self.log(State::Ready, "ready again");
                Ok(())
            }
            Ok(_) => Err("the database cannot be read; the log has the cause\n"),
            Err(_) => {
                self.log(
                    State::Slow,
                    "not ready: it has not answered within 0.8 seconds",
                );
                Err(SLOW)
            }
        };
        gauge!("robots_ready").set(u8::from(state.is_ok()));
        state
    }

    /// The read under way, or a new one.
    fn read(self: &Arc<Self>) -> Read {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        // A read whose sender is gone has a result, or has panicked.
        if let Some(read) = read.as_ref().filter(|read| read.has_changed().is_ok()) {
            return read.clone();
        }
        let (sender, receiver) = watch::channel(None);
        let readiness = Arc::clone(self);
        let thread = thread::Builder::new().name("robot-health".to_owned());
        let spawned = thread.spawn(move || sender.send_replace(Some(readiness.can_read())));
        if let Err(error) = spawned {
            tracing::warn!("cannot start a thread to check whether the store is ready: {error}");
        }
        read.insert(receiver).clone()
    }

    fn can_read(&self) -> bool {
        // As requests do: on SQLite, this usually does not wait for the connections that searches use.
        let read = RobotId::new(1).map(|id| self.catalogue.start_get(id));
        let result = read.map_or(Ok(None), Pending::wait);
        if let Err(error) = &result {
            self.log(State::Failed, &format!("not ready: {}", error.with_cause()));
        }
        result.is_ok()
    }

    /// Logs a problem, unless the log has it or one that explains it, or the end of a problem.
    fn log(&self, state: State, message: &str) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let has_ended = state == State::Ready && *logged != State::Ready;
        if has_ended || *logged < state {
            *logged = state;
            tracing::warn!("the store is {message}");
        }
    }
}
