//! Execution of items in batches.
//!
//! A round trip to a server, and a commit, cost the same for one item and for many. So items queue, and a task
//! executes together all that were queued while the last batch was executed. An item that is alone is
//! executed at once. If a batch takes long, a further task takes what is queued meanwhile.

use std::{
    collections::VecDeque,
    future::Future,
    hash::{BuildHasher, RandomState},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use ::metrics::Counter;
use diesel::QueryResult;
use futures_channel::oneshot;
use tokio::{
    runtime::Handle,
    time::{sleep, sleep_until, timeout},
};

use super::{
    backend::Backend,
    connection::Connection,
    connections::{Connections, Failure},
    connector::Connector,
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

/// The maximum number of items in a batch. Fewer, and more round trips; more, and the first item of a batch
/// waits longer for the others.
const BATCH_LIMIT: usize = 256;

/// How long a batch keeps others from being executed beside it. Shorter, and batches are smaller; longer, and
/// a batch that waits for a lock delays others.
const PATIENCE: Duration = Duration::from_millis(20);

/// Maximum number of repetitions of an item that conflicts with other transactions. Fewer, and writes
/// fail under contention; more, and conflicting writes add load to a server that is overloaded. The
/// pauses between eight take a seventh of a second, a fraction of the default timeout.
pub(super) const ATTEMPTS: u32 = 8;

/// What a batcher executes, and how.
pub(super) trait Work<B>: Send + Sync + 'static {
    type Item: Send + Sync + 'static;
    type Output: Send + 'static;

    /// The name of the queue in metrics.
    const QUEUE: &'static str;

    /// Whether items change the database.
    const IS_WRITE: bool;

    /// How long a batch may take before its connection counts as lost.
    fn limit(&self) -> Duration;

    /// Executes a batch. The inner results are those of the items, in their order.
    fn execute(
        &self,
        connection: &mut Connection<B>,
        items: &[Self::Item],
        attempt: Attempt,
    ) -> impl Future<Output = QueryResult<Vec<Result<Self::Output>>>> + Send;
}

/// How an item is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// With those that are queued.
    InBatch,
    /// Alone, because a batch with it has failed.
    Alone,
}

/// A queue, and the tasks that execute what is in it.
pub(super) struct Batcher<B: Backend, W: Work<B>>(Arc<Shared<B, W>>);

struct Shared<B: Backend, W: Work<B>> {
    work: W,
    connector: Arc<Connector<B>>,
    connections: Arc<Connections<B>>,
    runtime: Handle,
    state: Mutex<State<W::Item, W::Output>>,
    metrics: QueueMetrics,
    /// Items that were not executed in time.
    timed_out: Counter,
    /// Items that were executed again.
    retries: Counter,
    commits: CommitMetrics,
}

/// An item that is queued or executed.
struct Job<I, O> {
    item: I,
    caller: Caller<O>,
}

struct Caller<O> {
    sender: oneshot::Sender<Result<O>>,
    submitted: Instant,
    /// How often the item was executed.
    attempts: u32,
}

/// What is queued, and how much is executed.
struct State<I, O> {
    queued: VecDeque<Job<I, O>>,
    alone: VecDeque<Job<I, O>>,
    /// Whether the next batch has to wait for the one that is executed.
    is_led: bool,
    /// The batches and single items that are executed.
    turns: usize,
    turns_alone: usize,
    max_turns: usize,
    /// Whether a task waits until jobs expire.
    is_expiring: bool,
}

impl<I, O> State<I, O> {
    /// The right to execute something that is queued. Items that are executed alone leave a turn to the batches.
    fn begin_turn(&mut self) -> Option<Attempt> {
        if self.turns >= self.max_turns {
            return None;
        }
        if !self.is_led && !self.queued.is_empty() {
            self.is_led = true;
            self.turns += 1;
            return Some(Attempt::InBatch);
        }
        let leaves_one = self.turns_alone + 1 < self.max_turns.max(2);
        if leaves_one && !self.alone.is_empty() {
            self.turns_alone += 1;
            self.turns += 1;
            return Some(Attempt::Alone);
        }
        None
    }

    fn take(&mut self, attempt: Attempt) -> Vec<Job<I, O>> {
        let (queue, limit) = match attempt {
            Attempt::InBatch => (&mut self.queued, BATCH_LIMIT),
            Attempt::Alone => (&mut self.alone, 1),
        };
        let count = limit.min(queue.len());
        queue.drain(..count).collect()
    }

