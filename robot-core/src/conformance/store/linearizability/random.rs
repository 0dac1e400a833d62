//! Generator of random operations, reproducible by seed.

use std::collections::HashMap;

use super::operation::{CallResult, Operation};
use crate::{
    catalogue::{Cursor, Filter},
    model::{Draft, Revision, Robot, RobotId},
};

/// The names of robots: few, so that operations conflict, and one that contains the others, for
/// searches. They have three characters or more, so that an index of trigrams finds them.
pub(super) const NAMES: [&str; 3] = ["one", "two", "one two"];

/// The kinds of operations. In a list of kinds, repetition makes one more frequent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Add,
    Replace,
    Patch,
    PatchIf,
    Delete,
    DeleteIf,
    Get,
    Find,
    Page,
}

/// Pseudorandom numbers: `SplitMix64` (Steele, Lea and Flood, 2014).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0, less than the limit.
    pub(super) fn below(&mut self, limit: u16) -> u16 {
        let [low, high, ..] = self.next().to_le_bytes();
        u16::from_le_bytes([low, high]) % limit
    }

    /// One of these; `None` if there are none.
    pub(super) fn choose<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let count = u16::try_from(choices.len()).unwrap_or(u16::MAX);
        let index = (count > 0).then(|| self.below(count))?;
        choices.get(usize::from(index))
    }

    fn one_of<T: Copy, const COUNT: usize>(&mut self, choices: [T; COUNT]) -> T {
        self.choose(&choices).copied().unwrap_or(choices[0])
    }
}

/// A thread that generates its operations. Like a client, it knows the robots at the start and
/// those in its own answers.
pub(super) struct Caller {
    random: Random,
    known: Vec<RobotId>,
    /// The robots as they were read last.
    read: HashMap<RobotId, Revision>,
}

impl Caller {
    pub(super) fn new(seed: u64, start: &[Robot]) -> Self {
        Self {
            random: Random::new(seed),
            known: start.iter().map(Robot::id).collect(),
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
        match self.random.choose(kinds).copied().unwrap_or(Kind::Page) {
            Kind::Add => Operation::Add(self.draft()),
            Kind::Replace => Operation::Replace(self.id(), self.draft()),
            Kind::Patch => Operation::Patch(self.id(), self.partial()),
            Kind::PatchIf => {
                let (id, revision) = self.state();
                Operation::PatchIf(id, revision, self.partial())
            }
            Kind::Delete => Operation::Delete(self.id()),
            Kind::DeleteIf => {
                let (id, revision) = self.state();
                Operation::DeleteIf(id, revision)
            }
            Kind::Get => Operation::Get(self.id()),
            Kind::Find => Operation::Find(self.random.one_of(NAMES)),
            Kind::Page => self.page(),
        }
    }

    /// The id of a known robot, or an unused id.
    fn id(&mut self) -> RobotId {
        let known = self.random.choose(&self.known).copied();
        known
            .or(RobotId::new(i64::MAX))
            .unwrap_or_else(|| panic!("the greatest number is positive"))
    }

    /// A robot, and the revision that it had when it was read last.
    fn state(&mut self) -> (RobotId, Revision) {
        let id = self.id();
        let read = self.read.get(&id).copied();
        (id, read.unwrap_or(Revision::FIRST))
    }

    /// The year usually distinguishes it from other drafts.
    fn draft(&mut self) -> Draft {
        let name = self.random.one_of(NAMES);
        let robot_type = self.random.one_of(["droid", "mechanical", "virtual"]);
        Draft::new(name, robot_type, i64::from(self.random.below(10_000)))
    }

    /// A draft in which each member is missing in half of the cases.
    fn partial(&mut self) -> Draft {
        let draft = self.draft();
        let mut keep = || self.random.below(2) == 0;
        Draft {
            name: draft.name.filter(|_| keep()),
            robot_type: draft.robot_type.filter(|_| keep()),
            year: draft.year.filter(|_| keep()),
        }
    }

    /// Mostly all robots, because that reveals most about the catalogue.
    fn page(&mut self) -> Operation {
        if self.random.below(4) > 0 {
            return Operation::everything();
        }
        Operation::Page(
            Filter::from(self.random.one_of(["", "w", "one", "two"])),
            Cursor::after_name(self.random.one_of(["", "one", "one two"])),
            1 + usize::from(self.random.below(3)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_match_published_test_vector() {
        let mut random = Random::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.next(), random.next()], expected);
    }
}
