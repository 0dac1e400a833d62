//! Integrity checks of the files of an open database, which may be deleted, replaced or truncated.
//!
//! A process keeps using a file that was deleted or replaced, and SQLite does not check. What it then
//! commits is lost, so the writer thread checks before and after each commit.

use std::{fs, io, path::PathBuf};

use diesel::{QueryResult, RunQueryDsl, SqliteConnection, dsl::sql, sql_types::Text};

use crate::database::sqlite::connect::{DatabaseFile, Purpose, SHARED_MEMORY, WAL, WAL_LIMIT};
use crate::files::{
    identity::{Identity, identity, link_count},
    path::with_suffix,
};

/// Why a commit to the files would be lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lost {
    #[error(
        "{0} was deleted, moved or replaced while it was in use, so nothing can be stored; put \
         the file back, or restart the program to use what is there now"
    )]
    Replaced(String),
    #[error(
        "{0} has a second name now (a hard link), and a program that uses that name would \
         overwrite changes, so nothing can be stored; delete the second name"
    )]
    Linked(String),
    #[error(
        "{database} was truncated or damaged while it was in use, so nothing can be stored; stop \
         all programs that use it, and put back a backup without the files -wal and -shm: {cause}"
    )]
    Damaged { database: String, cause: String },
    #[error("{database} cannot be checked: {cause}")]
    Unreadable { database: String, cause: io::Error },
}

/// The files of an open database.
pub(crate) struct Files {
    file: DatabaseFile,
    /// The database, its WAL and its shared memory.
    watched: [Watched; 3],
}

/// A file, as it was when it was last checked.
struct Watched {
    path: PathBuf,
    /// The length that SQLite itself leaves when it shortens the file.
    shortest: u64,
    /// `None` until a sidecar file exists.
    observed: Option<Observed>,
}

#[derive(Clone, Copy)]
struct Observed {
    identity: Identity,
    length: u64,
    links: u64,
}

impl Watched {
    fn observe(&self) -> io::Result<Observed> {
        let found = fs::metadata(&self.path)?;
        Ok(Observed {
            identity: identity(&found),
            length: found.len().min(self.shortest),
            links: link_count(&found),
        })
    }
}

impl Files {
    /// The files of a database that was just opened.
    pub(crate) fn new(file: &DatabaseFile) -> io::Result<Self> {
        let watched = |path, shortest| Watched {
            path,
            shortest,
            observed: None,
        };
        let sidecar = |suffix| watched(with_suffix(file.resolved(), suffix), WAL_LIMIT);
        let mut database = watched(file.path().to_owned(), u64::MAX);
        database.observed = Some(database.observe()?);
        Ok(Self {
            file: file.clone(),
            watched: [database, sidecar(WAL), sidecar(SHARED_MEMORY)],
        })
    }

    /// Forgets sidecar files that do not exist: the last connection deleted them when it closed, and
    /// the next one creates new ones.
    pub(crate) fn forget_deleted_sidecars(&mut self) {
        for sidecar in &mut self.watched[1..] {
            if matches!(fs::exists(&sidecar.path), Ok(false)) {
                sidecar.observed = None;
            }
        }
    }

    /// Checks, before a commit, that the files are still those that were opened, and that no other
    /// WAL can be begun for the database.
    pub(crate) fn check(&mut self) -> Result<(), Lost> {
        for index in 0..self.watched.len() {
            let Some(before) = self.watched[index].observed else {
                continue;
            };
            let now = self.observe(index)?;
            if now.identity != before.identity {
                return Err(Lost::Replaced(self.file.name()));
            }
            if now.length < before.length {
                // SQLite shortened it (VACUUM, a checkpoint), or another program truncated it.
                self.check_contents()?;
            }
            // A WAL with a second name does no harm.
            if index == 0 && now.links > 1 {
                return Err(Lost::Linked(self.file.name()));
            }
            self.watched[index].observed = Some(now);
        }
        Ok(())
    }

    /// Checks, after a commit, that it is in files which the next start will find.
    pub(crate) fn check_committed(&mut self) -> Result<(), Lost> {
        for index in 0..self.watched.len() {
            if self.watched[index].observed.is_none() {
                self.watched[index].observed = Some(self.observe(index)?);
            }
        }
        self.check()
    }

    fn observe(&self, index: usize) -> Result<Observed, Lost> {
        self.watched[index]
            .observe()
            .map_err(|error| self.lost(error))
    }

    fn lost(&self, cause: io::Error) -> Lost {
        let database = self.file.name();
        match cause.kind() {
            io::ErrorKind::NotFound => Lost::Replaced(database),
            _ => Lost::Unreadable { database, cause },
        }
    }

    /// Reads the whole database through a new connection, which has none of it in memory.
    fn check_contents(&self) -> Result<(), Lost> {
        let connected = self.file.connect(Purpose::Read);
        let findings = connected
            .map_err(|error| error.to_string())
            .and_then(|mut connection| {
                quick_check(&mut connection).map_err(|error| error.to_string())
            })
            .unwrap_or_else(|error| vec![error]);
        if findings == ["ok"] {
            return Ok(());
        }
        Err(Lost::Damaged {
            database: self.file.name(),
            cause: findings.join("; "),
        })
    }
}

/// What SQLite's check finds: "ok", or descriptions of damage.
fn quick_check(connection: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    // An empty file passes the check, but has no table.
    sql::<Text>("SELECT type FROM robots LIMIT 1").load::<String>(connection)?;
    sql::<Text>("PRAGMA quick_check(1)").load(connection)
}