    /// Takes the jobs that were submitted before this time.
    fn take_before(&mut self, time: Instant) -> Vec<Job<I, O>> {
        let mut expired = Vec::new();
        for queue in [&mut self.queued, &mut self.alone] {
            let (before, rest) = queue.drain(..).partition(|job| job.caller.submitted < time);
            *queue = rest;
            expired.extend::<VecDeque<_>>(before);
        }
        expired
    }

    fn first_submitted(&self) -> Option<Instant> {
        let jobs = self.queued.iter().chain(&self.alone);
        jobs.map(|job| job.caller.submitted).min()
    }

    fn length(&self) -> usize {
        self.queued.len() + self.alone.len()
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
        Self(Arc::new(Shared {
            work,
            connector: Arc::clone(connector),
            connections: Connections::new(connector),
            runtime: runtime.clone(),
            state: Mutex::new(State {
                queued: VecDeque::new(),
                alone: VecDeque::new(),
                is_led: false,
                turns: 0,
                turns_alone: 0,
                max_turns: connections,
                is_expiring: false,
            }),
            metrics: QueueMetrics::new(W::QUEUE),
            timed_out: rejected(W::QUEUE, "timeout"),
            retries: retries(W::QUEUE),
            commits: CommitMetrics::new(),
        }))
    }

    /// Queues an item. The result is an error if it cannot be executed in time.
    pub(super) fn submit(&self, item: W::Item) -> Pending<Result<W::Output>> {
        let Self(shared) = self;
        let (sender, receiver) = oneshot::channel();
        let caller = Caller {
            sender,
            submitted: Instant::now(),
            attempts: 0,
        };
        let mut state = shared.state();
        if state.length() >= CAPACITY {
            shared.metrics.full.increment(1);
            let error = Error::unavailable("too many requests wait for the database");
            return Pending::ready(Err(error));
        }
        state.queued.push_back(Job { item, caller });
        shared.begin_turns(state);
        Pending::awaited(async move { receiver.await.unwrap_or_else(|_| Err(lost(W::IS_WRITE))) })
    }

    /// Whether nothing is queued or executed.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.0.state();
        state.turns == 0 && state.length() == 0
    }

    /// Closes the connections that are not used.
    pub(super) fn close(&self) {
        self.0.connections.close();
    }
}

impl<B: Backend, W: Work<B>> Shared<B, W> {
    /// No code panics while it holds the lock, so the state is consistent.
    fn state(&self) -> MutexGuard<'_, State<W::Item, W::Output>> {
        lock(&self.state)
    }

    /// Starts tasks for what is queued, as far as may be executed now.
    fn begin_turns(self: &Arc<Self>, mut state: MutexGuard<'_, State<W::Item, W::Output>>) {
        self.metrics.length.set(number(state.length()));
        // At most a batch and a single item: each of these starts the next one.
        let attempts = [state.begin_turn(), state.begin_turn()];
        let is_first = !state.is_expiring && state.length() > 0;
        state.is_expiring |= is_first;
        // A runtime that has ended drops the tasks at once.
        drop(state);
        for attempt in attempts.into_iter().flatten() {
            let turn = Turn {
                shared: Arc::clone(self),
                attempt,
                is_leading: attempt == Attempt::InBatch,
                has_begun: false,
            };
            self.runtime.spawn(turn.take());
        }
        if is_first {
            self.runtime.spawn(Arc::clone(self).reject_expired());
        }
    }

    async fn execute(
        &self,
        mut connection: Connection<B>,
        jobs: Vec<Job<W::Item, W::Output>>,
        attempt: Attempt,
    ) {
        let (items, callers): (Vec<_>, Vec<_>) =
            jobs.into_iter().map(|job| (job.item, job.caller)).unzip();
        let waited = callers.first().map(|caller| caller.submitted.elapsed());
        let measurement = self.metrics.begin(items.len(), waited.unwrap_or_default());
        let execution = self.work.execute(&mut connection, &items, attempt);
        let result = timeout(self.work.limit(), execution).await;
        drop(measurement);
        let result = self
            .connections
            .settle(connection, result, W::IS_WRITE)
            .await;
        let attempts = callers.first().map_or(0, |caller| caller.attempts);
        let is_alone = items.len() == 1;
        let error = match result {
            Ok(results) => {
                self.count_commit(Ok(()));
                for (caller, result) in callers.into_iter().zip(results) {
                    // The caller may have dropped its receiver.
                    let _ = caller.sender.send(result);
                }
                return;
            }
            Err(Failure::External(_)) if attempts == 0 => {
                return self.queue_again(items, callers, attempt).await;
            }
            // Probably not caused by one of the items.
            Err(Failure::External(_) | Failure::Repeatable(_) | Failure::Rejected(_))
                if !is_alone =>
            {
                return self.queue_again(items, callers, Attempt::Alone).await;
            }
            Err(Failure::External(_) | Failure::Repeatable(_)) if attempts < ATTEMPTS => {
                return self.queue_again(items, callers, Attempt::Alone).await;
            }
            Err(failure) => failure.into_error(),
        };
        self.count_commit(Err(Some(&error)));
        for caller in callers {
            let _ = caller.sender.send(Err(error.clone()));
        }
    }

    fn count_commit(&self, result: Result<(), Option<&Error>>) {
        if W::IS_WRITE {
            self.commits.count(result);
        }
    }

    async fn queue_again(
        &self,
        items: Vec<W::Item>,
        callers: Vec<Caller<W::Output>>,
        attempt: Attempt,
    ) {
        self.count_commit(Err(None));
        self.retries
            .increment(items.len().try_into().unwrap_or(u64::MAX));
        sleep(pause(callers.first().map_or(0, |caller| caller.attempts))).await;
        let jobs = items.into_iter().zip(callers).map(|(item, mut caller)| {
            caller.attempts += 1;
            Job { item, caller }
        });
        let limit = self.connector.timeout();
        let (expired, jobs): (Vec<_>, Vec<_>) =
            jobs.partition(|job| job.caller.submitted.elapsed() >= limit);
        for job in expired {
            self.reject(job);
        }
        let mut state = self.state();
        match attempt {
            Attempt::InBatch => jobs
                .into_iter()
                .rev()
                .for_each(|job| state.queued.push_front(job)),
            Attempt::Alone => state.alone.extend(jobs),
        }
    }

    /// Rejects a job whose time is up.
    fn reject(&self, job: Job<W::Item, W::Output>) {
        self.timed_out.increment(1);
        let _ = job.caller.sender.send(Err(self.connector.unavailable()));
    }

    /// Rejects the jobs that are still queued when their time is up, as long as there are any.
    async fn reject_expired(self: Arc<Self>) {
        let limit = self.connector.timeout();
        loop {
            let first = {
                let mut state = self.state();
                let expired = match Instant::now().checked_sub(limit) {
                    Some(time) => state.take_before(time),
                    None => Vec::new(),
                };
                self.metrics.length.set(number(state.length()));
                for job in expired {
                    self.reject(job);
                }
                let Some(first) = state.first_submitted() else {
                    state.is_expiring = false;
                    return;
                };
                first
            };
            sleep_until((first + limit).into()).await;
        }
    }
}

