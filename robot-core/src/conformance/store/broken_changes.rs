//! Updates and deletes of the store with a seeded bug.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use super::{
    broken_bugs::Bug,
    broken_store::{BrokenStore, Disk, lock},
};
use crate::{
    catalogue::{CatalogueExt, Change, Error, Result},
    model::{Draft, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// How long other callers see a part of several changes, because of a bug.
const GAP: Duration = Duration::from_millis(1);

impl BrokenStore {
    /// An error if the robot has another revision than expected, unless this is the bug.
    fn expect(&self, robot: &Robot, expected: Option<Revision>, ignores: Bug) -> Result<()> {
        match expected {
            Some(revision) if revision != robot.revision() && !self.is(ignores) => {
                Err(Error::Stale(robot.id()))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn change(
        &self,
        id: RobotId,
        expected: Option<Revision>,
        changes: ValidChanges,
    ) -> Result<()> {
        self.write(Bug::UpdatesNotSaved, |robots| {
            let before = match robots.get(id) {
                Err(_) if self.is(Bug::UpdateOfMissingSucceeds) => return Ok(()),
                found => found?,
            };
            self.expect(&before, expected, Bug::UpdateIfIgnoresRevision)?;
            let is_other = |other: &Robot| other.id() != id || self.is(Bug::OwnNameIsTaken);
            let name = changes.name().unwrap_or_default().to_owned();
            let after = changes.apply_to(&before);
            if robots.named(&name).is_some_and(is_other) || robots.reserved.contains(&name) {
                if self.is(Bug::RefusedUpdateChangesOtherMembers) {
                    let draft = Draft {
                        name: Some(before.name().to_owned()),
                        ..after.into()
                    };
                    robots.keep(ValidDraft::new(draft).unwrap().with_id(id));
                }
                return Err(Violation::NAME_TAKEN.into());
            }
            match self.bug {
                Bug::UpdateLeavesNameTaken if before.name() != after.name() => {
                    robots.reserved.push(before.name().to_owned());
                }
                Bug::UpdateLeavesSearch => robots.ghosts.push(before.clone()),
                _ => {}
            }
            robots.keep(match self.bug {
                Bug::UpdateIgnoresType => {
                    let robot_type = Some(before.robot_type().to_owned());
                    let draft = Draft {
                        robot_type,
                        ..after.into()
                    };
                    ValidDraft::new(draft).unwrap().with_id(id)
                }
                Bug::UpdateKeepsRevision => after.with_revision(before.revision()),
                _ => after,
            });
            Ok(())
        })
    }

    pub(super) fn remove(&self, id: RobotId, expected: Option<Revision>) -> Result<()> {
        self.write(Bug::DeletesNotSaved, |robots| {
            let robot = match robots.get(id) {
                Err(_) if self.is(Bug::DeleteOfMissingSucceeds) => return Ok(()),
                found => found?,
            };
            self.expect(&robot, expected, Bug::DeleteIfIgnoresRevision)?;
            robots.all.retain(|other| other.id() != id);
            match self.bug {
                Bug::DeleteLeavesSearch => robots.ghosts.push(robot),
                Bug::DeleteLeavesNameTaken => robots.reserved.push(robot.name().to_owned()),
                _ => {}
            }
            Ok(())
        })
    }

    /// Applies changes to a copy of the store, which takes its place.
    pub(super) fn change_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        let mut robots = lock(&self.robots);
        let copy = Self {
            robots: Arc::new(Mutex::new(robots.clone())),
            disk: Disk::default(),
            bug: self.bug,
        };
        let mut ids = Vec::new();
        for change in changes {
            match copy.apply(change) {
                Ok(id) => ids.push(id),
                Err(_) if self.is(Bug::ApplyAllSkipsFailures) => {}
                Err(error) => {
                    if self.is(Bug::ApplyAllKeepsChangesBeforeFailure) {
                        *robots = lock(&copy.robots).clone();
                    }
                    return Err(error);
                }
            }
            if self.is(Bug::ApplyAllOneByOne) {
                *robots = lock(&copy.robots).clone();
                drop(robots);
                thread::sleep(GAP);
                robots = lock(&self.robots);
            }
        }
        *robots = lock(&copy.robots).clone();
        if !self.is(Bug::ApplyAllNotSaved) {
            *lock(&self.disk) = robots.clone();
        }
        if self.is(Bug::ApplyAllSortsIds) {
            ids.sort();
        }
        Ok(ids)
    }
}
