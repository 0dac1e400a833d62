//! Linearizability: random operations of many threads on few robots and names.
//!
//! The history of each round must be linearizable, that is, a single caller who executes the same
//! operations in some order gets the same answers, revisions grow in that order, and it agrees with
//! the order of operations that did not overlap. This implies the other guarantees: names are
//! unique, committed changes are visible, and no reader sees half of a change or an old state after
//! a new one. Rounds are short, because the search for an order is exponential.

mod checker;
mod history;
mod operation;
mod random;

use std::{
    collections::{BTreeSet, HashSet},
    sync::atomic::AtomicU64,
    time::{Duration, Instant},
};

use fastrand::Rng;

use super::{Run, add_all, ok};
use crate::{
    catalogue::{Catalogue, CatalogueExt},
    conformance::{Case, at_once, cases},
    model::{Robot, RobotId},
};
use history::{Event, History};
use operation::{CallResult, Operation};
use random::{Caller, Kind, NAMES, greatest_revision};

/// The minimum number of rounds.
const ROUNDS: usize = 40;

/// How long further rounds are run. In a fast store operations rarely overlap, but hundreds of
/// rounds fit; in a slow store they overlap in every round.
const MIN_TIME: Duration = Duration::from_millis(500);

/// The time limit, also if there were fewer rounds: a store may wait seconds for a lock.
const MAX_TIME: Duration = Duration::from_secs(3);

/// The maximum number of changes with an unknown outcome that are added to the next history. Stores
/// have few of them, and each may double the time of the search.
const UNFINISHED: usize = 4;

/// The seed from which the seeds of all rounds are generated.
const SEED: u64 = 1977;

pub(super) const CASES: &[Case<Run>] = cases![
    concurrent_operations_are_linearizable,
    concurrent_changes_of_one_robot_are_linearizable,
    concurrent_renames_are_linearizable,
];

/// The parameters of a case.
struct Mix {
    /// The number of robots at the start.
    robots: usize,
    threads: usize,
    /// The number of operations of each thread in a round.
    operations: usize,
    kinds: &'static [Kind],
}

const ALL_KINDS: Mix = Mix {
    robots: 0,
    threads: 6,
    operations: 5,
    kinds: &[
        Caller::add,
        Caller::add,
        Caller::replace,
        Caller::patch,
        Caller::patch_if,
        Caller::delete,
        Caller::delete_if,
        Caller::get,
        Caller::find,
        Caller::page,
        Caller::changed,
    ],
};

/// Only changes of the same robot conflict.
const ONE_ROBOT: Mix = Mix {
    robots: 1,
    threads: 5,
    operations: 6,
    kinds: &[
        Caller::replace,
        Caller::patch,
        Caller::patch,
        Caller::patch_if,
        Caller::patch_if,
        Caller::get,
        Caller::find,
        Caller::page,
        Caller::changed,
    ],
};

/// Two of the three names are taken.
const TWO_ROBOTS: Mix = Mix {
    robots: 2,
    ..ONE_ROBOT
};

fn concurrent_operations_are_linearizable(catalogue: &dyn Catalogue) {
    run(catalogue, &ALL_KINDS).unwrap_or_else(|failure| panic!("{failure}"));
}

fn concurrent_changes_of_one_robot_are_linearizable(catalogue: &dyn Catalogue) {
    run(catalogue, &ONE_ROBOT).unwrap_or_else(|failure| panic!("{failure}"));
}

