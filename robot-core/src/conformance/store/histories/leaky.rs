//! A store with a bug of one's choice, to see that the cases find it. It is a list behind a
//! lock, and the bug is that the lock is let go of half-way.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use super::random::NAMES;
use crate::{
    catalogue::{Catalogue, Error, PageRequest, Restoration, Result, refused},
    model::{Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// What a store does wrong. One caller alone would find none of the bugs but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    None,
    /// No bug: some writes end with errors that leave open, or tell, what became of them.
    LosesAnswers,
    /// No bug: some changes are made later, and until then their outcome is unknown.
    IsLate,
    InsertsAfterLooking,
    RenamesAfterLooking,
    DeletesAfterLooking,
    /// Members that are not to change become what they were before.
    WritesBackWhatItRead,
    ReplacesByRemovingFirst,
    WritesTheYearLater,
    /// A reader keeps the old robot for those who come after the change.
    ClearsItsCacheTooEarly,
    ListsInTwoSteps,
    GivesIdsAgain,
}

impl Bug {
    pub(super) const ALL: [Self; 9] = [
        Self::InsertsAfterLooking,
        Self::RenamesAfterLooking,
        Self::DeletesAfterLooking,
        Self::WritesBackWhatItRead,
        Self::ReplacesByRemovingFirst,
        Self::WritesTheYearLater,
        Self::ClearsItsCacheTooEarly,
        Self::ListsInTwoSteps,
        Self::GivesIdsAgain,
    ];
}

/// How long the lock is let go of: long enough for any other thread to come in between.
const GAP: Duration = Duration::from_micros(100);

pub(super) struct Leaky {
    robots: Mutex<Robots>,
    bug: Bug,
}

#[derive(Default)]
struct Robots {
    all: Vec<Robot>,
    cache: HashMap<RobotId, Robot>,
    last_id: i64,
    writes: usize,
    late: Vec<(RobotId, ValidChanges)>,
}

impl Leaky {
    pub(super) fn new(bug: Bug) -> Self {
        let robots = Mutex::default();
        Self { robots, bug }
    }

    fn lock(&self) -> MutexGuard<'_, Robots> {
        self.robots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets others in, where this is the bug.
    fn gap<'a>(&'a self, bug: Bug, robots: MutexGuard<'a, Robots>) -> MutexGuard<'a, Robots> {
        if self.bug != bug {
            return robots;
        }
        drop(robots);
        thread::sleep(GAP);
        self.lock()
    }

    fn write<T>(&self, write: impl FnOnce(MutexGuard<'_, Robots>) -> Result<T>) -> Result<T> {
        let mut robots = self.lock();
        robots.writes += 1;
        if self.bug == Bug::IsLate && robots.writes.is_multiple_of(16) {
            for (id, changes) in std::mem::take(&mut robots.late) {
                // Nobody is there any more to be told how it went.
                let _ = robots.change(id, &changes);
            }
        }
        match robots.writes % 8 {
            5 if self.bug == Bug::LosesAnswers => Err(Error::unavailable("not done")),
            6 if self.bug == Bug::LosesAnswers => Err(Error::unknown("not done")),
            7 if self.bug == Bug::LosesAnswers => {
                let unknown = Error::unknown("done");
                write(robots).and(Err(unknown))
            }
            _ => write(robots),
        }
    }
}

impl Robots {
    fn get(&self, id: RobotId) -> Result<Robot> {
        let found = self.all.iter().find(|robot| robot.id() == id);
        found.cloned().ok_or(Error::NotFound(id))
    }

    fn check_name(&self, name: Option<&str>, id: Option<RobotId>) -> Result<()> {
        let mut others = self.all.iter().filter(|robot| Some(robot.id()) != id);
        if others.any(|other| Some(other.name()) == name) {
            return Err(Violation::NameTaken.into());
        }
        Ok(())
    }

    fn change(&mut self, id: RobotId, changes: &ValidChanges) -> Result<()> {
        let robot = self.get(id)?;
        self.check_name(changes.name(), Some(id))?;
        self.keep(changes.clone().apply_to(&robot));
        Ok(())
    }

    fn next_id(&mut self, bug: Bug) -> RobotId {
        if bug == Bug::GivesIdsAgain {
            let ids = self.all.iter().map(|robot| robot.id().get());
            self.last_id = ids.max().unwrap_or(0);
        }
        self.last_id += 1;
        RobotId::new(self.last_id).unwrap()
    }

    fn remove(&mut self, id: RobotId) {
        self.all.retain(|robot| robot.id() != id);
    }

    fn keep(&mut self, robot: Robot) {
        self.remove(robot.id());
        self.all.push(robot);
        self.all.sort_by(|one, other| one.name().cmp(other.name()));
    }
}

impl Catalogue for Leaky {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        self.write(|robots| {
            robots.check_name(Some(draft.name()), None)?;
            let mut robots = self.gap(Bug::InsertsAfterLooking, robots);
            let robot = draft.with_id(robots.next_id(self.bug));
            robots.keep(robot.clone());
            Ok(robot)
        })
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.write(|mut robots| {
            if self.bug == Bug::IsLate && robots.writes % 8 == 3 {
                robots.late.push((id, changes));
                return Err(Error::unknown("it takes its time"));
            }
            robots.cache.remove(&id);
            let robots = self.gap(Bug::ClearsItsCacheTooEarly, robots);
            let read = robots.get(id)?;
            let robots = self.gap(Bug::WritesBackWhatItRead, robots);
            robots.check_name(changes.name(), Some(id))?;
            let mut robots = self.gap(Bug::RenamesAfterLooking, robots);
            let before = match self.bug {
                Bug::RenamesAfterLooking => robots.get(id)?,
                _ => read,
            };
            let after = changes.apply_to(&before);
            robots.remove(id);
            let mut robots = self.gap(Bug::ReplacesByRemovingFirst, robots);
            let name = after.name().to_owned();
            let half = Robot::from_checked(id, name, after.robot_type(), before.year());
            robots.keep(half);
            let mut robots = self.gap(Bug::WritesTheYearLater, robots);
            robots.keep(after);
            Ok(())
        })
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        self.write(|robots| {
            robots.get(id)?;
            let mut robots = self.gap(Bug::DeletesAfterLooking, robots);
            robots.cache.remove(&id);
            robots.remove(id);
            Ok(())
        })
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        let mut robots = self.lock();
        if self.bug != Bug::ClearsItsCacheTooEarly {
            return Ok(robots.get(id).ok());
        }
        if let Some(robot) = robots.cache.get(&id) {
            return Ok(Some(robot.clone()));
        }
        let found = robots.get(id).ok();
        robots.cache.extend(found.clone().map(|robot| (id, robot)));
        Ok(found)
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let robots = self.lock();
        let found = robots.all.iter().find(|robot| robot.name() == name);
        Ok(found.cloned())
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        let half = |robots: &Robots, is_first: bool| {
            let all = robots
                .all
                .iter()
                .filter(|robot| (robot.name() < NAMES[1]) == is_first);
            all.cloned().collect::<Vec<_>>()
        };
        let robots = self.lock();
        let first = half(&robots, true);
        let robots = self.gap(Bug::ListsInTwoSteps, robots);
        let found = first.into_iter().chain(half(&robots, false));
        let wanted = found
            .filter(|robot| robot.name() > request.after)
            .filter(|robot| robot.name().contains(request.containing));
        Ok(wanted.take(request.limit).collect())
    }

    fn restore(&self, restored: &[Robot], last_id: Option<RobotId>) -> Result<()> {
        let restoration = Restoration::new(restored, last_id)?;
        self.write(|mut robots| {
            let mut all = robots.all.clone();
            for robot in restoration.robots() {
                let is_taken = |one: &dyn Fn(&Robot) -> bool| all.iter().any(one);
                if is_taken(&|other| other.id() == robot.id()) {
                    return Err(refused(robot, Violation::IdTaken));
                }
                if is_taken(&|other| other.name() == robot.name()) {
                    return Err(refused(robot, Violation::NameTaken));
                }
                all.push(robot.clone());
            }
            all.sort_by(|one, other| one.name().cmp(other.name()));
            robots.all = all;
            robots.last_id = robots.last_id.max(restoration.last_number());
            Ok(())
        })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        Ok(RobotId::new(self.lock().last_id))
    }
}
