//! The threads that may block: how many requests have one, or wait for one, at a time.

use std::sync::Arc;

use robot_core::http::Failure;
use rocket::{
    Config,
    figment::Figment,
    tokio::{
        sync::{OwnedSemaphorePermit, Semaphore},
        task::spawn_blocking,
    },
};

/// As many as Rocket has (`max_blocking`), so that no request waits behind more others than are
/// being answered: one that finds them all taken is better told to come again.
#[derive(Clone)]
pub(crate) struct BlockingThreads {
    all: Arc<Semaphore>,
    /// How many of them may wait for what a client sends, who may be in no hurry. Threads that
    /// wait for the store alone come back within seconds.
    slow: Arc<Semaphore>,
}

/// Of so many threads, one may wait for a client.
const SLOW_SHARE: usize = 32;

impl BlockingThreads {
    pub(crate) fn of(figment: &Figment) -> Self {
        let count = figment.extract_inner(Config::MAX_BLOCKING);
        let count: usize = count.unwrap_or(Config::default().max_blocking);
        // No request can take up more than there can be permits.
        let permits = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self {
            all: permits(count),
            slow: permits(count.div_ceil(SLOW_SHARE)),
        }
    }

    /// Runs work on one of them, unless all are taken. It is done to its end even where nobody
    /// waits for it any more, and has its thread until then.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        match Arc::clone(&self.all).try_acquire_owned() {
            Ok(thread) => run_on(thread, work).await,
            Err(_) => Err(Failure::Unavailable),
        }
    }

    /// Runs work that waits for what a client sends, unless that is what too many do.
    pub(crate) async fn run_for_a_client<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let slow = Arc::clone(&self.slow).try_acquire_owned();
        let slow = slow.map_err(|_| Failure::Unavailable)?;
        self.run(move || {
            let outcome = work();
            drop(slow);
            outcome
        })
        .await
    }

    /// Runs work on one of them as soon as one is free, before those who come later: for what has
    /// begun and can no longer be refused.
    pub(crate) async fn run_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        match Arc::clone(&self.all).acquire_owned().await {
            Ok(thread) => run_on(thread, work).await,
            Err(_) => Err(Failure::Unavailable),
        }
    }
}

async fn run_on<T: Send + 'static>(
    thread: OwnedSemaphorePermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let work = move || {
        let outcome = work();
        drop(thread);
        outcome
    };
    spawn_blocking(work).await.map_err(|error| {
        log::error!("a request was given up: {error}");
        Failure::Internal
    })
}
