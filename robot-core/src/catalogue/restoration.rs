//! Robots to be stored under their existing ids.

use std::sync::Arc;

use super::error::{Error, Result};
use crate::model::{Robot, RobotId, Violation};

/// Robots to be stored under their existing ids, for copies and backups.
///
/// Their order and the range of their ids are validated without a store.
/// [`Catalogue::restore`](crate::Catalogue::restore) stores all of them or none. A clone shares the
/// robots.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue, Restoration, RobotId, ValidDraft};
///
/// let id = RobotId::new(42).ok_or("not positive")?;
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?.with_id(id);
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.restore(&Restoration::new([robot.clone()], None)?)?;
/// assert_eq!(catalogue.get(id)?, Some(robot));
/// assert!(catalogue.add(Draft::new("C-3PO", "droid", 1977))?.id() > id);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    robots: Arc<[Robot]>,
    last_id: Option<RobotId>,
}

impl Restoration {
    /// Restores these robots. Each gets the next revision of the catalogue, in the order of the ids. New robots get ids greater than theirs and than `last_id`. Pass the
    /// [`last_id`](crate::Catalogue::last_id) of the source, so that ids of deleted robots are not
    /// assigned again.
    ///
    /// # Errors
    /// [`Error::NotRestored`] with [`Violation::ID_TOO_GREAT`] if an id is greater than
    /// [`RobotId::GREATEST_RESTORED`].
    pub fn new(robots: impl IntoIterator<Item = Robot>, last_id: Option<RobotId>) -> Result<Self> {
        let mut robots: Vec<Robot> = robots.into_iter().collect();
        // In one order, so that every store reports the same robot, concurrent restorations do
        // not deadlock, and an index by id is written sequentially.
        robots.sort_by_key(Robot::id);
        let last_id = robots.last().map(Robot::id).max(last_id);
        if let Some(id) = last_id.filter(|id| *id > RobotId::GREATEST_RESTORED) {
            let violation = Violation::ID_TOO_GREAT;
            return Err(Error::NotRestored { id, violation });
        }
        Ok(Self {
            robots: robots.into(),
            last_id,
        })
    }

    /// The robots, by ascending id.
    #[must_use]
    pub fn robots(&self) -> &[Robot] {
        &self.robots
    }

    /// The id that every new robot's id must be greater than.
    #[must_use]
    pub fn last_id(&self) -> Option<RobotId> {
        self.last_id
    }

    /// Whether there is nothing to store.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last_id.is_none()
    }

    /// The error for a robot that violates a rule: its id ([`Violation::ID_TAKEN`]) or name
    /// ([`Violation::NAME_TAKEN`]) is taken, for example.
    #[must_use]
    pub fn conflict(robot: &Robot, violation: Violation) -> Error {
        Error::NotRestored {
            id: robot.id(),
            violation,
        }
    }
}
