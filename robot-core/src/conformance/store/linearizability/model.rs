//! Sequential model of a catalogue: a value that maps each operation to its answer and the next
//! value.

use super::operation::{CallResult, Operation};
use crate::{
    conformance::store::valid,
    model::{Draft, Revision, Robot, RobotId, ValidChanges},
};

/// All robots, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Model(Vec<Robot>);

impl Model {
    pub(super) fn new(robots: &[Robot]) -> Self {
        Self(Vec::new()).with(robots)
    }

    pub(super) fn robots(&self) -> &[Robot] {
        &self.0
    }

    /// The catalogue after an operation; `None` if the operation would have another answer.
    pub(super) fn after(&self, operation: &Operation, answer: &CallResult) -> Option<Self> {
        let (expected, after) = match operation {
            Operation::Add(draft) => self.add(draft, answer)?,
            Operation::Replace(id, draft) | Operation::Patch(id, draft) => self.update(*id, draft),
            Operation::PatchIf(id, revision, draft) => match self.stale(*id, *revision) {
                Some(answer) => (answer, self.clone()),
                None => self.update(*id, draft),
            },
            Operation::Delete(id) => self.delete(*id),
            Operation::DeleteIf(id, revision) => match self.stale(*id, *revision) {
                Some(answer) => (answer, self.clone()),
                None => self.delete(*id),
            },
            Operation::Get(id) => self.read(|robot| robot.id() == *id, 1),
            Operation::Find(name) => self.read(|robot| robot.name() == *name, 1),
            Operation::Page(filter, cursor, limit) => self.read(
                |robot| cursor.precedes(robot) && filter.matches(robot),
                *limit,
            ),
        };
        (expected == *answer).then_some(after)
    }

    /// Any id is valid, so it is that of the answer.
    fn add(&self, draft: &Draft, answer: &CallResult) -> Option<(CallResult, Self)> {
        let draft = valid(draft.clone());
        if self.0.iter().any(|robot| robot.name() == draft.name()) {
            return Some((CallResult::NameTaken, self.clone()));
        }
        let robot = draft.with_id(answer.robots().first()?.id());
        Some((CallResult::from(robot.clone()), self.with(&[robot])))
    }

    fn update(&self, id: RobotId, draft: &Draft) -> (CallResult, Self) {
        let Some(robot) = self.0.iter().find(|robot| robot.id() == id) else {
            return (CallResult::NotFound, self.clone());
        };
        let changes = ValidChanges::new(draft.clone());
        let changed = changes
            .unwrap_or_else(|rejection| panic!("{rejection}"))
            .apply_to(robot);
        let others = self.without(id);
        if others.0.iter().any(|other| other.name() == changed.name()) {
            return (CallResult::NameTaken, self.clone());
        }
        (CallResult::Done, others.with(&[changed]))
    }

    /// The answer to a change that expects another revision than the robot has.
    fn stale(&self, id: RobotId, revision: Revision) -> Option<CallResult> {
        let robot = self.0.iter().find(|robot| robot.id() == id)?;
        (robot.revision() != revision).then_some(CallResult::Stale)
    }

    fn delete(&self, id: RobotId) -> (CallResult, Self) {
        let others = self.without(id);
        let answer = if others == *self {
            CallResult::NotFound
        } else {
            CallResult::Done
        };
        (answer, others)
    }

    fn read(&self, wanted: impl Fn(&Robot) -> bool, limit: usize) -> (CallResult, Self) {
        let found = self.0.iter().filter(|robot| wanted(robot)).take(limit);
        (found.cloned().collect(), self.clone())
    }

    fn with(&self, robots: &[Robot]) -> Self {
        let mut robots = [self.0.as_slice(), robots].concat();
        robots.sort_by(|one, other| one.name().cmp(other.name()));
        Self(robots)
    }

    fn without(&self, id: RobotId) -> Self {
        let others = self.0.iter().filter(|robot| robot.id() != id);
        Self(others.cloned().collect())
    }
}
