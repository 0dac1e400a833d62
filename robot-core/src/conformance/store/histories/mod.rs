//! Many threads over all operations, on few robots and names, at random. What they are
//! answered is written down, and must be what a catalogue answers to one caller who does the
//! same in some order, which agrees with the order of those operations that did not overlap.
//!
//! That one demand has all the others in it: names are unique, what was acknowledged is there
//! and what was deleted is not, nobody sees half of a change, and nobody sees an old catalogue
//! after a new one. It is checked round by round, since short histories are quickly searched.

#[cfg(test)]
mod exhaustive;
mod history;
#[cfg(test)]
mod leaky;
mod model;
mod operation;
mod order;
mod random;

use std::{
    collections::{BTreeSet, HashSet},
    sync::atomic::AtomicU64,
    time::{Duration, Instant},
};

use super::{Run, add_all, good};
use crate::{
    catalogue::Catalogue,
    conformance::{Case, at_once, cases},
    model::{Robot, RobotId},
};
use history::{Event, History};
use model::Model;
use operation::{Answer, EVERYTHING, Operation};
use random::{Caller, Kind, NAMES, Random};

/// How many rounds there are at least.
const ROUNDS: usize = 40;

/// How long further rounds are played. In a fast store operations seldom meet half-way, but
/// hundreds of rounds fit in here; a slow one, where they always meet, needs no more rounds.
const TIME: Duration = Duration::from_millis(500);

/// When it is enough, however few rounds there were: in a store where some changes wait for
/// others for seconds, before one of them is given up.
const PATIENCE: Duration = Duration::from_secs(3);

/// Of how many changes with an unknown outcome it is taken into account that they may take
/// place after their round. Stores have few of them, and each may double the search.
const LATE: usize = 4;

/// What the seeds of all rounds come from.
const SEED: u64 = 1977;

pub(super) const CASES: &[Case<Run>] = cases![
    operations_of_all_kinds_at_once_have_an_order,
    changes_of_one_robot_at_once_have_an_order,
    names_that_change_hands_at_once_have_an_order,
];

/// What happens in the rounds of a case.
struct Mix {
    /// How many robots there are at the start.
    robots: usize,
    threads: usize,
    /// How many operations each thread does in a round.
    operations: usize,
    /// What these are drawn from.
    kinds: &'static [Kind],
}

const ALL_KINDS: Mix = Mix {
    robots: 0,
    threads: 6,
    operations: 5,
    kinds: &[
        Kind::Add,
        Kind::Add,
        Kind::Replace,
        Kind::Amend,
        Kind::Delete,
        Kind::Get,
        Kind::Find,
        Kind::Page,
    ],
};

/// Nothing is in the way of a change, but another one of the same robot.
const ONE_ROBOT: Mix = Mix {
    robots: 1,
    threads: 5,
    operations: 6,
    kinds: &[
        Kind::Replace,
        Kind::Amend,
        Kind::Amend,
        Kind::Get,
        Kind::Find,
        Kind::Page,
    ],
};

/// Of three names one is free.
const TWO_ROBOTS: Mix = Mix {
    robots: 2,
    ..ONE_ROBOT
};

fn operations_of_all_kinds_at_once_have_an_order(catalogue: &dyn Catalogue) {
    play(catalogue, &ALL_KINDS).unwrap_or_else(|failure| panic!("{failure}"));
}

fn changes_of_one_robot_at_once_have_an_order(catalogue: &dyn Catalogue) {
    play(catalogue, &ONE_ROBOT).unwrap_or_else(|failure| panic!("{failure}"));
}

