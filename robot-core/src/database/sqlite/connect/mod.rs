//! Connections to a database file: the file itself, its settings, and the connections that read.

mod connection;
mod file;
mod inline_reads;
mod pool;
mod reader;

pub(crate) use connection::{LOCK_PAUSE, Purpose, WAL_LIMIT, enable_wal, retry_while_locked, uri};
pub(crate) use file::{DatabaseFile, files};
pub(crate) use inline_reads::InlineReads;
pub(crate) use pool::ReaderPool;

/// Suffix of the write-ahead log (WAL) of a database.
pub(crate) const WAL: &str = "-wal";

/// Suffix of the shared memory of the processes that use the WAL.
pub(crate) const SHARED_MEMORY: &str = "-shm";

/// Suffix of the rollback journal, which a database without a WAL has.
pub(crate) const JOURNAL: &str = "-journal";

/// Suffixes of the files that SQLite applies to the database.
pub(crate) const LOGS: [&str; 2] = [WAL, JOURNAL];

/// Suffixes of all sidecar files.
pub(crate) const SIDECARS: [&str; 3] = [WAL, SHARED_MEMORY, JOURNAL];
