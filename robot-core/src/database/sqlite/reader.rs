//! Read connection, also to a read-only database.
//!
//! SQLite coordinates the users of a write-ahead log through shared memory in the file `-shm`. A
//! process that may not write the database must not create that file: it would belong to the wrong
//! user, and writers could not use it. So if there is no log, such a connection reads the database
//! without locks (`immutable`), and checks after each query that no program has changed it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use diesel::{QueryResult, SqliteConnection};

use super::{
    companions::{JOURNAL, LOG, SHARED_MEMORY},
    wal::{OpenWal, Wal},
};
use crate::{
    catalogue::Error,
    database::errors::wrap,
    files::{
        identity::{Identity, identity},
        path::{folder_of, with_suffix},
    },
};

/// A connection that reads.
pub(super) struct Reader {
    connection: SqliteConnection,
    /// The state that was read, if the connection has no locks.
    state: Option<State>,
    wal: OpenWal,
    /// Whether the page cache may have pages.
    was_used: bool,
}

impl Reader {
    pub(super) fn new(connection: SqliteConnection, state: Option<State>, wal: Wal) -> Self {
        Self {
            connection,
            state,
            wal: OpenWal::new(wal),
            was_used: false,
        }
    }

    /// Runs a query. Its result is an error if another program changed a database that is read
    /// without locks: it may be of two states.
    pub(super) fn read<T>(
        &mut self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> QueryResult<T> {
        self.was_used = true;
        let result = query(&mut self.connection);
        if self.state.as_ref().is_none_or(State::is_current) {
            return result;
        }
        let message = "another program has changed the database, which is read without locks";
        Err(wrap(Error::unavailable(message)))
    }

    /// Whether a next query will read the current state of the database.
    pub(super) fn is_current(&mut self) -> bool {
        match &self.state {
            Some(state) => state.is_current(),
            None => !self.was_used || !self.wal.is_empty(),
        }
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

/// The state in which a read-only database at a path, which is resolved, can be read without locks;
/// `None` if it has a log, and must be read with those of SQLite.
///
/// # Errors
/// The database cannot be accessed, or its log cannot be read without writing.
pub(super) fn state_without_log(path: &Path) -> io::Result<Option<State>> {
    let state = State::of(path)?;
    if state.has_no_log() {
        return Ok(Some(state));
    }
    if length(&state.wal) > 0 && !with_suffix(path, SHARED_MEMORY).exists() {
        return Err(io::Error::other(
            "its log '-wal' was not applied, and only a program that may write can read it",
        ));
    }
    Ok(None)
}

/// As [`state_without_log`], if no program has opened the database; `None` if it must be read with
/// locks.
pub(super) fn state_if_unused(path: &Path) -> io::Result<Option<State>> {
    let state = State::of(path)?;
    let is_unused = state.has_no_log() && !with_suffix(path, SHARED_MEMORY).exists();
    Ok(is_unused.then_some(state))
}

/// The state of a database that no program is changing.
pub(super) struct State {
    path: PathBuf,
    wal: PathBuf,
    journal: PathBuf,
    stamp: Stamp,
}

/// Metadata that differs after a change.
#[derive(PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    length: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            wal: with_suffix(path, LOG),
            journal: with_suffix(path, JOURNAL),
            stamp: Stamp::of(path)?,
        })
    }

    /// Whether everything is in the database file: a program that writes begins a log.
    fn has_no_log(&self) -> bool {
        length(&self.wal) == 0 && length(&self.journal) == 0
    }

    fn is_current(&self) -> bool {
        self.has_no_log() && Stamp::of(&self.path).is_ok_and(|stamp| stamp == self.stamp)
    }
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            identity: identity(&metadata),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

/// The length of a file, 0 if it does not exist.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Whether this process may read but not write the database at a path, which is resolved: the
/// database or a file beside it is read-only, or a file is missing and cannot be created.
pub(super) fn is_read_only(path: &Path) -> bool {
    if !path.exists() {
        return false;
    }
    let companions = [LOG, SHARED_MEMORY].map(|suffix| with_suffix(path, suffix));
    let mut missing = companions.iter().filter(|companion| !companion.exists());
    !is_writable(path)
        || (missing.next().is_some() && !is_writable(folder_of(path)))
        || companions
            .iter()
            .any(|companion| companion.exists() && !is_writable(companion))
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
