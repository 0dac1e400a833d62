//! Metrics of stores and imports, for programs that watch a catalogue while it runs.
//!
//! They are recorded through the facade [`metrics`](https://docs.rs/metrics), as log messages are
//! through theirs. A program that wants them installs a recorder, such as an exporter for
//! Prometheus, calls [`describe`], and then opens its stores: a store that was opened before has no
//! metrics. Without a recorder, they cost almost nothing.
//!
//! ```
//! // After a recorder was installed:
//! robot_core::metrics::describe();
//! let catalogue = robot_core::open("memory:")?;
//! # Ok::<(), robot_core::OpenError>(())
//! ```
//!
//! The values of all labels are known in advance. If a program opens several stores, counters and
//! histograms have the sum of all; [`STORE_QUEUE_LENGTH`] and [`SQLITE_LOG_BYTES`] have the value of
//! the store that changed last.

use ::metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge};

use crate::catalogue::Error;

/// Limits of the buckets of short durations, in seconds: from a look-up in memory to the longest
/// timeouts of requests.
pub const SECONDS: &[f64] = &[
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 30.0,
];

/// Limits of the buckets of batch sizes, up to that of the SQLite writer.
const BATCHES: &[f64] = &[
    1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
];

/// A metric: its name, what it means, and its type.
///
/// ```
/// use robot_core::metrics::{MetricKind, Metric};
///
/// const SENT: Metric = Metric::counter("robots_mails_total", "Mails that were sent");
/// assert_eq!(SENT.kind, MetricKind::Counter);
/// SENT.describe();
/// metrics::counter!(SENT.name).increment(1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// The name by the conventions of Prometheus, which ends with the unit, and with `_total` if the
    /// metric is a counter.
    pub name: &'static str,
    /// What is counted or measured, and by which labels.
    pub description: &'static str,
    /// The type.
    pub kind: MetricKind,
}

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A number that only grows.
    Counter,
    /// A number that grows and shrinks.
    Gauge,
    /// A distribution, with these upper limits of its buckets.
    Histogram(&'static [f64]),
}

impl Metric {
    /// A counter.
    #[must_use]
    pub const fn counter(name: &'static str, description: &'static str) -> Self {
        Self::new(name, description, MetricKind::Counter)
    }

    /// A gauge.
    #[must_use]
    pub const fn gauge(name: &'static str, description: &'static str) -> Self {
        Self::new(name, description, MetricKind::Gauge)
    }

    /// A histogram with these upper limits of its buckets.
    #[must_use]
    pub const fn histogram(
        name: &'static str,
        description: &'static str,
        buckets: &'static [f64],
    ) -> Self {
        Self::new(name, description, MetricKind::Histogram(buckets))
    }

    const fn new(name: &'static str, description: &'static str, kind: MetricKind) -> Self {
        Self {
            name,
            description,
            kind,
        }
    }

    /// Passes the description to the recorder.
    pub fn describe(&self) {
        match self.kind {
            MetricKind::Counter => describe_counter!(self.name, self.description),
            MetricKind::Gauge => describe_gauge!(self.name, self.description),
            MetricKind::Histogram(_) => describe_histogram!(self.name, self.description),
        }
    }
}

