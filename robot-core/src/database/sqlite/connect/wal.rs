//! Write-ahead log (WAL) of a database: the file beside it, and its size.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::sidecars::WAL;
use crate::files::path::with_suffix;

/// The WAL of a database that is open.
#[derive(Debug, Clone)]
pub(crate) struct Wal(PathBuf);

impl Wal {
    /// The WAL of the database at a path, which is resolved.
    pub(crate) fn of(database: &Path) -> Self {
        Self(with_suffix(database, WAL))
    }

    /// Whether the WAL has no bytes, as after it was created, or truncated by another program.
    ///
    /// A connection must not reuse its page cache then. SQLite keeps the cache of a connection if the
    /// header of the shared memory is the same as at its last transaction. The header contains random
    /// numbers of the WAL, so it never repeats; but if it is rebuilt over an empty WAL, because
    /// another process was killed while it wrote the header, it is always the same. The cache would
    /// be taken for current, whatever was committed in between, and the next commit would write its
    /// old pages.
    pub(crate) fn is_empty(&self) -> bool {
        self.length() == Some(0)
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The length of the file in bytes. `None` if it does not exist, or cannot be accessed: `Files` reports that.
    pub(crate) fn length(&self) -> Option<u64> {
        fs::metadata(&self.0).ok().map(|found| found.len())
    }
}
