//! Connection of the writer thread: commits, what follows them, and how errors are handled.

use std::time::{Duration, Instant};

use ::metrics::{Gauge, Histogram, gauge, histogram};
use diesel::{QueryResult, SqliteConnection, connection::SimpleConnection};

use super::{
    checkpoints::Checkpoints,
    integrity::{Files, Lost},
    suspension::Suspension,
};
use crate::database::sqlite::{
    connect::{DatabaseFile, Purpose, Wal, begin},
    errors::{classify, classify_commit},
};
use crate::{
    catalogue::{Error, OpenError, Result},
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
    /// Set if a checkpoint failed. There is no connection then.
    suspension: Option<Suspension>,
    /// Whether the last commit may have reached the disk.
    is_committing: bool,
    /// Whether the last check of the files failed, which may have read the whole database. Only a
    /// commit checks them again then.
    is_lost: bool,
    /// Records the suspension.
    suspended: Gauge,
    commit_duration: Histogram,
}

impl WriteSession {
    pub(crate) fn open(file: &DatabaseFile, files: Files) -> Result<Self, OpenError> {
        let suspended = gauge!(SQLITE_SUSPENDED.name);
        suspended.set(0);
        Ok(Self {
            connection: Some(connect(file)?),
            file: file.clone(),
            files,
            checkpoints: Checkpoints::new(Wal::of(file.resolved())),
            suspension: None,
            is_committing: false,
            is_lost: false,
            suspended,
            commit_duration: histogram!(SQLITE_COMMIT_DURATION.name),
        })
    }

    /// Commits what `statements` does in a transaction. Afterwards the commit is either recoverable
    /// at the next start, or undone.
    pub(crate) fn commit(
        &mut self,
        statements: impl FnOnce(&mut SqliteConnection) -> QueryResult<()>,
    ) -> Result<()> {
        self.is_committing = false;
        if let Some(suspension) = &mut self.suspension {
            // A server that is busy is never maintained.
            suspension.lock(Duration::ZERO);
            return Err(suspension.error());
        }
        if self.connection.is_none() {
            self.files.forget_deleted_sidecars();
        }
        self.check_files().map_err(Error::store)?;
        let mut connection = self.connection()?;
        let result = begin(
            &mut connection,
            self.file.timeout(),
            self.file.slow_statement(),
        )
        .map_err(classify)
        .and_then(|()| self.run(&mut connection, statements));
        match (result, self.files.check_committed()) {
            (Err(Error::Unknown(cause)), Ok(()))
                if overwrite(&self.file, self.file.timeout()).is_ok() =>
            {
                self.reconnect(connection);
                Err(Error::Store(cause))
            }
            // The connection stays open: another one would begin a second WAL beside the lost one.
            (Ok(()), Err(lost)) => {
                self.connection = Some(connection);
                Err(Error::unknown(lost))
            }
            (result, files) => {
                let is_usable = matches!(
                    result,
                    Ok(()) | Err(Error::Unavailable(_) | Error::DiskFull(_))
                );
                if files.is_err() || is_usable {
                    self.connection = Some(connection);
                } else {
                    self.reconnect(connection);
                }
                result
            }
        }
    }

