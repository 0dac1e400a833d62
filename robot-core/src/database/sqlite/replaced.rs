//! The catalogue that a restored backup replaces: locked meanwhile, and kept under another name.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::companions::{COMPANIONS, LOGS};
use crate::files::path::{folder_of, with_suffix};

/// The file of a catalogue, which no other process can use until this is dropped.
pub(super) struct Replaced {
    path: PathBuf,
    /// `None` if there is only a log.
    lock: Option<File>,
}

impl Replaced {
    /// Locks a catalogue. `None` if there is neither the file nor a log of it.
    ///
    /// The lock covers all bytes that SQLite locks, so that it excludes every connection of another
    /// process, also to a file that SQLite cannot read any more.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another process uses the file.
    pub(super) fn lock(path: &Path) -> io::Result<Option<Self>> {
        let lock = match File::options().read(true).write(true).open(path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(file) = &lock {
            lock_exclusively(file)?;
        } else if !COMPANIONS
            .iter()
            .any(|suffix| exists(&with_suffix(path, suffix)))
        {
            return Ok(None);
        }
        Ok(Some(Self {
            path: path.to_owned(),
            lock,
        }))
    }

    /// Whether there is a file, and not only a log.
    pub(super) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Gives the file and its logs a second name each, and removes the first name of the logs. If the
    /// process ends now, no server starts with the file, because it has two names.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another process has created the file meanwhile.
    pub(super) fn keep(&self) -> io::Result<Kept> {
        if !self.is_locked() && exists(&self.path) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let kept = Kept {
            path: free_name(&self.path),
            original: self.path.clone(),
        };
        kept.link().inspect_err(|_| kept.undo())?;
        for suffix in COMPANIONS {
            match fs::remove_file(with_suffix(&self.path, suffix)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    kept.undo();
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(kept)
    }
}

/// A catalogue with a second name. While the file has it, its logs have it, too, so that nothing is
/// lost if the process ends and the first names are removed then.
pub(super) struct Kept {
    pub(super) path: PathBuf,
    original: PathBuf,
}

impl Kept {
    fn link(&self) -> io::Result<()> {
        for suffix in LOGS {
            let log = with_suffix(&self.original, suffix);
            link_if_exists(&log, &with_suffix(&self.path, suffix))?;
        }
        link_if_exists(&self.original, &self.path)?;
        // The second names are durable before the first ones are removed.
        File::open(folder_of(&self.path))?.sync_all()
    }

    /// Restores the first names of the logs, and removes the second names. Not after the new file has
    /// the name of the catalogue.
    pub(super) fn undo(&self) {
        for suffix in LOGS {
            let log = with_suffix(&self.path, suffix);
            match link_if_exists(&log, &with_suffix(&self.original, suffix)) {
                // Both names stay, and no server starts without the log.
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return,
                _ => {}
            }
        }
        if exists(&self.original) {
            let _ = fs::remove_file(&self.path);
        }
        for suffix in LOGS {
            let _ = fs::remove_file(with_suffix(&self.path, suffix));
        }
    }
}

/// The first of `robots.db.replaced-1`, `robots.db.replaced-2` and so on that no file has, with its
/// logs.
fn free_name(path: &Path) -> PathBuf {
    let names = (1..).map(|number: u64| with_suffix(path, &format!(".replaced-{number}")));
    let is_free = |name: &PathBuf| {
        let mut companions = COMPANIONS.iter().map(|suffix| with_suffix(name, suffix));
        !exists(name) && !companions.any(|companion| exists(&companion))
    };
    let mut names = names.filter(is_free);
    names
        .next()
        .unwrap_or_else(|| with_suffix(path, ".replaced"))
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn link_if_exists(file: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(file, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        linked => linked,
    }
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::SqliteCatalogue;

    #[test]
    fn catalogue_does_not_open_after_an_interrupted_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.db");
        let url = format!("sqlite://{}", path.display());
        drop(SqliteCatalogue::open(&url).unwrap());
        let replaced = Replaced::lock(&path).unwrap().unwrap();
        let kept = replaced.keep().unwrap();
        drop(replaced);
        let error = SqliteCatalogue::open(&url).unwrap_err().to_string();
        assert!(error.contains("2 names (hard links)"), "{error}");
        kept.undo();
        SqliteCatalogue::open(&url).unwrap();
        assert!(!exists(&kept.path));
    }
}
