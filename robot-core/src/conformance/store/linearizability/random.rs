//! Generator of random operations, reproducible by seed.

use std::collections::HashMap;

use fastrand::Rng;

use super::operation::{CallResult, Operation};
use crate::{
    catalogue::{Cursor, Filter},
    conformance::store::id,
    model::{Draft, Revision, Robot, RobotId},
};

/// The names of robots: few, so that operations conflict, and one that contains the others, for
/// searches. They have three characters or more, so that an index of trigrams finds them.
pub(super) const NAMES: [&str; 3] = ["one", "two", "one two"];

/// Generates an operation of a kind. In a list of kinds, repetition makes one more frequent.
pub(super) type Kind = fn(&mut Caller) -> Operation;

/// The greatest revision of robots; 0 if there are none.
pub(super) fn greatest_revision(robots: &[Robot]) -> i64 {
    let revisions = robots.iter().map(|robot| robot.revision().get());
    revisions.max().unwrap_or(0)
}

fn one_of<T: Copy, const COUNT: usize>(random: &mut Rng, choices: [T; COUNT]) -> T {
    choices[random.usize(..COUNT)]
}

/// A thread that generates its operations. Like a client, it knows the robots at the start and
/// those in its own answers.
pub(super) struct Caller {
    random: Rng,
    known: Vec<RobotId>,
    /// The greatest revision at the start.
    start: i64,
    /// The robots as they were read last.
    read: HashMap<RobotId, Revision>,
}

impl Caller {
    pub(super) fn new(seed: u64, start: &[Robot]) -> Self {
        Self {
            random: Rng::with_seed(seed),
            known: start.iter().map(Robot::id).collect(),
            start: greatest_revision(start),
            read: start
                .iter()
                .map(|robot| (robot.id(), robot.revision()))
                .collect(),
        }
    }

    pub(super) fn learn(&mut self, answer: &CallResult) {
        for robot in answer.robots() {
            self.read.insert(robot.id(), robot.revision());
            if !self.known.contains(&robot.id()) {
                self.known.push(robot.id());
            }
        }
    }

    pub(super) fn next_operation(&mut self, kinds: &[Kind]) -> Operation {
        let kind = self.random.choice(kinds).copied();
        kind.unwrap_or(Self::page)(self)
    }

    pub(super) fn add(&mut self) -> Operation {
        Operation::Add(self.draft())
    }

    pub(super) fn replace(&mut self) -> Operation {
        Operation::Update(self.id(), None, self.draft())
    }

    pub(super) fn patch(&mut self) -> Operation {
        Operation::Update(self.id(), None, self.partial())
    }

    pub(super) fn patch_if(&mut self) -> Operation {
        let (id, revision) = self.state();
        Operation::Update(id, Some(revision), self.partial())
    }

    pub(super) fn delete(&mut self) -> Operation {
        Operation::Delete(self.id(), None)
    }

    pub(super) fn delete_if(&mut self) -> Operation {
        let (id, revision) = self.state();
        Operation::Delete(id, Some(revision))
    }

    pub(super) fn get(&mut self) -> Operation {
        Operation::Get(self.id())
    }

    pub(super) fn find(&mut self) -> Operation {
        Operation::Find(one_of(&mut self.random, NAMES))
    }

    pub(super) fn changed(&mut self) -> Operation {
        Operation::Changed(self.start)
    }

    /// The id of a known robot, or an unused id.
    fn id(&mut self) -> RobotId {
        let known = self.random.choice(&self.known).copied();
        known.unwrap_or_else(|| id(i64::MAX))
    }

    /// A robot, and the revision that it had when it was read last.
    fn state(&mut self) -> (RobotId, Revision) {
        let id = self.id();
        let read = self.read.get(&id).copied();
        (id, read.unwrap_or(Revision::FIRST))
    }

    /// The year usually distinguishes it from other drafts.
    fn draft(&mut self) -> Draft {
        let name = one_of(&mut self.random, NAMES);
        let robot_type = one_of(&mut self.random, ["droid", "mechanical", "virtual"]);
        Draft::new(name, robot_type, self.random.i64(0..10_000))
    }

    /// A draft in which each member is missing in half of the cases.
    fn partial(&mut self) -> Draft {
        let draft = self.draft();
        let mut keep = || self.random.bool();
        Draft {
            name: draft.name.filter(|_| keep()),
            robot_type: draft.robot_type.filter(|_| keep()),
            year: draft.year.filter(|_| keep()),
            ..Draft::default()
        }
    }

    /// Mostly all robots, because that reveals most about the catalogue.
    pub(super) fn page(&mut self) -> Operation {
        if self.random.u8(..4) > 0 {
            return Operation::everything();
        }
        Operation::Page(
            Filter::from(one_of(&mut self.random, ["", "w", "one", "two"])),
            Cursor::after_name(one_of(&mut self.random, ["", "one", "one two"])),
            self.random.usize(1..4),
        )
    }
}
