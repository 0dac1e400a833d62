//! Warnings that are logged rarely.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The minimum time between two warnings about overload. Shorter, and an overload fills the log; longer, and it
/// shows less precisely when there was one.
pub(crate) const OVERLOAD: Duration = Duration::from_secs(10);

/// When a warning was logged last, and the minimum time until the next one.
pub(crate) struct RareWarning(Mutex<Option<Instant>>, Duration);

impl RareWarning {
    pub(crate) const fn new(interval: Duration) -> Self {
        Self(Mutex::new(None), interval)
    }

    /// Whether the warning is to be logged now: at most once per interval.
    pub(crate) fn claim(&self) -> bool {
        let now = Instant::now();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= self.1);
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
        let (warning, others) = (RareWarning::new(OVERLOAD), RareWarning::new(Duration::ZERO));
        assert!(warning.claim() && !warning.claim());
        assert!(others.claim() && others.claim());
    }
}
