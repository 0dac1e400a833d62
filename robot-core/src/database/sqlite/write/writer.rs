//! Writer thread of an SQLite database.
//!
//! A commit waits for the disk, and SQLite allows one writer at a time. So all changes that are
//! queued while a commit is under way share the next one. Each result is returned after that commit
//! is on disk; a change whose statement fails does not affect the others.

use std::{
    borrow::Cow,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use ::metrics::gauge;
use diesel::{QueryResult, SqliteConnection, connection::SimpleConnection};
use futures_channel::oneshot;

use super::{checkpoints::Checkpoints, queue::Queue, session::WriteSession};
use crate::database::sqlite::{
    connect::DatabaseFile,
    errors::classify,
    statements::{insert_free, work},
};
use crate::{
    catalogue::{
        Authored, Commit, Error, OpenError, Pending, Receipt, Redefinition, Restoration, Result,
    },
    database::{
        define::{self, KnownDefinition},
        errors::wrap,
        history::{self, Expired},
        measuring::{QueueMetrics, count_commit},
        restore::restore,
        statements::{apply_alone, now},
    },
    metrics::SQLITE_COMMIT_START,
    model::{Definition, ValidDraft, Violations},
};

/// A handle on the writer thread. Dropping it waits until the queued writes are done.
pub(crate) struct Writer {
    queue: Arc<Queue<Write>>,
    metrics: Arc<QueueMetrics>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writer thread of a database that was opened.
    pub(crate) fn start(
        file: &DatabaseFile,
        definition: &Arc<KnownDefinition>,
    ) -> Result<Self, OpenError> {
        let mut session = WriteSession::open(file)?;
        let metrics = Arc::new(QueueMetrics::new("changes"));
        let queue = Arc::new(Queue::new(metrics.length.clone()));
        let (writes, of_thread) = (Arc::clone(&queue), Arc::clone(&metrics));
        let definition = Arc::clone(definition);
        let thread = thread::Builder::new()
            .name("robot-writer".to_owned())
            .spawn(move || run(&mut session, &writes, &definition, &of_thread))
            .map_err(|error| file.cannot_open(error.into()))?;
        Ok(Self {
            queue,
            metrics,
            thread: Some(thread),
        })
    }

    /// Queues work. The result is available when the work is committed; it is an error if the
    /// queue is full.
    pub(crate) fn submit(&self, work: Work) -> Pending<Result<Commit>> {
        let (sender, receiver) = oneshot::channel();
        let write = Write {
            work,
            result: None,
            sender,
            submitted: Instant::now(),
        };
        if self.queue.send(write) {
            return Pending::awaited(async { receiver.await.unwrap_or_else(|_| Err(lost())) });
        }
        self.metrics.full.increment(1);
        Pending::ready(Err(Error::unavailable("the queue of writes is full")))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            // The thread has ended even if it panicked.
            let _ = thread.join();
        }
    }
}

/// The error of a write without a result.
fn lost() -> Error {
    Error::unknown("the writer thread terminated unexpectedly")
}

/// What is to be written.
pub(crate) enum Work {
    Change(Authored),
    /// All changes or none of them.
    All(Vec<Authored>),
    Restore(Restoration),
    Define(Box<Redefinition>),
    Prune(Expired),
    /// Nothing but what each commit does: see [`work`].
    Index,
}

/// Work in the queue or in a batch.
struct Write {
    work: Work,
    /// The result of its statements, once they ran.
    result: Option<Result<Commit>>,
    sender: oneshot::Sender<Result<Commit>>,
    submitted: Instant,
}

impl Write {
    /// Runs the statements. An error means that the transaction was rolled back, with everything
    /// before; the error of a statement alone becomes the result.
    fn run(
        &mut self,
        connection: &mut SqliteConnection,
        definition: &Definition,
    ) -> QueryResult<()> {
        let result = match &self.work {
            Work::Change(change) => {
                now(apply_alone(connection, definition, change)).map(|result| result.map(single))
            }
            Work::All(changes) => in_savepoint(connection, |connection| {
                apply_all(connection, definition, changes)
            }),
            Work::Restore(restoration) => in_savepoint(connection, |connection| {
                now(restore(connection, definition, restoration)).map(|()| Commit::default())
            }),
            Work::Define(redefinition) => in_savepoint(connection, |connection| {
                now(define::define(connection, redefinition)).map(|_| Commit::default())
            }),
            Work::Prune(expired) => in_savepoint(connection, |connection| {
                now(history::prune(connection, *expired)).map(|()| Commit::default())
            }),
            Work::Index => Ok(Ok(Commit::default())),
        };
        self.result = Some(match result {
            Ok(result) => result,
            Err(error) if !is_in_transaction(connection) => return Err(error),
            Err(error) => Err(classify(error)),
        });
        Ok(())
    }

