//! Linearizability checker: searches for a sequential order of the operations that explains their
//! answers (Wing and Gong, 1993, with the cache of Lowe, 2017).
//!
//! An operation that returned before another was called comes before it; operations that overlap
//! may come in any order. A history is linearizable if such an order exists: each operation can
//! have taken effect at one moment between its call and its return, and each read returned the
//! last write before it.

use std::collections::{HashMap, HashSet};

use super::{
    history::{Event, History},
    operation::{CallResult, Operation},
};
use crate::{
    catalogue::CatalogueExt,
    conformance::store::{ok, restore, valid},
    memory::MemoryCatalogue,
    model::{Robot, RobotId},
};

/// A set of operations: one bit for each index in the history.
type Set = u128;

impl History {
    /// Checks that the history is linearizable.
    ///
    /// # Errors
    /// The history, with the longest sequence of operations that explains its answers.
    pub(super) fn check(&self) -> Result<(), String> {
        search(&self.start, &self.events).map_err(|longest| {
            format!(
                "no order of these operations explains their answers.\n\
                 The longest sequence that does has the numbers {:?}. After it the catalogue \
                 contains\n{:?}\n{self}",
                longest.indices, longest.robots,
            )
        })
    }
}

/// A sequence of some of the operations that explains their answers, and the robots after it.
#[derive(Debug, Clone)]
struct PartialOrder {
    indices: Vec<usize>,
    robots: Vec<Robot>,
}

/// Checks that a history is linearizable.
///
/// # Errors
/// The longest sequence that was found.
fn search(start: &[Robot], events: &[Event]) -> Result<(), PartialOrder> {
    assert!(events.len() < 128, "a set has 128 bits");
    let unclaimed = unclaimed_ids(start, events);
    let mut search = Search {
        events,
        outcomes: events
            .iter()
            .map(|event| outcomes(event, &unclaimed))
            .collect(),
        dead_ends: HashMap::new(),
        order: Vec::new(),
        longest: PartialOrder {
            indices: Vec::new(),
            robots: start.to_vec(),
        },
    };
    if search.completes(0, start) {
        Ok(())
    } else {
        Err(search.longest)
    }
}

/// The operations that may be next after these: those that were called before any of the others
/// returned.
fn candidates(done: Set, events: &[Event]) -> impl Iterator<Item = usize> {
    let rest = move || (0..events.len()).filter(move |index| done & 1 << index == 0);
    // An operation with an open outcome may take effect after its return, or never, so it does not
    // limit the others.
    let settled = rest().filter(|index| !events[*index].answer.is_open());
    let first_return = settled.map(|index| events[index].returned).min();
    rest().filter(move |index| first_return.is_some_and(|first| events[*index].called < first))
}

/// The ids of robots that were read although no successful insert returned them.
fn unclaimed_ids(start: &[Robot], events: &[Event]) -> HashSet<RobotId> {
    let is_add = |event: &&Event| matches!(event.operation, Operation::Add(_));
    let ids = |events: Vec<&Event>| -> HashSet<RobotId> {
        let robots = events.iter().flat_map(|event| event.answer.robots());
        robots.map(Robot::id).collect()
    };
    let (added, read) = events.iter().partition(is_add);
    let mut unclaimed = &ids(read) - &ids(added);
    unclaimed.retain(|id| start.iter().all(|robot| robot.id() != *id));
    unclaimed
}

/// The answers that an operation may have had if it took effect.
fn outcomes(event: &Event, unclaimed: &HashSet<RobotId>) -> Vec<CallResult> {
    match (&event.answer, &event.operation) {
        (CallResult::Unavailable, _) => Vec::new(),
        // The new robot was read: no thread could have deleted it without its id, so the reads at
        // the end return it.
        (CallResult::Unknown, Operation::Add(draft)) => {
            let draft = valid(draft.clone());
            let robots = unclaimed.iter().map(|id| draft.clone().with_id(*id));
            robots
                .map(|robot| CallResult::Robots(vec![robot]))
                .collect()
        }
        (CallResult::Unknown, _) => vec![CallResult::Done],
        (answer, _) => vec![answer.clone()],
    }
}

struct Search<'a> {
    events: &'a [Event],
    /// The outcomes of each event.
    outcomes: Vec<Vec<CallResult>>,
    /// The catalogues from which the search has failed, by the operations before.
    dead_ends: HashMap<Set, Vec<Vec<Robot>>>,
    /// The current sequence.
    order: Vec<usize>,
    longest: PartialOrder,
}

impl Search<'_> {
    /// Whether an order of the remaining operations exists from here.
    fn completes(&mut self, done: Set, robots: &[Robot]) -> bool {
        if self.order.len() >= self.longest.indices.len() {
            self.longest.indices.clone_from(&self.order);
            self.longest.robots = robots.to_vec();
        }
        if self.is_complete(done) {
            return true;
        }
        let mut dead_ends = self.dead_ends.get(&done).into_iter().flatten();
        if dead_ends.any(|failed| failed == robots) {
            return false;
        }
        for (index, after) in self.steps(done, robots) {
            self.order.push(index);
            if self.completes(done | 1 << index, &after) {
                return true;
            }
            self.order.pop();
        }
        let dead_ends = self.dead_ends.entry(done).or_default();
        dead_ends.push(robots.to_vec());
        false
    }

    fn is_complete(&self, done: Set) -> bool {
        let mut events = self.events.iter().enumerate();
        events.all(|(index, event)| done & 1 << index != 0 || event.answer.is_open())
    }

    /// The operations that may be next and whose answers fit, with the catalogue after each.
    fn steps(&self, done: Set, robots: &[Robot]) -> Vec<(usize, Vec<Robot>)> {
        let mut steps = Vec::new();
        for index in candidates(done, self.events) {
            let event = &self.events[index];
            for answer in &self.outcomes[index] {
                match after(robots, &event.operation, answer) {
                    // A read-only operation that fits here need not be tried elsewhere: an order
                    // that has it later is valid with it here, too.
                    Some(after) if event.is_read_only() => return vec![(index, after)],
                    Some(after) => steps.push((index, after)),
                    None => {}
                }
            }
        }
        steps
    }
}

/// The robots after an operation on these; `None` if the operation would have another answer.
fn after(robots: &[Robot], operation: &Operation, answer: &CallResult) -> Option<Vec<Robot>> {
    let store = MemoryCatalogue::new();
    ok(restore(&store, robots, None));
    match (operation, answer) {
        // Any id is valid, so the new robot gets the id of the answer.
        (Operation::Add(draft), CallResult::Robots(added)) => {
            let [added] = added.as_slice() else {
                return None;
            };
            let expected = valid(draft.clone()).with_id(added.id());
            let is_added = expected == *added && restore(&store, &[expected], None).is_ok();
            is_added.then(|| ok(store.list()))
        }
        _ => (operation.call(&store) == *answer).then(|| ok(store.list())),
    }
}
