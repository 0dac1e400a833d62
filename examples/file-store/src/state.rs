//! The robots, and what a change makes of them.

use std::{collections::BTreeMap, sync::Arc};

use robot_core::{
    Change, Definition, Error, Receipt, Redefinition, Restoration, Result, Revision, Robot,
    RobotId, Violation, Violations,
};

/// All that a catalogue keeps. A clone shares the robots.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    definition: Arc<Definition>,
    robots: BTreeMap<RobotId, Arc<Robot>>,
    /// The greatest id that was ever assigned or restored.
    last_id: Option<RobotId>,
    /// The number of the last change.
    revision: i64,
}

impl State {
    pub(crate) fn new(
        definition: Definition,
        robots: impl IntoIterator<Item = Robot>,
        last_id: Option<RobotId>,
        revision: i64,
    ) -> Self {
        let robots = robots.into_iter();
        Self {
            definition: Arc::new(definition),
            robots: robots.map(|robot| (robot.id(), Arc::new(robot))).collect(),
            last_id,
            revision,
        }
    }

    pub(crate) fn revision(&self) -> i64 {
        self.revision
    }

    /// The revision of the next change.
    fn next_revision(&mut self) -> Result<Revision> {
        let next = self.revision.checked_add(1).and_then(Revision::new);
        let next = next.ok_or_else(|| Error::store("all revisions are assigned"))?;
        self.revision = next.get();
        Ok(next)
    }

    pub(crate) fn definition(&self) -> Arc<Definition> {
        Arc::clone(&self.definition)
    }

    pub(crate) fn robots(&self) -> impl Iterator<Item = &Robot> {
        self.robots.values().map(|robot| &**robot)
    }

    pub(crate) fn last_id(&self) -> Option<RobotId> {
        self.last_id
    }

    pub(crate) fn get(&self, id: RobotId) -> Option<&Robot> {
        self.robots.get(&id).map(|robot| &**robot)
    }

    /// Applies a change. Another definition may have checked it: then it is checked again.
    pub(crate) fn apply(&mut self, change: &Change) -> Result<Receipt> {
        match change.check_again(&self.definition)?.into_owned() {
            Change::Insert(draft) => {
                let last = self.last_id.map_or(0, RobotId::get);
                let next = last.checked_add(1).and_then(RobotId::new);
                let id = next.ok_or_else(|| Error::store("all ids are assigned"))?;
                let receipt = self.put(draft.with_id(id))?;
                self.last_id = Some(id);
                Ok(receipt)
            }
            Change::Update(id, expected, changes) => {
                let before = self.expected(id, expected)?;
                let changed = changes.apply_to(before, before.revision());
                self.put(changed)
            }
            // It keeps no history, of which such a change would come.
            Change::Undelete(id, _) => Err(Error::NotFound(id)),
            Change::Delete(id, expected) => {
                self.expected(id, expected)?;
                self.robots.remove(&id);
                self.next_revision()?;
                let revision = None;
                Ok(Receipt { id, revision })
            }
        }
    }

    /// The robot, unless it has another revision than the expected one.
    fn expected(&self, id: RobotId, expected: Option<Revision>) -> Result<&Robot> {
        let robot = self.get(id).ok_or(Error::NotFound(id))?;
        match expected {
            Some(revision) if revision != robot.revision() => Err(Error::Stale(id)),
            _ => Ok(robot),
        }
    }

    /// Stores a robot with the next revision, unless another one has one of its unique values.
    fn put(&mut self, robot: Robot) -> Result<Receipt> {
        self.check_unique(&robot)?;
        let (id, revision) = (robot.id(), self.next_revision()?);
        let robot = robot.with_revision(revision);
        self.robots.insert(id, Arc::new(robot));
        let revision = Some(revision);
        Ok(Receipt { id, revision })
    }

    fn check_unique(&self, robot: &Robot) -> Result<(), Violations> {
        let taken = self.definition.unique().filter(|field| {
            let value = robot.value_of(field);
            let mut others = self.robots().filter(|other| other.id() != robot.id());
            value.is_some() && others.any(|other| other.value_of(field) == value)
        });
        let taken: Vec<_> = taken.cloned().collect();
        if taken.is_empty() {
            Ok(())
        } else {
            Err(Violations::taken(&taken))
        }
    }

    pub(crate) fn restore(&mut self, restoration: &Restoration) -> Result<()> {
        for robot in restoration.robots() {
            if self.robots.contains_key(&robot.id()) {
                return Err(Restoration::conflict(robot, Violation::ID_TAKEN));
            }
            match self.put(robot.clone()) {
                Err(Error::Rejected(violations)) => {
                    let first = violations.iter().next().cloned();
                    let first = first.unwrap_or(Violation::NAME_TAKEN);
                    return Err(Restoration::conflict(robot, first));
                }
                stored => _ = stored?,
            }
        }
        self.last_id = self.last_id.max(restoration.last_id());
        Ok(())
    }

    pub(crate) fn define(&mut self, redefinition: &Redefinition) -> Result<Arc<Definition>> {
        let (definition, rewritten) = redefinition.apply(&self.definition, self.robots())?;
        for robot in rewritten {
            let revision = self.next_revision()?;
            let robot = robot.with_revision(revision);
            self.robots.insert(robot.id(), Arc::new(robot));
        }
        self.definition = Arc::new(definition);
        Ok(self.definition())
    }
}
