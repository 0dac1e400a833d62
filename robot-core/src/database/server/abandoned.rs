//! Calls of a driver with a time limit, and the threads that are left behind.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use crate::database::locks::lock;

/// There was no answer in time.
#[derive(Debug, thiserror::Error)]
#[error("the database did not answer in time")]
pub(super) struct NoAnswer;

/// Threads that still wait for a server although their callers have given up. A driver waits for an answer
/// without a time limit, and a frozen server sends none.
#[derive(Debug)]
pub(super) struct AbandonedThreads {
    /// Each thread holds the strong reference of its token.
    tokens: Mutex<Vec<Weak<()>>>,
    limit: usize,
}

impl AbandonedThreads {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            tokens: Mutex::default(),
            limit,
        }
    }

    /// Adds the thread that holds a token.
    pub(super) fn add(&self, token: Weak<()>) {
        self.tokens().push(token);
    }

    /// Forgets all of them.
    pub(super) fn forget(&self) {
        self.tokens().clear();
    }

    /// Whether there are so many that no further thread may be started.
    pub(super) fn are_too_many(&self) -> bool {
        let mut tokens = self.tokens();
        tokens.retain(|token| token.strong_count() > 0);
        tokens.len() >= self.limit
    }

    /// Runs work on a thread of its own, and waits for its result up to a time limit.
    pub(super) fn run_within<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let (done, result) = mpsc::sync_channel(1);
        let token = Arc::new(());
        let abandoned = Arc::downgrade(&token);
        thread::Builder::new()
            .name("robot-connect".to_owned())
            .spawn(move || {
                // The caller may have given up.
                let _ = done.send(work());
                drop(token);
            })
            .map_err(|_| NoAnswer)?;
        result.recv_timeout(limit).map_err(|error| {
            if error == RecvTimeoutError::Timeout {
                self.add(abandoned);
            }
            NoAnswer
        })
    }

    /// No code panics while it holds the lock, so the value is consistent.
    fn tokens(&self) -> MutexGuard<'_, Vec<Weak<()>>> {
        lock(&self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn thread_is_abandoned_until_its_work_ends() {
        let threads = AbandonedThreads::new(1);
        let limit = Duration::from_secs(60);
        assert_eq!(threads.run_within(limit, || 1).ok(), Some(1));
        assert!(!threads.are_too_many());
        let (end, ended) = mpsc::channel::<()>();
        let work = move || ended.recv().is_ok();
        assert!(threads.run_within(Duration::ZERO, work).is_err());
        assert!(threads.are_too_many());
        drop(end);
        let started = Instant::now();
        while threads.are_too_many() {
            assert!(started.elapsed() < limit, "the thread has not ended");
            thread::yield_now();
        }
    }
}
