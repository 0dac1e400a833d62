//! The history of a round: recorded, checked, and printed if the check fails.

use std::fmt;

use super::{
    checker::{self, PartialOrder},
    event::Event,
    model::Model,
    operation::{CallResult, Listed},
};

/// The events of a round, and the catalogue before it.
pub(super) struct History {
    pub(super) start: Model,
    pub(super) events: Vec<Event>,
}

impl History {
    /// Checks that the history is linearizable.
    ///
    /// # Errors
    /// The history, with the longest sequence of operations that explains its answers.
    pub(super) fn check(&self) -> Result<(), String> {
        checker::check(&self.start, &self.events).map_err(|longest| self.unexplained(&longest))
    }

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

    fn unexplained(&self, longest: &PartialOrder) -> String {
        let candidates = checker::candidates(longest.done(), &self.events).collect::<Vec<_>>();
        let table = self.table(|index| {
            let number = longest.indices.iter().position(|other| *other == index);
            match number {
                Some(number) => (number + 1).to_string(),
                None if candidates.contains(&index) => "?".to_owned(),
                None => String::new(),
            }
        });
        format!(
            "no order of these operations explains their answers.\n\
             The longest sequence that does is numbered. After it the catalogue contains\n\
             {}, and no operation marked ? can be next.\n\
             {table}",
            Listed(longest.model.robots())
        )
    }

    /// The operations in the order of their calls, each with a mark.
    fn table(&self, mark: impl Fn(usize) -> String) -> String {
        let mut rows: Vec<_> = self.events.iter().enumerate().collect();
        rows.sort_by_key(|(_, event)| event.called);
        let rows = rows
            .into_iter()
            .map(|(index, event)| format!("{:>5}  {event}\n", mark(index)));
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
