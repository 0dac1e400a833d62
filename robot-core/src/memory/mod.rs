//! The store in memory: for tests, for embedding, and the model that the others are held to.

mod by_name;

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use by_name::ByName;

use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Error, PageRequest, Pending, Restoration, Result,
    },
    model::{Entry, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// A catalogue in memory, gone with its process.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue};
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
    by_name: ByName,
    by_id: HashMap<RobotId, Arc<Robot>>,
    /// The number of the newest id, kept when its robot is deleted.
    last_id: i64,
}

impl Robots {
    /// Keeps a robot with its id, where neither that nor its name is taken.
    fn keep(&mut self, robot: &Robot) -> Result<(), Violation> {
        if self.by_id.contains_key(&robot.id()) {
            return Err(Violation::IdTaken);
        }
        let kept = Arc::new(robot.clone());
        self.by_name.insert(Arc::clone(&kept))?;
        self.by_id.insert(kept.id(), kept);
        Ok(())
    }
}

impl MemoryCatalogue {
    /// An empty catalogue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    // A panic in another thread poisons the lock, but no method below can panic between two
    // changes that belong together: what the lock guards is whole.

    fn read(&self) -> RwLockReadGuard<'_, Robots> {
        self.robots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Robots> {
        self.robots.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalogue for MemoryCatalogue {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        let mut robots = self.write();
        let id = robots
            .last_id
            .checked_add(1)
            .and_then(RobotId::new)
            .ok_or_else(|| Error::store("all ids have been given"))?;
        let robot = draft.with_id(id);
        // The clone is the one to keep: its name takes no more memory than it needs.
        let kept = Arc::new(robot.clone());
        robots.by_name.insert(Arc::clone(&kept))?;
        robots.by_id.insert(id, kept);
        robots.last_id = id.get();
        Ok(robot)
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        let mut robots = self.write();
        let Robots { by_name, by_id, .. } = &mut *robots;
        let robot = by_id.get_mut(&id).ok_or(Error::NotFound(id))?;
        let changed = Arc::new(changes.apply_to(robot));
        if changed.name() == robot.name() {
            by_name.replace(Arc::clone(&changed));
        } else {
            by_name.insert(Arc::clone(&changed))?;
            by_name.remove(robot.name());
        }
        *robot = changed;
        Ok(())
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        let mut robots = self.write();
        let robot = robots.by_id.remove(&id).ok_or(Error::NotFound(id))?;
        robots.by_name.remove(robot.name());
        Ok(())
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        Ok(self.read().by_id.get(&id).map(|robot| (**robot).clone()))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        Ok(self.read().by_name.get(name).map(|robot| (**robot).clone()))
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        Ok(self.read().by_name.page(request, Robot::clone))
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        let mut robots = self.write();
        for (count, robot) in restoration.robots().iter().enumerate() {
            if let Err(violation) = robots.keep(robot) {
                for kept in &restoration.robots()[..count] {
                    robots.by_id.remove(&kept.id());
                    robots.by_name.remove(kept.name());
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

    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        let entry = |robot: &Robot| Entry::new(robot.id(), robot.name());
        Ok(self.read().by_name.page(request, entry))
    }

    // Memory never blocks for long, so the caller's thread does the work.

    fn submit(&self, change: Change) -> std::result::Result<Pending<Result<RobotId>>, Change> {
        Ok(Pending::ready(self.apply(change)))
    }

    fn submit_get(&self, id: RobotId) -> Option<Pending<Result<Option<Robot>>>> {
        Some(Pending::ready(self.get(id)))
    }
}
