//! Write-ahead log of a database: the file beside it, and its size.

use std::{fs, path::PathBuf};

use super::{connection::LOG_LIMIT, file::DatabaseFile};
use crate::files::path::with_suffix;

/// The log of a database that is open.
#[derive(Debug, Clone)]
pub(super) struct Log(PathBuf);

impl Log {
    pub(super) fn of(file: &DatabaseFile) -> Self {
        Self(with_suffix(file.resolved(), "-wal"))
    }

    /// Whether the log has no bytes, as after it was created, or truncated by another program.
    ///
    /// A connection must not reuse its page cache then. SQLite keeps the cache of a connection if the
    /// header of the shared memory is the same as at its last transaction. The header contains random
    /// numbers of the log, so it never repeats; but if it is rebuilt over an empty log, because
    /// another process was killed while it wrote the header, it is always the same. The cache would
    /// be taken for current, whatever was committed in between, and the next commit would write its
    /// old pages.
    pub(super) fn is_empty(&self) -> bool {
        self.length() == Some(0)
    }

    /// Whether the file should be shortened.
    pub(super) fn is_too_long(&self) -> bool {
        self.length() > Some(LOG_LIMIT)
    }

    /// `None` if the file does not exist, which is not for this module to report.
    fn length(&self) -> Option<u64> {
        fs::metadata(&self.0).ok().map(|found| found.len())
    }
}
