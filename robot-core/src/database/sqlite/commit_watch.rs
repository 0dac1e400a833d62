//! Watch of the running commit. A disk that hangs returns no error: the writer thread waits for it, and
//! cannot report that. So each further change checks how long the commit has been running.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use ::metrics::{Gauge, gauge};

use crate::metrics::SQLITE_COMMIT_START;

/// How long a commit runs until it is reported. Shorter, and a disk that is only slow is reported; longer,
/// and the log explains later why changes are not answered.
const REPORTED_AFTER: Duration = Duration::from_secs(10);

/// The state of the running commit.
pub(super) struct CommitWatch {
    origin: Instant,
    /// When the commit began, in milliseconds after the origin; 0 if none runs, or it was reported.
    started: AtomicU64,
    start_time: Gauge,
}

impl CommitWatch {
    pub(super) fn new() -> Self {
        let start_time = gauge!(SQLITE_COMMIT_START.name);
        start_time.set(0);
        Self {
            origin: Instant::now(),
            started: AtomicU64::new(0),
            start_time,
        }
    }

    /// Notes that a commit runs, until the result is dropped.
    pub(super) fn begin(&self) -> RunningCommit<'_> {
        self.started.store(self.now(), Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.start_time.set(now.unwrap_or_default());
        RunningCommit(self)
    }

    /// Logs that the commit takes long, once.
    pub(super) fn report(&self) {
        if let Some(waited) = self.unreported(REPORTED_AFTER) {
            tracing::warn!(
                "changes have waited for {} s for a commit: the disk of the database may hang, or another \
                 program may hold its write lock",
                waited.as_secs()
            );
        }
    }

    /// How long the commit has been running, if that is at least `limit`, and was not returned before.
    fn unreported(&self, limit: Duration) -> Option<Duration> {
        let started = self.started.load(Ordering::Relaxed);
        if started == 0 {
            return None;
        }
        let waited = Duration::from_millis(self.now().saturating_sub(started));
        let is_first = || {
            self.started
                .compare_exchange(started, 0, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        (waited >= limit && is_first()).then_some(waited)
    }

    /// Milliseconds after the origin, at least 1.
    fn now(&self) -> u64 {
        let elapsed = self.origin.elapsed().as_millis();
        u64::try_from(elapsed).unwrap_or(u64::MAX).max(1)
    }
}

/// A commit that runs until this is dropped.
pub(super) struct RunningCommit<'a>(&'a CommitWatch);

impl Drop for RunningCommit<'_> {
    fn drop(&mut self) {
        let Self(watch) = self;
        watch.started.store(0, Ordering::Relaxed);
        watch.start_time.set(0);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn long_commit_is_reported_once() {
        let (watch, limit) = (CommitWatch::new(), Duration::from_millis(20));
        assert_eq!(watch.unreported(Duration::ZERO), None);
        let commit = watch.begin();
        assert_eq!(watch.unreported(Duration::from_secs(3600)), None);
        thread::sleep(2 * limit);
        assert!(
            watch
                .unreported(limit)
                .is_some_and(|waited| waited >= limit)
        );
        assert_eq!(watch.unreported(limit), None);
        drop(commit);
        let _next = watch.begin();
        assert!(watch.unreported(Duration::ZERO).is_some());
    }

    #[test]
    fn finished_commit_is_not_reported() {
        let watch = CommitWatch::new();
        drop(watch.begin());
        assert_eq!(watch.unreported(Duration::ZERO), None);
    }
}
