//! The types of a backup: a copy of a catalogue's file, made while other programs use it.

use std::path::PathBuf;

use super::error::{Cause, OpenError};

/// A complete backup.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// The number of robots in it.
    pub robots: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Why a backup failed. An existing file in its place is unchanged, except after
/// [`NotSynced`](Self::NotSynced).
///
/// ```
/// use robot_core::{Existing, backup};
///
/// let error = backup("memory:", "copy.db", Existing::Keep).unwrap_err();
/// assert!(error.to_string().starts_with("backups are made of SQLite files only"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The catalogue is not in a file.
    #[error("backups are made of SQLite files only, and {database} is not one; {remedy}")]
    NoFile {
        /// The database, without credentials.
        database: String,
        /// How to back up such a database.
        remedy: &'static str,
    },
    /// The catalogue cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file exists.
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
    /// The backup cannot be written.
    #[error(
        "the backup '{}' cannot be made: {cause}; check that its folder exists and may be written, \
         and that the disk has room", file.display()
    )]
    Failed {
        /// The file.
        file: PathBuf,
        /// The error of the system or of SQLite.
        #[source]
        cause: Cause,
    },
    /// The backup is complete, but a power cut may undo the renaming: its file is then missing, or the
    /// previous one.
    #[error(
        "the backup '{}' is complete, but its folder cannot be synced: {cause}; check the disk, and \
         back up again", file.display()
    )]
    NotSynced {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        #[source]
        cause: Cause,
    },
    /// The caller stopped it.
    #[error("the backup '{}' was stopped; no file was changed", .0.display())]
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
}
