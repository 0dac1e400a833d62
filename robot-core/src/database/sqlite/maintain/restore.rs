//! Restoring a backup: a checked copy of it takes the place of the catalogue.

use std::{
    fs::{self, File},
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};

use super::{
    backup::{copy, not_written},
    check::check,
};
use crate::database::sqlite::connect::{DatabaseFile, LOGS, SHARED_MEMORY, SIDECARS, uri};
use crate::{
    catalogue::{Backup, BackupError, Check, CheckError, OpenOptions},
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
) -> Result<Backup, BackupError> {
    let target = DatabaseFile::from_url(url, options)?;
    let not_written = |error: OutputError| match not_written(target.path(), error) {
        BackupError::Exists(file) if existing == Existing::Replace => BackupError::InUse(file),
        error => error,
    };
    let io_failed = |error: io::Error| not_written(error.into());
    let Some(path) = backup.to_str() else {
        let error = io::Error::other("SQLite accepts UTF-8 paths only");
        return Err(io_failed(error));
    };
    let url_of_backup = format!("sqlite://{path}");
    let source = DatabaseFile::unchanged_from_url(&url_of_backup, options)?;
    must_be_complete(backup, &source, &target)?;
    if existing == Existing::Keep {
        must_not_exist(&target)?;
    }
    let report = check(&url_of_backup, options, next);
    let report = report.map_err(|error| match error {
        CheckError::Cancelled => BackupError::Cancelled(target.path().to_owned()),
        CheckError::Open(error) => BackupError::Open(error),
        error => BackupError::Check(error),
    })?;
    // Robots may be older than a rule, or of another program.
    let is_damage =
        |(check, findings): &(Check, Vec<String>)| *check != Check::Rules && !findings.is_empty();
    if report.robots.is_none() || report.findings.iter().any(is_damage) {
        return Err(BackupError::FailedCheck {
            file: backup.to_owned(),
            report,
        });
    }
    // It has the permissions and the owner of the file that it replaces, or the permissions of the backup.
    let created = OutputFile::create(target.path(), &source.store_files());
    let mut output = created.map_err(not_written)?;
    output.readable_as(source.path()).map_err(io_failed)?;
    // Before the copy is made, so that a program that uses the file is found early.
    let lock = match existing {
        Existing::Keep => None,
        Existing::Replace => lock(output.path()).map_err(io_failed)?,
    };
    let mut next = || next(report.robots.unwrap_or(0));
    let robots = copy(&source, &output, &mut next)?;
    renew_identity(output.temporary_path()).map_err(io_failed)?;
    // This takes long. While the old catalogue has another name, only `finish` is left.
    output.sync().map_err(io_failed)?;
    let replaced = match existing {
        Existing::Keep => None,
        Existing::Replace => rename(output.path(), lock.as_ref()).map_err(io_failed)?,
    };
    // A catalogue that another program has created meanwhile is not replaced.
    let bytes = output.finish(Existing::Keep).map_err(not_written)?;
    Ok(Backup {
        robots,
        bytes,
        replaced,
    })
}

/// Makes a copy another catalogue, in which positions of the backup mean nothing: other changes may have followed them.
fn renew_identity(path: &Path) -> io::Result<()> {
    let path = path.to_str().unwrap_or_default();
    let connection = SqliteConnection::establish(&uri(path, "rw"));
    let mut connection = connection.map_err(io::Error::other)?;
    // Without a log beside it.
    let renewed = connection.batch_execute(
        "PRAGMA journal_mode = DELETE;
         UPDATE robots_catalogue SET identity = lower(hex(randomblob(16)))",
    );
    match renewed {
        // Its migration makes one.
        Err(error) if error.to_string().starts_with("no such table") => Ok(()),
        renewed => renewed.map_err(io::Error::other),
    }
}

