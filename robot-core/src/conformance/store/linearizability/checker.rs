//! Linearizability checker: searches for a sequential order of the operations that explains their
//! answers (Wing and Gong, 1993, with the cache of Lowe, 2017).
//!
//! An operation that returned before another was called comes before it; operations that overlap
//! may come in any order. A history is linearizable if such an order exists: each operation can
//! have taken effect at one moment between its call and its return, and each read returned the
//! last write before it.

use std::collections::HashMap;

use super::{
    history::{Event, History},
    operation::{CallResult, Operation},
    random::greatest_revision,
};
use crate::{
    catalogue::CatalogueExt,
    conformance::store::ok,
    memory::MemoryCatalogue,
    model::{Draft, Revision, Robot},
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
                longest.indices, longest.state.robots,
            )
        })
    }
}

/// A state of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    robots: Vec<Robot>,
    /// The number of the last change, or less if that is not known.
    revision: i64,
}

/// A sequence of some of the operations that explains their answers, and the state after it.
#[derive(Debug, Clone)]
struct PartialOrder {
    indices: Vec<usize>,
    state: State,
}

/// Checks that a history is linearizable.
///
/// # Errors
/// The longest sequence that was found.
fn search(start: &[Robot], events: &[Event]) -> Result<(), PartialOrder> {
    assert!(events.len() < 128, "a set has 128 bits");
    let unclaimed = unclaimed(events);
    let start = State {
        robots: start.to_vec(),
        revision: greatest_revision(start),
    };
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
            state: start.clone(),
        },
    };
    if search.completes(0, &start) {
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

/// The robots in answers, by revisions that no answer to an update has.
fn unclaimed(events: &[Event]) -> HashMap<Revision, &Robot> {
    let answers = || events.iter().map(|event| &event.answer);
    let robots = answers().flat_map(CallResult::robots);
    let mut robots: HashMap<_, _> = robots.map(|robot| (robot.revision(), robot)).collect();
    robots
        .retain(|revision, _| answers().all(|answer| *answer != CallResult::Done(Some(*revision))));
    robots
}

/// The answers that an operation may have had if it took effect.
fn outcomes(event: &Event, unclaimed: &HashMap<Revision, &Robot>) -> Vec<CallResult> {
    match (&event.answer, &event.operation) {
        // An update has a revision.
        (CallResult::Unavailable, _) | (CallResult::Done(None), Operation::Update(..)) => vec![],
        // The new robot was read: no thread could have changed it without its id, and otherwise the
        // reads at the end return it.
        (CallResult::Unknown, Operation::Add(draft)) => {
            let robots = unclaimed.values().map(|robot| (*robot).clone());
            let added = robots.filter(|robot| Draft::from(robot.clone()) == *draft);
            added.map(|robot| CallResult::Robots(vec![robot])).collect()
        }
        // The revision was read, or was not.
        (CallResult::Unknown, Operation::Update(id, ..)) => {
            let read = unclaimed.iter().filter(|(_, robot)| robot.id() == *id);
            let read = read.map(|(revision, _)| Some(*revision));
            read.chain([None]).map(CallResult::Done).collect()
        }
        (CallResult::Unknown, _) => vec![CallResult::Done(None)],
        (answer, _) => vec![answer.clone()],
    }
}

struct Search<'a> {
    events: &'a [Event],
    /// The outcomes of each event.
    outcomes: Vec<Vec<CallResult>>,
    /// The states from which the search has failed, by the operations before.
    dead_ends: HashMap<Set, Vec<State>>,
    /// The current sequence.
    order: Vec<usize>,
    longest: PartialOrder,
}

impl Search<'_> {
    /// Whether an order of the remaining operations exists from here.
    fn completes(&mut self, done: Set, state: &State) -> bool {
        if self.order.len() >= self.longest.indices.len() {
            self.longest.indices.clone_from(&self.order);
            self.longest.state.clone_from(state);
        }
        if self.is_complete(done) {
            return true;
        }
        let mut dead_ends = self.dead_ends.get(&done).into_iter().flatten();
        if dead_ends.any(|failed| failed == state) {
            return false;
        }
        for (index, after) in self.steps(done, state) {
            self.order.push(index);
            if self.completes(done | 1 << index, &after) {
                return true;
            }
            self.order.pop();
        }
        let dead_ends = self.dead_ends.entry(done).or_default();
        dead_ends.push(state.clone());
        false
    }

    fn is_complete(&self, done: Set) -> bool {
        let mut events = self.events.iter().enumerate();
        events.all(|(index, event)| done & 1 << index != 0 || event.answer.is_open())
    }

    /// The operations that may be next and whose answers fit, with the state after each.
    fn steps(&self, done: Set, state: &State) -> Vec<(usize, State)> {
        let mut steps = Vec::new();
        for index in candidates(done, self.events) {
            let event = &self.events[index];
            for answer in &self.outcomes[index] {
                match after(state, event, answer) {
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

/// The state after an operation; `None` if the operation would have another answer.
fn after(state: &State, event: &Event, answer: &CallResult) -> Option<State> {
    // The id of a new robot and the revision are those of the answer: both may have gaps before them.
    let (id, revision) = match (&event.operation, answer) {
        (Operation::Add(_), CallResult::Robots(added)) => {
            let added = added.first()?;
            (added.id().get(), added.revision().get() - 1)
        }
        (_, CallResult::Done(Some(revision))) => (i64::MAX, revision.get() - 1),
        _ => (i64::MAX, state.revision),
    };
    if revision < state.revision {
        return None;
    }
    let store = MemoryCatalogue::of(state.robots.clone(), id - 1, revision);
    let is_explained = match event.operation.call(&store) {
        CallResult::Done(_) if *answer == CallResult::Done(None) => true,
        found => found == *answer,
    };
    is_explained.then(|| State {
        robots: ok(store.list()),
        revision: revision + i64::from(!event.is_read_only()),
    })
}
