//! Connection of the writer thread: commits, what follows them, and how errors are handled.

use std::{mem::ManuallyDrop, sync::Arc, time::Instant};

use ::metrics::{Histogram, gauge, histogram};
use diesel::{
    QueryResult, SqliteConnection, connection::SimpleConnection, result::Error as DieselError,
};

use super::{checkpoints::Checkpoints, integrity::Files};
use crate::database::sqlite::{
    connect::{DatabaseFile, Purpose},
    errors::{classify, classify_commit},
};
use crate::{
    catalogue::{Cause, Error, OpenError, Result},
    metrics::{SQLITE_COMMIT_DURATION, SQLITE_SUSPENDED},
};

/// The connection that writes, and the files that it writes to.
pub(crate) struct WriteSession {
    /// `None` while it is in use, so that it is dropped if that panics, and until it can be opened
    /// again.
    connection: Option<SqliteConnection>,
    file: DatabaseFile,
    files: Files,
    checkpoints: Checkpoints,
    /// Why a checkpoint failed. There is no connection then.
    suspension: Option<Cause>,
    commit_duration: Histogram,
}

impl WriteSession {
    pub(crate) fn open(file: &DatabaseFile) -> Result<Self, OpenError> {
        let files = Files::new(file).map_err(|error| file.cannot_open(error.into()))?;
        gauge!(SQLITE_SUSPENDED.name).set(0);
        Ok(Self {
            connection: Some(connect(file)?),
            file: file.clone(),
            files,
            checkpoints: Checkpoints::new(file),
            suspension: None,
            commit_duration: histogram!(SQLITE_COMMIT_DURATION.name),
        })
    }

    /// Commits what `statements` does in a transaction. Afterwards the commit is either recoverable
    /// at the next start, or undone.
    pub(crate) fn commit(
        &mut self,
        statements: impl FnOnce(&mut SqliteConnection) -> QueryResult<()>,
    ) -> Result<()> {
        if let Some(cause) = &self.suspension {
            return Err(Error::RestartRequired(Arc::clone(cause)));
        }
        if self.connection.is_none() {
            self.files.forget_deleted_sidecars();
        }
        self.files.check().map_err(Error::store)?;
        let mut connection = self.connection()?;
        let begun = self.file.begin(&mut connection).map_err(classify);
        let result = begun.and_then(|()| self.run(&mut connection, statements));
        let checked = self.files.check_committed();
        let is_lost = checked.is_err();
        let result = match (result, checked) {
            (Err(Error::Unknown(cause)), Ok(())) if overwrite(&self.file).is_ok() => {
                Err(Error::Store(cause))
            }
            (Ok(()), Err(lost)) => Err(Error::unknown(lost)),
            (result, _) => result,
        };
        let is_usable = matches!(
            result,
            Ok(()) | Err(Error::Unavailable(_) | Error::DiskFull(_))
        );
        // Another connection would begin a second WAL beside one that is lost.
        if is_usable || is_lost {
            self.connection = Some(connection);
        }
        result
    }

    /// Runs statements in the transaction that has begun, and commits it.
    fn run(
        &mut self,
        connection: &mut SqliteConnection,
        statements: impl FnOnce(&mut SqliteConnection) -> QueryResult<()>,
    ) -> Result<()> {
        let result = statements(connection).map_err(classify).and_then(|()| {
            let started = Instant::now();
            let committed = connection.batch_execute("COMMIT");
            self.commit_duration.record(started.elapsed());
            committed.map_err(classify_commit)
        });
        if result.is_err() {
            // Fails if SQLite has rolled back already.
            let _ = connection.batch_execute("ROLLBACK");
        }
        result
    }

    /// The open connection, or a new one, also if the WAL is empty: another program may have been killed
    /// while it emptied the WAL, and the open connection would then write old pages of its memory.
    fn connection(&mut self) -> Result<SqliteConnection> {
        match self.connection.take() {
            Some(connection) if self.file.wal_length() > 0 => Ok(connection),
            // It is closed only after another one is open.
            outdated => {
                let connection = connect(&self.file);
                if connection.is_err() {
                    self.connection = outdated;
                }
                connection.map_err(|error| match error {
                    OpenError::DiskFull(_) => Error::disk_full(error),
                    error => Error::unavailable(error),
                })
            }
        }
    }

    /// Runs a checkpoint, and suspends writing if it fails.
    pub(crate) fn checkpoint(
        &mut self,
        run: fn(&mut Checkpoints, &mut SqliteConnection) -> QueryResult<()>,
    ) {
        let Some(mut connection) = self.connection.take() else {
            return;
        };
        match run(&mut self.checkpoints, &mut connection) {
            Ok(()) => self.connection = Some(connection),
            Err(cause) => self.suspend(connection, cause),
        }
    }

    /// Suspends writing until a restart, because of the error of a checkpoint: pages may be in no other
    /// file on disk than the WAL.
    ///
    /// The connection holds the write lock, so that no process starts the WAL again, and it is never
    /// closed, so that no connection is the last one, which would delete the WAL. Both end with the
    /// process. If no other process uses the file then, the next one builds the shared memory from the
    /// log, and its checkpoint writes all pages again.
    fn suspend(&mut self, connection: SqliteConnection, cause: DieselError) {
        tracing::error!(
            "{}: a checkpoint failed, so changes are rejected; nothing is lost. Check the disk, stop \
             all programs that use the file, and start again: {cause}",
            self.file.name()
        );
        gauge!(SQLITE_SUSPENDED.name).set(1);
        self.suspension = Some(Arc::new(cause));
        let mut connection = ManuallyDrop::new(connection);
        if let Err(error) = self.file.begin(&mut connection) {
            tracing::error!("another program may write: stop it first: {error}");
        }
    }
}

/// A connection on which only [`DatabaseFile::begin`] waits for other programs.
fn connect(file: &DatabaseFile) -> Result<SqliteConnection, OpenError> {
    let mut connection = file.connect(Purpose::Write)?;
    connection
        .batch_execute("PRAGMA busy_timeout = 0")
        .map_err(|error| file.cannot_open(error.into()))?;
    Ok(connection)
}

/// Commits a number that is unused, which SQLite writes even if it does not change.
///
/// After a failed commit, this makes sure that it stays undone. It may have reached the WAL before it
/// failed, for example because the disk did not confirm it, and the next start would then recover
/// it. The next commit overwrites it in the WAL.
fn overwrite(file: &DatabaseFile) -> QueryResult<()> {
    let mut connection =
        connect(file).map_err(|error| DieselError::QueryBuilderError(error.into()))?;
    file.begin(&mut connection)?;
    connection.batch_execute("PRAGMA user_version = 0; COMMIT")
}