fn names_that_change_hands_at_once_have_an_order(catalogue: &dyn Catalogue) {
    play(catalogue, &TWO_ROBOTS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// Plays round after round, each from where the last one has left the catalogue.
///
/// # Errors
/// The history of a round that no catalogue can have.
fn play(catalogue: &dyn Catalogue, mix: &Mix) -> Result<(), String> {
    let started = Instant::now();
    add_all(catalogue, &NAMES[..mix.robots]);
    let mut robots = good(catalogue.page(EVERYTHING));
    let mut given: HashSet<_> = robots.iter().map(Robot::id).collect();
    let mut seeds = Random::new(SEED);
    let mut late = Vec::new();
    let mut round = 0;
    while started.elapsed() < TIME || round < ROUNDS && started.elapsed() < PATIENCE {
        let seed = seeds.next();
        let history = record(catalogue, mix, seed, &robots, late);
        robots = outcome(&history, &mut given)
            .map_err(|failure| format!("Round {round}, with the seed {seed}: {failure}"))?;
        late = history.late(LATE);
        round += 1;
    }
    Ok(())
}

/// Plays a round, and then looks at the catalogue in every way that there is. The history
/// begins with what is still under way.
fn record(
    catalogue: &dyn Catalogue,
    mix: &Mix,
    seed: u64,
    start: &[Robot],
    late: Vec<Event>,
) -> History {
    let clock = AtomicU64::new(1);
    let record = |thread, operation| Event::record(catalogue, &clock, thread, operation);
    let mut random = Random::new(seed);
    let seeds: Vec<_> = (0..mix.threads).map(|_| random.next()).collect();
    let threads = at_once(mix.threads, |thread| {
        let mut caller = Caller::new(seeds[thread], start);
        let events = (0..mix.operations).map(|_| {
            let event = record(thread, caller.draw(mix.kinds));
            caller.learn(&event.answer);
            event
        });
        events.collect::<Vec<_>>()
    });
    let mut events = [late, threads.concat()].concat();
    for operation in looks(start, &events) {
        events.push(record(mix.threads, operation));
    }
    History {
        start: Model::new(start),
        events,
    }
}

/// All ways to look at the catalogue. The last one shows everything.
fn looks(start: &[Robot], events: &[Event]) -> Vec<Operation> {
    let seen = events.iter().flat_map(|event| event.answer.robots());
    let ids: BTreeSet<_> = start.iter().chain(seen).map(Robot::id).collect();
    let by_id = ids.into_iter().map(Operation::Get);
    let by_name = NAMES.map(Operation::Find);
    let everything = Operation::Page(EVERYTHING);
    by_id.chain(by_name).chain([everything]).collect()
}

/// The robots at the end of a round that went well. `given` are all ids that there ever were.
fn outcome(history: &History, given: &mut HashSet<RobotId>) -> Result<Vec<Robot>, String> {
    history.check()?;
    let events = history.events.iter();
    let adds = events.filter(|event| matches!(event.operation, Operation::Add(_)));
    for robot in adds.flat_map(|event| event.answer.robots()) {
        if !given.insert(robot.id()) {
            return Err(format!("the id {} came back.\n{history}", robot.id()));
        }
    }
    let last = history.events.last().map(|event| &event.answer);
    let Some(Answer::Robots(robots)) = last else {
        return Err(format!("the catalogue is gone at the end.\n{history}"));
    };
    // Where the outcome of an add was not told, its id is known only now.
    given.extend(robots.iter().map(Robot::id));
    Ok(robots.clone())
}

#[cfg(test)]
mod tests {
    use super::{
        leaky::{Bug, Leaky},
        *,
    };

    const MIXES: [&Mix; 3] = [&ALL_KINDS, &ONE_ROBOT, &TWO_ROBOTS];

    #[test]
    fn every_bug_is_found() {
        for bug in Bug::ALL {
            let is_found = |mix: &&Mix| play(&Leaky::new(bug), mix).is_err();
            assert!(MIXES.iter().any(is_found), "{bug:?}");
        }
    }

    fn assert_passes(bug: Bug) {
        for mix in MIXES {
            assert_eq!(play(&Leaky::new(bug), mix), Ok(()), "{bug:?}");
        }
    }

    #[test]
    fn a_store_without_a_bug_passes() {
        assert_passes(Bug::None);
    }

    #[test]
    fn a_store_that_loses_answers_passes() {
        assert_passes(Bug::LosesAnswers);
    }

    #[test]
    fn a_store_that_is_late_passes() {
        assert_passes(Bug::IsLate);
    }

    #[test]
    fn a_failure_tells_the_seed_and_the_history() {
        let failure = play(&Leaky::new(Bug::ReplacesByRemovingFirst), &ONE_ROBOT).unwrap_err();
        for part in [
            "Round ",
            "with the seed ",
            "no order of these operations",
            "At the start: 1 (",
            "    ?  ",
            " -> done",
        ] {
            assert!(failure.contains(part), "{part:?} is missing in {failure}");
        }
    }
}
