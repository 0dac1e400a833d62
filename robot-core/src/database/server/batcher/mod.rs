//! Execution of items in batches, on connections of their own.
//!
//! A round trip to a server, and a commit, cost the same for one item and for many. So items queue, and
//! a worker thread executes together all that were queued while it executed the last batch. An item
//! that is alone is executed at once. Usually one worker is enough; if its batch takes long, others
//! take what is queued meanwhile.

mod state;
#[cfg(test)]
mod state_tests;
mod worker;
#[cfg(all(test, feature = "conformance", feature = "postgres"))]
mod worker_tests;

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};

use ::metrics::Counter;
use diesel::{QueryResult, result::Error as DieselError};
use futures_channel::oneshot;

use self::state::{BatcherState, Caller, Job, Wake};
use super::{
    abandoned::NoAnswer,
    backend::Backend,
    connector::{Connection, Connector},
    watchdog::{Alarm, Supervised},
};
use crate::{
    catalogue::{Error, Pending, Result},
    database::{
        locks::lock,
        measuring::{CommitMetrics, QueueMetrics, number, rejected, retries},
    },
};

/// The capacity of a queue. Items beyond it are rejected. Lower values reject bursts that could be
/// served; higher ones make clients wait until their timeout.
const CAPACITY: usize = 4096;

/// How long dropping a batcher waits for its workers. Shorter, and one of them may crash the exiting
/// process; longer, and a silent server delays the exit.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// What a batcher executes, and how.
pub(super) trait Work<B>: Send + Sync + 'static {
    type Item: Send + 'static;
    type Output: Send + 'static;

    /// The name of the queue in metrics.
    const QUEUE: &'static str;

    /// The maximum number of items in a batch.
    const BATCH_LIMIT: usize = 256;

    /// The terms of an item.
    fn terms(&self, item: &Self::Item) -> Terms;

    /// Executes a batch. The inner results are those of the items, in their order.
    fn execute(
        &self,
        connection: &mut Connection<B>,
        items: &[Self::Item],
        attempt: Attempt,
    ) -> Result<Vec<Result<Self::Output>>, BatchFailure>;
}

/// What limits the execution of an item. The items of a batch have equal terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) first_attempt: Attempt,
    /// How long its batch may take before the connection counts as lost. The result of a read is not
    /// needed once this has passed since it was submitted.
    pub(super) limit: Duration,
    /// Whether it may change the database.
    pub(super) is_write: bool,
}

/// Why a batch failed. No item has taken effect, unless the connection was lost during a statement that
/// is a transaction of its own, or during a commit.
pub(super) struct BatchFailure {
    error: DieselError,
    /// Whether the commit was not sent, so that no item has taken effect even if the connection was lost.
    is_uncommitted: bool,
}

impl BatchFailure {
    /// The failure of a statement before those of the items.
    pub(super) fn unsent(error: DieselError) -> Self {
        Self {
            error,
            is_uncommitted: true,
        }
    }
}

impl From<DieselError> for BatchFailure {
    fn from(error: DieselError) -> Self {
        Self {
            error,
            is_uncommitted: false,
        }
    }
}

/// Executes statements in a transaction. A server rolls it back if the connection is lost before the
/// commit.
pub(super) fn transaction<B: Backend, T>(
    connection: &mut B,
    statements: impl FnOnce(&mut B) -> QueryResult<T>,
) -> Result<T, BatchFailure> {
    let mut is_uncommitted = true;
    let result = connection.transaction(|connection| {
        let value = statements(connection)?;
        is_uncommitted = false;
        Ok(value)
    });
    result.map_err(|error| BatchFailure {
        error,
        is_uncommitted,
    })
}

/// How an item is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// With those that are queued.
    InBatch,
    /// Alone: it takes long, or a batch with it has failed.
    Alone,
}

/// A queue, and the workers that execute what is in it. Dropping it waits for them.
pub(super) struct Batcher<B: Backend, W: Work<B>>(Arc<Shared<B, W>>);

/// The data that callers, workers and the watchdog share.
struct Shared<B: Backend, W: Work<B>> {
    work: W,
    connector: Arc<Connector<B>>,
    alarm: Arc<Alarm>,
    state: Mutex<BatcherState<W::Item, W::Output>>,
    /// Wakes an idle worker.
    queued: Condvar,
    /// A worker has ended.
    ended: Condvar,
    metrics: QueueMetrics,
    /// Items that were not executed in time.
    timed_out: Counter,
    /// Items that were executed again.
    retries: Counter,
    commits: CommitMetrics,
}

impl<B: Backend, W: Work<B>> Batcher<B, W> {
    /// A batcher with at most this number of connections. None is opened before it is needed.
    pub(super) fn new(
        work: W,
        connections: usize,
        connector: &Arc<Connector<B>>,
        alarm: &Arc<Alarm>,
    ) -> Self {
        Self(Arc::new(Shared {
            work,
            connector: Arc::clone(connector),
            alarm: Arc::clone(alarm),
            state: Mutex::new(BatcherState::new(connections, W::BATCH_LIMIT)),
            queued: Condvar::new(),
            ended: Condvar::new(),
            metrics: QueueMetrics::new(W::QUEUE),
            timed_out: rejected(W::QUEUE, "timeout"),
            retries: retries(W::QUEUE),
            commits: CommitMetrics::new(),
        }))
    }

