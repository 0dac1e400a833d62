//! Worker of a batcher: a thread with a connection.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use diesel::result::{DatabaseErrorKind, Error as DieselError};

use super::{
    Attempt, BatchFailure, Shared, Work, count,
    state::{BatcherState, Caller, Job, Turn},
};
use crate::{
    catalogue::{Error, Result},
    database::server::{
        backend::Backend,
        connector::Connection,
        errors::{Effect, classify, effect, is_conflict, is_read_only},
    },
};

/// How long a worker that has nothing to do keeps its connection. Shorter, and programs that are idle
/// for a while connect again; longer, and the server keeps connections that were needed once.
const IDLE_LIMIT: Duration = Duration::from_secs(300);

/// Maximum number of repetitions of an item that conflicts with other transactions. Fewer, and writes
/// fail under contention; more, and conflicting writes add load to a server that is overloaded. The
/// pauses between eight take a seventh of a second, a fraction of the default timeout.
pub(super) const ATTEMPTS: u32 = 8;

/// Executes batches until the batcher is dropped, or there is nothing to do for long.
pub(super) fn run<B: Backend, W: Work<B>>(shared: &Arc<Shared<B, W>>) {
    let mut worker = Worker {
        shared,
        connection: None,
        token: Arc::new(()),
        turn: None,
        is_abandoned: false,
    };
    while let Some(turn) = worker.next_turn() {
        worker.take_turn(turn);
        if worker.is_abandoned {
            break;
        }
    }
    // Closes the connection before the worker counts as ended.
    drop(worker.connection.take());
}

struct Worker<'a, B: Backend, W: Work<B>> {
    shared: &'a Arc<Shared<B, W>>,
    connection: Option<Connection<B>>,
    /// Shows that the thread still runs.
    token: Arc<()>,
    turn: Option<Turn>,
    is_abandoned: bool,
}

/// A batch that is executed. The state has its callers.
struct Batch<I> {
    items: Vec<I>,
    /// How often the first item was executed before.
    attempts: u32,
    is_write: bool,
    /// How long the first item was queued.
    waited: Duration,
}

/// The outcome of a batch.
enum End<O> {
    Done(Vec<Result<O>>),
    /// Each fails with this error.
    Failed(Error),
    /// No item has taken effect, and they are queued again.
    Again(Attempt),
}

