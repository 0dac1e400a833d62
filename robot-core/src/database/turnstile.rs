//! A limit to how many do something at once, which those who have to wait may give up.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// Lets so many in at a time.
#[derive(Debug)]
pub(super) struct Turnstile {
    free: Mutex<usize>,
    left: Condvar,
}

/// The right to be in, until it is dropped.
#[derive(Debug)]
pub(super) struct Admission<'a>(&'a Turnstile);

impl Turnstile {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            free: Mutex::new(limit),
            left: Condvar::new(),
        }
    }

    /// Waits to be let in, no longer than a limit of time.
    pub(super) fn enter(&self, limit: Duration) -> Option<Admission<'_>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut free, _) = self
            .left
            .wait_timeout_while(free, limit, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Admission(self))
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        let Self(turnstile) = self;
        *turnstile
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        turnstile.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn no_more_are_let_in_than_the_limit_and_one_for_each_that_leaves() {
        let turnstile = Turnstile::new(2);
        let soon = Duration::from_millis(10);
        let first = turnstile.enter(soon);
        let second = turnstile.enter(soon);
        assert!(first.is_some() && second.is_some());
        assert!(turnstile.enter(soon).is_none());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| turnstile.enter(Duration::from_secs(10)).is_some());
            drop(first);
            assert!(waiting.join().is_ok_and(|is_in| is_in));
        });
        assert!(turnstile.enter(soon).is_some());
    }
}
