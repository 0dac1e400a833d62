//! Semaphore with a timeout.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// A limited number of permits.
#[derive(Debug)]
pub(super) struct Semaphore {
    free: Mutex<usize>,
    released: Condvar,
}

/// A permit, released when it is dropped.
#[derive(Debug)]
pub(super) struct Permit<'a>(&'a Semaphore);

impl Semaphore {
    pub(super) fn new(permits: usize) -> Self {
        Self {
            free: Mutex::new(permits),
            released: Condvar::new(),
        }
    }

    /// Waits for a permit; `None` if none is released within the time limit.
    pub(super) fn acquire(&self, limit: Duration) -> Option<Permit<'_>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut free, _) = self
            .released
            .wait_timeout_while(free, limit, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let Self(semaphore) = self;
        *semaphore
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        semaphore.released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn permits_are_limited_and_reused() {
        let semaphore = Semaphore::new(2);
        let soon = Duration::from_millis(10);
        let first = semaphore.acquire(soon);
        let second = semaphore.acquire(soon);
        assert!(first.is_some() && second.is_some());
        assert!(semaphore.acquire(soon).is_none());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| semaphore.acquire(Duration::from_secs(10)).is_some());
            drop(first);
            assert!(waiting.join().is_ok_and(|acquired| acquired));
        });
        assert!(semaphore.acquire(soon).is_some());
    }
}
