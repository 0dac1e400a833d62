//! Time limits that depend on the timeout of a catalogue.

use std::time::Duration;

/// How many times longer than other statements a scan of all names or a restoration may take.
pub(super) const SCAN_FACTOR: u32 = 10;

/// How long a server waits for a lock: the timeout in whole seconds, as MariaDB and MySQL count.
pub(super) fn lock_timeout(timeout: Duration) -> Duration {
    Duration::from_secs_f64(timeout.as_secs_f64().ceil())
}

/// How long a process waits for another one that migrates the tables.
pub(super) const MIGRATION_LOCK_TIMEOUT: Duration = Duration::from_secs(10);
