//! The files of an SQLite database, which somebody may delete, replace or cut short while they are
//! open.
//!
//! A program goes on with a file that has lost its name, and SQLite does not look. What it then
//! commits is on a disk where nobody will ever find it, so whoever commits asks here, before and
//! after.

use std::{
    fs::{self, Metadata},
    io,
    path::PathBuf,
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

/// The files of a database that is open.
pub(super) struct Files {
    location: Location,
    database: PathBuf,
    /// Which file it is, and the least that it has been long.
    opened: (Identity, u64),
    /// The write-ahead log and its index, each with its identity, once it is known.
    beside: [(PathBuf, Option<Identity>); 2],
}

impl Files {
    /// Those of a database that has just been opened.
    pub(super) fn of(location: &Location, path: &str) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        let beside = |ending| (PathBuf::from(format!("{path}{ending}")), None);
        Ok(Self {
            location: location.clone(),
            database: PathBuf::from(path),
            opened: (identity(&metadata), metadata.len()),
            beside: [beside("-wal"), beside("-shm")],
        })
    }

    /// Another connection is to have a log of its own, if it is the only one.
    pub(super) fn forget_the_log(&mut self) {
        for (_, identity) in &mut self.beside {
            *identity = None;
        }
    }

    /// Whether what was opened is still what the path names.
    pub(super) fn are_there(&mut self) -> Result<(), Lost> {
        let metadata = self.look(&self.database)?;
        let (opened, length) = self.opened;
        if identity(&metadata) != opened {
            return Err(self.another());
        }
        if metadata.len() < length {
            // Either somebody has cleared it up (VACUUM), or it was cut.
            self.examine()?;
        }
        self.opened.1 = metadata.len();
        for (path, known) in &self.beside {
            if let Some(known) = known
                && identity(&self.look(path)?) != *known
            {
                return Err(self.another());
            }
        }
        Ok(())
    }

    /// Whether what was committed just now is where it will be found.
    pub(super) fn have_it(&mut self) -> Result<(), Lost> {
        for index in 0..self.beside.len() {
            if self.beside[index].1.is_none() {
                let found = identity(&self.look(&self.beside[index].0)?);
                self.beside[index].1 = Some(found);
            }
        }
        self.are_there()
    }

    fn look(&self, path: &PathBuf) -> Result<Metadata, Lost> {
        fs::metadata(path).map_err(|cause| match cause.kind() {
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
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere a file that is open cannot be deleted or replaced.
#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}
