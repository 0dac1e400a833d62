//! A copy of a catalogue's file, while others write to it.

use std::path::{Path, PathBuf};

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
use crate::open::Backend;
use crate::{
    error::{Cause, OpenError},
    open::{OpenOptions, backend_of, redact},
};

/// What to do about a file that is there already.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use robot_core::{Existing, backup};
///
/// let folder = tempfile::tempdir()?;
/// let (url, file) = (format!("sqlite://{}/robots.db", folder.path().display()), folder.path().join("copy.db"));
/// robot_core::open(&url)?;
/// backup(&url, &file, Existing::Keep)?;
/// assert!(backup(&url, &file, Existing::Keep).is_err());
/// assert!(backup(&url, &file, Existing::Replace).is_ok());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is left as it is, and the backup fails.
    Keep,
    /// The backup takes its place, in one step, when it is complete.
    Replace,
}

/// A backup that was made.
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
    /// How many robots it has.
    pub robots: u64,
    /// How many bytes long it is.
    pub bytes: u64,
}

/// Why there is no backup. A file that was in its place is still there as it was.
///
/// ```
/// use robot_core::{Existing, backup};
///
/// let error = backup("memory:", "copy.db", Existing::Keep).unwrap_err();
/// assert!(error.to_string().starts_with("only SQLite files are backed up here"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The catalogue is in no file.
    #[error("only SQLite files are backed up here, and {database} is none; {remedy}")]
    NoFile {
        /// The database, without credentials.
        database: String,
        /// What makes a backup of such a database.
        remedy: &'static str,
    },
    /// The catalogue cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is such a file already.
    #[error("'{}' exists; name another file, or let it be replaced", .0.display())]
    Exists(PathBuf),
    /// The file is the catalogue itself, or one of those that belong to it.
    #[error("'{}' belongs to the catalogue itself; name another file", .0.display())]
    Itself(PathBuf),
    /// Beside the file is the log of a database, which would be taken for that of the backup.
    #[error(
        "'{}' is there, the log of a database that is in use or was left in the middle of a \
         change; name another file, or delete it if you are sure that nobody needs it",
        .0.display()
    )]
    LogBeside(PathBuf),
    /// The backup cannot be made or stored.
    #[error(
        "the backup '{}' cannot be made: {cause}; check that its folder exists and may be written, \
         and that the disk has room", file.display()
    )]
    Failed {
        /// The file that was to be.
        file: PathBuf,
        /// What the system or SQLite said.
        #[source]
        cause: Cause,
    },
    /// SQLite finds fault with the backup, and so most likely with the catalogue.
    #[error(
        "the backup of {database} is not in order, so the catalogue is damaged: {findings}; \
         go back to an earlier backup"
    )]
    Damaged {
        /// The database.
        database: String,
        /// What is wrong with it.
        findings: String,
    },
}

/// Makes a copy of the catalogue in an SQLite file, of one moment, while others read and write it.
///
/// Every change that was answered before the call is in it. It is checked and on disk before it
/// gets its name, so that there is never half a backup of that name. It is a catalogue like any
/// other: [`open`](crate::open) opens it, and new ids go on from those of the first.
///
/// # Errors
/// A [`BackupError`] whose message names the remedy.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use robot_core::{Catalogue, Draft, Existing, backup};
///
/// let folder = tempfile::tempdir()?;
/// let url = |name: &str| format!("sqlite://{}/{name}", folder.path().display());
/// let catalogue = robot_core::open(&url("robots.db"))?;
/// let robot = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
///
/// let made = backup(&url("robots.db"), folder.path().join("copy.db"), Existing::Keep)?;
/// assert_eq!(made.robots, 1);
/// assert_eq!(robot_core::open(&url("copy.db"))?.get(robot.id())?, Some(robot));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn backup(
    url: &str,
    file: impl AsRef<Path>,
    existing: Existing,
) -> Result<Backup, BackupError> {
    OpenOptions::new().backup(url, file, existing)
}

impl OpenOptions {
    /// Does what [`backup`](fn@backup) does, with as much patience for locks as these options have.
    ///
    /// # Errors
    /// As [`backup`](fn@backup).
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use std::time::Duration;
    /// use robot_core::{Existing, OpenOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let (url, file) = (format!("sqlite://{}/robots.db", folder.path().display()), folder.path().join("copy.db"));
    /// robot_core::open(&url)?;
    /// let patient = OpenOptions::new().timeout(Duration::from_secs(30));
    /// assert_eq!(patient.backup(&url, &file, Existing::Keep)?.robots, 0);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup(
        &self,
        url: &str,
        file: impl AsRef<Path>,
        existing: Existing,
    ) -> Result<Backup, BackupError> {
        if url == "memory:" {
            return Err(no_file(
                url,
                "it is gone with its program, which alone can copy it",
            ));
        }
        #[cfg(not(feature = "sqlite"))]
        let _ = (file, existing);
        match backend_of(url)? {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite => crate::database::backup::backup(url, self, file.as_ref(), existing),
            #[cfg(feature = "postgres")]
            Backend::Postgres => Err(no_file(url, "PostgreSQL's own pg_dump makes backups of it")),
            #[cfg(feature = "mysql")]
            Backend::Mysql => Err(no_file(
                url,
                "the server's own mariadb-dump or mysqldump makes backups of it",
            )),
        }
    }
}

fn no_file(url: &str, remedy: &'static str) -> BackupError {
    BackupError::NoFile {
        database: redact(url),
        remedy,
    }
}
