//! Permits for blocking threads: admission control for requests that block.

use std::{io, sync::Arc, thread, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, stream};
use robot_core::http::{Chunks, Failure, RequestId};
use rocket::{
    Config,
    figment::Figment,
    tokio::{
        runtime::{Builder, Handle, Runtime},
        sync::Semaphore,
        task::{JoinHandle, spawn_blocking},
        time::timeout,
    },
};

use crate::{
    metrics::{Gauged, SERVER},
    rare_warning::RareWarning,
};

static NO_THREAD: RareWarning = RareWarning::new();

/// One permit for each blocking thread (`max_blocking`), so that no request queues for a thread: if
/// all are taken, it is rejected with 503.
#[derive(Clone)]
pub(crate) struct BlockingPermits {
    all: Arc<Semaphore>,
    /// For work that waits for a client, which may be slow. Other work ends within seconds.
    slow: Arc<Semaphore>,
    /// For work that reads the whole catalogue, and takes a core while it does.
    costly: Arc<Semaphore>,
    /// For responses that have started.
    queued: Arc<QueuedThreads>,
}

/// The number of blocking threads for each thread that may wait for a client. With a smaller number,
/// slow clients could take the threads of the other requests.
const THREADS_PER_SLOW: usize = 32;

/// How long costly work waits for its permit. Shorter, and clients are rejected that would be served soon; longer,
/// and a client that is rejected in the end has waited for longer.
const COSTLY_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of blocking threads for each thread that continues a response. With a smaller number,
/// more lists read a page at the same time, each with a thread and memory of its own; many also wait
/// for a connection to the database, until their lists break off. With a larger one, a slow database
/// delays lists.
const THREADS_PER_QUEUED: usize = 32;

/// A runtime that only has blocking threads, and a queue for them. Those of the server would not do:
/// Tokio starts another thread whenever none is idle at the moment, up to `max_blocking`, so that slow
/// readers of lists would cost hundreds of threads.
struct QueuedThreads {
    handle: Handle,
    /// `None` while it is dropped.
    runtime: Option<Runtime>,
}

impl QueuedThreads {
    fn new(count: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(count.max(1))
            .thread_name("robot-lists")
            .build()?;
        Ok(Self {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })
    }
}

impl Drop for QueuedThreads {
    fn drop(&mut self) {
        // Otherwise, the end would wait for the threads, which is forbidden in async code.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl BlockingPermits {
    pub(crate) fn new(figment: &Figment) -> io::Result<Self> {
        let count = figment.extract_inner(Config::MAX_BLOCKING);
        let count: usize = count.unwrap_or(Config::default().max_blocking);
        SERVER
            .threads_limit
            .set(u32::try_from(count).unwrap_or(u32::MAX));
        let permits = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Ok(Self {
            all: permits(count),
            slow: permits(count.div_ceil(THREADS_PER_SLOW)),
            costly: permits(
                thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2)),
            ),
            queued: Arc::new(QueuedThreads::new(count.div_ceil(THREADS_PER_QUEUED))?),
        })
    }

    /// Runs work of a request on a blocking thread, or returns [`Failure::Unavailable`] if all are taken.
    /// The work runs to its end and keeps its permit, even if this future is dropped.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        request_id: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = Arc::clone(&self.all).try_acquire_owned();
        let permit = permit.map_err(|_| {
            SERVER.no_thread.increment(1);
            if NO_THREAD.claim() {
                tracing::warn!(
                    "requests get 503: all blocking threads are in use, as many as max_blocking permits; \
                     the database is slow, or overloaded"
                );
            }
            Failure::Unavailable
        })?;
        let busy = Gauged::new(&SERVER.threads);
        outcome(spawn_blocking(holding((permit, busy), work)), request_id).await
    }

    /// As [`run`](Self::run), for work that waits for a client.
    pub(crate) async fn run_slow<T: Send + 'static>(
        &self,
        request_id: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let slow = Arc::clone(&self.slow).try_acquire_owned();
        let slow = slow.map_err(|_| {
            SERVER.no_slow_thread.increment(1);
            Failure::Unavailable
        })?;
        self.run(request_id, holding(slow, work)).await
    }

    /// As [`run`](Self::run), for work that reads the whole catalogue. Half of the cores, at most, do such work,
    /// so that it does not delay other requests.
    pub(crate) async fn run_costly<T: Send + 'static>(
        &self,
        request_id: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let costly = timeout(COSTLY_TIMEOUT, Arc::clone(&self.costly).acquire_owned()).await;
        let Ok(Ok(costly)) = costly else {
            SERVER.no_slow_thread.increment(1);
            return Err(Failure::Unavailable);
        };
        self.run(request_id, holding(costly, work)).await
    }

    /// The pieces of a streamed body, each read when the client has received the previous one.
    pub(crate) fn pieces(
        &self,
        chunks: Chunks,
        request_id: RequestId,
    ) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
        let state = (chunks, self.clone(), request_id);
        stream::try_unfold(state, |(mut chunks, permits, request_id)| async {
            let read = move || (chunks.next(), chunks);
            let read = permits.run_queued(request_id.as_str(), read).await;
            let (piece, chunks) = read.map_err(|_| io::Error::other("the list cannot be read"))?;
            let piece = piece.transpose().map_err(io::Error::other)?;
            Ok(piece.map(|bytes| (Bytes::from(bytes), (chunks, permits, request_id))))
        })
    }

    /// Runs work on one of a few further threads, in the order of the calls: for a response that has
    /// started and can no longer be rejected. It takes no permit while it waits, since slow lists
    /// would take those of all other requests.
    async fn run_queued<T: Send + 'static>(
        &self,
        request_id: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        outcome(self.queued.handle.spawn_blocking(work), request_id).await
    }
}

/// Work that holds a permit until its end.
fn holding<T>(permit: impl Send + 'static, work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    move || {
        let outcome = work();
        drop(permit);
        outcome
    }
}

/// What the blocking thread of a request returned.
async fn outcome<T>(thread: JoinHandle<T>, request_id: &str) -> Result<T, Failure> {
    thread.await.map_err(|error| {
        tracing::error!(request_id, "the thread of a request failed: {error}");
        Failure::Internal
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rocket::tokio;

    use super::*;

    #[test]
    fn waiting_lists_leave_permits_to_other_requests() {
        let figment = Config::figment().merge((Config::MAX_BLOCKING, 1));
        let permits = BlockingPermits::new(&figment).unwrap();
        let runtime = Builder::new_current_thread().build().unwrap();
        let (end, ended) = mpsc::channel::<()>();
        let list = permits.run_queued("1", move || ended.recv().is_err());
        let waiting_list = permits.run_queued("2", || 2);
        let request = async {
            let answer = permits.run("3", || 3).await;
            drop(end);
            answer
        };
        let outcomes = runtime.block_on(async { tokio::join!(list, waiting_list, request) });
        assert!(matches!(outcomes, (Ok(true), Ok(2), Ok(3))));
    }
}
