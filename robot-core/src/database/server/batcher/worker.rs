//! Worker of a batcher: a thread with a connection.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use diesel::result::{DatabaseErrorKind, Error as DieselError};

use super::{
    Attempt, Shared, Work, reject,
    state::{Caller, Job, State, Turn},
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

/// The pause after a failure to connect. Shorter costs more during an outage; longer delays the first
/// requests after it.
const CONNECT_PAUSE: Duration = Duration::from_millis(100);

/// Maximum number of repetitions of an item that conflicts with other transactions. Fewer, and writes
/// fail under contention; more, and conflicting writes add load to a server that is overloaded. The
/// pauses between eight take a seventh of a second, a fraction of the default timeout.
const ATTEMPTS: u32 = 8;

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
}

/// The outcome of a batch.
enum End<O> {
    Done(Vec<Result<O>>),
    /// No item has taken effect, and each fails with this error.
    Failed(Error),
    /// No item has taken effect, and they are queued again.
    Again(Attempt),
    /// The connection was lost.
    Lost(DieselError),
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
        let Some(mut connection) = self.usable_connection() else {
            thread::sleep(CONNECT_PAUSE);
            self.end_turn(turn);
            // After the batcher was dropped, no worker tries again.
            let rest = self.shared.state().take_rest();
            reject(rest);
            return;
        };
        let Some(batch) = self.begin_execution(turn) else {
            self.connection = Some(connection);
            self.end_turn(turn);
            return;
        };
        let end = self.execute(turn, &mut connection, &batch);
        match &end {
            End::Lost(_) => self.shared.connector.validate_all(),
            _ => self.connection = Some(connection),
        }
        if matches!(end, End::Again(_)) {
            thread::sleep(pause(batch.attempts + 1));
        }
        if let Some(callers) = self.end_turn(turn) {
            self.respond(turn, end, batch, callers);
        }
    }

    fn usable_connection(&mut self) -> Option<Connection<B>> {
        let connector = &self.shared.connector;
        let connection = self.connection.take();
        let validated = connection.and_then(|connection| connector.validate(connection));
        validated.or_else(|| connector.connect().ok())
    }

    /// Takes the jobs. `None` if others have taken them, or they have expired.
    fn begin_execution(&self, turn: Turn) -> Option<Batch<W::Item>> {
        let now = Instant::now();
        let mut state = self.shared.state();
        let expired = state.take_expired(now);
        let jobs = state.take_batch(turn);
        let batch = self.batch(&mut state, turn, jobs, now);
        // There may be more for another worker.
        self.shared.wake_worker(state, now);
        reject(expired);
        batch
    }

    /// Registers the jobs as a batch; `None` if there are none.
    fn batch(
        &self,
        state: &mut State<W::Item, W::Output>,
        turn: Turn,
        jobs: Vec<Job<W::Item, W::Output>>,
        now: Instant,
    ) -> Option<Batch<W::Item>> {
        let work = &self.shared.work;
        let first = jobs.first()?;
        let attempts = first.caller.attempts;
        let limit = work.execution_limit(&first.item);
        let is_write = jobs.iter().any(|job| work.is_write(&job.item));
        let token = Arc::downgrade(&self.token);
        Some(Batch {
            items: state.begin_execution(turn, jobs, limit, is_write, token, now),
            attempts,
            is_write,
        })
    }

    fn execute(
        &self,
        turn: Turn,
        connection: &mut Connection<B>,
        batch: &Batch<W::Item>,
    ) -> End<W::Output> {
        let Shared {
            work, connector, ..
        } = &**self.shared;
        let error = match work.execute(connection, &batch.items, turn.attempt) {
            Ok(results) => {
                connection.note_answer();
                return End::Done(results);
            }
            Err(error) => error,
        };
        let is_without_effect = match effect(&error) {
            Effect::None => true,
            Effect::NoneIfConnected => connection.inner().ping().is_ok(),
            Effect::Unknown => false,
        };
        // Broken: a rollback has failed.
        if !is_without_effect || connection.inner().is_broken() {
            return End::Lost(error);
        }
        connection.note_answer();
        if is_read_only(&error) {
            // New connections go to the server that is the primary now.
            connector.replace_all();
        }
        if batch.items.len() > 1 {
            let is_conflict = is_conflict(&error) && batch.attempts == 0;
            return End::Again(if is_conflict {
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

    fn respond(
        &self,
        turn: Turn,
        end: End<W::Output>,
        batch: Batch<W::Item>,
        callers: Vec<Caller<W::Output>>,
    ) {
        let error = match end {
            End::Done(results) => {
                for (caller, result) in callers.into_iter().zip(results) {
                    caller.send(result);
                }
                return;
            }
            End::Again(attempt) => return self.queue_again(batch.items, callers, attempt),
            End::Lost(_) if !batch.is_write => {
                return self.queue_again(batch.items, callers, turn.attempt);
            }
            End::Lost(error) => Error::unknown(error),
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
        let jobs = jobs.map(again).collect();
        self.shared.state().queue_again(jobs, attempt);
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
        // If the batcher was dropped, the idle workers end when nothing is queued any more.
        self.shared.queued.notify_all();
    }
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
