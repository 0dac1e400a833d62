//! Thread that removes past versions.

use std::{io, sync::Arc, time::Duration};

use super::{retention::Retention, store::Catalogue};
use crate::repeater::Repeater;

/// How often a [`Pruner`] looks for versions that are not kept any more.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pause after a step, in which others change robots.
const PAUSE: Duration = Duration::from_millis(5);

/// Removes past versions that are not kept any more, on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Pruner {
    _thread: Repeater,
}

impl Pruner {
    /// Starts to prune a catalogue.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(catalogue: Arc<dyn Catalogue>, keep: Retention) -> io::Result<Self> {
        // After a failure it tries again.
        let prune = move || matches!(catalogue.prune(keep), Ok(1..));
        let thread = Repeater::start("robot-pruner", INTERVAL, PAUSE, prune)?;
        Ok(Self { _thread: thread })
    }
}
