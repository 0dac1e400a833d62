//! Store in memory: for tests and for embedding, and the reference model of the other stores.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use crate::{
    catalogue::{
        Catalogue, Change, Error, Filter, PageRequest, Pending, Restoration, Result, Summary,
    },
    model::{Entry, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// A catalogue in memory, which is lost when it is dropped.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("C-3PO", "droid", 1977))?;
/// assert_eq!(catalogue.list()?.len(), 1);
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryCatalogue {
    robots: RwLock<Robots>,
}

#[derive(Debug, Default)]
struct Robots {
    by_id: HashMap<RobotId, Arc<Robot>>,
    by_name: BTreeMap<String, Arc<Robot>>,
    /// The number of the greatest id that was ever assigned or restored.
    last_id: i64,
}

impl Robots {
    /// Adds a robot, unless its id or its name is taken.
    fn add(&mut self, robot: Robot) -> Result<(), Violation> {
        if self.by_id.contains_key(&robot.id()) {
            return Err(Violation::ID_TAKEN);
        }
        if self.by_name.contains_key(robot.name()) {
            return Err(Violation::NAME_TAKEN);
        }
        self.put(Arc::new(robot));
        Ok(())
    }

    fn put(&mut self, robot: Arc<Robot>) {
        let name = robot.name().to_owned();
        self.by_name.insert(name, Arc::clone(&robot));
        self.by_id.insert(robot.id(), robot);
    }

    /// An error unless the robot has this revision.
    fn expect(&self, id: RobotId, revision: Revision) -> Result<()> {
        match self.by_id.get(&id) {
            None => Err(Error::NotFound(id)),
            Some(robot) if robot.revision() != revision => Err(Error::Stale(id)),
            Some(_) => Ok(()),
        }
    }

    fn insert(&mut self, draft: ValidDraft) -> Result<RobotId> {
        let id = self
            .last_id
            .checked_add(1)
            .and_then(RobotId::new)
            .ok_or_else(|| Error::store("all ids are assigned"))?;
        self.add(draft.with_id(id))?;
        self.last_id = id.get();
        Ok(id)
    }

    fn update(&mut self, id: RobotId, changes: ValidChanges) -> Result<()> {
        let robot = self.by_id.get(&id).ok_or(Error::NotFound(id))?;
        let changed = changes.apply_to(robot);
        if changed.name() != robot.name() && self.by_name.contains_key(changed.name()) {
            return Err(Violation::NAME_TAKEN.into());
        }
        self.remove(id);
        Ok(self.add(changed)?)
    }

    fn remove(&mut self, id: RobotId) -> Option<Arc<Robot>> {
        let robot = self.by_id.remove(&id)?;
        self.by_name.remove(robot.name());
        Some(robot)
    }

    fn apply(&mut self, change: Change) -> Result<RobotId> {
        match change {
            Change::Insert(draft) => self.insert(draft),
            Change::Update(id, changes) => self.update(id, changes).map(|()| id),
            Change::UpdateIf(id, revision, changes) => {
                self.expect(id, revision)?;
                self.update(id, changes).map(|()| id)
            }
            Change::Delete(id) => self.remove(id).map(|_| id).ok_or(Error::NotFound(id)),
            Change::DeleteIf(id, revision) => {
                self.expect(id, revision)?;
                self.remove(id);
                Ok(id)
            }
        }
    }

    /// Puts a robot back in the state before a change. A robot that was added is removed.
    fn undo(&mut self, id: RobotId, before: Option<Arc<Robot>>) {
        self.remove(id);
        if let Some(robot) = before {
            self.put(robot);
        }
    }

    /// What `read` returns for each robot of a page.
    fn page<T>(&self, request: PageRequest<'_>, read: impl Fn(&Robot) -> T) -> Vec<T> {
        let PageRequest { cursor, limit, .. } = request;
        let matcher = request.filter.matcher();
        if let Some(after) = cursor.ascending_name() {
            let after = (Bound::Excluded(after), Bound::Unbounded);
            return self
                .by_name
                .range::<str, _>(after)
                .filter(|(_, robot)| matcher.matches(robot))
                .take(limit)
                .map(|(_, robot)| read(robot))
                .collect();
        }
        let matches = self.matching(request.filter);
        let mut matches: Vec<_> = matches.filter(|robot| cursor.precedes(robot)).collect();
        let sort = cursor.sort();
        matches.sort_unstable_by(|one, other| sort.compare(one, other));
        matches.into_iter().take(limit).map(read).collect()
    }

    /// The robots that meet a filter, by name.
    fn matching<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a Robot> {
        let matcher = filter.matcher();
        let robots = self.by_name.values().map(|robot| &**robot);
        robots.filter(move |robot| matcher.matches(robot))
    }
}

impl MemoryCatalogue {
    /// An empty catalogue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    // No code panics between two dependent changes, so a poisoned lock still guards consistent data.

    fn read(&self) -> RwLockReadGuard<'_, Robots> {
        self.robots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Robots> {
        self.robots.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalogue for MemoryCatalogue {
    // Memory never blocks for long, so the caller's thread does the work.

    fn start(&self, change: Change) -> Pending<Result<RobotId>> {
        Pending::ready(self.write().apply(change))
    }

    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        let robot = self.read().by_id.get(&id).map(|robot| (**robot).clone());
        Pending::ready(Ok(robot))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let robots = self.read();
        Ok(robots.by_name.get(name).map(|robot| (**robot).clone()))
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        Ok(self.read().page(request, Robot::clone))
    }

    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        let entry = |robot: &Robot| Entry::new(robot.id(), robot.name());
        Ok(self.read().page(request, entry))
    }

    fn count(&self, filter: &Filter) -> Result<u64> {
        Ok(self.read().matching(filter).count() as u64)
    }

    fn summary(&self, filter: &Filter) -> Result<Summary> {
        Ok(Summary::of(self.read().matching(filter)))
    }

    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        let mut robots = self.write();
        let last_id = robots.last_id;
        let mut before = Vec::with_capacity(changes.len());
        for change in changes {
            let robot = change.id().and_then(|id| robots.by_id.get(&id).cloned());
            match robots.apply(change) {
                Ok(id) => before.push((id, robot)),
                Err(error) => {
                    for (id, robot) in before.into_iter().rev() {
                        robots.undo(id, robot);
                    }
                    robots.last_id = last_id;
                    return Err(error);
                }
            }
        }
        Ok(before.into_iter().map(|(id, _)| id).collect())
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        let mut robots = self.write();
        for (index, robot) in restoration.robots().iter().enumerate() {
            if let Err(violation) = robots.add(robot.clone()) {
                for added in &restoration.robots()[..index] {
                    robots.remove(added.id());
                }
                return Err(Restoration::conflict(robot, violation));
            }
        }
        let last_id = restoration.last_id().map_or(0, RobotId::get);
        robots.last_id = robots.last_id.max(last_id);
        Ok(())
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        Ok(RobotId::new(self.read().last_id))
    }
}
