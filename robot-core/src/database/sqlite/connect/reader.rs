//! Read connection, also to a read-only database.
//!
//! SQLite coordinates the users of a WAL through shared memory in the file `-shm`. A
//! process that may not write the database must not create that file: it would belong to the wrong
//! user, and writers could not use it. So if there is no WAL, such a connection reads the database
//! without locks (`immutable`), and checks after each query that no program has changed it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use diesel::{QueryResult, SqliteConnection};

use super::{LOGS, SHARED_MEMORY, WAL};
use crate::{
    catalogue::Error,
    database::errors::wrap,
    files::{
        identity::{Identity, identity},
        path::{folder_of, with_suffix},
    },
};

/// A connection that reads.
pub(crate) struct Reader {
    pub(crate) connection: SqliteConnection,
    /// The state that is read, if the connection has no locks.
    state: Option<Unlocked>,
}

impl Reader {
    pub(crate) fn new(connection: SqliteConnection, state: Option<Unlocked>) -> Self {
        Self { connection, state }
    }

    /// Runs a query. Its result is an error if another program changed a database that is read
    /// without locks: it may be of two states.
    pub(crate) fn read<T>(
        &mut self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> QueryResult<T> {
        let result = query(&mut self.connection);
        if self.is_current() {
            return result;
        }
        let message = "another program has changed the database, which is read without locks";
        Err(wrap(Error::unavailable(message)))
    }

    /// Whether a next query will read the current state of the database.
    pub(crate) fn is_current(&self) -> bool {
        self.state.as_ref().is_none_or(Unlocked::is_current)
    }
}

/// The state of a database that no program is changing, which can be read without locks.
pub(crate) struct Unlocked {
    path: PathBuf,
    stamp: Stamp,
}

/// Identity, length and time of the last change: at least one differs after a change.
type Stamp = (Identity, u64, Option<SystemTime>);

impl Unlocked {
    /// The state of the database at a path, which is resolved. `None` if it must be read with the locks
    /// of SQLite: it has a WAL, or programs that may write it may use it now.
    ///
    /// # Errors
    /// The database cannot be accessed, or its WAL cannot be read without writing.
    pub(crate) fn of(path: &Path, is_read_only: bool) -> io::Result<Option<Self>> {
        let state = Self {
            path: path.to_owned(),
            stamp: stamp(path)?,
        };
        let has_shared_memory = with_suffix(path, SHARED_MEMORY).exists();
        if state.has_no_log() {
            return Ok((is_read_only || !has_shared_memory).then_some(state));
        }
        if is_read_only && !has_shared_memory && length(&with_suffix(path, WAL)) > 0 {
            return Err(io::Error::other(
                "its WAL (the file '-wal') was not applied, and only a program that may write can read it",
            ));
        }
        Ok(None)
    }

    /// Whether everything is in the database file: a program that writes begins a WAL or a journal.
    fn has_no_log(&self) -> bool {
        let mut logs = LOGS.iter().map(|suffix| with_suffix(&self.path, suffix));
        logs.all(|log| length(&log) == 0)
    }

    fn is_current(&self) -> bool {
        self.has_no_log() && stamp(&self.path).is_ok_and(|stamp| stamp == self.stamp)
    }
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let found = fs::metadata(path)?;
    Ok((identity(&found), found.len(), found.modified().ok()))
}

/// The length of a file, 0 if it does not exist.
pub(crate) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Whether this process may read but not write the database at a path, which is resolved: the
/// database or a file beside it is read-only, or a file is missing and cannot be created.
pub(crate) fn is_read_only(path: &Path) -> bool {
    let is_writable_or_missing = |suffix| {
        let sidecar = with_suffix(path, suffix);
        is_writable(if sidecar.exists() {
            &sidecar
        } else {
            folder_of(path)
        })
    };
    path.exists()
        && !(is_writable(path) && [WAL, SHARED_MEMORY].into_iter().all(is_writable_or_missing))
}

/// Whether the permissions and the file system allow writing. To try it by opening the file would
/// drop the locks that SQLite has on it.
#[cfg(unix)]
fn is_writable(path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(not(unix))]
fn is_writable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_dir() || !found.permissions().readonly())
}
