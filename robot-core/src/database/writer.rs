//! The one writer of an SQLite database.
//!
//! A commit waits for the disk, and SQLite lets one writer in at a time. So whatever changes
//! have queued up while the last commit was under way share the next one. Each is answered
//! after that commit is on disk, and one whose statement fails, fails alone.

use std::{
    collections::HashMap,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use diesel::{QueryResult, connection::SimpleConnection};
use futures_channel::oneshot;

use super::{
    cache::Cache,
    changed,
    connection::{AnyConnection, Location, Purpose},
    failure::{classify, commit_failure},
    file::Files,
    given, queries,
    queue::{Receiver, Refusal, Sender, queue},
    restore, sqlite,
};
use crate::{
    catalogue::Change,
    error::{Error, OpenError, Result},
    pending::Pending,
    restoration::Restoration,
    robot::RobotId,
    rules::ValidDraft,
};

/// How long the lock of writers is left alone while another program holds it, at least.
const LOCK_PAUSE: Duration = Duration::from_micros(20);

/// The same as a part of the time that it has been waited for, where the patience is long.
const LOCK_PAUSE_PART: u32 = 100_000;

/// A handle on the writer, which ends with it, when all that has queued up is done.
pub(super) struct Writer {
    /// Taken only to let the writer end.
    queue: Option<Sender<Write>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writer of a database that has been opened.
    pub(super) fn start(
        location: &Location,
        files: Files,
        cache: Option<Arc<Cache>>,
    ) -> Result<Self, OpenError> {
        let mut pen = Pen {
            connection: Some(connect(location)?),
            location: location.clone(),
            files,
            cache,
        };
        let (queue, mut waiting) = queue();
        let thread = thread::Builder::new()
            .name("robot-writer".to_owned())
            .spawn(move || write_all(&mut pen, &mut waiting))
            .map_err(|error| location.refusal(error.into()))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Queues work up, which comes to its outcome when it is committed. It fails where too
    /// many others wait.
    pub(super) fn write(&self, work: Work) -> Pending<Result<RobotId>> {
        let (answer, answered) = oneshot::channel();
        let write = Write {
            work,
            outcome: None,
            answer,
        };
        let queued = self.queue.as_ref().map(|queue| queue.send(write));
        match queued.unwrap_or(Err(Refusal::Closed)) {
            Ok(()) => {
                Pending::awaited(async { answered.await.unwrap_or_else(|_| Err(broken_down())) })
            }
            Err(Refusal::Full) => {
                Pending::Ready(Err(Error::unavailable("too many writes are waiting")))
            }
            Err(Refusal::Closed) => Pending::Ready(Err(broken_down())),
        }
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

/// What is to be written.
pub(super) enum Work {
    Change(Change),
    Restore(Restoration),
}

impl Work {
    /// The robot that was there before and is not the same afterwards.
    fn changes(&self) -> Option<RobotId> {
        match self {
            Self::Change(Change::Update(id, _) | Change::Delete(id)) => Some(*id),
            Self::Change(Change::Insert(_)) | Self::Restore(_) => None,
        }
    }
}

/// Work that waits for its statements to run, and then for the commit.
struct Write {
    work: Work,
    /// What the statements came to, once they ran.
    outcome: Option<Result<RobotId>>,
    answer: oneshot::Sender<Result<RobotId>>,
}

impl Write {
    /// Runs the statements. An error means that the transaction is gone, and everything that
    /// was done in it; any other failure of a statement is kept for the answer.
    fn run(&mut self, connection: &mut AnyConnection) -> QueryResult<()> {
        let outcome = match &self.work {
            Work::Change(change) => {
                queries::apply(connection, change).map(|number| changed(change, number))
            }
            Work::Restore(restoration) => {
                restore_whole(connection, restoration).map(|()| given(restoration.last_number()))
            }
        };
        self.outcome = Some(match outcome {
            Ok(outcome) => outcome,
            Err(error) if !is_in_transaction(connection) => return Err(error),
            Err(error) => Err(classify(error)),
        });
        Ok(())
    }

    /// The draft, where it is one that is to be added.
    fn draft(&self) -> Option<&ValidDraft> {
        match &self.work {
            Work::Change(Change::Insert(draft)) => Some(draft),
            Work::Change(Change::Update(..) | Change::Delete(_)) | Work::Restore(_) => None,
        }
    }

    /// Whether a robot was added.
    fn has_added(&self) -> bool {
        self.draft().is_some() && matches!(self.outcome, Some(Ok(_)))
    }

    /// Tells the caller how it went.
    fn answer(self, commit: Result<()>) {
        let outcome = commit.and_then(|()| self.outcome.unwrap_or_else(|| Err(broken_down())));
        // A caller that is gone has no use for the answer.
        let _ = self.answer.send(outcome);
    }
}

/// Restores robots, or, where one of them cannot be, leaves the transaction as it was before.
fn restore_whole(connection: &mut AnyConnection, restoration: &Restoration) -> QueryResult<()> {
    connection.batch_execute("SAVEPOINT restoration")?;
    let outcome = restore::restore(connection, restoration);
    if outcome.is_err() {
        // Where the whole transaction is gone, this fails, and whoever runs the statements looks.
        let _ = connection
            .batch_execute("ROLLBACK TO SAVEPOINT restoration; RELEASE SAVEPOINT restoration");
        return outcome;
    }
    connection.batch_execute("RELEASE SAVEPOINT restoration")
}

/// Runs a change, or additions that follow one another, which are made together. An error means
/// what it does for each.
fn run(writes: &mut [Write], connection: &mut AnyConnection) -> QueryResult<()> {
    let mut added = HashMap::new();
    if writes.len() > 1 {
        match queries::insert_many(connection, writes.iter().filter_map(Write::draft)) {
            Ok(rows) => added.extend(rows.into_iter().map(|(id, name)| (name, id))),
            Err(error) if !is_in_transaction(connection) => return Err(error),
            // Which of them is to blame is found out below.
            Err(_) => {}
        }
    }
    for write in writes {
        match write.draft().and_then(|draft| added.remove(draft.name())) {
            Some(number) => write.outcome = Some(given(number)),
            None => write.run(connection)?,
        }
    }
    Ok(())
}

/// Whether a transaction is open: after some failures (a full disk, for one) SQLite takes
/// back the whole transaction, and what came next would be committed on its own. Within a
/// transaction another cannot begin; one that did begin is rolled back by `commit`.
fn is_in_transaction(connection: &mut AnyConnection) -> bool {
    connection.batch_execute("BEGIN").is_err()
}

/// What the thread of the writer does.
fn write_all(pen: &mut Pen, waiting: &mut Receiver<Write>) {
    while let Some(mut batch) = waiting.next_batch() {
        let started = Instant::now();
        // Should there be a bug, it costs this batch and its connection and nothing else.
        let write = AssertUnwindSafe(|| pen.write(&mut batch));
        let outcome = panic::catch_unwind(write).unwrap_or_else(|_| Err(broken_down()));
        waiting.took(started.elapsed());
        if matches!(outcome, Err(Error::Unavailable(_))) {
            // The lock that this batch has waited for in vain is in the way of the others, too.
            batch.extend(waiting.take_all());
        }
        for write in batch {
            write.answer(outcome.clone());
        }
    }
}

/// What the writer writes with.
struct Pen {
    /// Not there while it is in use, so that one which panics is gone.
    connection: Option<AnyConnection>,
    location: Location,
    files: Files,
    /// Which is told what has changed.
    cache: Option<Arc<Cache>>,
}

impl Pen {
    /// Commits a batch, and sees to it that the commit is where it will be found, or that there
    /// is none.
    fn write(&mut self, batch: &mut [Write]) -> Result<()> {
        if self.connection.is_none() {
            self.files.forget_a_log_that_is_gone();
        }
        self.files.are_there().map_err(Error::store)?;
        let mut connection = self.connection()?;
        let outcome = begin(&mut connection, self.location.timeout)
            .map_err(classify)
            .and_then(|()| commit(&mut connection, batch, self.cache.as_deref()));
        match (outcome, self.files.have_it()) {
            (Err(Error::Unknown(cause)), Ok(())) if overwrite(&self.location).is_ok() => {
                self.replace(connection);
                Err(Error::Store(cause))
            }
            // Another connection would begin a log of its own, beside the one that was lost.
            (Ok(()), Err(lost)) => {
                self.connection = Some(connection);
                Err(Error::unknown(lost))
            }
            (outcome, files) => {
                if files.is_err() || matches!(outcome, Ok(()) | Err(Error::Unavailable(_))) {
                    self.connection = Some(connection);
                } else {
                    self.replace(connection);
                }
                outcome
            }
        }
    }

    /// Gives up a connection for another one, at once: as long as there is one, the log that goes
    /// missing was taken away by somebody else.
    fn replace(&mut self, connection: AnyConnection) {
        drop(connection);
        self.files.forget_a_log_that_is_gone();
        // Where it fails, the next write tries again, and tells of it.
        self.connection = connect(&self.location).ok();
    }

    fn connection(&mut self) -> Result<AnyConnection> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        connect(&self.location).map_err(Error::unavailable)
    }
}

/// A connection on which from now on nothing but [`begin`] waits for other programs.
fn connect(location: &Location) -> Result<AnyConnection, OpenError> {
    let mut connection = location.connect(Purpose::Writing)?;
    connection
        .batch_execute("PRAGMA busy_timeout = 0")
        .map_err(|error| location.refusal(error.into()))?;
    Ok(connection)
}

/// Begins a transaction, as soon as no other program writes. One that took the lock of writers only
/// later could not wait for it.
///
/// SQLite would wait by itself, but up to 100 ms at a time. A program that begins its next transaction
/// where the last one has ended leaves the lock free for microseconds, and hardly ever just then.
fn begin(connection: &mut AnyConnection, timeout: Duration) -> QueryResult<()> {
    let pause = |waited| LOCK_PAUSE.max(waited / LOCK_PAUSE_PART);
    sqlite::while_locked(timeout, pause, || {
        connection.batch_execute("BEGIN IMMEDIATE")
    })
}

/// Runs the statements of a batch in the transaction that has begun, and commits it.
fn commit(
    connection: &mut AnyConnection,
    batch: &mut [Write],
    cache: Option<&Cache>,
) -> Result<()> {
    let outcome = batch
        .chunk_by_mut(|one, next| one.draft().is_some() && next.draft().is_some())
        .try_for_each(|writes| run(writes, connection))
        .map_err(classify)
        .and_then(|()| {
            let committing = cache.map(|cache| cache.commit_begins(connection));
            connection.batch_execute("COMMIT").map_err(commit_failure)?;
            if let Some(committing) = committing {
                let has_added = batch.iter().any(Write::has_added);
                let changed = batch.iter().filter_map(|write| write.work.changes());
                committing.has_changed(connection, has_added, changed);
            }
            Ok(())
        });
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
    let mut connection = connect(location)
        .map_err(|error| diesel::result::Error::QueryBuilderError(error.into()))?;
    begin(&mut connection, location.timeout)?;
    connection.batch_execute("PRAGMA user_version = 0; COMMIT")
}
