//! The types of a backup: a copy of a catalogue's file, made while other programs use it, and restored later.

use std::path::PathBuf;

use super::{
    check::{CheckError, CheckReport},
    error::{Cause, OpenError},
};

/// A complete backup, or a catalogue that was restored from one.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use robot_core::{Existing, backup};
///
/// let folder = tempfile::tempdir()?;
/// let (url, file) = (format!("sqlite://{}/robots.db", folder.path().display()), folder.path().join("copy.db"));
/// robot_core::open(&url)?;
/// let made = backup(&url, &file, Existing::Keep)?;
/// assert_eq!((made.robots, made.bytes), (0, std::fs::metadata(&file)?.len()));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// The number of robots in it.
    pub robots: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The catalogue that was replaced by restoring, under its new name. A WAL without a catalogue is kept, too,
    /// but not reported.
    pub replaced: Option<PathBuf>,
}

/// Why a backup could not be made or restored. An existing file in its place is unchanged, except after
/// [`NotSynced`](Self::NotSynced). If the last step of restoring failed, the file of the catalogue is still
/// named `robots.db.replaced-1`, and opening it says how to put it back.
///
/// ```
/// use robot_core::{Existing, backup};
///
/// let error = backup("memory:", "copy.db", Existing::Keep).unwrap_err();
/// assert!(error.to_string().starts_with("only SQLite files are backed up and restored"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The catalogue is not in a file.
    #[error("only SQLite files are backed up and restored, and {database} is not one; {remedy}")]
    NoFile {
        /// The database, without credentials.
        database: String,
        /// What to do with such a database.
        remedy: &'static str,
    },
    /// The catalogue or the backup cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file exists, or a WAL of it, which SQLite would apply to a restored file.
    #[error("'{}' exists; choose another file, or allow it to be replaced", .0.display())]
    Exists(PathBuf),
    /// The file is the catalogue itself, or another file of its database.
    #[error("'{}' belongs to the catalogue itself; choose another file", .0.display())]
    Itself(PathBuf),
    /// Beside the file is a WAL or journal of another database, which SQLite would apply to the backup.
    #[error(
        "'{}' exists, the WAL or journal of a database that is in use or was interrupted during a \
         change; choose another file, or delete it if no database needs it",
        .0.display()
    )]
    WalBeside(PathBuf),
    /// The file cannot be written.
    #[error(
        "'{}' cannot be written: {cause}; check that its folder exists and may be written, and that the \
         disk has room", file.display()
    )]
    Failed {
        /// The file.
        file: PathBuf,
        /// The error of the system or of SQLite.
        #[source]
        cause: Cause,
    },
    /// The file is complete, but a power cut may undo the renaming: it is then missing, or the previous one.
    #[error(
        "'{}' is complete, but its folder cannot be synced: {cause}; check the disk, and which robots the \
         file has, before you rely on it", file.display()
    )]
    NotSynced {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        #[source]
        cause: Cause,
    },
    /// The caller stopped it.
    #[error("writing '{}' was stopped; no file was changed", .0.display())]
    Cancelled(PathBuf),
    /// SQLite's integrity check of the backup failed, so the catalogue is most likely damaged.
    #[error(
        "the backup of {database} failed its integrity check, so the catalogue is damaged: \
         {findings}; restore an earlier backup"
    )]
    Damaged {
        /// The database.
        database: String,
        /// The result of the check.
        findings: String,
    },
    /// The search index is damaged, and nothing else.
    #[error(
        "the search index of {database} is damaged: {findings}; no robot is lost: rebuild it (see \
         'Damaged catalogue' in the operations document), and back up again"
    )]
    DamagedIndex {
        /// The database.
        database: String,
        /// The result of the check.
        findings: String,
    },
    /// The backup to be restored could not be checked.
    #[error("the backup cannot be checked: {0}")]
    Check(#[source] CheckError),
    /// The backup to be restored failed a check.
    #[error("the backup '{}' is damaged; choose another one", file.display())]
    FailedCheck {
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
    /// Another program has the catalogue open that is to be replaced.
    #[error("'{}' is in use; stop the server and all other programs that use it", .0.display())]
    InUse(PathBuf),
}
