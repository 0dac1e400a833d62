//! Keeps the server listening while a worker waits for a disk.
//!
//! One worker at a time asks the system for what has arrived. Before it handles that itself, it
//! does not always wake another one to ask on, and should it then wait for the disk, nobody would
//! listen until it has done. A task from outside wakes a worker that sleeps, which then asks.

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

/// How long nobody may listen.
const PAUSE: Duration = Duration::from_millis(20);

/// Wakes a worker again and again, from the start of the server to its end.
#[derive(Default)]
pub(crate) struct Listening {
    is_over: Arc<AtomicBool>,
}

#[rocket::async_trait]
impl Fairing for Listening {
    fn info(&self) -> Info {
        Info {
            name: "Robot catalogue: listening while a disk is slow",
            kind: Kind::Liftoff | Kind::Shutdown,
        }
    }

    async fn on_liftoff(&self, _: &Rocket<Orbit>) {
        let is_over = Arc::clone(&self.is_over);
        let workers = Handle::current();
        let thread = thread::Builder::new().name("robot-listening".to_owned());
        let spawned = thread.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(PAUSE);
                drop(workers.spawn(async {}));
            }
        });
        if let Err(error) = spawned {
            log::warn!("a slow disk may keep the server from listening: {error}");
        }
    }

    async fn on_shutdown(&self, _: &Rocket<Orbit>) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