fn concurrent_renames_are_linearizable(catalogue: &dyn Catalogue) {
    run(catalogue, &TWO_ROBOTS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// Runs rounds, each on the catalogue that the last one left.
///
/// # Errors
/// A history that is not linearizable.
fn run(catalogue: &dyn Catalogue, mix: &Mix) -> Result<(), String> {
    let started = Instant::now();
    add_all(catalogue, &NAMES[..mix.robots]);
    let mut robots = ok(catalogue.list());
    let mut used: HashSet<_> = robots.iter().map(Robot::id).collect();
    let mut seeds = Rng::with_seed(SEED);
    let mut unfinished = Vec::new();
    let mut round = 0;
    while started.elapsed() < MIN_TIME || round < ROUNDS && started.elapsed() < MAX_TIME {
        let seed = seeds.u64(..);
        let history = record(catalogue, mix, seed, &robots, unfinished);
        robots = outcome(&history, &mut used)
            .map_err(|failure| format!("Round {round}, with the seed {seed}: {failure}"))?;
        unfinished = history.unfinished(UNFINISHED);
        round += 1;
    }
    Ok(())
}

/// Runs a round, and then reads all robots by every method. The history begins with the events that
/// may still be running.
fn record(
    catalogue: &dyn Catalogue,
    mix: &Mix,
    seed: u64,
    start: &[Robot],
    unfinished: Vec<Event>,
) -> History {
    let clock = AtomicU64::new(1);
    let record = |thread, operation| Event::record(catalogue, &clock, thread, operation);
    let mut random = Rng::with_seed(seed);
    let seeds: Vec<_> = (0..mix.threads).map(|_| random.u64(..)).collect();
    let threads = at_once(mix.threads, |thread| {
        let mut caller = Caller::new(seeds[thread], start);
        let events = (0..mix.operations).map(|_| {
            let event = record(thread, caller.next_operation(mix.kinds));
            caller.learn(&event.answer);
            event
        });
        events.collect::<Vec<_>>()
    });
    let mut events = [unfinished, threads.concat()].concat();
    for operation in final_reads(start, &events) {
        events.push(record(mix.threads, operation));
    }
    History {
        start: start.to_vec(),
        events,
    }
}

/// Reads of all robots by every method. The last one is a page with all robots.
fn final_reads(start: &[Robot], events: &[Event]) -> Vec<Operation> {
    let seen = events.iter().flat_map(|event| event.answer.robots());
    let ids: BTreeSet<_> = start.iter().chain(seen).map(Robot::id).collect();
    let by_id = ids.into_iter().map(Operation::Get);
    let by_name = NAMES.map(Operation::Find);
    let changed = Operation::Changed(greatest_revision(start));
    let everything = Operation::everything();
    by_id.chain(by_name).chain([changed, everything]).collect()
}

/// Checks a round, and returns the robots at its end. `used` are all ids that were ever seen.
fn outcome(history: &History, used: &mut HashSet<RobotId>) -> Result<Vec<Robot>, String> {
    history.check()?;
    let events = history.events.iter();
    let adds = events.filter(|event| matches!(event.operation, Operation::Add(_)));
    for robot in adds.flat_map(|event| event.answer.robots()) {
        if !used.insert(robot.id()) {
            return Err(format!("the id {} was reused.\n{history}", robot.id()));
        }
    }
    let last = history.events.last().map(|event| &event.answer);
    let Some(CallResult::Robots(robots)) = last else {
        return Err(format!("the last read failed.\n{history}"));
    };
    // The ids of inserts with an unknown outcome are known only now.
    used.extend(robots.iter().map(Robot::id));
    Ok(robots.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{Change, Error, Receipt, Result},
        conformance::store::faulty_store::{Fault, FaultyStore},
        memory::MemoryCatalogue,
    };

    /// No fault: some changes fail, and of some of these the outcome is unknown.
    fn apply_perhaps(store: &MemoryCatalogue, change: Change) -> Result<Receipt> {
        let year = match &change {
            Change::Insert(draft) => draft.year(),
            Change::Update(_, None, changes) => changes.year(),
            _ => None,
        };
        match year.map_or(0, |year| year % 8) {
            5 => Err(Error::unavailable("not done")),
            6 => Err(Error::unknown("not done")),
            7 => store.apply(change).and(Err(Error::unknown("done"))),
            _ => store.apply(change),
        }
    }

    #[test]
    fn store_with_unknown_outcomes_passes() {
        for mix in [&ALL_KINDS, &ONE_ROBOT, &TWO_ROBOTS] {
            let store = FaultyStore::new(Fault::Change(apply_perhaps));
            assert_eq!(run(&store, mix), Ok(()));
        }
    }

    #[test]
    fn failure_reports_seed_and_history() {
        let ignore = Fault::Change(|store, change| match change {
            Change::Update(id, None, _) => Ok(Receipt { id, revision: None }),
            other => store.apply(other),
        });
        let failure = run(&FaultyStore::new(ignore), &ONE_ROBOT).unwrap_err();
        for part in [
            "Round ",
            "with the seed ",
            "no order of these operations",
            "-> Done(",
        ] {
            assert!(failure.contains(part), "{part:?} is missing in {failure}");
        }
    }
}
