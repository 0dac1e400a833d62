//! A store that other clients change during an import.

use std::sync::{Arc, Mutex};

use robot_core::{
    Catalogue, CatalogueExt, Change, Draft, Error, MemoryCatalogue, PageRequest, Pending,
    Restoration, Result, Revision, Robot, RobotId, ValidChanges, ValidDraft,
};

/// A store in which another client adds or renames robots between look-up and write, or that is full.
pub(crate) struct Racing {
    inner: MemoryCatalogue,
    /// The number of look-ups that find nothing.
    blind: Mutex<u32>,
    /// Whether the next robot that is found is renamed after the look-up.
    renames: Mutex<bool>,
    /// The capacity, if it is limited.
    capacity: Option<usize>,
    /// How often several changes fail, because the store is busy.
    busy: Mutex<u32>,
}

impl Racing {
    fn new() -> Self {
        Self {
            inner: MemoryCatalogue::new(),
            blind: Mutex::new(0),
            renames: Mutex::new(false),
            capacity: None,
            busy: Mutex::new(0),
        }
    }

    pub(crate) fn with_old(blind: u32) -> Arc<dyn Catalogue> {
        let store = Self::new();
        store.inner.add(Draft::new("old", "droid", 0)).unwrap();
        Arc::new(Self {
            blind: Mutex::new(blind),
            ..store
        })
    }

    pub(crate) fn renaming_old() -> Arc<dyn Catalogue> {
        let store = Self::new();
        store.inner.add(Draft::new("old", "droid", 0)).unwrap();
        Arc::new(Self {
            renames: Mutex::new(true),
            ..store
        })
    }

    pub(crate) fn busy(times: u32) -> Arc<dyn Catalogue> {
        Arc::new(Self {
            busy: Mutex::new(times),
            ..Self::new()
        })
    }

    pub(crate) fn with_capacity(capacity: usize) -> Arc<dyn Catalogue> {
        Arc::new(Self {
            capacity: Some(capacity),
            ..Self::new()
        })
    }
}

impl Catalogue for Racing {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        if let Some(capacity) = self.capacity
            && self.inner.list()?.len() >= capacity
        {
            return Err(Error::disk_full("no space left on device"));
        }
        self.inner.insert(draft)
    }
    /// With a limited capacity, many writes are in flight when the first one fails.
    fn submit(&self, change: Change) -> std::result::Result<Pending<Result<RobotId>>, Change> {
        match self.capacity {
            Some(_) => Ok(Pending::ready(self.apply(change))),
            None => Err(change),
        }
    }
    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.inner.update(id, changes)
    }
    fn update_if(&self, id: RobotId, revision: Revision, changes: ValidChanges) -> Result<()> {
        self.inner.update_if(id, revision, changes)
    }
    fn delete(&self, id: RobotId) -> Result<()> {
        self.inner.delete(id)
    }
    fn delete_if(&self, id: RobotId, revision: Revision) -> Result<()> {
        self.inner.delete_if(id, revision)
    }
    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.inner.get(id)
    }
    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let mut blind = self.blind.lock().unwrap();
        if *blind > 0 {
            *blind -= 1;
            return Ok(None);
        }
        let found = self.inner.find(name)?;
        if let Some(robot) = &found
            && std::mem::take(&mut *self.renames.lock().unwrap())
        {
            let draft = Draft::new("renamed", "droid", 0);
            let changes = ValidDraft::new(draft).unwrap().into();
            self.inner.update(robot.id(), changes)?;
        }
        Ok(found)
    }
    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        self.inner.page(request)
    }
    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        let mut busy = self.busy.lock().unwrap();
        if *busy > 0 {
            *busy -= 1;
            return Err(Error::unavailable("too many requests wait"));
        }
        self.inner.apply_all(changes)
    }
    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.inner.restore(restoration)
    }
    fn last_id(&self) -> Result<Option<RobotId>> {
        self.inner.last_id()
    }
}
