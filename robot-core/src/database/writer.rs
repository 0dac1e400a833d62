//! The one writer of an SQLite database.
//!
//! A commit waits for the disk, and SQLite lets one writer in at a time. So whatever writes
//! have queued up while the last commit was under way share the next one. Each is answered
//! after that commit is on disk, and one whose statement fails, fails alone.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::mpsc::{self, Receiver, SyncSender, TrySendError},
    thread::{self, JoinHandle},
};

use diesel::{QueryResult, connection::SimpleConnection};

use super::{
    connection::{AnyConnection, Location, Purpose},
    failure::classify,
};
use crate::error::{Error, Result};

/// How many writes may wait. Behind so many, a caller is better told to come again.
const QUEUE_LIMIT: usize = 4096;

/// How many writes may share a commit, so that the first of them does not wait for ever.
const COMMIT_LIMIT: usize = 256;

/// A handle on the writer, which ends with it, when all that has queued up is done.
pub(super) struct Writer {
    /// Taken only to let the writer end.
    queue: Option<SyncSender<Box<dyn Write>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writer of a database, on a connection that is meant for it.
    pub(super) fn start(connection: AnyConnection, location: Location) -> io::Result<Self> {
        let (queue, waiting) = mpsc::sync_channel(QUEUE_LIMIT);
        let thread = thread::Builder::new()
            .name("robot-writer".to_owned())
            .spawn(move || write_all(Some(connection), &location, &waiting))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Runs a statement, and waits until it is committed.
    ///
    /// # Errors
    /// The statement or the commit failed, or too many writes wait.
    pub(super) fn write<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        let write = Box::new(Statement {
            state: State::Waiting(statement),
            answer,
        });
        let queue = self.queue.as_ref().ok_or_else(broken_down)?;
        queue.try_send(write).map_err(|error| match error {
            TrySendError::Full(_) => Error::unavailable("too many writes are waiting"),
            TrySendError::Disconnected(_) => broken_down(),
        })?;
        answered.recv().map_err(|_| broken_down())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.take();
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has nothing more to do, either.
            let _ = thread.join();
        }
    }
}

fn broken_down() -> Error {
    Error::store("the writer broke down")
}

/// A write that waits for its statement to run, and then for the commit.
trait Write: Send {
    /// Runs the statement. An error means that the transaction is gone, and everything that
    /// was done in it; any other failure of the statement is kept for the answer.
    fn run(&mut self, connection: &mut AnyConnection) -> QueryResult<()>;

    /// Tells the caller how it went.
    fn answer(self: Box<Self>, commit: Result<()>);
}

struct Statement<S, T> {
    state: State<S, T>,
    answer: SyncSender<Result<T>>,
}

enum State<S, T> {
    Waiting(S),
    Ran(Result<T>),
    /// The caller gets the failure of the whole commit.
    Gone,
}

impl<S, T: Send> Write for Statement<S, T>
where
    S: FnOnce(&mut AnyConnection) -> QueryResult<T> + Send,
{
    fn run(&mut self, connection: &mut AnyConnection) -> QueryResult<()> {
        let State::Waiting(statement) = std::mem::replace(&mut self.state, State::Gone) else {
            return Ok(());
        };
        match statement(connection) {
            Err(error) if !is_in_transaction(connection) => return Err(error),
            result => self.state = State::Ran(result.map_err(classify)),
        }
        Ok(())
    }

    fn answer(self: Box<Self>, commit: Result<()>) {
        let Self { state, answer } = *self;
        let result = commit.and_then(|()| match state {
            State::Ran(result) => result,
            State::Waiting(_) | State::Gone => Err(broken_down()),
        });
        // A caller that is gone has no use for the answer.
        let _ = answer.send(result);
    }
}

/// Whether a transaction is open: after some failures (a full disk, for one) SQLite takes
/// back the whole transaction, and what came next would be committed on its own. Within a
/// transaction another cannot begin; one that did begin is rolled back by `commit`.
fn is_in_transaction(connection: &mut AnyConnection) -> bool {
    connection.batch_execute("BEGIN").is_err()
}

/// What the thread of the writer does.
fn write_all(
    mut connection: Option<AnyConnection>,
    location: &Location,
    waiting: &Receiver<Box<dyn Write>>,
) {
    while let Ok(first) = waiting.recv() {
        let mut batch = vec![first];
        batch.extend(waiting.try_iter().take(COMMIT_LIMIT - 1));

        // Should there be a bug, it costs this batch and its connection and nothing else.
        let commit = AssertUnwindSafe(|| {
            let mut used = match connection.take() {
                Some(connection) => connection,
                None => location
                    .connect(Purpose::Writing)
                    .map_err(Error::unavailable)?,
            };
            let outcome = commit(&mut used, &mut batch);
            if outcome.is_ok() || matches!(outcome, Err(Error::Unavailable(_))) {
                connection = Some(used);
            }
            if let Err(Error::Unknown(cause)) = &outcome
                && overwrite(location).is_ok()
            {
                return Err(Error::Store(cause.clone()));
            }
            outcome
        });
        let outcome = panic::catch_unwind(commit).unwrap_or_else(|_| Err(broken_down()));

        if matches!(outcome, Err(Error::Unavailable(_))) {
            // The lock that this batch has waited for in vain is in the way of the others, too.
            batch.extend(waiting.try_iter());
        }
        for write in batch {
            write.answer(outcome.clone());
        }
    }
}

/// Runs the statements of a batch in one transaction.
fn commit(connection: &mut AnyConnection, batch: &mut [Box<dyn Write>]) -> Result<()> {
    // A transaction that takes the lock of writers only later could not wait for it.
    connection
        .batch_execute("BEGIN IMMEDIATE")
        .map_err(classify)?;
    let outcome = batch
        .iter_mut()
        .try_for_each(|write| write.run(connection))
        .map_err(classify)
        .and_then(|()| connection.batch_execute("COMMIT").map_err(Error::unknown));
    if outcome.is_err() {
        // Where there is nothing to roll back, this fails, and all is as it should be.
        let _ = connection.batch_execute("ROLLBACK");
    }
    outcome
}

/// Makes sure that a commit which failed stays undone. It may have reached the log before it
/// failed, for one because the disk did not confirm it, and then the next start would find it
/// there. Whatever is committed next takes its place in the log: here a number that nobody
/// uses, which SQLite writes even where it was the same before.
fn overwrite(location: &Location) -> QueryResult<()> {
    let connection = location.connect(Purpose::Writing);
    connection
        .map_err(|error| diesel::result::Error::QueryBuilderError(error.into()))?
        .batch_execute("PRAGMA user_version = 0")
}
