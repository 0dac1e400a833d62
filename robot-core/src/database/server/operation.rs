//! Kinds of statements, and their time limits.

use std::time::Duration;

/// How long a change of the table waits for others that use it. Changes of robots wait behind it: longer, and they
/// wait for longer; shorter, and it is repeated more often.
pub(super) const LOCK_LIMIT: Duration = Duration::from_secs(1);

/// The kind of statements, which decides their time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Look up robots, alone or together.
    Lookup,
    LookupBatch,
    /// Change a robot, or some together.
    Change,
    ChangeBatch,
    /// Follows an index.
    Page,
    /// May read every name.
    Scan,
    /// Changes many rows.
    Write,
    /// Changes the definition and its indexes.
    Define,
}

/// How many times shorter than its timeout a change waits for a lock, before it is executed again behind
/// the others that wait. Lower, and those wait longer behind a lock that another program holds; higher,
/// and changes that wait for a lock of a short transaction are executed more often.
const LOCK_FACTOR: u32 = 8;

/// How many times longer than other statements a scan of all names or a restoration may take. Lower,
/// and searches of large tables fail; higher, and they occupy connections longer during an overload.
/// With the default timeout, a scan has 20 s: far more than a scan of a million names takes on an idle
/// server.
pub(super) const SCAN_FACTOR: u32 = 10;

/// The time limit of a change of the definition: practically none, because a large table needs much time. The limit of
/// PostgreSQL is greater.
const DEFINE_LIMIT: Duration = Duration::from_secs(20 * 24 * 60 * 60);

/// Extra time that a caller waits beyond the server's time limit, so that the server's error arrives
/// before our timeout, which would leave the outcome unknown and close the connection. Longer, and a
/// server that hangs delays the reply for nothing.
const WRITE_MARGIN: Duration = Duration::from_secs(1);

/// The same for statements that read. Shorter, because these can be repeated.
const READ_MARGIN: Duration = Duration::from_millis(300);

impl Operation {
    pub(super) fn is_write(self) -> bool {
        matches!(
            self,
            Self::Change | Self::ChangeBatch | Self::Write | Self::Define
        )
    }

    pub(super) fn is_batch(self) -> bool {
        matches!(self, Self::LookupBatch | Self::ChangeBatch)
    }

    /// Whether statements take no longer than the timeout of the catalogue.
    pub(super) fn is_limited_by_timeout(self) -> bool {
        !matches!(self, Self::Scan | Self::Write | Self::Define)
    }

    /// Whether a connection must be left for others.
    pub(super) fn may_take_long(self) -> bool {
        !self.is_batch() && self != Self::Page
    }

    /// Whether the planner of PostgreSQL must use an index. A statement that was prepared while the table was small
    /// would read a large one completely, until the server has analysed it.
    pub(super) fn needs_index(self) -> bool {
        !matches!(self, Self::Page | Self::Scan | Self::Write | Self::Define)
    }

    /// How long a statement may take, given the timeout of the catalogue.
    pub(super) fn statement_limit(self, timeout: Duration) -> Duration {
        match self {
            Self::Lookup | Self::LookupBatch | Self::Change | Self::Page => timeout,
            // The changes are executed again after it.
            Self::ChangeBatch => timeout / 2,
            Self::Scan | Self::Write => timeout * SCAN_FACTOR,
            Self::Define => DEFINE_LIMIT,
        }
    }

    /// How long a statement may wait for a lock.
    pub(super) fn lock_limit(self, timeout: Duration) -> Duration {
        match self {
            Self::Change | Self::ChangeBatch => timeout / LOCK_FACTOR,
            Self::Define => LOCK_LIMIT,
            _ => timeout,
        }
    }

    /// How long all statements may take before their connection counts as lost.
    pub(super) fn limit(self, timeout: Duration) -> Duration {
        let limit = timeout.max(self.statement_limit(timeout));
        let margin = if self.is_write() {
            WRITE_MARGIN
        } else {
            READ_MARGIN
        };
        limit + margin
    }
}

/// A time limit in whole seconds, at least one.
pub(super) fn whole_seconds(limit: Duration) -> u64 {
    let seconds = limit.as_millis().div_ceil(1000).max(1);
    seconds.try_into().unwrap_or(u64::MAX)
}
