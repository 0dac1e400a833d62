//! A store with a seeded bug that a single caller can find: a list, and what would be on disk.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::broken_bugs::Bug;
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Cursor, Error, Filter, PageRequest, Pending, Restoration,
        Result, Summary,
    },
    model::{Draft, Entry, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// What is on disk.
pub(super) type Disk = Arc<Mutex<Robots>>;

#[derive(Clone, Default)]
pub(super) struct Robots {
    pub(super) all: Vec<Robot>,
    last_id: i64,
    /// Robots that only a search finds, because of a bug.
    pub(super) ghosts: Vec<Robot>,
    /// Names that are taken although no robot has them, because of a bug.
    pub(super) reserved: Vec<String>,
    /// Robots that a search does not find, because of a bug.
    pub(super) unindexed: Vec<RobotId>,
    /// Robots whose names are not checked, because of a bug.
    unchecked: Vec<RobotId>,
}

#[derive(Clone)]
pub(super) struct BrokenStore {
    pub(super) robots: Arc<Mutex<Robots>>,
    pub(super) disk: Disk,
    pub(super) bug: Bug,
}

impl BrokenStore {
    pub(super) fn open(disk: &Disk, bug: Bug) -> Self {
        let mut robots = lock(disk).clone();
        match bug {
            Bug::FileDeletedAfterOpening => robots = Robots::default(),
            Bug::SearchIndexNotSaved => {
                robots.unindexed = robots.all.iter().map(Robot::id).collect();
            }
            Bug::NameIndexNotSaved => {
                robots.unchecked = robots.all.iter().map(Robot::id).collect();
            }
            Bug::RobotAddedByOpening => robots.add_sample(),
            Bug::LastIdNotSaved => {
                let ids = robots.all.iter().map(|robot| robot.id().get());
                robots.last_id = ids.max().unwrap_or(0);
            }
            _ => {}
        }
        Self {
            robots: Arc::new(Mutex::new(robots)),
            disk: Arc::clone(disk),
            bug,
        }
    }

    pub(super) fn is(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    /// Applies a change, and saves it.
    pub(super) fn write<T>(
        &self,
        unsaved: Bug,
        write: impl FnOnce(&mut Robots) -> Result<T>,
    ) -> Result<T> {
        let mut robots = lock(&self.robots);
        let result = write(&mut robots);
        if !self.is(unsaved) {
            *lock(&self.disk) = robots.clone();
        }
        result
    }

    /// The draft, as the store keeps it.
    fn kept(&self, draft: ValidDraft) -> ValidDraft {
        let mut draft = Draft::from(draft);
        let name = draft.name.take().unwrap_or_default();
        draft.name = Some(match self.bug {
            Bug::NamesTrimmed if !name.trim().is_empty() => name.trim().to_owned(),
            Bug::NamesTruncated => name.chars().take(200).collect(),
            _ => name,
        });
        if self.is(Bug::YearsTruncated) {
            draft.year = draft.year.map(|year| year & 0x7fff_ffff);
        }
        ValidDraft::new(draft).unwrap()
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Robots {
    pub(super) fn get(&self, id: RobotId) -> Result<Robot> {
        let found = self.all.iter().find(|robot| robot.id() == id);
        found.cloned().ok_or(Error::NotFound(id))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Robot> {
        let mut checked = self
            .all
            .iter()
            .filter(|robot| !self.unchecked.contains(&robot.id()));
        checked.find(|robot| robot.name() == name)
    }

    fn is_taken(&self, name: &str) -> bool {
        self.named(name).is_some() || self.reserved.iter().any(|reserved| reserved == name)
    }

    pub(super) fn keep(&mut self, robot: Robot) {
        self.all.retain(|other| other.id() != robot.id());
        self.all.push(robot);
    }

    fn add_sample(&mut self) {
        self.last_id += 1;
        let draft = Draft::new(format!("sample {}", self.last_id), "droid", 0);
        let id = RobotId::new(self.last_id).unwrap();
        self.keep(ValidDraft::new(draft).unwrap().with_id(id));
    }

    fn next_id(&mut self, bug: Bug) -> RobotId {
        let ids = self.all.iter().map(|robot| robot.id().get());
        match bug {
            Bug::IdsReused => self.last_id = ids.max().unwrap_or(0),
            Bug::LowestFreeId => {
                let taken: Vec<_> = ids.collect();
                self.last_id = (0..i64::MAX).find(|id| !taken.contains(&(id + 1))).unwrap();
            }
            _ => {}
        }
        self.last_id += 1;
        RobotId::new(self.last_id).unwrap()
    }

    /// The violation of a robot that is to be restored.
    fn conflict(&self, robot: &Robot, bug: Bug) -> Option<Violation> {
        let id_taken = self.get(robot.id()).is_ok() && bug != Bug::RestoreReplacesTakenIds;
        let name_taken = self.is_taken(robot.name());
        match (id_taken, name_taken) {
            (true, true) if bug == Bug::RestoreReportsNameFirst => Some(Violation::NAME_TAKEN),
            (true, _) => Some(Violation::ID_TAKEN),
            (false, true) => Some(Violation::NAME_TAKEN),
            (false, false) => None,
        }
    }

    /// Keeps what a refused restoration must not leave behind.
    fn leave_behind(&mut self, refused: &[Robot], bug: Bug) {
        match bug {
            Bug::RefusedRestorationLeavesRobots => self.all.extend_from_slice(refused),
            Bug::RefusedRestorationLeavesNames => {
                let names = refused.iter().map(|robot| robot.name().to_owned());
                self.reserved.extend(names);
            }
            Bug::RefusedRestorationLeavesSearch => self.ghosts.extend_from_slice(refused),
            // Batches of a thousand.
            Bug::RestoreInBatches => {
                let whole = refused.len() / 1000 * 1000;
                self.all.extend_from_slice(&refused[..whole]);
            }
            _ => {}
        }
    }
}

impl Catalogue for BrokenStore {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        let draft = self.kept(draft);
        self.write(Bug::InsertsNotSaved, |robots| {
            if let Some(other) = robots.named(draft.name()).cloned() {
                if self.is(Bug::RefusedInsertChangesOther) {
                    robots.keep(draft.with_id(other.id()));
                }
                return Err(Violation::NAME_TAKEN.into());
            }
            if robots.is_taken(draft.name()) {
                return Err(Violation::NAME_TAKEN.into());
            }
            let robot = draft.with_id(robots.next_id(self.bug));
            robots.keep(robot.clone());
            Ok(robot)
        })
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.change(id, None, changes)
    }

    fn update_if(&self, id: RobotId, revision: Revision, changes: ValidChanges) -> Result<()> {
        self.change(id, Some(revision), changes)
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        self.remove(id, None)
    }

    fn delete_if(&self, id: RobotId, revision: Revision) -> Result<()> {
        self.remove(id, Some(revision))
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        let found = lock(&self.robots).get(id).ok();
        Ok(found
            .filter(|robot| !self.is(Bug::GetFindsOnlySmallIds) || robot.id().get() < 1_000_000))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let robots = lock(&self.robots);
        let found = robots.all.iter().find(|robot| match self.bug {
            Bug::FindIgnoresCase => robot.name().eq_ignore_ascii_case(name),
            Bug::FindEndsAtNul => Some(robot.name()) == name.split('\0').next(),
            _ => robot.name() == name,
        });
        Ok(found.cloned())
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        let mut found = self.found(request.filter, request.cursor);
        found.truncate(match self.bug {
            Bug::LimitOneTooHigh => request.limit.saturating_add(1),
            Bug::LimitOneTooLow => request.limit.saturating_sub(1),
            Bug::LimitOverflows => request.limit.wrapping_add(1).saturating_sub(1),
            _ => request.limit,
        });
        Ok(found)
    }

    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        let filter = match self.bug {
            Bug::EntriesIgnoreSearch => request.filter.clone().containing(""),
            Bug::EntriesIgnoreFilter => Filter::from(request.filter.get_containing()),
            _ => request.filter.clone(),
        };
        let filter = &filter;
        let request = PageRequest { filter, ..request };
        Ok(self.page(request)?.into_iter().map(Entry::from).collect())
    }

    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        self.change_all(changes)
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.write(Bug::RestoresNotSaved, |robots| {
            let mut after = robots.clone();
            let mut conflict = None;
            for (index, robot) in restoration.robots().iter().enumerate() {
                match after.conflict(robot, self.bug) {
                    Some(violation) => {
                        let is_last = self.is(Bug::RestoreReportsLastConflict);
                        if conflict.is_none() || is_last {
                            conflict = Some((index, violation));
                        }
                    }
                    None if self.is(Bug::RestoreIgnoresRevisions) => {
                        after.keep(robot.clone().with_revision(Revision::FIRST));
                    }
                    None => after.keep(robot.clone()),
                }
            }
            if let Some((index, violation)) = conflict {
                if self.is(Bug::RestoreSkipsConflicts) {
                    *robots = after;
                    return Ok(());
                }
                robots.leave_behind(&restoration.robots()[..index], self.bug);
                let robot = &restoration.robots()[index];
                return Err(Restoration::conflict(robot, violation));
            }
            let last_id = match self.bug {
                Bug::RestoreIgnoresLastId => restoration.robots().last().map(Robot::id),
                _ => restoration.last_id(),
            };
            let last_id = last_id.map_or(0, RobotId::get);
            after.last_id = match self.bug {
                Bug::RestoreIgnoresIds => robots.last_id,
                Bug::RestoreLowersLastId if last_id > 0 => last_id,
                _ => robots.last_id.max(last_id),
            };
            if self.is(Bug::RestoreLeavesSearch) {
                let ids = restoration.robots().iter().map(Robot::id);
                after.unindexed.extend(ids);
            }
            *robots = after;
            Ok(())
        })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        let robots = lock(&self.robots);
        let newest = robots.all.iter().map(Robot::id).max();
        Ok(match self.bug {
            Bug::LastIdIsNewestRobot => newest,
            _ => RobotId::new(robots.last_id),
        })
    }

    fn count(&self, filter: &Filter) -> Result<u64> {
        let filter = match self.bug {
            Bug::CountIgnoresFilter => &Filter::all(),
            Bug::CountIgnoresFold => &Filter::from(filter.get_containing()),
            _ => filter,
        };
        let found = self.found(filter, &Cursor::default());
        Ok(found.len() as u64)
    }

    fn summary(&self, filter: &Filter) -> Result<Summary> {
        let found = self.found(filter, &Cursor::default());
        Ok(match self.bug {
            Bug::SummaryRoundsYears => Summary::new(found.iter().map(|robot| {
                let year = robot.year().saturating_add(5);
                (robot.robot_type(), year, 1)
            })),
            _ => Summary::of(&found),
        })
    }

    fn submit(&self, change: Change) -> std::result::Result<Pending<Result<RobotId>>, Change> {
        match (self.bug, change) {
            (Bug::SubmitDeclinesAnother, Change::Update(id, _)) => Err(Change::Delete(id)),
            (Bug::SubmitIgnoresUpdates, Change::Update(id, _)) => Ok(Pending::ready(Ok(id))),
            (Bug::SubmitIsCancelledByDrop, change) => {
                let store = self.clone();
                Ok(Pending::blocking(move || store.apply(change)))
            }
            (_, change) => Ok(Pending::ready(self.apply(change))),
        }
    }

    fn submit_get(&self, id: RobotId) -> Option<Pending<Result<Option<Robot>>>> {
        Some(Pending::ready(match self.bug {
            Bug::SubmittedGetFindsDeleted => {
                let robots = lock(&self.robots);
                let found = robots.get(id).ok();
                Ok(found.or_else(|| robots.all.first().cloned()))
            }
            _ => self.get(id),
        }))
    }
}
