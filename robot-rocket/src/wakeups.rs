//! Periodic wake-ups of the worker threads, so that the server accepts requests during a slow disk
//! access.
//!
//! One Tokio worker at a time polls the system for events. It may start to handle a request without
//! waking another worker, and no worker polls while that request blocks on the disk. A task from
//! another thread wakes a sleeping worker, which then polls.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use rocket::{
    Orbit, Rocket,
    fairing::{Fairing, Info, Kind},
    tokio::runtime::Handle,
};

/// The maximum time without polling. A longer one delays requests during slow disk accesses, a
/// shorter one costs CPU time on an idle server.
const INTERVAL: Duration = Duration::from_millis(20);

/// Wakes a worker at regular intervals from the start of the server to its shutdown.
#[derive(Default)]
pub(crate) struct Wakeups {
    is_stopped: Arc<AtomicBool>,
}

#[rocket::async_trait]
impl Fairing for Wakeups {
    fn info(&self) -> Info {
        Info {
            name: "Robot catalogue: wake-ups of worker threads",
            kind: Kind::Liftoff | Kind::Shutdown,
        }
    }

    async fn on_liftoff(&self, _: &Rocket<Orbit>) {
        let is_stopped = Arc::clone(&self.is_stopped);
        let workers = Handle::current();
        let thread = thread::Builder::new().name("robot-wakeups".to_owned());
        let spawned = thread.spawn(move || {
            while !is_stopped.load(Ordering::Relaxed) {
                thread::sleep(INTERVAL);
                drop(workers.spawn(async {}));
            }
        });
        if let Err(error) = spawned {
            tracing::warn!("a slow disk may delay all requests: cannot start a thread: {error}");
        }
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}
