//! The files of an SQLite database, which somebody may delete, replace or cut short while they are
//! open.
//!
//! A program goes on with a file that has lost its name, and SQLite does not look. What it then
//! commits is on a disk where nobody will ever find it, so whoever commits asks here, before and
//! after.

use std::{
    ffi::OsString,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use diesel::{RunQueryDsl, dsl::sql, sql_types::Text};

use super::connection::{AnyConnection, Location, Purpose};

/// Why nothing that is committed to the files will be found again.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error(
        "{0} was deleted, moved or replaced while it was in use, so that nothing can be stored; \
         put back what was there, or start the program again on what is there now"
    )]
    Another(String),
    #[error(
        "{database} was cut short or damaged while it was in use, so that nothing can be stored; \
         put back a copy of it, without the files -wal and -shm, while no program has it open: \
         {cause}"
    )]
    Damaged { database: String, cause: String },
    #[error("{database} cannot be looked at: {cause}")]
    Unreadable { database: String, cause: io::Error },
}

/// The file that a path leads to. SQLite keeps what belongs to a database beside the file itself, and
/// not beside a link to it.
pub(super) fn itself(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The path with an ending more, as SQLite names what is beside a database.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(path);
    path.push(ending);
    path.into()
}

/// Which file it was that a path named at first, once that is known.
#[derive(Clone, Default)]
pub(super) struct Original(Arc<OnceLock<Identity>>);

impl Original {
    /// Whether the path still names it.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let Some(original) = self.0.get() else {
            return true;
        };
        fs::metadata(path).is_ok_and(|found| identity(&found) == *original)
    }
}

/// The files of a database that is open.
pub(super) struct Files {
    location: Location,
    database: PathBuf,
    opened: Seen,
    /// The write-ahead log and its index, once they are there.
    beside: [(PathBuf, Option<Seen>); 2],
}

/// What was last seen of a file.
#[derive(Clone, Copy)]
struct Seen {
    identity: Identity,
    length: u64,
}

impl From<Metadata> for Seen {
    fn from(metadata: Metadata) -> Self {
        Self {
            identity: identity(&metadata),
            length: metadata.len(),
        }
    }
}

impl Files {
    /// Those of a database that has just been opened. It is the original from then on.
    pub(super) fn of(location: &Location, path: &str, original: &Original) -> io::Result<Self> {
        let opened: Seen = fs::metadata(path)?.into();
        original.0.get_or_init(|| opened.identity);
        let database = PathBuf::from(path);
        let file = itself(&database);
        let beside = |ending| (with_ending(&file, ending), None);
        Ok(Self {
            location: location.clone(),
            database,
            opened,
            beside: [beside("-wal"), beside("-shm")],
        })
    }

    /// The last connection took its log with it, and the next is to have one of its own.
    pub(super) fn forget_a_log_that_is_gone(&mut self) {
        for (path, seen) in &mut self.beside {
            if matches!(fs::exists(path), Ok(false)) {
                *seen = None;
            }
        }
    }

    /// Whether what was opened is still what the path names.
    pub(super) fn are_there(&mut self) -> Result<(), Lost> {
        self.opened = self.again(&self.database, self.opened)?;
        for index in 0..self.beside.len() {
            if let (path, Some(seen)) = &self.beside[index] {
                self.beside[index].1 = Some(self.again(path, *seen)?);
            }
        }
        Ok(())
    }

    /// Whether what was committed just now is where it will be found.
    pub(super) fn have_it(&mut self) -> Result<(), Lost> {
        for index in 0..self.beside.len() {
            if let (path, None) = &self.beside[index] {
                self.beside[index].1 = Some(self.look(path)?);
            }
        }
        self.are_there()
    }

    /// Looks at a file again.
    fn again(&self, path: &PathBuf, before: Seen) -> Result<Seen, Lost> {
        let now = self.look(path)?;
        if now.identity != before.identity {
            return Err(self.another());
        }
        if now.length < before.length {
            // Either somebody has cleared it up (VACUUM, a checkpoint), or it was cut.
            self.examine()?;
        }
        Ok(now)
    }

    fn look(&self, path: &PathBuf) -> Result<Seen, Lost> {
        let found = fs::metadata(path).map(Seen::from);
        found.map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => self.another(),
            _ => Lost::Unreadable {
                database: self.location.name(),
                cause,
            },
        })
    }

    fn another(&self) -> Lost {
        Lost::Another(self.location.name())
    }

    /// Reads all of the database, as one who has nothing of it in memory yet.
    fn examine(&self) -> Result<(), Lost> {
        let connected = self.location.connect(Purpose::Reading);
        let found = connected
            .map_err(|error| error.to_string())
            .and_then(|mut connection| findings(&mut connection).map_err(|error| error.to_string()))
            .unwrap_or_else(|error| vec![error]);
        if found == ["ok"] {
            return Ok(());
        }
        Err(Lost::Damaged {
            database: self.location.name(),
            cause: found.join("; "),
        })
    }
}

/// What SQLite finds wrong with a database: "ok" where that is nothing.
fn findings(connection: &mut AnyConnection) -> diesel::QueryResult<Vec<String>> {
    match connection {
        AnyConnection::Sqlite(connection) => {
            // An empty file is in order, too, but has no robots.
            sql::<Text>("SELECT type FROM robots LIMIT 1").load::<String>(connection)?;
            sql::<Text>("PRAGMA quick_check(1)").load(connection)
        }
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        _ => Ok(Vec::new()),
    }
}

/// What tells a file from every other one, where the system has such a thing.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);

#[cfg(unix)]
pub(super) fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere a file that is open cannot be deleted or replaced.
#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}
