//! Permits for blocking threads: admission control for requests that block.

use std::{io, pin::pin, sync::Arc, thread, time::Duration};

use ::metrics::{counter, gauge};
use bytes::Bytes;
use futures_util::{Stream, stream};
use robot_core::{
    http::{Chunks, Exchange, Failure, RequestId},
    metrics::Counted,
};
use rocket::{
    Config,
    figment::Figment,
    tokio::{
        sync::{OwnedSemaphorePermit, Semaphore},
        task::spawn_blocking,
        time::timeout,
    },
};

use crate::{
    import_client::{ImportClient, ImportClients},
    rare_warning::{OVERLOAD, RareWarning},
};

static NO_THREAD: RareWarning = RareWarning::new(OVERLOAD);

/// One permit for each blocking thread (`max_blocking`), so that no request queues for a thread: if
/// all are taken, it is rejected with 503.
#[derive(Clone)]
pub(crate) struct BlockingPermits {
    all: Arc<Semaphore>,
    imports: Arc<Semaphore>,
    import_clients: Arc<ImportClients>,
    /// For half of the cores: costly work takes one, and may not delay other requests.
    costly: Arc<Semaphore>,
    /// For responses that have started, on further threads.
    started: Arc<Semaphore>,
}

/// The number of blocking threads for each import, whose thread may wait for a client. With a smaller number,
/// slow clients could take the threads of the other requests.
const THREADS_PER_IMPORT: usize = 32;

/// How long an import waits for its permit, and the pause after which it looks for one that can be ended in its favour.
/// Shorter, and it is rejected while clients of others begin to lag; longer, and a client that is rejected in the end
/// has waited for longer.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(4);
const IMPORT_PAUSE: Duration = Duration::from_millis(100);

/// How long costly work waits for its permit. Shorter, and clients are rejected that would be served soon; longer,
/// and a client that is rejected in the end has waited for longer.
const COSTLY_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of threads that continue responses, for this number of blocking threads. With more,
/// more lists read a page at the same time, each with a thread and memory of its own; many also wait
/// for a connection to the database, until their lists break off. With fewer, a slow database
/// delays lists.
pub(crate) fn further_threads(max_blocking: usize) -> usize {
    max_blocking.div_ceil(32).max(1)
}

impl BlockingPermits {
    pub(crate) fn new(figment: &Figment) -> Self {
        let count = figment.extract_inner(Config::MAX_BLOCKING);
        let count: usize = count.unwrap_or(Config::default().max_blocking);
        gauge!("robots_blocking_threads_limit").set(u32::try_from(count).unwrap_or(u32::MAX));
        let permits = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        let cores = thread::available_parallelism().map_or(1, Into::into);
        Self {
            all: permits(count),
            imports: permits(count.div_ceil(THREADS_PER_IMPORT)),
            import_clients: Arc::default(),
            costly: permits(cores.div_ceil(2)),
            started: permits(further_threads(count)),
        }
    }