impl<B: Backend, W: Work<B>> Worker<'_, B, W> {
    /// Waits until there is something to execute; `None` if the worker should end.
    fn next_turn(&mut self) -> Option<Turn> {
        let mut state = self.shared.state();
        loop {
            let now = Instant::now();
            if let Some(turn) = state.begin_turn(now) {
                self.turn = Some(turn);
                return Some(turn);
            }
            if state.is_finished() {
                return None;
            }
            state.begin_idle();
            let waited = self.shared.queued.wait_timeout(state, IDLE_LIMIT);
            let (guard, timeout) = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
            state = guard;
            state.end_idle();
            if timeout.timed_out() && !state.is_busy() {
                return None;
            }
        }
    }

    /// Executes a batch, on a connection that works as far as is known.
    fn take_turn(&mut self, turn: Turn) {
        let Some(connection) = self.usable_connection() else {
            self.end_turn(turn);
            // After the batcher was closed, no worker tries again.
            let rest = self.shared.state().take_rest();
            self.shared.reject(rest);
            return;
        };
        let Some(batch) = self.begin_execution(turn) else {
            self.connection = Some(connection);
            self.end_turn(turn);
            return;
        };
        let end = self.execute(turn, connection, &batch);
        if batch.is_write {
            self.shared.commits.count(match &end {
                End::Done(_) => Ok(()),
                End::Failed(error) => Err(Some(error)),
                End::Again(_) => Err(None),
            });
        }
        if matches!(end, End::Again(_)) {
            thread::sleep(pause(batch.attempts + 1));
        }
        if let Some(callers) = self.end_turn(turn) {
            self.respond(end, batch, callers);
        }
    }

    fn usable_connection(&mut self) -> Option<Connection<B>> {
        let connector = &self.shared.connector;
        let connection = self.connection.take();
        let validated = connection.and_then(|connection| connector.validate(connection));
        validated.or_else(|| connector.connect())
    }

    /// Takes the jobs. `None` if others have taken them, or they have expired.
    fn begin_execution(&self, turn: Turn) -> Option<Batch<W::Item>> {
        let now = Instant::now();
        let mut state = self.shared.state();
        let expired = state.take_expired(now);
        let jobs = state.take_batch(turn);
        let batch = self.batch(&mut state, turn, jobs, now);
        self.shared.record_length(&state);
        // There may be more for another worker.
        self.shared.wake_worker(state, now);
        self.shared.reject(expired);
        batch
    }

    /// Registers the jobs as a batch; `None` if there are none.
    fn batch(
        &self,
        state: &mut BatcherState<W::Item, W::Output>,
        turn: Turn,
        jobs: Vec<Job<W::Item, W::Output>>,
        now: Instant,
    ) -> Option<Batch<W::Item>> {
        let first = &jobs.first()?.caller;
        let attempts = first.attempts;
        let is_write = first.terms.is_write;
        let waited = now.saturating_duration_since(first.submitted);
        let token = Arc::downgrade(&self.token);
        Some(Batch {
            items: state.begin_execution(turn, jobs, token, now),
            attempts,
            is_write,
            waited,
        })
    }

    /// Executes a batch, and keeps the connection unless it is lost.
    fn execute(
        &mut self,
        turn: Turn,
        mut connection: Connection<B>,
        batch: &Batch<W::Item>,
    ) -> End<W::Output> {
        let Shared {
            work,
            connector,
            metrics,
            ..
        } = &**self.shared;
        let started = Instant::now();
        let measurement = metrics.begin(batch.items.len(), batch.waited);
        let result = work.execute(&mut connection, &batch.items, turn.attempt);
        drop(measurement);
        let failure = result.as_ref().err();
        let is_lost = failure.is_some_and(|failure| is_lost(&mut connection, &failure.error));
        if is_lost {
            connector.validate_all();
        } else {
            connection.note_answer(started);
            self.connection = Some(connection);
        }
        let BatchFailure {
            error,
            is_uncommitted,
        } = match result {
            Ok(results) => return End::Done(results),
            Err(failure) => failure,
        };
        if is_lost && batch.is_write && !is_uncommitted {
            return End::Failed(Error::unknown(error));
        }
        if is_read_only(&error) {
            // New connections go to the server that is the primary now.
            connector.replace_all();
        }
        if is_lost || batch.items.len() > 1 {
            // Probably not caused by one of the items.
            let is_external = is_lost || is_conflict(&error);
            return End::Again(if is_external && batch.attempts == 0 {
                turn.attempt
            } else {
                Attempt::Alone
            });
        }
        match verdict(error) {
            Verdict::Repeatable(_) if batch.attempts < ATTEMPTS => End::Again(Attempt::Alone),
            Verdict::Repeatable(error) | Verdict::Final(error) => End::Failed(error),
        }
    }

    fn end_turn(&mut self, turn: Turn) -> Option<Vec<Caller<W::Output>>> {
        self.turn = None;
        let callers = self.shared.state().end_turn(turn);
        self.is_abandoned = callers.is_none();
        callers
    }

    fn respond(&self, end: End<W::Output>, batch: Batch<W::Item>, callers: Vec<Caller<W::Output>>) {
        let error = match end {
            End::Done(results) => {
                for (caller, result) in callers.into_iter().zip(results) {
                    caller.send(result);
                }
                return;
            }
            End::Again(attempt) => return self.queue_again(batch.items, callers, attempt),
            End::Failed(error) => error,
        };
        for caller in callers {
            caller.send(Err(error.clone()));
        }
    }

    fn queue_again(&self, items: Vec<W::Item>, callers: Vec<Caller<W::Output>>, attempt: Attempt) {
        let jobs = items.into_iter().zip(callers);
        let jobs = jobs.filter(|(_, caller)| caller.sender.is_some());
        let again = |(item, mut caller): (_, Caller<_>)| {
            caller.attempts += 1;
            Job { item, caller }
        };
        let jobs: Vec<_> = jobs.map(again).collect();
        self.shared.retries.increment(count(&jobs));
        let mut state = self.shared.state();
        state.queue_again(jobs, attempt);
        self.shared.record_length(&state);
    }
}

impl<B: Backend, W: Work<B>> Drop for Worker<'_, B, W> {
    /// Also after a panic, which loses only the batch.
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if let Some(turn) = self.turn {
            self.is_abandoned = state.end_turn(turn).is_none();
        }
        // The watchdog has counted an abandoned one already.
        if !self.is_abandoned {
            state.remove_worker();
        }
        drop(state);
        self.shared.ended.notify_all();
        // If the batcher is closed, the idle workers end when nothing is queued any more.
        self.shared.queued.notify_all();
    }
}

/// Whether a connection cannot be used after an error.
fn is_lost<B: Backend>(connection: &mut Connection<B>, error: &DieselError) -> bool {
    let is_lost = match effect(error) {
        Effect::None => false,
        Effect::NoneIfConnected => connection.inner().ping().is_err(),
        Effect::Unknown => true,
    };
    // Broken: a rollback has failed.
    is_lost || connection.inner().is_broken()
}

/// Whether a statement that failed is repeated.
enum Verdict {
    Final(Error),
    Repeatable(Error),
}

fn verdict(error: DieselError) -> Verdict {
    // Localized messages have no specific kind, so an unknown error may be a deadlock. A taken id was
    // assigned by the server itself. Both are repeated.
    let is_unexplained = matches!(
        error,
        DieselError::DatabaseError(
            DatabaseErrorKind::Unknown | DatabaseErrorKind::UniqueViolation,
            _
        )
    );
    match classify(error) {
        error @ Error::Unavailable(_) => Verdict::Repeatable(error),
        error @ Error::Store(_) if is_unexplained => Verdict::Repeatable(error),
        error => Verdict::Final(error),
    }
}

/// The pause before the next attempt: longer from one to the next, with jitter, so that conflicting
/// transactions are not repeated together.
fn pause(attempt: u32) -> Duration {
    let jitter = RandomState::new().hash_one(attempt) % 8;
    Duration::from_millis(u64::from(attempt) * 4 + jitter)
}
