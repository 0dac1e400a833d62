//! Restoring a backup: a checked copy of it takes the place of the catalogue.

use std::{
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    backup::copy,
    check::check,
    companions::{COMPANIONS, LOGS},
    connection::Purpose,
    file::DatabaseFile,
    replaced::Replaced,
};
use crate::{
    catalogue::{CheckError, Existing, OpenOptions, RestoreError, RestoredBackup},
    files::{OutputError, OutputFile, path::with_suffix},
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
    let source = format!(
        "sqlite://{}",
        backup.to_str().ok_or_else(|| target.not_utf8())?
    );
    let source_file = DatabaseFile::unchanged_from_url(&source, options)?;
    if source_file
        .store_files()
        .intersects(&target.0.store_files())
    {
        return Err(RestoreError::Itself(backup.to_owned()));
    }
    if existing == Existing::Keep {
        target.must_not_exist()?;
    }
    must_have_no_log(backup, &source_file)?;
    let report = check(&source, options, &mut |_, robots| next(robots));
    let report = report.map_err(|error| target.not_checked(error))?;
    if !report.is_passed() {
        return Err(RestoreError::Damaged {
            file: backup.to_owned(),
            report,
        });
    }
    let output = target.create(&source_file)?;
    // Before the copy is made, so that a program that uses the file is found early.
    let replaced = match existing {
        Existing::Keep => None,
        Existing::Replace => {
            Replaced::lock(output.path()).map_err(|error| target.not_locked(error))?
        }
    };
    let robots = target.copy(&source_file, &output, || next(report.robots.unwrap_or(0)))?;
    // This takes long, and the old catalogue has two names until `finish`, which syncs what is left.
    output.sync().map_err(|error| target.failed(error))?;
    let kept = replaced.as_ref().map(Replaced::keep).transpose();
    let kept = kept.map_err(|error| target.not_locked(error))?;
    // A file that was not locked is not replaced: another program has created it meanwhile.
    let is_locked = replaced.as_ref().is_some_and(Replaced::is_locked);
    let finished = output.finish(if is_locked {
        Existing::Replace
    } else {
        Existing::Keep
    });
    let bytes = finished.map_err(|error| {
        let error = match error {
            OutputError::NotSynced(cause) => return target.not_synced(cause),
            error => error,
        };
        if let Some(kept) = &kept {
            kept.undo();
        }
        match error {
            OutputError::Io(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match existing {
                    Existing::Keep => RestoreError::Exists(target.path()),
                    Existing::Replace => RestoreError::InUse(target.path()),
                }
            }
            error => target.failed(error),
        }
    })?;
    Ok(RestoredBackup {
        robots,
        bytes,
        replaced: kept.filter(|_| is_locked).map(|kept| kept.path),
    })
}

/// Fails if a log beside the backup may have changes of it. To read them, SQLite would have to create
/// or change files beside the backup.
fn must_have_no_log(backup: &Path, source: &DatabaseFile) -> Result<(), RestoreError> {
    let logs = LOGS.map(|suffix| with_suffix(source.resolved(), suffix));
    let has_content = |log: &PathBuf| fs::metadata(log).is_ok_and(|found| found.len() > 0);
    match logs.into_iter().find(has_content) {
        Some(log) => Err(RestoreError::HasLog {
            file: backup.to_owned(),
            log,
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

    fn not_synced(&self, cause: io::Error) -> RestoreError {
        RestoreError::NotSynced {
            file: self.path(),
            cause: Arc::new(cause),
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

    fn not_locked(&self, error: io::Error) -> RestoreError {
        match error.kind() {
            io::ErrorKind::WouldBlock => RestoreError::InUse(self.path()),
            _ => self.failed(error),
        }
    }

    /// Fails if the file exists, or one that SQLite would take for a part of it.
    fn must_not_exist(&self) -> Result<(), RestoreError> {
        let beside = COMPANIONS.map(|suffix| with_suffix(self.0.resolved(), suffix));
        let mut files = [self.path()].into_iter().chain(beside);
        match files.find(|file| fs::symlink_metadata(file).is_ok()) {
            Some(file) => Err(RestoreError::Exists(file)),
            None => Ok(()),
        }
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
