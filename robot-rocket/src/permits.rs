//! Permits for blocking threads: admission control for requests that block.

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

/// One permit for each blocking thread (`max_blocking`), so that no request queues for a thread: if
/// all are taken, it is rejected with 503.
#[derive(Clone)]
pub(crate) struct BlockingPermits {
    all: Arc<Semaphore>,
    /// For work that waits for a client, which may be slow. Other work ends within seconds.
    slow: Arc<Semaphore>,
}

/// The number of blocking threads for each thread that may wait for a client. With a smaller number,
/// slow clients could take the threads of the other requests.
const THREADS_PER_SLOW: usize = 32;

impl BlockingPermits {
    pub(crate) fn new(figment: &Figment) -> Self {
        let count = figment.extract_inner(Config::MAX_BLOCKING);
        let count: usize = count.unwrap_or(Config::default().max_blocking);
        let permits = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Self {
            all: permits(count),
            slow: permits(count.div_ceil(THREADS_PER_SLOW)),
        }
    }

    /// Runs work on a blocking thread, or returns [`Failure::Unavailable`] if all are taken. The work
    /// runs to its end and keeps its permit, even if this future is dropped.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        run(Arc::clone(&self.all).try_acquire_owned(), work).await
    }

    /// As [`run`](Self::run), for work that waits for a client.
    pub(crate) async fn run_slow<T: Send + 'static>(
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

    /// As [`run`](Self::run), but waits for a permit, in the order of the calls: for a response that
    /// has started and can no longer be rejected.
    pub(crate) async fn run_queued<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        run(Arc::clone(&self.all).acquire_owned().await, work).await
    }
}

async fn run<T: Send + 'static, E>(
    permit: Result<OwnedSemaphorePermit, E>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let permit = permit.map_err(|_| Failure::Unavailable)?;
    let work = move || {
        let outcome = work();
        drop(permit);
        outcome
    };
    spawn_blocking(work).await.map_err(|error| {
        log::error!("the thread of a request failed: {error}");
        Failure::Internal
    })
}