    /// The draft, if it is to be inserted.
    fn draft(&self) -> Option<(&ValidDraft, Option<&str>)> {
        match &self.work {
            Work::Change(one) if self.result.is_none() => Some((one.change.draft()?, one.by())),
            _ => None,
        }
    }

    /// Checks a change by the definition of the transaction, which may be newer than the one that has checked it.
    fn check_again(&mut self, definition: &Definition) {
        let Work::Change(one) = &mut self.work else {
            return;
        };
        match one.change.check_again(definition) {
            Ok(Cow::Borrowed(_)) => {}
            Ok(Cow::Owned(checked)) => one.change = checked,
            Err(violations) => self.result = Some(Err(violations.into())),
        }
    }

    /// Returns the result to the caller, given that of the commit.
    fn respond(self, commit: Result<()>) {
        let result = commit.and_then(|()| self.result.unwrap_or_else(|| Err(lost())));
        // The caller may have dropped its receiver.
        let _ = self.sender.send(result);
    }
}

/// The result of one change.
fn single(receipt: Receipt) -> Commit {
    Commit {
        receipts: vec![receipt],
        ..Commit::default()
    }
}

/// Runs statements that all take effect, or leave the transaction as it was.
fn in_savepoint(
    connection: &mut SqliteConnection,
    statements: impl FnOnce(&mut SqliteConnection) -> QueryResult<Commit>,
) -> QueryResult<Result<Commit>> {
    connection.batch_execute("SAVEPOINT work")?;
    let result = statements(connection);
    if result.is_err() {
        // Fails if the whole transaction was rolled back, which `Write::run` detects.
        let _ = connection.batch_execute("ROLLBACK TO SAVEPOINT work; RELEASE SAVEPOINT work");
    } else {
        connection.batch_execute("RELEASE SAVEPOINT work")?;
    }
    result.map(Ok)
}

/// Applies changes in their order: consecutive inserts by one statement, the others one by one. The error is that of the
/// first one that fails.
fn apply_all(
    connection: &mut SqliteConnection,
    definition: &Definition,
    changes: &[Authored],
) -> QueryResult<Commit> {
    let (before, _) = now(history::position(connection))?;
    let changes = changes.iter().map(|one| {
        let change = one.change.check_again(definition)?;
        Ok(Authored::new(change.into_owned(), one.by()))
    });
    let changes: Result<Vec<_>, Violations> = changes.collect();
    let changes = changes.map_err(|violations| wrap(violations.into()))?;
    let is_insert = |one: &Authored| one.change.draft().is_some();
    let mut receipts = Vec::with_capacity(changes.len());
    for run in changes.chunk_by(|one, next| is_insert(one) && is_insert(next)) {
        let drafts = run.iter();
        let drafts = drafts.filter_map(|one| Some((one.change.draft()?, one.by())));
        let inserted = match run {
            [one] if !is_insert(one) => vec![None],
            _ => insert_free(connection, definition, drafts)?,
        };
        for (one, receipt) in run.iter().zip(inserted) {
            receipts.push(match receipt {
                Some(receipt) => receipt,
                // An insert with a value that is taken fails again, with its error.
                None => now(apply_alone(connection, definition, one))?.map_err(wrap)?,
            });
        }
    }
    let (after, _) = now(history::position(connection))?;
    Ok(Commit {
        receipts,
        positions: Some((before, after)),
    })
}

