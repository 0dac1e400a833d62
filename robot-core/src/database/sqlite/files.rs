//! Integrity checks of the files of an open database, which may be deleted, replaced or truncated.
//!
//! A process keeps using a file that was deleted or replaced, and SQLite does not check. What it then
//! commits is lost, so the writer thread checks before and after each commit.

use std::{
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

use diesel::{QueryResult, RunQueryDsl, SqliteConnection, dsl::sql, sql_types::Text};

use super::{
    companions::{LOG, SHARED_MEMORY},
    connection::{Purpose, WAL_LIMIT},
    file::DatabaseFile,
};
use crate::files::{
    identity::{Identity, identity, link_count},
    path::with_suffix,
};

/// Why a commit to the files would be lost.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
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
pub(super) struct Files {
    file: DatabaseFile,
    database: Observed,
    /// The write-ahead log and its shared memory, once they exist.
    companions: [(PathBuf, Option<Observed>); 2],
}

/// Identity and length of a file when it was last checked.
#[derive(Clone, Copy)]
struct Observed {
    identity: Identity,
    length: u64,
    links: u64,
}

impl From<Metadata> for Observed {
    fn from(metadata: Metadata) -> Self {
        Self {
            identity: identity(&metadata),
            length: metadata.len(),
            links: link_count(&metadata),
        }
    }
}

impl Files {
    /// The files of a database that was just opened.
    pub(super) fn new(file: &DatabaseFile) -> io::Result<Self> {
        let database = fs::metadata(file.path())?.into();
        let companion = |suffix| (with_suffix(file.resolved(), suffix), None);
        Ok(Self {
            file: file.clone(),
            database,
            companions: [companion(LOG), companion(SHARED_MEMORY)],
        })
    }

    /// Forgets companions that do not exist: the last connection deleted them when it closed, and
    /// the next one creates new ones.
    pub(super) fn forget_deleted_companions(&mut self) {
        for (path, observed) in &mut self.companions {
            if matches!(fs::exists(path), Ok(false)) {
                *observed = None;
            }
        }
    }

    /// Checks, before a commit, that the files are still those that were opened, and that no other
    /// log can be begun for the database.
    pub(super) fn check(&mut self) -> Result<(), Lost> {
        self.check_all()?;
        if self.database.links > 1 {
            return Err(Lost::Linked(self.file.name()));
        }
        Ok(())
    }

    fn check_all(&mut self) -> Result<(), Lost> {
        self.database = self.check_file(self.file.path(), self.database)?;
        for index in 0..self.companions.len() {
            if let (path, Some(observed)) = &self.companions[index] {
                // SQLite itself shortens a log to this limit.
                let length = observed.length.min(WAL_LIMIT);
                let shortest = Observed {
                    length,
                    ..*observed
                };
                self.companions[index].1 = Some(self.check_file(path, shortest)?);
            }
        }
        Ok(())
    }

    /// Checks, after a commit, that it is in files which the next start will find.
    pub(super) fn check_committed(&mut self) -> Result<(), Lost> {
        for index in 0..self.companions.len() {
            if let (path, None) = &self.companions[index] {
                self.companions[index].1 = Some(self.observe(path)?);
            }
        }
        self.check_all()
    }

    fn check_file(&self, path: &Path, before: Observed) -> Result<Observed, Lost> {
        let now = self.observe(path)?;
        if now.identity != before.identity {
            return Err(Lost::Replaced(self.file.name()));
        }
        if now.length < before.length {
            // SQLite shortened it (VACUUM, a checkpoint), or another program truncated it.
            self.check_contents()?;
        }
        Ok(now)
    }

    fn observe(&self, path: &Path) -> Result<Observed, Lost> {
        let found = fs::metadata(path).map(Observed::from);
        found.map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Lost::Replaced(self.file.name()),
            _ => Lost::Unreadable {
                database: self.file.name(),
                cause,
            },
        })
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
