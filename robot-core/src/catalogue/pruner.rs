//! Thread that removes past versions.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{retention::Retention, store::Catalogue};

/// How often a [`Pruner`] looks for versions that are not kept any more.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pause after a step, in which others change robots.
const PAUSE: Duration = Duration::from_millis(5);

/// Removes past versions that are not kept any more, on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Pruner {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Pruner {
    /// Starts to prune a catalogue.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(catalogue: Arc<dyn Catalogue>, keep: Retention) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("robot-pruner".to_owned());
        let thread = thread.spawn(move || {
            let mut pause = INTERVAL;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // After a failure it tries again.
                pause = match catalogue.prune(keep) {
                    Ok(1..) => PAUSE,
                    _ => INTERVAL,
                };
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Pruner {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
