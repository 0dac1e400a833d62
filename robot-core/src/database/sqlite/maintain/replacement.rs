//! The catalogue that a restored backup replaces: locked, and kept under another name.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::database::sqlite::connect::{LOGS, SHARED_MEMORY, SIDECARS};
use crate::files::path::with_suffix;

/// The files at the path of a catalogue, if there are any, and the path that they get.
pub(crate) struct Replacement {
    path: PathBuf,
    renamed: PathBuf,
    /// `None` if there is no database file, but perhaps a WAL without one.
    lock: Option<File>,
}

impl Replacement {
    /// Locks the file at a path, so that no other process uses it until this is dropped.
    ///
    /// The lock covers all bytes that SQLite locks, so that it excludes every connection of another
    /// process, also to a file that SQLite cannot read any more.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another process uses the file.
    pub(crate) fn lock(path: &Path) -> io::Result<Self> {
        let lock = match File::options().read(true).write(true).open(path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        lock.as_ref().map(lock_exclusively).transpose()?;
        Ok(Self {
            path: path.to_owned(),
            renamed: free_name(path),
            lock,
        })
    }

    /// Renames the file, then its WAL or journal. After a power cut in between, the WAL is left without
    /// a file, and no catalogue is opened with it.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another process has created the file since it was locked.
    pub(crate) fn rename(&self) -> io::Result<()> {
        if self.lock.is_none() && exists(&self.path) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        for suffix in ["", LOGS[0], LOGS[1]] {
            let renamed = with_suffix(&self.renamed, suffix);
            match fs::rename(with_suffix(&self.path, suffix), renamed) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    self.undo();
                    return Err(error);
                }
                _ => {}
            }
        }
        // SQLite builds it again.
        let _ = fs::remove_file(with_suffix(&self.path, SHARED_MEMORY));
        Ok(())
    }

    /// Gives the files their names again, unless another process has created the file. Not after the
    /// new file has the name.
    pub(crate) fn undo(&self) {
        if exists(&self.path) {
            return;
        }
        for suffix in [LOGS[1], LOGS[0], ""] {
            let renamed = with_suffix(&self.renamed, suffix);
            let _ = fs::rename(renamed, with_suffix(&self.path, suffix));
        }
    }

    /// The new path of the database file, if there was one.
    pub(crate) fn into_renamed(self) -> Option<PathBuf> {
        self.lock.map(|_| self.renamed)
    }
}

/// The first of `robots.db.replaced-1`, `robots.db.replaced-2` and so on that no file has, with its
/// sidecar files.
fn free_name(path: &Path) -> PathBuf {
    let mut number = 1_u64;
    loop {
        let name = with_suffix(path, &format!(".replaced-{number}"));
        let mut sidecars = SIDECARS.iter().map(|suffix| with_suffix(&name, suffix));
        if !exists(&name) && !sidecars.any(|sidecar| exists(&sidecar)) {
            return name;
        }
        number += 1;
    }
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
        Errno::ACCESS | Errno::AGAIN => io::ErrorKind::WouldBlock.into(),
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
