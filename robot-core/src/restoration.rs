//! Robots that are to be kept with the ids that they have: what is the same for every store.

use crate::{
    error::{Error, Result},
    robot::{Robot, RobotId},
    rules::Violation,
};

/// What [`Catalogue::restore`](crate::Catalogue::restore) is given, in the order in which it is done.
#[derive(Debug, Clone)]
pub(crate) struct Restoration {
    robots: Vec<Robot>,
    last_number: i64,
}

impl Restoration {
    /// Checks the ids, as far as that takes no store.
    ///
    /// # Errors
    /// [`Error::NotRestored`], where one of them is too great.
    pub(crate) fn new(robots: &[Robot], last_id: Option<RobotId>) -> Result<Self> {
        let mut robots = robots.to_vec();
        // Every store finds the same robot to blame, those who restore at the same time wait for
        // one another in one order, and an index of names by their ids is written from its
        // beginning to its end.
        robots.sort_by_key(Robot::id);
        let greatest = robots.last().map(Robot::id).max(last_id);
        match greatest {
            Some(id) if id > RobotId::GREATEST_RESTORED => Err(Error::NotRestored {
                id,
                violation: Violation::IdTooGreat,
            }),
            _ => Ok(Self {
                robots,
                last_number: greatest.map_or(0, RobotId::get),
            }),
        }
    }

    /// The robots, by id.
    pub(crate) fn robots(&self) -> &[Robot] {
        &self.robots
    }

    /// The number of the id that every new robot's must be greater than; 0 where there is none.
    pub(crate) fn last_number(&self) -> i64 {
        self.last_number
    }
}

/// The error for a robot that cannot be kept.
pub(crate) fn refused(robot: &Robot, violation: Violation) -> Error {
    Error::NotRestored {
        id: robot.id(),
        violation,
    }
}