/// Fails if the backup is the target, or if a WAL or journal beside the backup may have changes of it. To
/// read them, SQLite would have to create or change files beside the backup.
fn must_be_complete(
    backup: &Path,
    source: &DatabaseFile,
    target: &DatabaseFile,
) -> Result<(), BackupError> {
    if source.store_files().intersects(&target.store_files()) {
        return Err(BackupError::Itself(backup.to_owned()));
    }
    let logs = LOGS.map(|suffix| with_suffix(&source.resolved, suffix));
    let has_content = |log: &PathBuf| fs::metadata(log).is_ok_and(|found| found.len() > 0);
    match logs.into_iter().find(has_content) {
        Some(wal) => Err(BackupError::HasWal {
            file: backup.to_owned(),
            wal,
        }),
        None => Ok(()),
    }
}

/// Fails if the file exists, or one that SQLite would take for a part of it.
fn must_not_exist(target: &DatabaseFile) -> Result<(), BackupError> {
    let beside = SIDECARS.map(|suffix| with_suffix(&target.resolved, suffix));
    let mut files = [target.path().to_owned()].into_iter().chain(beside);
    match files.find(|file| exists(file)) {
        Some(file) => Err(BackupError::Exists(file)),
        None => Ok(()),
    }
}

/// Locks the old catalogue, so that no other process uses it until the result is dropped. `None` if there
/// is none, but perhaps a WAL without one.
///
/// The lock covers all bytes that SQLite locks, so that it excludes every connection of another
/// process, also to a file that SQLite cannot read any more.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if another process uses the file.
fn lock(path: &Path) -> io::Result<Option<File>> {
    match File::options().read(true).write(true).open(path) {
        Ok(file) => lock_exclusively(&file).map(|()| Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Renames the old catalogue, then its WAL or journal, and returns its new path. If the program is killed
/// in between, or fails, no catalogue is opened with what is left.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if another process has created the file since it was locked.
fn rename(path: &Path, lock: Option<&File>) -> io::Result<Option<PathBuf>> {
    if lock.is_none() && exists(path) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let renamed = new_name(path);
    for suffix in ["", LOGS[0], LOGS[1]] {
        match fs::rename(with_suffix(path, suffix), with_suffix(&renamed, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // SQLite builds it again.
    let _ = fs::remove_file(with_suffix(path, SHARED_MEMORY));
    Ok(exists(&renamed).then_some(renamed))
}

/// The first of `robots.db.replaced-1`, `robots.db.replaced-2` and so on that no file has, with its
/// sidecar files. Or the last one before it, if a restoration that was killed has renamed it without its WAL.
fn new_name(path: &Path) -> PathBuf {
    let mut without_log = None;
    let mut number = 1_u64;
    loop {
        let name = with_suffix(path, &format!(".replaced-{number}"));
        let mut sidecars = SIDECARS.iter().map(|suffix| with_suffix(&name, suffix));
        if !exists(&name) && !sidecars.any(|sidecar| exists(&sidecar)) {
            return without_log.unwrap_or(name);
        }
        if has_lost_log(path, &name) {
            without_log = Some(name);
        }
        number += 1;
    }
}

/// Whether a catalogue has been renamed, but not its WAL or journal, which is older than the new name.
#[cfg(unix)]
fn has_lost_log(path: &Path, renamed: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_older = |log: PathBuf| match (fs::metadata(log), fs::metadata(renamed)) {
        (Ok(log), Ok(renamed)) => {
            (log.mtime(), log.mtime_nsec()) <= (renamed.ctime(), renamed.ctime_nsec())
        }
        _ => false,
    };
    !exists(path)
        && !LOGS.iter().any(|log| exists(&with_suffix(renamed, log)))
        && LOGS.iter().any(|log| is_older(with_suffix(path, log)))
}

#[cfg(not(unix))]
fn has_lost_log(_: &Path, _: &Path) -> bool {
    false
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(unix)]
fn lock_exclusively(file: &File) -> io::Result<()> {
    use rustix::{
        fs::{FlockOperation, fcntl_lock},
        io::Errno,
    };
    fcntl_lock(file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        Errno::ACCESS | Errno::AGAIN => io::ErrorKind::AlreadyExists.into(),
        error => error.into(),
    })
}

#[cfg(not(unix))]
fn lock_exclusively(_: &File) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "a catalogue can be replaced on Unix only; delete its files first",
    ))
}
