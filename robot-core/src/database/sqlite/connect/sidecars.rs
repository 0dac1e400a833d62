//! Sidecar files: those that SQLite keeps beside a database.

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
