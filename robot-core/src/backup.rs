//! Backups of the catalogue of a URL: making one, and restoring it.

use std::{ops::ControlFlow, path::Path};

#[cfg(feature = "sqlite")]
use crate::{catalogue::url::scheme_of, database::sqlite};
use crate::{
    catalogue::{Backup, BackupError, OpenOptions, redact},
    files::Existing,
    open::Schemes,
};

/// Copies the catalogue in an SQLite file, as of one moment, while other programs read and write it.
///
/// The copy contains every change that was acknowledged before the call. It is checked and on disk
/// before it is renamed to `file`, so that `file` is never incomplete. It is a catalogue like any
/// other: [`open`](crate::open()) opens it, and its new ids are greater than those of the original.
///
/// # Errors
/// A [`BackupError`] whose message says what to do.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use robot_core::{Catalogue, CatalogueExt, Draft, Existing, backup};
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
    OpenOptions::default().backup_while(url, file, existing, || ControlFlow::Continue(()))
}

impl OpenOptions {
    /// As [`backup`](fn@backup), until `next` breaks. It is called some times per second. After
    /// that, no file of the backup is left; a thread may still run until SQLite has noticed.
    ///
    /// # Errors
    /// As [`backup`](fn@backup), or [`BackupError::Cancelled`].
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use robot_core::{Existing, OpenOptions};
    ///
    /// # #[cfg(feature = "sqlite")] {
    /// let folder = tempfile::tempdir()?;
    /// let (url, file) = (format!("sqlite://{}/robots.db", folder.path().display()), folder.path().join("copy.db"));
    /// robot_core::open(&url)?;
    /// let next = || ControlFlow::Continue(());
    /// assert_eq!(OpenOptions::default().backup_while(&url, &file, Existing::Keep, next)?.robots, 0);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup_while(
        &self,
        url: &str,
        file: impl AsRef<Path>,
        existing: Existing,
        next: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Backup, BackupError> {
        #[cfg(feature = "sqlite")]
        if scheme_of(url) == "sqlite" {
            let mut next = next;
            return sqlite::backup(url, self, file.as_ref(), existing, &mut next);
        }
        let _ = (file, existing, next);
        Schemes::default().of_url(url)?;
        Err(BackupError::NoFile {
            database: redact(url),
            remedy: "export the robots, or back up a server with pg_dump, mariadb-dump or mysqldump",
        })
    }

    /// Restores a backup to the SQLite file of a URL, unless `next` breaks. It is called with the number
    /// of robots that were checked, some times per second.
    ///
    /// The backup is checked as by [`check`](Self::check), and not changed. A copy of it is checked, too,
    /// and on disk before it gets the name of the catalogue. With [`Existing::Replace`], the catalogue
    /// that had the name is locked, and kept as `robots.db.replaced-1`, or with the next free number, so
    /// that no change is lost. No catalogue of this process may have it open.
    ///
    /// # Errors
    /// A [`BackupError`] whose message says what to do. The catalogue is unchanged then, as the documentation
    /// of the type says.
    ///
    /// ```
    /// # #[cfg(all(feature = "sqlite", unix))] {
    /// use std::ops::ControlFlow;
    /// use robot_core::{CatalogueExt, Draft, Existing, OpenOptions, backup};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// let file = folder.path().join("copy.db");
    /// robot_core::open(&url)?.add(Draft::new("R2-D2", "droid", 1977))?;
    /// backup(&url, &file, Existing::Keep)?;
    /// robot_core::open(&url)?.add(Draft::new("Marvin", "droid", 1978))?;
    ///
    /// let next = |_| ControlFlow::Continue(());
    /// let restored = OpenOptions::default().restore_backup(&file, &url, Existing::Replace, next)?;
    /// assert_eq!(restored.robots, 1);
    /// assert_eq!(robot_core::open(&url)?.list()?.len(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore_backup(
        &self,
        file: impl AsRef<Path>,
        url: &str,
        existing: Existing,
        next: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Backup, BackupError> {
        #[cfg(feature = "sqlite")]
        if scheme_of(url) == "sqlite" {
            let mut next = next;
            return sqlite::restore_backup(file.as_ref(), url, self, existing, &mut next);
        }
        let _ = (file, existing, next);
        Err(BackupError::NoFile {
            database: redact(url),
            remedy: "restore the backup to a file, and copy that to the database",
        })
    }
}
