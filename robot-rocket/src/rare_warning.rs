//! Warnings about overload, which are logged rarely.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The minimum time between two warnings. Shorter, and an overload fills the log; longer, and it shows
/// less precisely when there was one.
const INTERVAL: Duration = Duration::from_secs(10);

/// When a warning was logged last.
pub(crate) struct RareWarning(Mutex<Option<Instant>>);

impl RareWarning {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Whether the warning is to be logged now: at most once per interval.
    pub(crate) fn claim(&self) -> bool {
        self.claim_at(Instant::now())
    }

    fn claim_at(&self, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= INTERVAL);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_is_due_once_per_interval() {
        let (warning, now) = (RareWarning::new(), Instant::now());
        assert!(warning.claim_at(now));
        assert!(!warning.claim_at(now + INTERVAL / 2));
        assert!(warning.claim_at(now + INTERVAL));
        assert!(!warning.claim_at(now + INTERVAL));
    }
}
