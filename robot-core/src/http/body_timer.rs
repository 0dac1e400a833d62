//! Time limits of bodies, so that a slow client does not occupy a thread for ever.

use std::time::Duration;

use super::request_body::BODY_DEADLINE;

/// The time before the minimum rate applies, so that a client may start slowly.
const GRACE: Duration = Duration::from_secs(20);

/// The time limits of bodies. Only time that the service waits for the client counts, so a slow store does not
/// shorten it.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use robot_core::{MemoryCatalogue, http::{Api, ApiSettings, BodyLimits}};
///
/// let mut body_limits = BodyLimits::default();
/// body_limits.timeout = Duration::from_secs(600);
/// let settings = ApiSettings { body_limits, ..ApiSettings::default() };
/// let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyLimits {
    /// The maximum time for a body that is not streamed, and for each piece of one that is: see
    /// [`Exchange::body_deadline`](super::Exchange::body_deadline).
    pub deadline: Duration,
    /// The maximum time for a whole streamed body. Too short, and large imports over slow networks fail; too
    /// long, and slow clients keep others from importing.
    pub timeout: Duration,
    /// The minimum average rate of a streamed body in bytes per second, after the first 20 seconds; 0 for none.
    /// Too low, and clients that send hardly anything occupy a thread until the timeout; too high, and imports
    /// over slow networks fail.
    pub minimum_rate: u32,
}

impl Default for BodyLimits {
    /// The deadline of the contract; one hour, which suffices for the largest body at 2.4 Mbit/s; and 1,000 bytes
    /// per second, which every modem exceeds.
    fn default() -> Self {
        Self {
            deadline: BODY_DEADLINE,
            timeout: Duration::from_secs(60 * 60),
            minimum_rate: 1000,
        }
    }
}

/// The time that a client has taken to send a streamed body.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use robot_core::{MemoryCatalogue, http::{Api, BODY_DEADLINE}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let (head, ()) = http::Request::post("/api/robots/import").body(())?.into_parts();
/// let mut timer = api.receive(head).body_timer();
/// assert_eq!(timer.next_timeout(), BODY_DEADLINE);
/// // A byte every five seconds is too slow.
/// for _ in 0..4 {
///     timer.record(Duration::from_secs(5), 1);
/// }
/// assert!(timer.next_timeout() < Duration::from_secs(1));
/// # http::Result::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct BodyTimer {
    limits: BodyLimits,
    waited: Duration,
    received: u64,
}

impl BodyTimer {
    pub(super) fn new(limits: BodyLimits) -> Self {
        Self {
            limits,
            waited: Duration::ZERO,
            received: 0,
        }
    }

    /// The timeout for the next piece. A frontend that waits longer passes
    /// [`BodyError::TooSlow`](super::BodyError::TooSlow).
    #[must_use]
    pub fn next_timeout(&self) -> Duration {
        let limits = self.limits;
        let by_rate = match limits.minimum_rate {
            0 => limits.timeout,
            rate => GRACE.saturating_add(Duration::from_secs(self.received / u64::from(rate))),
        };
        let left = limits.timeout.min(by_rate).saturating_sub(self.waited);
        left.min(limits.deadline)
    }

    /// Records a piece of this many bytes, and how long the frontend waited for it.
    pub fn record(&mut self, waited: Duration, bytes: usize) {
        self.waited = self.waited.saturating_add(waited);
        let bytes = bytes.try_into().unwrap_or(u64::MAX);
        self.received = self.received.saturating_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(seconds: u64, rate: u32) -> BodyTimer {
        BodyTimer::new(BodyLimits {
            deadline: BODY_DEADLINE,
            timeout: Duration::from_secs(seconds),
            minimum_rate: rate,
        })
    }

    /// The seconds until a client times out that sends a piece of this size every second.
    fn seconds(mut timer: BodyTimer, bytes: usize) -> Option<u64> {
        (0..10_000).find(|_| {
            let is_late = timer.next_timeout() < Duration::from_secs(1);
            timer.record(Duration::from_secs(1), bytes);
            is_late
        })
    }

    #[test]
    fn rate_below_the_minimum_times_out() {
        assert_eq!(seconds(timer(3600, 1000), 1), Some(20));
        assert_eq!(seconds(timer(3600, 1000), 500), Some(39));
        assert_eq!(seconds(timer(3600, 1000), 1000), Some(3600));
        assert_eq!(seconds(timer(3600, 0), 1), Some(3600));
    }

    #[test]
    fn time_that_is_not_waited_does_not_count() {
        let mut timer = timer(30, 1000);
        for _ in 0..1_000_000 {
            timer.record(Duration::ZERO, 65_536);
        }
        assert_eq!(timer.next_timeout(), BODY_DEADLINE);
    }

    #[test]
    fn pause_after_much_data_is_limited_by_the_deadline() {
        let mut timer = timer(3600, 1000);
        timer.record(Duration::from_secs(1), 1_000_000);
        assert_eq!(timer.next_timeout(), BODY_DEADLINE);
    }
}
