//! Thread that repeats a step.

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

/// Ends the thread when it is dropped.
#[derive(Debug)]
pub(crate) struct Repeater {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Repeater {
    /// Takes the first step after `interval`. The result of a step is whether there is more to do: the next one follows
    /// after `pause` then, and after `interval` otherwise.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(
        name: &str,
        interval: Duration,
        pause: Duration,
        step: impl Fn() -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || {
            let mut wait = interval;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = if step() { pause } else { interval };
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Repeater {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
