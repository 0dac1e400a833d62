//! The catalogue, but for one thing: each change is a commit of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use robot_core::{Catalogue, PageRequest, Result, Robot, RobotId, ValidChanges, ValidDraft};

/// Lets one change in at a time, so that none finds another to share its commit with.
pub(super) struct OneByOne {
    catalogue: Arc<dyn Catalogue>,
    turn: Mutex<()>,
}

impl OneByOne {
    pub(super) fn new(catalogue: Arc<dyn Catalogue>) -> Self {
        Self {
            catalogue,
            turn: Mutex::default(),
        }
    }

    fn wait(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalogue for OneByOne {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        let _turn = self.wait();
        self.catalogue.insert(draft)
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        let _turn = self.wait();
        self.catalogue.update(id, changes)
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        let _turn = self.wait();
        self.catalogue.delete(id)
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.catalogue.get(id)
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        self.catalogue.find(name)
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        self.catalogue.page(request)
    }

    fn restore(&self, robots: &[Robot], last_id: Option<RobotId>) -> Result<()> {
        let _turn = self.wait();
        self.catalogue.restore(robots, last_id)
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        self.catalogue.last_id()
    }
}