/// The right to execute something. Dropping it, also by a panic, lets others be executed.
struct Turn<B: Backend, W: Work<B>> {
    shared: Arc<Shared<B, W>>,
    attempt: Attempt,
    is_leading: bool,
    has_begun: bool,
}

impl<B: Backend, W: Work<B>> Turn<B, W> {
    /// Executes what is queued.
    async fn take(mut self) {
        self.has_begun = true;
        let shared = Arc::clone(&self.shared);
        let is_needed = || shared.state().length() > 0;
        let Some(connection) = shared.connections.open(is_needed).await else {
            return;
        };
        let jobs = shared.state().take(self.attempt);
        if jobs.is_empty() {
            return shared.connections.keep(connection);
        }
        let mut execution = pin!(shared.execute(connection, jobs, self.attempt));
        if timeout(PATIENCE, &mut execution).await.is_err() {
            self.stop_leading();
            execution.await;
        }
    }

    /// Lets the next batch be executed beside this one.
    fn stop_leading(&mut self) {
        if self.is_leading {
            self.is_leading = false;
            let mut state = self.shared.state();
            state.is_led = false;
            self.shared.begin_turns(state);
        }
    }
}

impl<B: Backend, W: Work<B>> Drop for Turn<B, W> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.turns -= 1;
        match self.attempt {
            Attempt::InBatch if self.is_leading => state.is_led = false,
            Attempt::InBatch => {}
            Attempt::Alone => state.turns_alone -= 1,
        }
        if !self.has_begun {
            // The runtime has ended: the callers get an error.
            state.queued.clear();
            state.alone.clear();
        }
        self.shared.begin_turns(state);
    }
}

/// The pause before the next attempt: longer from one to the next, with jitter, so that conflicting
/// transactions are not repeated together.
pub(super) fn pause(attempts: u32) -> Duration {
    let jitter = RandomState::new().hash_one(attempts) % 8;
    Duration::from_millis(u64::from(attempts + 1) * 4 + jitter)
}

/// The error of an item that was dropped without a result.
fn lost(is_write: bool) -> Error {
    let message = "a database task ended unexpectedly";
    if is_write {
        Error::unknown(message)
    } else {
        Error::store(message)
    }
}
