//! Sidecar files: those that SQLite keeps beside a database.

/// Suffix of the write-ahead log (WAL) of a database.
pub(super) const WAL: &str = "-wal";

/// Suffix of the shared memory of the processes that use the WAL.
pub(super) const SHARED_MEMORY: &str = "-shm";

/// Suffix of the rollback journal, which a database without a WAL has.
pub(super) const JOURNAL: &str = "-journal";

/// Suffixes of the files that SQLite applies to the database.
pub(super) const LOGS: [&str; 2] = [WAL, JOURNAL];

/// Suffixes of all sidecar files.
pub(super) const SIDECARS: [&str; 3] = [WAL, SHARED_MEMORY, JOURNAL];
