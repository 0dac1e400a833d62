//! Metrics of a queue of a store, and of the batches that are taken from it.

use std::time::{Duration, Instant};

use ::metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::{
    catalogue::Error,
    metrics::{
        Counted, STORE_BATCH_DURATION, STORE_BATCH_SIZE, STORE_COMMITS, STORE_CONNECTIONS_BUSY,
        STORE_QUEUE_LENGTH, STORE_QUEUE_REJECTED, STORE_QUEUE_WAIT, STORE_RETRIES,
    },
};

/// Metrics of a queue.
pub(super) struct QueueMetrics {
    pub(super) length: Gauge,
    pub(super) full: Counter,
    /// Items that were not executed in time; 0 on SQLite.
    pub(super) timed_out: Counter,
    /// Items that were executed again; 0 on SQLite.
    pub(super) retries: Counter,
    wait: Histogram,
    size: Histogram,
    duration: Histogram,
    busy: Gauge,
}

impl QueueMetrics {
    pub(super) fn new(queue: &'static str) -> Self {
        let rejected = |reason: &'static str| counter!(STORE_QUEUE_REJECTED.name, "queue" => queue, "reason" => reason);
        let metrics = Self {
            length: gauge!(STORE_QUEUE_LENGTH.name, "queue" => queue),
            full: rejected("full"),
            timed_out: rejected("timeout"),
            retries: counter!(STORE_RETRIES.name, "queue" => queue),
            wait: histogram!(STORE_QUEUE_WAIT.name, "queue" => queue),
            size: histogram!(STORE_BATCH_SIZE.name, "queue" => queue),
            duration: histogram!(STORE_BATCH_DURATION.name, "queue" => queue),
            busy: gauge!(STORE_CONNECTIONS_BUSY.name, "queue" => queue),
        };
        metrics.length.set(0);
        metrics.timed_out.increment(0);
        metrics.retries.increment(0);
        for result in ["committed", "failed", "unknown"] {
            commits(result).increment(0);
        }
        metrics
    }

    /// Records that a batch is executed, until the measurement is dropped.
    pub(super) fn begin(&self, items: usize, waited: Duration) -> Measurement<'_> {
        self.size.record(number(items));
        self.wait.record(waited);
        Measurement {
            duration: &self.duration,
            started: Instant::now(),
            _busy: Counted::new(self.busy.clone()),
        }
    }
}

/// A batch that is executed.
pub(super) struct Measurement<'a> {
    duration: &'a Histogram,
    started: Instant,
    _busy: Counted,
}

impl Drop for Measurement<'_> {
    fn drop(&mut self) {
        self.duration.record(self.started.elapsed());
    }
}

/// Commits that had this result.
fn commits(result: &'static str) -> Counter {
    counter!(STORE_COMMITS.name, "result" => result)
}

/// Counts a commit that had this result.
pub(super) fn count_commit(result: Result<(), &Error>) {
    let result = match result {
        Ok(()) => "committed",
        Err(Error::Unknown(_)) => "unknown",
        Err(_) => "failed",
    };
    commits(result).increment(1);
}

/// A number of items as the value of a metric.
pub(super) fn number(items: usize) -> f64 {
    u32::try_from(items).unwrap_or(u32::MAX).into()
}
