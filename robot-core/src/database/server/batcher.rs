//! Execution of items in batches.
//!
//! A round trip to a server, and a commit, cost the same for one item and for many. So items queue, and a
//! dispatcher executes together all that were queued while the last batch was executed. An item that is alone is
//! executed at once. If a batch takes long, the next one is executed beside it.

use std::{
    future::Future,
    mem,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use diesel::QueryResult;
use futures_channel::oneshot;
use tokio::{
    runtime::Handle,
    sync::{
        Mutex,
        mpsc::{self, Receiver, Sender, error::TrySendError},
    },
    time::timeout,
};

use super::{
    backend::Backend,
    connection::Connection,
    connector::Connector,
    operation::Operation,
    pool::{ExecutionError, Fault, Lease, Pool, Statements},
};
use crate::{
    catalogue::{Error, Pending, Result},
    database::measuring::number,
};

/// The capacity of a queue. Items beyond it are rejected. Lower values reject bursts that could be
/// served; higher ones make clients wait until their timeout.
const CAPACITY: usize = 4096;

/// The maximum number of items in a batch. Fewer, and more round trips; more, and the first item of a batch
/// waits longer for the others.
pub(super) const BATCH_LIMIT: usize = 256;

/// How long a batch keeps others from being executed beside it. Shorter, and batches are smaller; longer, and
/// a batch that waits for a lock delays others.
const PATIENCE: Duration = Duration::from_millis(20);

/// What a batcher executes, and how.
pub(super) trait Work<B>: Send + Sync + 'static {
    type Item: Send + Sync + 'static;
    type Output: Send + 'static;

    /// The name of the queue in metrics.
    const QUEUE: &'static str;

    /// The kind of a batch.
    const BATCH: Operation;

    /// The kind of an item that is executed alone, because a batch with it has failed.
    const ALONE: Operation;

    /// Executes items. The inner results are those of the items, in their order.
    fn execute(
        &self,
        connection: &mut Connection<B>,
        items: &[&Self::Item],
        operation: Operation,
    ) -> impl Future<Output = QueryResult<Vec<Result<Self::Output>>>> + Send;
}

/// A queue, and the tasks that execute what is in it.
pub(super) struct Batcher<B: Backend, W: Work<B>> {
    sender: Sender<Job<W::Item, W::Output>>,
    pub(super) pool: Arc<Pool<B>>,
    /// Each job has another reference to it.
    pending: Arc<()>,
}

/// An item that is queued or executed.
struct Job<I, O> {
    item: I,
    sender: oneshot::Sender<Result<O>>,
    submitted: Instant,
    _pending: Arc<()>,
}

impl<I, O> Job<I, O> {
    fn respond(self, result: Result<O>) {
        // The caller may have dropped its receiver.
        let _ = self.sender.send(result);
    }
}

impl<B: Backend, W: Work<B>> Batcher<B, W> {
    /// A batcher with at most this number of connections. None is opened before it is needed.
    pub(super) fn new(
        work: W,
        connections: usize,
        connector: &Arc<Connector<B>>,
        runtime: &Handle,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let pool = Pool::new(W::QUEUE, connections, connector);
        let shared = Arc::new(Shared {
            work,
            pool: Arc::clone(&pool),
            receiver: Mutex::new(receiver),
        });
        // A panic costs one batch only.
        runtime.spawn(async move {
            while tokio::spawn(Arc::clone(&shared).dispatch()).await.is_err() {}
        });
        Self {
            sender,
            pool,
            pending: Arc::default(),
        }
    }

    /// Queues an item. The result is an error if it cannot be executed in time.
    pub(super) fn submit(&self, item: W::Item) -> Pending<Result<W::Output>> {
        let (sender, receiver) = oneshot::channel();
        let job = Job {
            item,
            sender,
            submitted: Instant::now(),
            _pending: Arc::clone(&self.pending),
        };
        match self.sender.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                self.pool.metrics.full.increment(1);
                let error = Error::unavailable("too many requests wait for the database");
                return Pending::ready(Err(error));
            }
            // The runtime has ended.
            Err(TrySendError::Closed(_)) => return Pending::ready(Err(lost(W::BATCH))),
        }
        let length = CAPACITY - self.sender.capacity();
        self.pool.metrics.length.set(number(length));
        Pending::awaited(async { receiver.await.unwrap_or_else(|_| Err(lost(W::BATCH))) })
    }

    /// Whether nothing is queued or executed.
    pub(super) fn is_idle(&self) -> bool {
        Arc::strong_count(&self.pending) == 1
    }
}

