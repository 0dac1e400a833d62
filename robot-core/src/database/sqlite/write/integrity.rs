//! Identity of the files of an open database, which may be deleted or replaced.
//!
//! A process keeps using a file that was deleted or replaced, and SQLite does not check. What it then
//! commits is lost, so the writer thread checks before and after each commit.

use std::{fs, io, path::PathBuf};

use crate::database::sqlite::connect::{DatabaseFile, SHARED_MEMORY, WAL};
use crate::files::{
    identity::{Identity, identity},
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
    #[error("{database} cannot be checked: {cause}")]
    Unreadable { database: String, cause: io::Error },
}

/// The files of an open database.
pub(crate) struct Files {
    name: String,
    /// The database, its WAL and its shared memory, each with its identity: `None` until a sidecar file
    /// exists.
    watched: [(PathBuf, Option<Identity>); 3],
}

impl Files {
    /// The files of a database that was just opened.
    pub(crate) fn new(file: &DatabaseFile) -> io::Result<Self> {
        let database = identity(&fs::metadata(file.path())?);
        let sidecar = |suffix| (with_suffix(&file.resolved, suffix), None);
        Ok(Self {
            name: file.name(),
            watched: [
                (file.path().to_owned(), Some(database)),
                sidecar(WAL),
                sidecar(SHARED_MEMORY),
            ],
        })
    }

    /// Forgets sidecar files that do not exist: the last connection deleted them when it closed, and
    /// the next one creates new ones.
    pub(crate) fn forget_deleted_sidecars(&mut self) {
        for (path, known) in &mut self.watched[1..] {
            if matches!(fs::exists(path), Ok(false)) {
                *known = None;
            }
        }
    }

    /// Checks, before a commit, that the files are still those that were opened.
    pub(crate) fn check(&mut self) -> Result<(), Lost> {
        self.check_files(Option::is_some)
    }

    /// Checks, after a commit, that it is in files which the next start will find.
    pub(crate) fn check_committed(&mut self) -> Result<(), Lost> {
        self.check_files(|_| true)
    }

    fn check_files(&mut self, is_checked: fn(&Option<Identity>) -> bool) -> Result<(), Lost> {
        for (path, known) in &mut self.watched {
            if !is_checked(known) {
                continue;
            }
            let database = self.name.clone();
            match fs::metadata(path).map(|found| identity(&found)) {
                Ok(found) if *known.get_or_insert(found) == found => {}
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    return Err(Lost::Unreadable { database, cause });
                }
                _ => return Err(Lost::Replaced(database)),
            }
        }
        Ok(())
    }
}