/// Runs a write, or consecutive inserts by one statement. The error is as that of [`Write::run`].
fn run_group(
    writes: &mut [Write],
    connection: &mut SqliteConnection,
    definition: &Definition,
) -> QueryResult<()> {
    let mut inserted = Vec::new();
    for write in writes.iter_mut() {
        write.check_again(definition);
    }
    if writes.len() > 1 {
        match insert_free(
            connection,
            definition,
            writes.iter().filter_map(Write::draft),
        ) {
            Ok(ids) => inserted = ids,
            Err(error) if !is_in_transaction(connection) => return Err(error),
            // A statement for each write finds out which of them fails.
            Err(_) => {}
        }
    }
    let mut inserted = inserted.into_iter();
    for write in writes.iter_mut().filter(|write| write.result.is_none()) {
        match inserted.next().flatten() {
            Some(receipt) => write.result = Some(Ok(single(receipt))),
            None => write.run(connection, definition)?,
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
fn run(
    session: &mut WriteSession,
    queue: &Queue<Write>,
    definition: &KnownDefinition,
    metrics: &QueueMetrics,
) {
    let start_time = gauge!(SQLITE_COMMIT_START.name);
    let mut last_batch = 1;
    let mut may_wait = false;
    loop {
        start_time.set(0);
        // Without further writes, no batch would do what waits.
        while may_wait && queue.is_idle() {
            let indexed = guard(session, |session| {
                let wait = commit(session, definition, &mut [])?;
                session.checkpoint(Checkpoints::run_if_due);
                Ok::<_, Error>(wait)
            });
            may_wait = matches!(indexed, Some(Ok(true)));
        }
        let mut batch = queue.next_batch(last_batch);
        if batch.is_empty() {
            return;
        }
        last_batch = batch.len();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        start_time.set(now.unwrap_or_default());
        let waited = batch
            .first()
            .map_or(Duration::ZERO, |write| write.submitted.elapsed());
        let measurement = metrics.begin(batch.len(), waited);
        // A bug costs this batch and its connection, and nothing else.
        let result = guard(session, |session| commit(session, definition, &mut batch));
        let result = result.unwrap_or_else(|| Err(Error::unknown("the writer thread panicked")));
        let result = result.map(|wait| may_wait = wait);
        drop(measurement);
        count_commit(result.as_ref().map(|&()| ()));
        if matches!(result, Err(Error::Unavailable(_) | Error::DiskFull(_))) {
            // The lock that this batch waited for, or the full disk, blocks the queued writes as well.
            batch.extend(queue.take_all());
        }
        for write in batch {
            write.respond(result.clone());
        }
        let checkpoint = match result {
            Ok(()) => Checkpoints::run_if_due,
            // So that the WAL can start again from the beginning, and takes no more space.
            Err(Error::DiskFull(_)) => Checkpoints::run,
            Err(_) => continue,
        };
        guard(session, |session| session.checkpoint(checkpoint));
    }
}

/// Uses the session; `None` if that panics.
fn guard<T>(session: &mut WriteSession, work: impl FnOnce(&mut WriteSession) -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(|| work(session))).ok()
}

/// Commits a batch, so that each write has a result, and some of the [`work`] that waits. Returns whether more may wait.
fn commit(
    session: &mut WriteSession,
    known: &KnownDefinition,
    batch: &mut [Write],
) -> Result<bool> {
    let mut may_wait = false;
    let mut defined = None;
    session.commit(|connection| {
        // Another process may have changed it. No other one does before the commit.
        now(known.refresh(connection))?;
        let mut definition = known.get();
        for writes in
            batch.chunk_by_mut(|one, next| one.draft().is_some() && next.draft().is_some())
        {
            run_group(writes, connection, &definition)?;
            if matches!(writes, [write] if matches!(write.work, Work::Define(_))) {
                definition = Arc::new(now(define::read(connection))?);
                defined = Some(Arc::clone(&definition));
            }
        }
        may_wait = work(connection, &definition)?;
        Ok(())
    })?;
    if let Some(definition) = defined {
        known.set(definition);
    }
    Ok(may_wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{Catalogue, Change, OpenOptions},
        model::Draft,
    };

    fn insert(name: &str) -> Write {
        let draft = ValidDraft::new(Draft::new(name, "droid", 1)).unwrap();
        Write {
            work: Work::Change(Authored::new(Change::Insert(draft), None)),
            result: None,
            sender: oneshot::channel().0,
            submitted: Instant::now(),
        }
    }

    #[test]
    fn panic_costs_only_its_batch() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        let catalogue = crate::open(&url).unwrap();
        let file = DatabaseFile::from_url(&url, &OpenOptions::default()).unwrap();
        let mut session = WriteSession::open(&file).unwrap();
        let panic = |session: &mut WriteSession| session.commit(|_| panic!("a bug"));
        assert!(guard(&mut session, panic).is_none());
        commit(
            &mut session,
            &KnownDefinition::default(),
            &mut [insert("a")],
        )
        .unwrap();
        assert!(catalogue.find("a").unwrap().is_some());
    }
}
