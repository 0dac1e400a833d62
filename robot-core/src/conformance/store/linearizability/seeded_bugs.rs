//! A store with a seeded bug, to test that the cases find it: a list protected by a lock, which
//! the bug releases half-way through an operation.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use super::random::NAMES;
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Error, PageRequest, Restoration, Result},
    model::{Draft, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// The bug of a store. A single caller finds the last one only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bug {
    None,
    /// No bug: some writes return [`Error::Unavailable`] or [`Error::Unknown`].
    UnknownOutcomes,
    /// No bug: some writes return [`Error::Unknown`] and are applied later.
    DelayedWrites,
    InsertAfterCheck,
    RenameAfterCheck,
    DeleteAfterCheck,
    /// Members that the update does not have get the values that they had before it.
    LostUpdate,
    ReplaceByDeleteAndInsert,
    YearWrittenSeparately,
    /// A reader caches the old robot between the invalidation and the change.
    EarlyCacheInvalidation,
    PageInTwoSteps,
    ReusedIds,
    /// The revision is compared first, and another caller may change the robot before this one does.
    UpdateAfterRevisionCheck,
    /// The expected revision is not compared.
    RevisionIgnored,
}

impl Bug {
    pub(super) const ALL: [Self; 11] = [
        Self::InsertAfterCheck,
        Self::RenameAfterCheck,
        Self::DeleteAfterCheck,
        Self::LostUpdate,
        Self::ReplaceByDeleteAndInsert,
        Self::YearWrittenSeparately,
        Self::EarlyCacheInvalidation,
        Self::PageInTwoSteps,
        Self::ReusedIds,
        Self::UpdateAfterRevisionCheck,
        Self::RevisionIgnored,
    ];
}

/// How long the lock is released: long enough for another thread to take it.
const GAP: Duration = Duration::from_micros(100);

pub(super) struct BuggyStore {
    robots: Mutex<Robots>,
    bug: Bug,
}

#[derive(Default)]
struct Robots {
    all: Vec<Robot>,
    cache: HashMap<RobotId, Robot>,
    last_id: i64,
    writes: usize,
    delayed: Vec<(RobotId, ValidChanges)>,
}

impl BuggyStore {
    pub(super) fn new(bug: Bug) -> Self {
        let robots = Mutex::default();
        Self { robots, bug }
    }

    fn lock(&self) -> MutexGuard<'_, Robots> {
        self.robots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the lock for a moment if this is the bug.
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
        if self.bug == Bug::DelayedWrites && robots.writes.is_multiple_of(16) {
            for (id, changes) in std::mem::take(&mut robots.delayed) {
                // Its caller got an error before.
                let _ = robots.change(id, &changes);
            }
        }
        match robots.writes % 8 {
            5 if self.bug == Bug::UnknownOutcomes => Err(Error::unavailable("not done")),
            6 if self.bug == Bug::UnknownOutcomes => Err(Error::unknown("not done")),
            7 if self.bug == Bug::UnknownOutcomes => {
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

    fn expect(&self, id: RobotId, revision: Revision, bug: Bug) -> Result<()> {
        if self.get(id)?.revision() == revision || bug == Bug::RevisionIgnored {
            return Ok(());
        }
        Err(Error::Stale(id))
    }

    fn check_name(&self, name: Option<&str>, id: Option<RobotId>) -> Result<()> {
        let mut others = self.all.iter().filter(|robot| Some(robot.id()) != id);
        if others.any(|other| Some(other.name()) == name) {
            return Err(Violation::NAME_TAKEN.into());
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
        if bug == Bug::ReusedIds {
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

impl Catalogue for BuggyStore {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        self.write(|robots| {
            robots.check_name(Some(draft.name()), None)?;
            let mut robots = self.gap(Bug::InsertAfterCheck, robots);
            let robot = draft.with_id(robots.next_id(self.bug));
            robots.keep(robot.clone());
            Ok(robot)
        })
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.write(|mut robots| {
            if self.bug == Bug::DelayedWrites && robots.writes % 8 == 3 {
                robots.delayed.push((id, changes));
                return Err(Error::unknown("delayed"));
            }
            robots.cache.remove(&id);
            let robots = self.gap(Bug::EarlyCacheInvalidation, robots);
            let read = robots.get(id)?;
            let robots = self.gap(Bug::LostUpdate, robots);
            robots.check_name(changes.name(), Some(id))?;
            let mut robots = self.gap(Bug::RenameAfterCheck, robots);
            let before = match self.bug {
                Bug::RenameAfterCheck => robots.get(id)?,
                _ => read,
            };
            let after = changes.apply_to(&before);
            robots.remove(id);
            let mut robots = self.gap(Bug::ReplaceByDeleteAndInsert, robots);
            let half = Draft {
                year: Some(before.year()),
                ..after.clone().into()
            };
            let half = ValidDraft::new(half).unwrap().with_id(id);
            robots.keep(half.with_revision(after.revision()));
            let mut robots = self.gap(Bug::YearWrittenSeparately, robots);
            robots.keep(after);
            Ok(())
        })
    }

    fn update_if(&self, id: RobotId, revision: Revision, changes: ValidChanges) -> Result<()> {
        self.write(|robots| {
            robots.expect(id, revision, self.bug)?;
            let mut robots = self.gap(Bug::UpdateAfterRevisionCheck, robots);
            robots.cache.remove(&id);
            robots.change(id, &changes)
        })
    }

    fn delete_if(&self, id: RobotId, revision: Revision) -> Result<()> {
        self.write(|mut robots| {
            robots.expect(id, revision, self.bug)?;
            robots.cache.remove(&id);
            robots.remove(id);
            Ok(())
        })
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        self.write(|robots| {
            robots.get(id)?;
            let mut robots = self.gap(Bug::DeleteAfterCheck, robots);
            robots.cache.remove(&id);
            robots.remove(id);
            Ok(())
        })
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        let mut robots = self.lock();
        if self.bug != Bug::EarlyCacheInvalidation {
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
        let robots = self.gap(Bug::PageInTwoSteps, robots);
        let found = first.into_iter().chain(half(&robots, false));
        let wanted =
            found.filter(|robot| request.cursor.precedes(robot) && request.filter.matches(robot));
        Ok(wanted.take(request.limit).collect())
    }

    /// No history has it.
    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        let applied = changes.into_iter().map(|change| self.apply(change));
        applied.collect()
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.write(|mut robots| {
            let mut all = robots.all.clone();
            for robot in restoration.robots() {
                if all.iter().any(|other| other.id() == robot.id()) {
                    return Err(Restoration::conflict(robot, Violation::ID_TAKEN));
                }
                if all.iter().any(|other| other.name() == robot.name()) {
                    return Err(Restoration::conflict(robot, Violation::NAME_TAKEN));
                }
                all.push(robot.clone());
            }
            all.sort_by(|one, other| one.name().cmp(other.name()));
            robots.all = all;
            let last_id = restoration.last_id().map_or(0, RobotId::get);
            robots.last_id = robots.last_id.max(last_id);
            Ok(())
        })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        Ok(RobotId::new(self.lock().last_id))
    }
}
