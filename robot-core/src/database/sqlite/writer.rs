//! Writer thread of an SQLite database.
//!
//! A commit waits for the disk, and SQLite allows one writer at a time. So all changes that are
//! queued while a commit is under way share the next one. Each result is returned after that commit
//! is on disk; a change whose statement fails does not affect the others.

use std::{
    collections::HashMap,
    panic::{self, AssertUnwindSafe},
    thread::{self, JoinHandle},
    time::Duration,
};

use diesel::{QueryResult, SqliteConnection, connection::SimpleConnection};
use futures_channel::oneshot;

use super::{
    commit_queue::{Receiver, SendError, Sender, commit_queue},
    connection::{Purpose, retry_while_locked},
    errors::{classify, classify_commit},
    file::DatabaseFile,
    files::Files,
    statements::insert_free,
};
use crate::{
    catalogue::{Change, Error, OpenError, Pending, Restoration, Result},
    database::{restore::restore, schema::assigned, statements::Statements},
    model::{RobotId, ValidDraft},
};

/// The shortest pause between two attempts to take the write lock. Too long, and a program that
/// writes without a pause leaves the lock free only while we sleep; too short, and waiting takes a
/// whole core.
const LOCK_PAUSE: Duration = Duration::from_micros(20);

/// The pause grows to the time waited divided by this: long waits take less of a core.
const LOCK_PAUSE_DIVISOR: u32 = 100_000;

