//! A store that other clients change during an import.

use std::sync::{Arc, Mutex};

use robot_core::{
    Catalogue, CatalogueExt, Change, Commit, Draft, Error, MemoryCatalogue, Page, PageRequest,
    Pending, Receipt, Restoration, Result, Robot, RobotId, ValidDraft,
};

/// A store in which another client adds or renames robots between look-up and write, or that is full.
#[derive(Default)]
pub(crate) struct Racing {
    inner: Arc<MemoryCatalogue>,
    /// The number of look-ups that find nothing.
    blind: Mutex<u32>,
    /// Whether the next robot that is found is renamed after the look-up.
    renames: Mutex<bool>,
    /// The capacity, if it is limited.
    capacity: Option<usize>,
    /// How often several changes fail, because the store is busy.
    busy: Mutex<u32>,
}

/// A store with the robot `old`.
fn with_old() -> Arc<MemoryCatalogue> {
    let store = MemoryCatalogue::new();
    store.add(Draft::new("old", "droid", 0)).unwrap();
    Arc::new(store)
}

impl Racing {
    pub(crate) fn with_old(blind: u32) -> Arc<dyn Catalogue> {
        Arc::new(Self {
            inner: with_old(),
            blind: Mutex::new(blind),
            ..Self::default()
        })
    }

    pub(crate) fn renaming_old() -> Arc<dyn Catalogue> {
        Arc::new(Self {
            inner: with_old(),
            renames: Mutex::new(true),
            ..Self::default()
        })
    }

    pub(crate) fn busy(times: u32) -> Arc<dyn Catalogue> {
        Arc::new(Self {
            busy: Mutex::new(times),
            ..Self::default()
        })
    }

    pub(crate) fn with_capacity(capacity: usize) -> Arc<dyn Catalogue> {
        Arc::new(Self {
            capacity: Some(capacity),
            ..Self::default()
        })
    }
}

impl Catalogue for Racing {
    fn start(&self, change: Change, by: Option<&str>) -> Pending<Result<Receipt>> {
        let is_full = self
            .capacity
            .is_some_and(|capacity| self.inner.list().unwrap().len() >= capacity);
        if is_full && matches!(change, Change::Insert(_)) {
            return Pending::ready(Err(Error::disk_full("no space left on device")));
        }
        if self.capacity.is_some() {
            // Many writes are in flight when the first one fails.
            return self.inner.start(change, by);
        }
        let inner = Arc::clone(&self.inner);
        Pending::blocking(move || inner.apply(change))
    }
    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        self.inner.start_get(id)
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
    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        self.inner.page(request)
    }
    fn commit(&self, changes: Vec<Change>, by: Option<&str>) -> Result<Commit> {
        let mut busy = self.busy.lock().unwrap();
        if *busy > 0 {
            *busy -= 1;
            return Err(Error::unavailable("too many requests wait"));
        }
        self.inner.commit(changes, by)
    }
    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.inner.restore(restoration)
    }
    fn last_id(&self) -> Result<Option<RobotId>> {
        self.inner.last_id()
    }
}
