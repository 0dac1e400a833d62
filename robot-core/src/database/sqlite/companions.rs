//! Files that SQLite keeps beside a database.

/// Suffix of the write-ahead log of a database.
pub(super) const LOG: &str = "-wal";

/// Suffix of the shared memory of the processes that use the log.
pub(super) const SHARED_MEMORY: &str = "-shm";

/// Suffix of the rollback journal, which a database without a write-ahead log has.
pub(super) const JOURNAL: &str = "-journal";

/// Suffixes of the logs, which SQLite applies to the database.
pub(super) const LOGS: [&str; 2] = [LOG, JOURNAL];

/// Suffixes of the files that SQLite keeps beside a database.
pub(super) const COMPANIONS: [&str; 3] = [LOG, SHARED_MEMORY, JOURNAL];
