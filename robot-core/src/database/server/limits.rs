//! Time limits that depend on the timeout of a catalogue.

use std::time::Duration;

/// The limits of the statements of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Of a whole statement.
    pub(super) statement: Duration,
    /// Of each wait for a lock.
    pub(super) lock: Duration,
    /// The same for a server that counts in seconds: 0 does not wait.
    pub(super) lock_seconds: u64,
    /// Which plans PostgreSQL may make.
    pub(super) plans: Plans,
}

/// How statements find their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plans {
    /// As the planner decides.
    Any,
    /// By an index. A statement that was prepared while the table was small would read a large one
    /// completely, until the server has analysed it.
    Index,
}

/// How many times shorter than its timeout a change waits for a lock, before it is executed again behind
/// the others that wait. Lower, and those wait longer behind a lock that another program holds; higher,
/// and changes that wait for a lock of a short transaction are executed more often.
pub(super) const LOCK_FACTOR: u32 = 8;

/// How many times longer than other statements a scan of all names or a restoration may take. Lower,
/// and searches of large tables fail; higher, and they occupy connections longer during an overload.
/// With the default timeout, a scan has 20 s: far more than a scan of a million names takes on an idle
/// server.
pub(super) const SCAN_FACTOR: u32 = 10;

/// How long a server waits for a lock: the timeout in whole seconds, as MariaDB and MySQL count.
pub(super) fn lock_timeout(timeout: Duration) -> Duration {
    Duration::from_secs(whole_seconds(timeout))
}

/// A time limit in whole seconds, at least one.
pub(super) fn whole_seconds(limit: Duration) -> u64 {
    limit
        .as_millis()
        .div_ceil(1000)
        .max(1)
        .try_into()
        .unwrap_or(u64::MAX)
}

/// Extra time that a caller waits beyond the server's lock timeout, so that the server's error arrives
/// before our timeout, which would leave the outcome unknown and close the connection. Longer, and a
/// server that hangs delays the reply for nothing.
pub(super) const WRITE_MARGIN: Duration = Duration::from_secs(1);

/// Extra time that a caller waits for a look-up, so that the server's own error arrives first. Shorter
/// than for a write, because a look-up that timed out can be repeated.
pub(super) const READ_MARGIN: Duration = Duration::from_millis(300);
