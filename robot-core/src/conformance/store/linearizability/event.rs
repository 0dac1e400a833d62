//! A call and its answer, as one entry of a history.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use super::operation::{CallResult, Operation};
use crate::catalogue::Catalogue;

/// A call by a thread.
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
        match self.operation {
            Operation::Get(_) | Operation::Find(_) | Operation::Page(..) => true,
            Operation::Add(_)
            | Operation::Replace(..)
            | Operation::Patch(..)
            | Operation::PatchIf(..)
            | Operation::Delete(_)
            | Operation::DeleteIf(..) => {
                let answer = &self.answer;
                matches!(
                    answer,
                    CallResult::NameTaken | CallResult::NotFound | CallResult::Stale
                )
            }
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            thread,
            operation,
            answer,
            called,
            returned,
        } = self;
        write!(
            formatter,
            "{called:>3} to {returned:>3}  {thread:>6}  {operation} -> {answer}"
        )
    }
}
