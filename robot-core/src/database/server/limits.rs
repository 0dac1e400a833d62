//! Time limits that depend on the timeout of a catalogue.

use std::time::Duration;

/// The time limits of the statements of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Of a whole statement.
    pub(super) statement: Duration,
    /// Of each wait for a lock.
    pub(super) lock: Duration,
}

/// How many times shorter than its timeout a change waits for locks while others share its transaction.
/// Lower, and those wait longer behind a lock that another program holds; higher, and changes that
/// conflict briefly are executed one by one.
pub(super) const SHARED_FACTOR: u32 = 8;

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

/// Extra time that a caller waits beyond the server's lock timeout, so that the server's error arrives
/// before our timeout, which would leave the outcome unknown and close the connection. Longer, and a
/// server that hangs delays the reply for nothing.
pub(super) const WRITE_MARGIN: Duration = Duration::from_secs(1);

/// Extra time that a caller waits for a look-up, so that the server's own error arrives first. Shorter
/// than for a write, because a look-up that timed out can be repeated.
pub(super) const READ_MARGIN: Duration = Duration::from_millis(300);

/// How long a batch may take before another connection executes what is queued. Shorter, and more
/// connections share what one could do in larger batches; longer, and requests wait behind a batch that
/// waits for a lock.
pub(super) const PATIENCE: Duration = Duration::from_millis(20);
