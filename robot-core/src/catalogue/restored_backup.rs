//! The types of restoring a backup to the file of a catalogue.

use std::path::PathBuf;

use super::{
    check::{CheckError, CheckReport},
    error::{Cause, OpenError},
};

/// A backup that was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredBackup {
    /// The number of robots in it.
    pub robots: u64,
    /// The size of the catalogue in bytes.
    pub bytes: u64,
    /// The catalogue that was replaced, under its new name. A WAL without a catalogue is kept, too, but
    /// not reported.
    pub replaced: Option<PathBuf>,
}

/// Why a backup could not be restored. The catalogue is unchanged, except after
/// [`NotSynced`](Self::NotSynced). If the last step failed, its file is still named `robots.db.replaced-1`,
/// and opening it says how to put it back.
///
/// ```
/// use std::ops::ControlFlow;
/// use robot_core::{Existing, OpenOptions};
///
/// let next = |_| ControlFlow::Continue(());
/// let error = OpenOptions::default().restore_backup("copy.db", "memory:", Existing::Keep, next);
/// assert!(error.unwrap_err().to_string().starts_with("a backup is restored to an SQLite file only"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The catalogue is not in a file.
    #[error(
        "a backup is restored to an SQLite file only, and {database} is not one; restore it to a \
         file, and copy that to the database"
    )]
    NoFile {
        /// The database, without credentials.
        database: String,
    },
    /// The URL names no file, or no file that may be a catalogue.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The backup could not be checked.
    #[error("the backup cannot be checked: {0}")]
    Check(#[source] CheckError),
    /// The backup failed a check.
    #[error("the backup '{}' is damaged; choose another one", file.display())]
    Damaged {
        /// The backup.
        file: PathBuf,
        /// The findings.
        report: CheckReport,
    },
    /// A WAL or journal beside the backup may have changes that the backup does not have.
    #[error(
        "the backup '{}' may be incomplete, because of its WAL '{}'; back it up as a catalogue to \
         another file, and restore that", file.display(), wal.display()
    )]
    HasWal {
        /// The backup.
        file: PathBuf,
        /// Its WAL or journal.
        wal: PathBuf,
    },
    /// The catalogue exists, or a WAL of one, which SQLite would apply to the restored file.
    #[error("'{}' exists; choose another file, or allow it to be replaced", .0.display())]
    Exists(PathBuf),
    /// The backup is the catalogue itself, or another file of its database.
    #[error("'{}' belongs to the catalogue itself; choose another backup", .0.display())]
    Itself(PathBuf),
    /// Another program has the catalogue open.
    #[error("'{}' is in use; stop the server and all other programs that use it", .0.display())]
    InUse(PathBuf),
    /// The file cannot be written.
    #[error(
        "'{}' cannot be restored: {cause}; check that its folder exists and may be written, and that \
         the disk has room", file.display()
    )]
    Failed {
        /// The file of the catalogue.
        file: PathBuf,
        /// The error of the system or of SQLite.
        #[source]
        cause: Cause,
    },
    /// The file was restored, and may be the one before again after a power cut.
    #[error(
        "'{}' is restored, but its folder cannot be synced: {cause}; check the disk, and which robots \
         the catalogue has, before you use it", file.display()
    )]
    NotSynced {
        /// The file of the catalogue.
        file: PathBuf,
        /// The error of the system.
        #[source]
        cause: Cause,
    },
    /// The caller stopped it.
    #[error("restoring '{}' was stopped; no file was changed", .0.display())]
    Cancelled(PathBuf),
}