/// A handle on the writer thread. Dropping it waits until the queued writes are done.
pub(super) struct Writer {
    /// `None` only while it is dropped.
    queue: Option<Sender<Write>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writer thread of a database that was opened.
    pub(super) fn start(file: &DatabaseFile, files: Files) -> Result<Self, OpenError> {
        let mut session = WriteSession {
            connection: Some(connect(file)?),
            file: file.clone(),
            files,
        };
        let (queue, mut writes) = commit_queue();
        let thread = thread::Builder::new()
            .name("robot-writer".to_owned())
            .spawn(move || run(&mut session, &mut writes))
            .map_err(|error| file.cannot_open(error.into()))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Queues work. The result is available when the work is committed; it is an error if the
    /// queue is full.
    pub(super) fn submit(&self, work: Work) -> Pending<Result<RobotId>> {
        let (sender, receiver) = oneshot::channel();
        let write = Write {
            work,
            result: None,
            sender,
        };
        let queued = self.queue.as_ref().map(|queue| queue.send(write));
        match queued.unwrap_or(Err(SendError::Closed)) {
            Ok(()) => {
                Pending::awaited(async { receiver.await.unwrap_or_else(|_| Err(terminated())) })
            }
            Err(SendError::Full) => {
                Pending::ready(Err(Error::unavailable("the queue of writes is full")))
            }
            Err(SendError::Closed) => Pending::ready(Err(terminated())),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.take();
        if let Some(thread) = self.thread.take() {
            // The thread has ended even if it panicked.
            let _ = thread.join();
        }
    }
}

fn terminated() -> Error {
    Error::store("the writer thread terminated unexpectedly")
}

/// What is to be written.
pub(super) enum Work {
    Change(Change),
    /// Has at least one robot or id.
    Restore(Restoration, RobotId),
}

/// Work in the queue or in a batch.
struct Write {
    work: Work,
    /// The result of its statements, once they ran.
    result: Option<Result<RobotId>>,
    sender: oneshot::Sender<Result<RobotId>>,
}

impl Write {
    /// Runs the statements. An error means that the transaction was rolled back, with everything
    /// before; the error of a statement alone becomes the result.
    fn run(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        let result = match &self.work {
            Work::Change(change) => connection.apply(change),
            Work::Restore(restoration, last_id) => {
                restore_in_savepoint(connection, restoration).map(|()| Ok(*last_id))
            }
        };
        self.result = Some(match result {
            Ok(result) => result,
            Err(error) if !is_in_transaction(connection) => return Err(error),
            Err(error) => Err(classify(error)),
        });
        Ok(())
    }

    /// The draft, if it is to be inserted.
    fn draft(&self) -> Option<&ValidDraft> {
        match &self.work {
            Work::Change(Change::Insert(draft)) => Some(draft),
            Work::Change(Change::Update(..) | Change::Delete(_)) | Work::Restore(..) => None,
        }
    }

    /// Returns the result to the caller, given that of the commit.
    fn respond(self, commit: Result<()>) {
        let result = commit.and_then(|()| self.result.unwrap_or_else(|| Err(terminated())));
        // The caller may have dropped its receiver.
        let _ = self.sender.send(result);
    }
}

/// Restores robots, or leaves the transaction as it was.
fn restore_in_savepoint(
    connection: &mut SqliteConnection,
    restoration: &Restoration,
) -> QueryResult<()> {
    connection.batch_execute("SAVEPOINT restoration")?;
    let result = restore(connection, restoration);
    if result.is_err() {
        // Fails if the whole transaction was rolled back, which `Write::run` detects.
        let _ = connection
            .batch_execute("ROLLBACK TO SAVEPOINT restoration; RELEASE SAVEPOINT restoration");
        return result;
    }
    connection.batch_execute("RELEASE SAVEPOINT restoration")
}

/// Runs a write, or consecutive inserts by one statement. The error is as that of [`Write::run`].
fn run_group(writes: &mut [Write], connection: &mut SqliteConnection) -> QueryResult<()> {
    let mut inserted = HashMap::new();
    if writes.len() > 1 {
        match insert_free(connection, writes.iter().filter_map(Write::draft)) {
            Ok(rows) => inserted.extend(rows.into_iter().map(|(id, name)| (name, id))),
            Err(error) if !is_in_transaction(connection) => return Err(error),
            // A statement for each write finds out which of them fails.
            Err(_) => {}
        }
    }
    for write in writes {
        match write
            .draft()
            .and_then(|draft| inserted.remove(draft.name()))
        {
            Some(number) => write.result = Some(assigned(number)),
            None => write.run(connection)?,
        }
    }
    Ok(())
}

/// Whether a transaction is open. After some errors (a full disk, for one) SQLite rolls back the
/// whole transaction, and further statements would be committed on their own. BEGIN fails within a
/// transaction; if it succeeds, the caller rolls back the new one.
fn is_in_transaction(connection: &mut SqliteConnection) -> bool {
    connection.batch_execute("BEGIN").is_err()
}

/// The loop of the writer thread.
fn run(session: &mut WriteSession, writes: &mut Receiver<Write>) {
    while let Some(mut batch) = writes.next_batch() {
        // A bug costs this batch and its connection, and nothing else.
        let commit = AssertUnwindSafe(|| session.commit(&mut batch));
        let result = panic::catch_unwind(commit).unwrap_or_else(|_| Err(terminated()));
        if matches!(result, Err(Error::Unavailable(_))) {
            // The lock that this batch waited for blocks the queued writes as well.
            batch.extend(writes.take_all());
        }
        for write in batch {
            write.respond(result.clone());
        }
    }
}

/// The connection that writes, and the files that it writes to.
struct WriteSession {
    /// `None` while it is in use, so that it is dropped if that panics, and until it can be opened
    /// again.
    connection: Option<SqliteConnection>,
    file: DatabaseFile,
    files: Files,
}

impl WriteSession {
    /// Commits a batch. Afterwards the commit is either recoverable at the next start, or undone.
    fn commit(&mut self, batch: &mut [Write]) -> Result<()> {
        if self.connection.is_none() {
            self.files.forget_deleted_companions();
        }
        self.files.check().map_err(Error::store)?;
        let mut connection = self.connection()?;
        let result = begin(&mut connection, self.file.timeout())
            .map_err(classify)
            .and_then(|()| commit(&mut connection, batch));
        match (result, self.files.check_committed()) {
            (Err(Error::Unknown(cause)), Ok(())) if overwrite(&self.file).is_ok() => {
                self.reconnect(connection);
                Err(Error::Store(cause))
            }
            // The connection stays open: another one would begin a second log beside the lost one.
            (Ok(()), Err(lost)) => {
                self.connection = Some(connection);
                Err(Error::unknown(lost))
            }
            (result, files) => {
                if files.is_err() || matches!(result, Ok(()) | Err(Error::Unavailable(_))) {
                    self.connection = Some(connection);
                } else {
                    self.reconnect(connection);
                }
                result
            }
        }
    }

    /// Replaces a connection immediately: while one is open, a log that disappears was removed by
    /// another program.
    fn reconnect(&mut self, connection: SqliteConnection) {
        drop(connection);
        self.files.forget_deleted_companions();
        // If this fails, the next write tries again, and reports the error.
        self.connection = connect(&self.file).ok();
    }

    fn connection(&mut self) -> Result<SqliteConnection> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        connect(&self.file).map_err(Error::unavailable)
    }
}

/// A connection on which only [`begin`] waits for other programs.
fn connect(file: &DatabaseFile) -> Result<SqliteConnection, OpenError> {
    let mut connection = file.connect(Purpose::Write)?;
    connection
        .batch_execute("PRAGMA busy_timeout = 0")
        .map_err(|error| file.cannot_open(error.into()))?;
    Ok(connection)
}

/// Begins a transaction and takes the write lock: a transaction that takes it later cannot wait for
/// it.
///
/// SQLite's own busy handler sleeps up to 100 ms at a time. A program that begins its next
/// transaction immediately leaves the lock free for microseconds only, and the handler would hardly
/// ever find it free.
fn begin(connection: &mut SqliteConnection, timeout: Duration) -> QueryResult<()> {
    let pause = |waited| LOCK_PAUSE.max(waited / LOCK_PAUSE_DIVISOR);
    retry_while_locked(timeout, pause, || {
        connection.batch_execute("BEGIN IMMEDIATE")
    })
}

/// Runs the statements of a batch in the transaction that has begun, and commits it.
fn commit(connection: &mut SqliteConnection, batch: &mut [Write]) -> Result<()> {
    let result = batch
        .chunk_by_mut(|one, next| one.draft().is_some() && next.draft().is_some())
        .try_for_each(|writes| run_group(writes, connection))
        .map_err(classify)
        .and_then(|()| connection.batch_execute("COMMIT").map_err(classify_commit));
    if result.is_err() {
        // Fails if SQLite has rolled back already.
        let _ = connection.batch_execute("ROLLBACK");
    }
    result
}

/// Makes sure that a failed commit stays undone. It may have reached the log before it failed, for
/// example because the disk did not confirm it, and the next start would then recover it. The next
/// commit overwrites it in the log: here one of a number that is unused, which SQLite writes even
/// if it does not change.
fn overwrite(file: &DatabaseFile) -> QueryResult<()> {
    let mut connection =
        connect(file).map_err(|error| diesel::result::Error::QueryBuilderError(error.into()))?;
    begin(&mut connection, file.timeout())?;
    connection.batch_execute("PRAGMA user_version = 0; COMMIT")
}