/// Declares constants of metrics, and a list of all.
macro_rules! metrics {
    ($($(#[$documentation:meta])* $constant:ident = $metric:expr;)+) => {
        $($(#[$documentation])* pub const $constant: Metric = $metric;)+

        /// All metrics of this library.
        ///
        /// ```
        /// let mut names = robot_core::metrics::ALL.iter().map(|metric| metric.name);
        /// assert!(names.all(|name| name.starts_with("robots_")));
        /// ```
        pub const ALL: &[Metric] = &[$($constant),+];
    };
}

metrics! {
    /// The number of requests that wait for changes.
    WAITING_CLIENTS = Metric::gauge("robots_waiting_clients", "Requests that wait for changes");
    /// The age of the oldest past version.
    OLDEST_VERSION = Metric::gauge("robots_oldest_version_seconds",
        "Age of the oldest past version of a robot that is kept");
    /// The length of the queue of a store.
    STORE_QUEUE_LENGTH = Metric::gauge("robots_store_queue_length",
        "Changes, look-ups or tasks (lists and searches) that wait for the database, by queue");
    /// Items that a store has rejected.
    STORE_QUEUE_REJECTED = Metric::counter("robots_store_queue_rejected_total",
        "Items that were rejected, by queue, because it was full or their timeout had passed (reason)");
    /// How long batches have waited.
    STORE_QUEUE_WAIT = Metric::histogram("robots_store_queue_wait_seconds",
        "Time that the first item of a batch waited in its queue, by queue", SECONDS);
    /// The number of items in a batch.
    STORE_BATCH_SIZE = Metric::histogram("robots_store_batch_size",
        "Items that were executed together, by queue", BATCHES);
    /// The duration of batches.
    STORE_BATCH_DURATION = Metric::histogram("robots_store_batch_duration_seconds",
        "Time that the database took for a batch, by queue; for changes with the commit", SECONDS);
    /// Commits of changes.
    STORE_COMMITS = Metric::counter("robots_store_commits_total",
        "Batches of changes, by result: committed, failed, or unknown");
    /// Repetitions.
    STORE_RETRIES = Metric::counter("robots_store_retries_total",
        "Items that were executed again after a conflict or a lost connection, by queue");
    /// Failures of the store.
    STORE_ERRORS = Metric::counter("robots_store_errors_total",
        "Failures of the store that a request met, by error");
    /// Open connections to a database server.
    STORE_CONNECTIONS = Metric::gauge("robots_store_connections",
        "Open connections to the database server");
    /// The maximum number of connections.
    STORE_CONNECTIONS_LIMIT = Metric::gauge("robots_store_connections_limit",
        "Connections to the database that may be open (database_connections)");
    /// Connections in use.
    STORE_CONNECTIONS_BUSY = Metric::gauge("robots_store_connections_busy",
        "Connections to the database that execute something, by queue; reads are those of SQLite");
    /// Attempts to connect.
    STORE_CONNECTS = Metric::counter("robots_store_connects_total",
        "Attempts to connect to the database server, by result: connected or failed");
    /// How long reads of SQLite have waited for a connection.
    STORE_POOL_WAIT = Metric::histogram("robots_store_pool_wait_seconds",
        "Time that a read of SQLite waited for one of the connections", SECONDS);
    /// Look-ups that were not done by the thread of the request.
    SQLITE_MOVED_READS = Metric::counter("robots_sqlite_moved_reads_total",
        "Look-ups on blocking threads, because look-ups were slow or a lock was held");
    /// The duration of commits.
    SQLITE_COMMIT_DURATION = Metric::histogram("robots_sqlite_commit_duration_seconds",
        "Time that commits of batches of changes took, without the statements: the sync of the disk", SECONDS);
    /// When the running commit began.
    SQLITE_COMMIT_START = Metric::gauge("robots_sqlite_commit_start_time_seconds",
        "When the running commit began, in seconds since 1970; 0 while none runs");
    /// The size of the WAL.
    SQLITE_LOG_BYTES = Metric::gauge("robots_sqlite_log_bytes",
        "Size of the WAL (write-ahead log of SQLite) after the last commit");
    /// Checkpoints.
    SQLITE_CHECKPOINTS = Metric::counter("robots_sqlite_checkpoints_total",
        "Checkpoints of SQLite's WAL, by result: complete, blocked by a reader, disk_full, or failed");
    /// The duration of checkpoints.
    SQLITE_CHECKPOINT_DURATION = Metric::histogram("robots_sqlite_checkpoint_duration_seconds",
        "Duration of checkpoints, during which changes wait", SECONDS);
    /// Whether changes are rejected because a checkpoint has failed.
    SQLITE_SUSPENDED = Metric::gauge("robots_sqlite_changes_suspended",
        "1 if changes are rejected until a restart, because a checkpoint has failed");
    /// Imports that run.
    IMPORTS = Metric::gauge("robots_imports_running",
        "Imports that run");
    /// Records that imports have read.
    IMPORT_READ = Metric::counter("robots_import_records_read_total",
        "Records that imports have read");
    /// Records that imports have processed.
    IMPORT_RECORDS = Metric::counter("robots_import_records_total",
        "Records that imports have processed, by outcome: added, replaced, unchanged, skipped or failed");
}

/// The outcomes of a record of an import.
const OUTCOMES: [&str; 5] = ["added", "replaced", "unchanged", "skipped", "failed"];

/// The results of an attempt to connect.
pub(crate) const CONNECTS: [&str; 2] = ["connected", "failed"];

/// The failures of a store that clients do not cause.
const ERRORS: [&str; 6] = [
    "disk_full",
    "failed",
    "read_only",
    "restart_required",
    "unavailable",
    "unknown",
];

/// Passes the descriptions of all metrics to the recorder, and the value 0 of those that do not
/// belong to one store.
pub fn describe() {
    for metric in ALL {
        metric.describe();
    }
    for error in ERRORS {
        counter!(STORE_ERRORS.name, "error" => error).increment(0);
    }
    for outcome in OUTCOMES {
        counter!(IMPORT_RECORDS.name, "outcome" => outcome).increment(0);
    }
    for result in CONNECTS {
        counter!(STORE_CONNECTS.name, "result" => result).increment(0);
    }
    gauge!(STORE_CONNECTIONS.name).set(0);
    gauge!(IMPORTS.name).set(0);
    gauge!(WAITING_CLIENTS.name).set(0);
    gauge!(OLDEST_VERSION.name).set(0);
    counter!(IMPORT_READ.name).increment(0);
}

/// Counts a failure of the store, unless the client has caused it.
pub(crate) fn count_error(error: &Error) {
    let label = match error {
        Error::Rejected(_)
        | Error::NotRestored { .. }
        | Error::NotFound(_)
        | Error::Stale(_)
        | Error::DefinitionStale
        | Error::PositionGone
        | Error::NoSuchVersion { .. }
        | Error::NotReverted(_)
        | Error::TooManyChanges
        | Error::NoHistory
        | Error::DefinitionConflict { .. } => return,
        Error::DiskFull(_) => "disk_full",
        Error::Store(_) => "failed",
        Error::ReadOnly(_) => "read_only",
        Error::RestartRequired(_) => "restart_required",
        Error::Unavailable(_) => "unavailable",
        Error::Unknown(_) => "unknown",
    };
    counter!(STORE_ERRORS.name, "error" => label).increment(1);
}

/// A gauge that is greater by one until this is dropped.
///
/// ```
/// use robot_core::metrics::Counted;
///
/// let running = Counted::new(metrics::gauge!("robots_mails_running"));
/// // Send the mail.
/// drop(running);
/// ```
#[must_use = "the gauge is lowered when this is dropped"]
pub struct Counted(::metrics::Gauge);

impl Counted {
    /// Raises the gauge by one.
    pub fn new(gauge: ::metrics::Gauge) -> Self {
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions() {
        for metric in ALL {
            let Metric { name, kind, .. } = metric;
            assert_eq!(
                name.ends_with("_total"),
                *kind == MetricKind::Counter,
                "{name}"
            );
            let characters = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            assert!(name.bytes().all(characters), "{name}");
            let others = ALL.iter().filter(|other| other.name == *name);
            assert_eq!(others.count(), 1, "{name}");
        }
    }

    #[test]
    fn limits_of_buckets_ascend() {
        for metric in ALL {
            if let MetricKind::Histogram(limits) = metric.kind {
                assert!(limits.is_sorted(), "{}", metric.name);
            }
        }
    }
}
