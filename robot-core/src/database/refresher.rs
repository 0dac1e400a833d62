//! Thread that reads the definition again, which another process may have changed.

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

/// A new definition takes effect within a second.
pub(super) const REFRESH_INTERVAL: Duration = Duration::from_millis(500);

/// Ends the thread when it is dropped.
pub(super) struct Refresher {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Refresher {
    /// The result of `refresh` is whether it must go on at once.
    pub(super) fn start(refresh: impl Fn() -> bool + Send + 'static) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("robot-definition".to_owned());
        let thread = thread.spawn(move || {
            let mut pause = REFRESH_INTERVAL;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = if refresh() {
                    Duration::ZERO
                } else {
                    REFRESH_INTERVAL
                };
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Refresher {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
