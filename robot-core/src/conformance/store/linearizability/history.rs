//! The history of a round: recorded, checked, and printed if the check fails.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use super::operation::{CallResult, Operation};
use crate::{catalogue::Catalogue, model::Robot};

/// A call by a thread, and its answer.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) thread: usize,
    pub(super) operation: Operation,
    pub(super) answer: CallResult,
    /// The times before the call and after its return, from one logical clock for all threads.
    pub(super) called: u64,
    pub(super) returned: u64,
}

impl Event {
    /// Executes the operation. Every reading of the clock is unique.
    pub(super) fn record(
        catalogue: &dyn Catalogue,
        clock: &AtomicU64,
        thread: usize,
        operation: Operation,
    ) -> Self {
        let called = clock.fetch_add(1, Ordering::SeqCst);
        let answer = operation.call(catalogue);
        let returned = clock.fetch_add(1, Ordering::SeqCst);
        Self {
            thread,
            operation,
            answer,
            called,
            returned,
        }
    }

    /// Whether an operation with this answer leaves every catalogue unchanged.
    pub(super) fn is_read_only(&self) -> bool {
        self.operation.is_read() || self.answer.is_refusal()
    }
}

/// The events of a round, and the robots before it.
pub(super) struct History {
    pub(super) start: Vec<Robot>,
    pub(super) events: Vec<Event>,
}

impl History {
    /// The last events, up to `count`, with an unknown outcome. They may still be running, so they
    /// are added to the next history.
    pub(super) fn unfinished(&self, count: usize) -> Vec<Event> {
        let is_unknown = |event: &&Event| event.answer == CallResult::Unknown;
        let mut unfinished: Vec<_> = self.events.iter().filter(is_unknown).cloned().collect();
        unfinished.drain(..unfinished.len().saturating_sub(count));
        for event in &mut unfinished {
            (event.called, event.returned) = (0, 0);
        }
        unfinished
    }
}

impl fmt::Display for History {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "At the start: {:?}", self.start)?;
        for (number, event) in self.events.iter().enumerate() {
            let Event {
                thread,
                operation,
                answer,
                called,
                returned,
            } = event;
            writeln!(
                formatter,
                "{number:>3}: {called:>3} to {returned:>3}, thread {thread}: {operation:?} -> {answer:?}"
            )?;
        }
        Ok(())
    }
}
