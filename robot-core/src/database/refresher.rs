//! Thread that reads the definition again, which another process may have changed.

use std::{io, time::Duration};

use crate::repeater::Repeater;

/// A new definition takes effect within a second.
pub(super) const REFRESH_INTERVAL: Duration = Duration::from_millis(500);

/// The result of `refresh` is whether it must go on at once.
pub(super) fn start(refresh: impl Fn() -> bool + Send + 'static) -> io::Result<Repeater> {
    Repeater::start(
        "robot-definition",
        REFRESH_INTERVAL,
        Duration::ZERO,
        refresh,
    )
}
