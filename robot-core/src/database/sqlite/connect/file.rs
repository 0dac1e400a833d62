//! The database file that a URL names, and connections to it.

use std::{
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use diesel::{
    Connection, ConnectionError, ConnectionResult, QueryResult, SqliteConnection,
    connection::SimpleConnection,
};

use super::{
    SIDECARS, WAL,
    connection::{Purpose, WRITE_LOCK_PAUSE, retry_while_locked, set_up, uri},
    reader::{Reader, Unlocked, is_read_only, length},
};
use crate::database::sqlite::errors::{is_damaged, is_disk_full, is_locked};
use crate::{
    catalogue::{Cause, OpenError, OpenOptions},
    database::slow_statements,
    files::{
        StoreFiles,
        identity::{Identity, identity},
        mount::{Ground, ground_of},
        path::{folder_of, resolve, with_suffix},
    },
};

/// A database file.
#[derive(Clone)]
pub(crate) struct DatabaseFile {
    path: String,
    /// The path after links are followed: SQLite keeps the WAL beside the file itself, not beside a
    /// link to it.
    pub(crate) resolved: PathBuf,
    /// Whether the process may not write it.
    pub(crate) is_read_only: bool,
    /// Whether it must not be changed, although the process may.
    is_unchanged: bool,
    /// The identity of the file that every connection must be to, once one is in use.
    identity: Arc<OnceLock<Identity>>,
    /// How long to wait for a lock.
    pub(crate) timeout: Duration,
    slow_statement: Duration,
}

impl DatabaseFile {
    /// The file that a URL names, opened read-only: nothing of it is written, and it is not migrated.
    ///
    /// # Errors
    /// The URL names no file, or the file belongs to another database.
    pub(crate) fn unchanged_from_url(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        Ok(Self {
            is_unchanged: true,
            ..Self::named(url, options)?
        })
    }

    /// The file that a URL names.
    ///
    /// # Errors
    /// The URL names no file, the file belongs to another database, or its WAL would not be on its mount.
    pub(crate) fn from_url(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let file = Self::named(url, options)?;
        if !file.is_read_only && ground_of(&file.resolved) == Ground::Itself {
            let cause =
                "it is a mount itself, outside of which its WAL would be lost with a container";
            return Err(file.unusable(cause.into(), "mount its folder instead"));
        }
        Ok(file)
    }

    fn named(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let path = path_of_url(url).ok_or_else(|| OpenError::NoPath(url.to_owned()))?;
        // If its folder is missing, opening it fails.
        let resolved = resolve(path.as_ref()).unwrap_or_else(|_| PathBuf::from(&path));
        let file = Self {
            is_read_only: is_read_only(&resolved),
            is_unchanged: false,
            path,
            resolved,
            identity: Arc::default(),
            timeout: options.get_timeout(),
            slow_statement: options.slow_statement,
        };
        file.must_be_a_database()?;
        if let Ground::Remote(kind) = ground_of(&file.resolved) {
            let name = file.name();
            tracing::warn!(
                "the database {name} is on a remote file system ({kind}), where robots may be lost; use a local disk or a database server"
            );
        }
        Ok(file)
    }

    /// Fails for a WAL or the shared memory of a database. SQLite would take an empty WAL for an
    /// empty database.
    fn must_be_a_database(&self) -> Result<(), OpenError> {
        let path = self.resolved.to_string_lossy();
        let mut databases = SIDECARS
            .iter()
            .filter_map(|suffix| path.strip_suffix(suffix));
        match databases.find(|database| Path::new(database).is_file()) {
            Some(database) => Err(self.unusable(
                format!("it belongs to the database '{database}'").into(),
                "open that one",
            )),
            None => Ok(()),
        }
    }

    /// As [`pin`](Self::pin), but the file may be missing, unless there is a WAL of it, which SQLite would
    /// delete, or the file that an interrupted restoration has renamed.
    pub(crate) fn pin_or_create(&self) -> Result<(), OpenError> {
        let pinned = self.pin();
        if !matches!(pinned, Err(OpenError::Missing(_))) {
            return pinned;
        }
        if self.has_replaced_file() {
            return Err(self.unusable(
                "it is missing, and beside it is a catalogue that a restoration has replaced".into(),
                "restore the backup again, or rename the newest file '.replaced-' and, if there is one, \
                 its WAL ('.replaced-N-wal' to '-wal'). Move all of them away to begin an empty catalogue",
            ));
        }
        if self.wal_length() == 0 {
            return Ok(());
        }
        Err(self.unusable(
            "it is missing, and its WAL (the file '-wal') has changes of it".into(),
            "put the file back beside its WAL. Delete the WAL to begin an empty catalogue",
        ))
    }

    /// Whether a restoration has renamed a file of this name.
    fn has_replaced_file(&self) -> bool {
        let beginning = with_suffix(&self.resolved, ".replaced-");
        let entries = fs::read_dir(folder_of(&self.resolved));
        let mut entries = entries.into_iter().flatten().flatten();
        entries.any(|entry| {
            let path = entry.path().into_os_string();
            let beginning = beginning.as_os_str().as_encoded_bytes();
            path.as_encoded_bytes().starts_with(beginning)
        })
    }

    /// Connects to the file, provided that it is still the pinned one.
    ///
    /// Nothing is read of another file. SQLite would take the WAL and the shared memory beside it for
    /// those of the new file, and would empty the shared memory, which crashes a process that still
    /// uses it for the old file.
    pub(crate) fn connect(&self, purpose: Purpose) -> Result<SqliteConnection, OpenError> {
        self.connect_in_mode(purpose, purpose.mode())
    }

    /// A connection that reads. A database that the process may not write is not changed, and no
    /// file is created beside it.
    pub(crate) fn reader(&self, purpose: Purpose) -> Result<Reader, OpenError> {
        if !self.is_read_only && !self.is_unchanged {
            return Ok(Reader::new(self.connect(purpose)?, None));
        }
        let state = Unlocked::of(&self.resolved, self.is_read_only)
            .map_err(|cause| self.cannot_open(cause.into()))?;
        // A backup writes another file through the connection; SQLite opens this one read-only.
        let mode = if purpose == Purpose::Write && !self.is_unchanged {
            "rw"
        } else {
            "ro"
        };
        let locks = if state.is_some() { "&immutable=1" } else { "" };
        let connection = self.connect_in_mode(purpose, &format!("{mode}{locks}"))?;
        Ok(Reader::new(connection, state))
    }

    fn connect_in_mode(&self, purpose: Purpose, mode: &str) -> Result<SqliteConnection, OpenError> {
        let opened = SqliteConnection::establish(&uri(&self.path, mode));
        let connected = opened.and_then(|mut connection| {
            // The file is open now, so that it cannot be exchanged any more, and not read yet.
            self.must_be_pinned_file()?;
            connection.set_instrumentation(slow_statements::stopwatch(self.slow_statement));
            let result = set_up(&mut connection, purpose, self.timeout);
            // It may have waited for a program that locked the file until it had replaced it.
            self.must_be_pinned_file()?;
            result.map_err(ConnectionError::CouldntSetupConfiguration)?;
            Ok(connection)
        });
        connected.map_err(|error| self.cannot_open(error.into()))
    }

    fn must_be_pinned_file(&self) -> ConnectionResult<()> {
        let is_pinned_file = self.identity.get().is_none_or(|pinned| {
            fs::metadata(&self.path).is_ok_and(|found| identity(&found) == *pinned)
        });
        if is_pinned_file {
            return Ok(());
        }
        let message = "it was deleted, moved or replaced while it was in use";
        Err(ConnectionError::BadConnection(message.to_owned()))
    }

    /// Requires that the file exists, and that every further connection is to it.
    pub(crate) fn pin(&self) -> Result<(), OpenError> {
        match fs::metadata(&self.path) {
            Ok(found) => {
                self.identity.get_or_init(|| identity(&found));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(OpenError::Missing(self.name()))
            }
            Err(error) => Err(self.cannot_open(error.into())),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    /// The length of the WAL in bytes.
    pub(crate) fn wal_length(&self) -> u64 {
        length(&with_suffix(&self.resolved, WAL))
    }

    /// The files of the database.
    pub(crate) fn store_files(&self) -> StoreFiles {
        store_files(&self.resolved).with_open(self.identity.get().copied())
    }

    /// Begins a transaction and takes the write lock: a transaction that takes it later cannot wait for
    /// it.
    ///
    /// SQLite's own busy handler sleeps up to 100 ms at a time. A program that begins its next
    /// transaction immediately leaves the lock free for microseconds only, and the handler would hardly
    /// ever find it free.
    ///
    /// A long wait is logged as a slow statement, because each attempt is short.
    pub(crate) fn begin(&self, connection: &mut SqliteConnection) -> QueryResult<()> {
        let (started, mut attempts) = (Instant::now(), 0_u64);
        let begun = retry_while_locked(self.timeout, WRITE_LOCK_PAUSE, || {
            attempts += 1;
            connection.batch_execute("BEGIN IMMEDIATE")
        });
        let waited = started.elapsed();
        if attempts > 1 && waited >= self.slow_statement {
            slow_statements::log("BEGIN IMMEDIATE", waited);
        }
        begun
    }

    /// The file as messages name it.
    pub(crate) fn name(&self) -> String {
        format!("'{}'", self.path.trim_start_matches("./"))
    }

    /// The error for a file that cannot be opened, unless the cause is one already.
    pub(crate) fn cannot_open(&self, cause: Box<dyn Error + Send + Sync>) -> OpenError {
        let database = self.name();
        let cause = match cause.downcast::<OpenError>() {
            Ok(error) => return *error,
            Err(cause) => cause,
        };
        if is_locked(cause.as_ref()) {
            return OpenError::Busy(database);
        }
        if is_disk_full(cause.as_ref()) {
            return OpenError::DiskFull(database);
        }
        let remedy = if self.path().is_dir() {
            "it is a folder; name a file in it"
        } else if is_damaged(cause.as_ref()) {
            "check that it is a database of robots; if it is, it is damaged: restore a backup; otherwise \
             name another one"
        } else if self.is_unchanged || self.is_read_only {
            "check that it may be read and that it is a database of robots; or copy it with all files \
             beside it to another folder"
        } else {
            "check that its folder exists and that both may be written, that the disk has room, and \
             that it is a database of robots; or name another one"
        };
        self.unusable(cause, remedy)
    }

    fn unusable(&self, cause: Box<dyn Error + Send + Sync>, remedy: &'static str) -> OpenError {
        OpenError::Unusable {
            database: self.name(),
            remedy,
            cause: Cause::from(cause),
        }
    }
}

/// The path in a URL: everything after `sqlite://`, literally; `None` if it cannot be a file.
pub(crate) fn path_of_url(url: &str) -> Option<String> {
    let path = url
        .strip_prefix("sqlite://")
        .filter(|path| !path.is_empty() && !path.ends_with('/') && !path.contains('\0'))
        // SQLite's name for a database that is not in a file.
        .filter(|path| *path != ":memory:")?;
    // With a folder before it, SQLite interprets no name as something else than a file, and no path
    // as a host.
    let folder = if path.starts_with('/') { "" } else { "./" };
    Some(format!("{folder}{path}"))
}

/// The files of the database of a URL: none if the URL names no file.
pub(crate) fn files(url: &str) -> StoreFiles {
    path_of_url(url).map_or_else(StoreFiles::default, |path| {
        let path = PathBuf::from(path);
        store_files(&resolve(&path).unwrap_or(path))
    })
}

/// The database at a resolved path, and the files beside it.
fn store_files(path: &Path) -> StoreFiles {
    let sidecars = SIDECARS.map(|suffix| with_suffix(path, suffix));
    StoreFiles::new([path.to_owned()].into_iter().chain(sidecars))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_names_the_path_of_a_file() {
        for (url, path) in [
            ("sqlite://robots.db", Some("./robots.db")),
            ("sqlite://file:x?mode=memory", Some("./file:x?mode=memory")),
            ("sqlite://:memory:", None),
            ("sqlite:///var/robots.db", Some("/var/robots.db")),
            ("sqlite:////host/robots.db", Some("//host/robots.db")),
            ("sqlite://", None),
            ("sqlite:///", None),
            ("sqlite:robots.db", None),
            ("sqlite://a\0b", None),
        ] {
            assert_eq!(path_of_url(url).as_deref(), path, "{url}");
        }
    }
}
