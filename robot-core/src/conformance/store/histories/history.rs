//! What happened in a round: written down while it happens, held against every order that
//! could explain it, and printed where none does.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    model::Model,
    operation::{Answer, Listed, Operation},
    order::{self, Order},
};
use crate::catalogue::Catalogue;

/// A call by a thread.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) thread: usize,
    pub(super) operation: Operation,
    pub(super) answer: Answer,
    /// The moments before the call and after its return, of one clock for all threads.
    pub(super) called: u64,
    pub(super) returned: u64,
}

impl Event {
    /// Does it now. The clock counts moments, so no two of them are the same.
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

    /// Whether the operation leaves any catalogue that answers so as it was.
    pub(super) fn can_change_nothing(&self) -> bool {
        match self.operation {
            Operation::Get(_) | Operation::Find(_) | Operation::Page(_) => true,
            Operation::Add(_)
            | Operation::Replace(..)
            | Operation::Amend(..)
            | Operation::Delete(_) => {
                matches!(self.answer, Answer::NameTaken | Answer::NotFound)
            }
        }
    }
}

/// What happened in a round.
pub(super) struct History {
    pub(super) start: Model,
    pub(super) events: Vec<Event>,
}

impl History {
    /// Looks for an order that explains every answer.
    ///
    /// # Errors
    /// There is none: the history, and how far an order goes.
    pub(super) fn check(&self) -> Result<(), String> {
        order::find(&self.start, &self.events).map_err(|longest| self.unexplained(&longest))
    }

    /// The last so many of those whose outcome is unknown, as they are to be taken in the
    /// history that follows: they may be under way still.
    pub(super) fn late(&self, count: usize) -> Vec<Event> {
        let is_unknown = |event: &&Event| event.answer == Answer::Unknown;
        let mut late: Vec<_> = self.events.iter().filter(is_unknown).cloned().collect();
        late.drain(..late.len().saturating_sub(count));
        for event in &mut late {
            (event.called, event.returned) = (0, 0);
        }
        late
    }

    fn unexplained(&self, longest: &Order) -> String {
        let next = order::next(&longest.places, &self.events);
        let table = self.table(|place| {
            let number = longest.places.iter().position(|other| *other == place);
            match number {
                Some(number) => (number + 1).to_string(),
                None if next.contains(&place) => "?".to_owned(),
                None => String::new(),
            }
        });
        format!(
            "no order of these operations explains their answers.\n\
             Those that do fit one after the other are numbered. After them the catalogue holds\n\
             {}, and none of those with a ? can come next.\n\
             {table}",
            Listed(longest.model.robots())
        )
    }

    /// The operations in the order in which they were called, with a mark for each place.
    fn table(&self, mark: impl Fn(usize) -> String) -> String {
        let mut rows: Vec<_> = self.events.iter().enumerate().collect();
        rows.sort_by_key(|(_, event)| event.called);
        let rows = rows
            .into_iter()
            .map(|(place, event)| format!("{:>5}  {event}\n", mark(place)));
        format!(
            "At the start: {}\norder  time        thread  call -> answer\n{}",
            Listed(self.start.robots()),
            rows.collect::<String>()
        )
    }
}

impl fmt::Display for History {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.table(|_| String::new()))
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
