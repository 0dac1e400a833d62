//! Restoring a backup: a checked copy of it takes the place of the catalogue.

use std::{
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use super::{backup::copy, check::check, replacement::Replacement};
use crate::database::sqlite::connect::{DatabaseFile, LOGS, Purpose, SIDECARS};
use crate::{
    catalogue::{CheckError, OpenOptions, RestoreError, RestoredBackup},
    files::{Existing, OutputError, OutputFile, path::with_suffix},
};

/// Restores a backup to the file of a URL, until `next` breaks, which is called with the number of
/// robots that were checked.
pub(crate) fn restore_backup(
    backup: &Path,
    url: &str,
    options: &OpenOptions,
    existing: Existing,
    next: &mut (dyn FnMut(u64) -> ControlFlow<()> + '_),
) -> Result<RestoredBackup, RestoreError> {
    let target = Target(DatabaseFile::from_url(url, options)?);
    let url_of_backup = format!(
        "sqlite://{}",
        backup.to_str().ok_or_else(|| target.not_utf8())?
    );
    let source = DatabaseFile::unchanged_from_url(&url_of_backup, options)?;
    if source.store_files().intersects(&target.0.store_files()) {
        return Err(RestoreError::Itself(backup.to_owned()));
    }
    if existing == Existing::Keep {
        target.must_not_exist()?;
    }
    must_have_no_log(backup, &source)?;
    let report = check(&url_of_backup, options, &mut |_, robots| next(robots));
    let report = report.map_err(|error| target.not_checked(error))?;
    if !report.is_passed() {
        return Err(RestoreError::Damaged {
            file: backup.to_owned(),
            report,
        });
    }
    let output = target.create(&source)?;
    // Before the copy is made, so that a program that uses the file is found early.
    let old = match existing {
        Existing::Keep => None,
        Existing::Replace => Some(target.lock(output.path())?),
    };
    let robots = target.copy(&source, &output, || next(report.robots.unwrap_or(0)))?;
    // This takes long. While the old catalogue has another name, only `finish` is left.
    output.sync().map_err(|error| target.failed(error))?;
    if let Some(old) = &old {
        old.rename().map_err(|error| target.not_replaced(error))?;
    }
    // A catalogue that another program has created meanwhile is not replaced.
    let bytes = output
        .finish(Existing::Keep)
        .map_err(|error| target.not_finished(error, old.as_ref()))?;
    Ok(RestoredBackup {
        robots,
        bytes,
        replaced: old.and_then(Replacement::into_renamed),
    })
}

/// Fails if a WAL or journal beside the backup may have changes of it. To read them, SQLite would have
/// to create or change files beside the backup.
fn must_have_no_log(backup: &Path, source: &DatabaseFile) -> Result<(), RestoreError> {
    let logs = LOGS.map(|suffix| with_suffix(source.resolved(), suffix));
    let has_content = |log: &PathBuf| fs::metadata(log).is_ok_and(|found| found.len() > 0);
    match logs.into_iter().find(has_content) {
        Some(wal) => Err(RestoreError::HasWal {
            file: backup.to_owned(),
            wal,
        }),
        None => Ok(()),
    }
}

/// The file that the backup is restored to.
struct Target(DatabaseFile);

impl Target {
    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn failed(&self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> RestoreError {
        RestoreError::Failed {
            file: self.path(),
            cause: cause.into().into(),
        }
    }

    fn not_utf8(&self) -> RestoreError {
        self.failed("SQLite accepts UTF-8 paths only")
    }

    fn not_checked(&self, error: CheckError) -> RestoreError {
        match error {
            CheckError::Cancelled => RestoreError::Cancelled(self.path()),
            CheckError::Open(error) => RestoreError::Open(error),
            error => RestoreError::Check(error),
        }
    }

    fn not_replaced(&self, error: io::Error) -> RestoreError {
        match error.kind() {
            io::ErrorKind::WouldBlock => RestoreError::InUse(self.path()),
            _ => self.failed(error),
        }
    }

    /// The error of the last step. An old catalogue gets its name again.
    fn not_finished(&self, error: OutputError, old: Option<&Replacement>) -> RestoreError {
        if let OutputError::NotSynced(cause) = error {
            return RestoreError::NotSynced {
                file: self.path(),
                cause: std::sync::Arc::new(cause),
            };
        }
        if let Some(old) = old {
            old.undo();
        }
        match error {
            OutputError::Io(error) if error.kind() == io::ErrorKind::AlreadyExists => match old {
                None => RestoreError::Exists(self.path()),
                Some(_) => RestoreError::InUse(self.path()),
            },
            error => self.failed(error),
        }
    }

    /// Fails if the file exists, or one that SQLite would take for a part of it.
    fn must_not_exist(&self) -> Result<(), RestoreError> {
        let beside = SIDECARS.map(|suffix| with_suffix(self.0.resolved(), suffix));
        let mut files = [self.path()].into_iter().chain(beside);
        match files.find(|file| fs::symlink_metadata(file).is_ok()) {
            Some(file) => Err(RestoreError::Exists(file)),
            None => Ok(()),
        }
    }

    /// The old catalogue, locked.
    fn lock(&self, path: &Path) -> Result<Replacement, RestoreError> {
        Replacement::lock(path).map_err(|error| self.not_replaced(error))
    }

    /// The file that is renamed into place. It has the permissions and the owner of the file that it
    /// replaces, or the permissions of the backup.
    fn create(&self, source: &DatabaseFile) -> Result<OutputFile, RestoreError> {
        let created = OutputFile::create(self.0.path(), &source.store_files());
        let mut output = created.map_err(|error| match error {
            OutputError::OfCatalogue => RestoreError::Itself(self.path()),
            error => self.failed(error),
        })?;
        let permitted = output.readable_as(source.path());
        permitted.map_err(|error| self.failed(error))?;
        Ok(output)
    }

    /// Copies the backup, and returns the number of robots in the copy, which was checked.
    fn copy(
        &self,
        source: &DatabaseFile,
        output: &OutputFile,
        mut next: impl FnMut() -> ControlFlow<()>,
    ) -> Result<u64, RestoreError> {
        let path = output.temporary_path().to_str();
        let path = path.ok_or_else(|| self.not_utf8())?;
        let reader = source.reader(Purpose::Write)?;
        match copy(source, reader, path, &mut next) {
            Ok(Some(Ok(robots))) => Ok(robots),
            Ok(Some(Err(error))) => Err(self.failed(error)),
            Ok(None) => Err(RestoreError::Cancelled(self.path())),
            Err(cause) => Err(self.failed(cause)),
        }
    }
}