/// Items that are executed together.
struct Batch<'a, W, I> {
    work: &'a W,
    items: Vec<&'a I>,
    operation: Operation,
}

impl<B, W: Work<B>> Statements<B, Vec<Result<W::Output>>> for Batch<'_, W, W::Item> {
    async fn execute(&self, connection: &mut Connection<B>) -> QueryResult<Vec<Result<W::Output>>> {
        self.work
            .execute(connection, &self.items, self.operation)
            .await
    }
}

/// What the tasks of a batcher share.
struct Shared<B: Backend, W: Work<B>> {
    work: W,
    pool: Arc<Pool<B>>,
    receiver: Mutex<Receiver<Job<W::Item, W::Output>>>,
}

impl<B: Backend, W: Work<B>> Shared<B, W> {
    /// Executes what is queued, until the batcher is dropped.
    async fn dispatch(self: Arc<Self>) {
        let mut receiver = self.receiver.lock().await;
        let mut queued = Vec::new();
        loop {
            let Some(first) = queued.first() else {
                if receiver.recv_many(&mut queued, BATCH_LIMIT).await == 0 {
                    return;
                }
                continue;
            };
            let mut lease = match self.pool.lease(W::BATCH, first.submitted).await {
                Ok(lease) => lease,
                Err(failure) => {
                    queued.remove(0).respond(Err(failure.into()));
                    continue;
                }
            };
            if !receiver.is_empty() {
                let rest = BATCH_LIMIT - queued.len();
                receiver.recv_many(&mut queued, rest).await;
            }
            self.pool.metrics.length.set(number(receiver.len()));
            lease.items = queued.len();
            let mut batch = Arc::clone(&self).execute(lease, mem::take(&mut queued));
            // Not a task from the start: waking another task would delay the next batch.
            if timeout(PATIENCE, &mut batch).await.is_err() {
                tokio::spawn(batch);
            }
        }
    }

    /// Executes a batch, or its items alone if it fails and has changed nothing.
    fn execute(
        self: Arc<Self>,
        lease: Lease<B>,
        jobs: Vec<Job<W::Item, W::Output>>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let (work, operation) = (&self.work, lease.operation);
            let items = jobs.iter().map(|job| &job.item).collect();
            let batch = Batch {
                work,
                items,
                operation,
            };
            match self.pool.repeat(lease, &batch).await {
                Ok(results) => {
                    for (job, result) in jobs.into_iter().zip(results) {
                        job.respond(result);
                    }
                }
                // Probably not caused by most of the items.
                Err(ExecutionError(fault, error))
                    if fault > Fault::Final && operation == W::BATCH =>
                {
                    for job in jobs {
                        tokio::spawn(Arc::clone(&self).execute_alone(job, error.clone()));
                    }
                }
                Err(ExecutionError(_, error)) => {
                    for job in jobs {
                        job.respond(Err(error.clone()));
                    }
                }
            }
        })
    }

    /// Executes an item after a batch with it has failed. If its time is up, that failure is its result.
    async fn execute_alone(self: Arc<Self>, job: Job<W::Item, W::Output>, failure: Error) {
        match self.pool.lease(W::ALONE, job.submitted).await {
            Ok(lease) => self.execute(lease, vec![job]).await,
            Err(late) => job.respond(Err(self.pool.reason(failure, late).into())),
        }
    }
}

/// The error of an item that was dropped without a result.
fn lost(operation: Operation) -> Error {
    let message = "a database task ended unexpectedly";
    if operation.is_write() {
        Error::unknown(message)
    } else {
        Error::store(message)
    }
}