    /// Runs work of a request on a blocking thread, or returns [`Failure::Unavailable`] if all are taken.
    /// The work runs to its end and keeps its permits, even if this future is dropped.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        exchange: &Exchange,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let mut costly = None;
        if exchange.is_costly() {
            let permit = timeout(COSTLY_TIMEOUT, Arc::clone(&self.costly).acquire_owned());
            costly = Some(permit.await.map_err(|_| rejected("costly"))?);
        }
        self.run_with(costly, exchange, work).await
    }

    /// Runs an import as [`run`](Self::run). If there are too many, it waits until a full piece has
    /// arrived, and then for a permit. Meanwhile the import with the slowest client is ended.
    pub(crate) async fn run_import<T: Send + 'static>(
        &self,
        client: &Arc<ImportClient>,
        exchange: &Exchange,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = if let Ok(permit) = Arc::clone(&self.imports).try_acquire_owned() {
            permit
        } else {
            client.is_ahead.cancelled().await;
            let permit = timeout(IMPORT_TIMEOUT, self.import_permit()).await;
            permit.ok().flatten().ok_or_else(|| rejected("imports"))?
        };
        self.import_clients.add(client);
        self.run_with(permit, exchange, work).await
    }

    async fn import_permit(&self) -> Option<OwnedSemaphorePermit> {
        let mut permit = pin!(Arc::clone(&self.imports).acquire_owned());
        let mut has_ended_one = false;
        loop {
            if let Ok(permit) = timeout(IMPORT_PAUSE, permit.as_mut()).await {
                return permit.ok();
            }
            has_ended_one = has_ended_one || self.import_clients.end_slowest();
        }
    }

    /// Runs work that has a permit of its kind.
    async fn run_with<T: Send + 'static>(
        &self,
        of_kind: impl Send + 'static,
        exchange: &Exchange,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let Ok(permit) = Arc::clone(&self.all).try_acquire_owned() else {
            if NO_THREAD.claim() {
                tracing::warn!(
                    "requests get 503: all blocking threads are in use, as many as max_blocking permits; \
                     the database is slow, or overloaded"
                );
            }
            return Err(rejected("all"));
        };
        let busy = Counted::new(gauge!("robots_blocking_threads_busy"));
        run((permit, of_kind, busy), exchange.request_id(), work).await
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
            // The response has started and can no longer be rejected: it waits for one of a few further threads.
            let permit = Arc::clone(&permits.started).acquire_owned().await;
            let read = run(permit, &request_id, read).await;
            let (piece, chunks) = read.map_err(|_| io::Error::other("the list cannot be read"))?;
            let piece = piece.transpose().map_err(io::Error::other)?;
            Ok(piece.map(|bytes| (Bytes::from(bytes), (chunks, permits, request_id))))
        })
    }
}

/// The failure of a request that gets no permit.
fn rejected(limit: &'static str) -> Failure {
    counter!("robots_blocking_threads_rejected_total", "limit" => limit).increment(1);
    Failure::Unavailable
}

/// Runs work on a blocking thread, which holds permits until its end.
async fn run<T: Send + 'static>(
    permits: impl Send + 'static,
    request_id: &RequestId,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    // The permits are free after the thread is: otherwise, each piece of a list could start a thread.
    let thread = spawn_blocking(move || (work(), permits));
    let outcome = thread.await.map(|(outcome, _)| outcome);
    outcome.map_err(|error| {
        tracing::error!(
            request_id = request_id.as_str(),
            "the thread of a request failed: {error}"
        );
        Failure::Internal
    })
}

#[cfg(test)]
mod tests {
    use std::{iter, pin::pin, sync::mpsc};

    use futures_util::StreamExt;
    use robot_core::{MemoryCatalogue, http::Api};
    use rocket::tokio;

    use super::*;

    #[test]
    fn waiting_lists_leave_permits_to_other_requests() {
        let figment = Config::figment().merge((Config::MAX_BLOCKING, 1));
        let permits = BlockingPermits::new(&figment);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let (end, ended) = mpsc::channel::<()>();
        let list = |start: Box<dyn FnOnce() + Send>| {
            let chunks = iter::once_with(move || {
                start();
                Ok(b"[]".to_vec())
            });
            let pieces = permits.pieces(Box::new(chunks), RequestId::random());
            async { pin!(pieces).next().await.is_some_and(|piece| piece.is_ok()) }
        };
        let stalled_list = list(Box::new(move || _ = ended.recv()));
        let waiting_list = list(Box::new(|| ()));
        let (head, ()) = hyper::Request::new(()).into_parts();
        let exchange = Api::new(Arc::new(MemoryCatalogue::new())).receive(head);
        let request = async {
            let answer = permits.run(&exchange, || 3).await;
            drop(end);
            answer
        };
        let outcomes =
            runtime.block_on(async { tokio::join!(stalled_list, waiting_list, request) });
        assert!(matches!(outcomes, (true, true, Ok(3))));
    }
}
