//! The files of a store, which other code must neither open nor replace.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    identity::{Identity, identity},
    path::resolve,
};

/// The files in which a store keeps its robots.
///
/// Other code in the same process must not even read them: on Unix, closing any of them drops the
/// locks that the store has on it. The methods read metadata only.
///
/// ```
/// use robot_core::StoreFiles;
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("robots.db");
/// let files = StoreFiles::new([file.clone()]);
/// assert!(files.contains(&file));
/// assert!(!files.contains(&folder.path().join("robots.csv")));
/// assert!(files.first_below(folder.path()).is_some());
///
/// // A database server keeps its files itself.
/// assert!(!StoreFiles::of_url("postgres://localhost/robots").contains(&file));
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StoreFiles {
    /// Resolved paths. The files may not exist yet, and may be created again.
    paths: Vec<PathBuf>,
    /// The file that the store has open, wherever it was moved.
    open: Option<Identity>,
}

impl StoreFiles {
    /// The files at these paths, which need not exist.
    ///
    /// ```
    /// let files = robot_core::StoreFiles::new(["robots.dat".into(), "robots.log".into()]);
    /// assert!(files.contains("./robots.log".as_ref()));
    /// ```
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let paths = paths.into_iter();
        Self {
            paths: paths.map(|path| resolve(&path).unwrap_or(path)).collect(),
            open: None,
        }
    }

    /// With the identity of a file that stays open.
    pub(crate) fn with_open(mut self, open: Option<Identity>) -> Self {
        self.open = open;
        self
    }

    /// Whether the store has no files: it is in memory, or on a database server.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Whether a path leads to one of the files, by whatever name or link, or would if the file
    /// existed.
    #[must_use]
    pub fn contains(&self, path: &Path) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        if resolve(path).is_ok_and(|path| self.paths.contains(&path)) {
            return true;
        }
        cfg!(unix)
            && fs::metadata(path).is_ok_and(|found| {
                let found = identity(&found);
                let own = self.paths.iter().flat_map(fs::metadata);
                self.open == Some(found) || own.map(|own| identity(&own)).any(|own| own == found)
            })
    }

    /// Whether both have a file in common.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        other.paths.iter().any(|path| self.contains(path))
    }

    /// The first of the files that lies below a folder.
    #[must_use]
    pub fn first_below(&self, folder: &Path) -> Option<&Path> {
        let folder = resolve(folder).unwrap_or_else(|_| folder.to_owned());
        let found = self.paths.iter().find(|path| path.starts_with(&folder));
        found.map(PathBuf::as_path)
    }
}
