//! The store in memory: for tests, for embedding, and the model that the others are held to.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use crate::{
    catalogue::{Catalogue, Change},
    error::{Error, Result},
    pages::PageRequest,
    pending::Pending,
    robot::{Robot, RobotId},
    rules::{ValidChanges, ValidDraft, Violation},
};

/// A catalogue in memory, gone with its process.
///
/// ```
/// use robot_core::{Catalogue, Draft, MemoryCatalogue};
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
    by_name: BTreeMap<String, Arc<Robot>>,
    by_id: HashMap<RobotId, Arc<Robot>>,
    /// The number of the newest id, kept when its robot is deleted.
    last_id: i64,
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

impl Robots {
    fn keep(&mut self, robot: Robot) {
        let robot = Arc::new(robot);
        self.by_id.insert(robot.id(), Arc::clone(&robot));
        self.by_name.insert(robot.name().to_owned(), robot);
    }

    fn remove(&mut self, id: RobotId) -> Result<()> {
        let robot = self.by_id.remove(&id).ok_or(Error::NotFound(id))?;
        self.by_name.remove(robot.name());
        Ok(())
    }
}

impl Catalogue for MemoryCatalogue {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        let mut robots = self.write();
        if robots.by_name.contains_key(draft.name()) {
            return Err(Violation::NameTaken.into());
        }
        let id = robots
            .last_id
            .checked_add(1)
            .and_then(RobotId::new)
            .ok_or_else(|| Error::store("all ids have been given"))?;
        robots.last_id = id.get();
        let robot = draft.with_id(id);
        robots.keep(robot.clone());
        Ok(robot)
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        let mut robots = self.write();
        let robot = robots.by_id.get(&id).ok_or(Error::NotFound(id))?;
        let changed = changes.apply_to(robot);
        if let Some(holder) = robots.by_name.get(changed.name())
            && holder.id() != id
        {
            return Err(Violation::NameTaken.into());
        }
        robots.remove(id)?;
        robots.keep(changed);
        Ok(())
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        self.write().remove(id)
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        Ok(self.read().by_id.get(&id).map(|robot| (**robot).clone()))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        Ok(self.read().by_name.get(name).map(|robot| (**robot).clone()))
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        let robots = self.read();
        Ok(robots
            .by_name
            .range::<str, _>((Bound::Excluded(request.after), Bound::Unbounded))
            .filter(|(name, _)| name.contains(request.containing))
            .take(request.limit)
            .map(|(_, robot)| (**robot).clone())
            .collect())
    }

    // Nothing here waits for a disk, so that nothing is worth another thread.

    fn begin(self: Arc<Self>, change: Change) -> Pending<Result<RobotId>> {
        Pending::Ready(change.apply_to(&*self))
    }

    fn begin_get(self: Arc<Self>, id: RobotId) -> Pending<Result<Option<Robot>>> {
        Pending::Ready(self.get(id))
    }
}