    /// Runs statements in the transaction that has begun, and commits it.
    fn run(
        &mut self,
        connection: &mut SqliteConnection,
        statements: impl FnOnce(&mut SqliteConnection) -> QueryResult<()>,
    ) -> Result<()> {
        let result = statements(connection).map_err(classify).and_then(|()| {
            self.is_committing = true;
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

    /// The error of a commit that panicked: a bug.
    pub(crate) fn panicked(&self) -> Error {
        let cause = "the writer thread panicked";
        if self.is_committing {
            Error::unknown(cause)
        } else {
            Error::store(cause)
        }
    }

    /// Replaces a connection immediately: while one is open, a WAL that disappears was removed by
    /// another program.
    fn reconnect(&mut self, connection: SqliteConnection) {
        drop(connection);
        self.files.forget_deleted_sidecars();
        // If this fails, the next write tries again, and reports the error.
        self.connection = connect(&self.file).ok();
    }

    /// The open connection, or a new one.
    fn connection(&mut self) -> Result<SqliteConnection> {
        match self.connection.take() {
            Some(connection) if !self.checkpoints.wal().is_empty() => Ok(connection),
            // It is closed only after another one is open.
            outdated => {
                let connection = connect(&self.file);
                if connection.is_err() {
                    self.connection = outdated;
                }
                connection.map_err(|error| match error {
                    OpenError::DiskFull { .. } => Error::disk_full(error),
                    error => Error::unavailable(error),
                })
            }
        }
    }

    /// Runs the checkpoint that may be due after a commit with a number of changes.
    pub(crate) fn after_commit(&mut self, changes: usize) {
        self.with_checkpoints(|checkpoints, connection| {
            checkpoints.run_if_due(connection, changes)
        });
    }

    /// Copies the pages of the WAL into the database, so that the WAL can start again from the
    /// beginning, and takes no more space.
    pub(crate) fn after_full_disk(&mut self) {
        self.with_checkpoints(|checkpoints, connection| checkpoints.run(connection));
    }

    /// Does what is due while nothing is to be written: shortens a WAL that a reader kept from
    /// starting again, and makes sure that it is not empty, so that reads can use their caches.
    pub(crate) fn maintain(&mut self) {
        if let Some(suspension) = &mut self.suspension {
            suspension.lock(Duration::ZERO);
        }
        let is_too_long = self.checkpoints.is_wal_too_long();
        let mut needs_commit = self.checkpoints.wal().is_empty();
        let is_due = is_too_long || needs_commit;
        if self.connection.is_none() || !is_due || self.is_lost || self.check_files().is_err() {
            return;
        }
        if is_too_long {
            self.with_checkpoints(|checkpoints, connection| {
                needs_commit = checkpoints.restart_wal(connection)?;
                Ok(())
            });
        }
        if needs_commit && let Err(error) = overwrite(&self.file, Duration::ZERO) {
            tracing::debug!(
                "{}: the WAL cannot be maintained: {error}",
                self.file.name()
            );
        }
    }

    fn check_files(&mut self) -> Result<(), Lost> {
        let checked = self.files.check();
        self.is_lost = checked.is_err();
        checked
    }

    /// Uses the connection for checkpoints, and suspends writing if one fails.
    fn with_checkpoints(
        &mut self,
        work: impl FnOnce(&mut Checkpoints, &mut SqliteConnection) -> QueryResult<()>,
    ) {
        let Some(mut connection) = self.connection.take() else {
            return;
        };
        match work(&mut self.checkpoints, &mut connection) {
            Ok(()) => self.connection = Some(connection),
            Err(error) => {
                self.suspended.set(1);
                self.suspension = Some(Suspension::new(connection, &self.file, error));
            }
        }
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

/// Commits a number that is unused, which SQLite writes even if it does not change.
///
/// After a failed commit, this makes sure that it stays undone. It may have reached the WAL before it
/// failed, for example because the disk did not confirm it, and the next start would then recover
/// it. The next commit overwrites it in the WAL.
fn overwrite(file: &DatabaseFile, timeout: Duration) -> QueryResult<()> {
    let mut connection =
        connect(file).map_err(|error| diesel::result::Error::QueryBuilderError(error.into()))?;
    begin(&mut connection, timeout, file.slow_statement())?;
    connection.batch_execute("PRAGMA user_version = 0; COMMIT")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use diesel::result::Error as DieselError;
    use tempfile::TempDir;

    use super::*;
    use crate::{
        catalogue::OpenOptions,
        database::sqlite::{SqliteCatalogue, errors::is_locked},
    };

    fn session() -> (TempDir, DatabaseFile, WriteSession) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        drop(SqliteCatalogue::open(&url).unwrap());
        let options = OpenOptions::new().timeout(Duration::from_millis(10));
        let file = DatabaseFile::from_url(&url, &options).unwrap();
        let session = WriteSession::open(&file, Files::new(&file).unwrap()).unwrap();
        (folder, file, session)
    }

    #[test]
    fn suspended_session_takes_the_lock_at_its_next_commit() {
        let (_folder, file, mut session) = session();
        let mut other = connect(&file).unwrap();
        other.batch_execute("BEGIN IMMEDIATE").unwrap();
        session.with_checkpoints(|_, _| Err(DieselError::BrokenTransactionManager));
        let mut commit = || session.commit(|_| Ok(()));
        assert!(matches!(commit(), Err(Error::RestartRequired(_))));
        other.batch_execute("ROLLBACK").unwrap();
        assert!(matches!(commit(), Err(Error::RestartRequired(_))));
        let locked = other.batch_execute("BEGIN IMMEDIATE").unwrap_err();
        assert!(is_locked(&locked), "{locked}");
    }

    /// The check reads the whole database.
    #[test]
    fn damaged_file_is_checked_again_only_by_a_commit() {
        let (_folder, file, mut session) = session();
        session.commit(|_| Ok(())).unwrap();
        assert!(session.checkpoints.wal().is_empty());
        let contents = fs::read(file.path()).unwrap();
        fs::write(file.path(), &contents[..4096]).unwrap();
        session.maintain();
        fs::write(file.path(), &contents).unwrap();
        session.maintain();
        assert!(session.checkpoints.wal().is_empty());
        session.commit(|_| Ok(())).unwrap();
        session.maintain();
        assert!(!session.checkpoints.wal().is_empty());
    }
}