    /// What the watchdog supervises.
    pub(super) fn supervised(&self) -> Arc<dyn Supervised> {
        let Self(shared) = self;
        Arc::clone(shared) as Arc<dyn Supervised>
    }

    /// Lets each worker end when nothing is queued any more. Returns until when a drop waits for them.
    pub(super) fn close(&self) -> Instant {
        let Self(shared) = self;
        let deadline = shared.state().close(Instant::now() + SHUTDOWN_TIMEOUT);
        shared.queued.notify_all();
        deadline
    }

    /// Queues an item. The result is an error if it cannot be executed in time.
    pub(super) fn submit(&self, item: W::Item) -> Pending<Result<W::Output>> {
        let Self(shared) = self;
        let now = Instant::now();
        let (sender, receiver) = oneshot::channel();
        let terms = shared.work.terms(&item);
        let caller = Caller {
            sender: Some(sender),
            submitted: now,
            deadline: now + shared.connector.timeout(),
            terms,
            attempts: 0,
        };
        let job = Job { item, caller };
        let mut state = shared.state();
        if state.queue_length() >= CAPACITY {
            shared.metrics.full.increment(1);
            return Pending::ready(Err(too_many()));
        }
        state.queue(job, terms.first_attempt);
        shared.record_length(&state);
        shared.wake_worker(state, now);
        shared.alarm.wake();
        Pending::awaited(async move { receiver.await.unwrap_or_else(|_| Err(lost(terms))) })
    }
}

impl<B: Backend, W: Work<B>> Drop for Batcher<B, W> {
    /// The client library frees its state when the process exits. Threads that still use it could
    /// crash, so wait for them.
    fn drop(&mut self) {
        let limit = self.close().saturating_duration_since(Instant::now());
        let Self(shared) = self;
        let waited = shared
            .ended
            .wait_timeout_while(shared.state(), limit, |state| state.has_workers());
        // The threads that are left wait for a silent server.
        let mut state = waited.map_or_else(|error| error.into_inner().0, |(state, _)| state);
        let queued = state.take_rest();
        let executed = state.abandon_all();
        shared.record_length(&state);
        drop(state);
        shared.reject(queued);
        // Their results are lost.
        drop(executed);
    }
}

impl<B: Backend, W: Work<B>> Shared<B, W> {
    /// No code panics while it holds the lock, so the state is consistent.
    fn state(&self) -> MutexGuard<'_, BatcherState<W::Item, W::Output>> {
        lock(&self.state)
    }

    fn record_length(&self, state: &BatcherState<W::Item, W::Output>) {
        self.metrics.length.set(number(state.queue_length()));
    }

    /// Sends the error of items that were not executed in time.
    fn reject(&self, callers: Vec<Caller<W::Output>>) {
        if callers.is_empty() {
            return;
        }
        self.timed_out.increment(count(&callers));
        let error = self.connector.unavailable();
        for caller in callers {
            caller.send(Err(error.clone()));
        }
    }

    /// Wakes or starts a worker if there is something that it may execute now.
    fn wake_worker(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, BatcherState<W::Item, W::Output>>,
        now: Instant,
    ) {
        match state.wake(now) {
            Wake::None => {}
            Wake::Idle => {
                drop(state);
                self.queued.notify_one();
            }
            Wake::New => {
                drop(state);
                if !self.start_worker() {
                    self.state().remove_worker();
                }
            }
        }
    }

    /// Starts a worker, unless too many wait for a server that does not answer.
    fn start_worker(self: &Arc<Self>) -> bool {
        if self.connector.abandoned().are_too_many() {
            return false;
        }
        let shared = Arc::clone(self);
        let spawned = thread::Builder::new()
            .name("robot-database".to_owned())
            .spawn(move || worker::run(&shared));
        if let Err(error) = &spawned {
            let cause = format!("cannot start a thread for the database: {error}");
            self.connector.note_outage(cause);
        }
        spawned.is_ok()
    }
}

impl<B: Backend, W: Work<B>> Supervised for Shared<B, W> {
    fn supervise(self: Arc<Self>) -> bool {
        let now = Instant::now();
        let mut state = self.state();
        let expired = state.take_expired(now);
        let overdue = state.take_overdue(now);
        let is_busy = state.is_busy();
        self.record_length(&state);
        self.wake_worker(state, now);
        self.reject(expired);
        for batch in overdue {
            self.timed_out.increment(count(&batch.callers));
            self.connector.abandoned().add(batch.token);
            self.connector.validate_all();
            for caller in batch.callers {
                let error = if caller.terms.is_write {
                    Error::unknown(NoAnswer)
                } else {
                    Error::unavailable(NoAnswer)
                };
                caller.send(Err(error));
            }
        }
        is_busy
    }
}

fn count<T>(items: &[T]) -> u64 {
    items.len().try_into().unwrap_or(u64::MAX)
}

fn too_many() -> Error {
    Error::unavailable("too many requests wait for the database")
}

/// The error of an item whose worker has ended without a result.
fn lost(terms: Terms) -> Error {
    let message = "a database thread terminated unexpectedly";
    if terms.is_write {
        Error::unknown(message)
    } else {
        Error::store(message)
    }
}
