//! How long nothing could be stored.

use std::time::{Duration, Instant};

use crate::record::Record;

/// The longest time in which none of these servers added a robot.
pub(crate) fn longest(record: &Record, servers: &[usize]) -> Duration {
    let times = times(record, servers);
    let pauses = times.windows(2).map(|pair| pair[1] - pair[0]);
    pauses.max().unwrap_or_default()
}

/// How long after a moment the first robot was added.
pub(crate) fn first_after(record: &Record, moment: Instant) -> Duration {
    let times = times(record, &[0]);
    let first = times.iter().find(|time| **time > moment);
    first.map_or(Duration::MAX, |first| *first - moment)
}

/// When these servers added robots.
fn times(record: &Record, servers: &[usize]) -> Vec<Instant> {
    let added = record.added.iter();
    let mut times: Vec<_> = added
        .filter(|(_, server)| servers.contains(server))
        .map(|(time, _)| *time)
        .collect();
    times.sort();
    times
}
