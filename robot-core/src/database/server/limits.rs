//! Time limits that depend on the timeout of a catalogue.

use std::time::Duration;

/// How many times longer than other statements a scan of all names or a restoration may take. Lower,
/// and searches of large tables fail; higher, and they occupy connections longer during an overload.
/// With the default timeout, a scan has 20 s: far more than a scan of a million names takes on an idle
/// server.
pub(super) const SCAN_FACTOR: u32 = 10;

/// How long a server waits for a lock: the timeout in whole seconds, as MariaDB and MySQL count.
pub(super) fn lock_timeout(timeout: Duration) -> Duration {
    Duration::from_secs_f64(timeout.as_secs_f64().ceil())
}

/// How long a process waits for another one that migrates the tables. Shorter, and servers that start
/// together fail or return 503 although the migration is short; longer, and one that cannot start is
/// reported later. Chosen for tables of about a million robots.
pub(super) const MIGRATION_LOCK_TIMEOUT: Duration = Duration::from_secs(10);
