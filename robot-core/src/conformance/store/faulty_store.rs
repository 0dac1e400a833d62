//! A store with a seeded fault, to prove that each case can fail: a correct store in memory, of which
//! one method is replaced.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Changes, Commit, Count, Event, Extent, Filter, Page,
        PageRequest, Pending, Position, Receipt, Redefinition, Restoration, Result, Retention,
    },
    memory::MemoryCatalogue,
    model::{Definition, Field, Revision, Robot, RobotId, ValidChanges, ValidDraft},
};

/// What is replaced, and by what.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    None,
    /// Executes a change.
    Change(fn(&MemoryCatalogue, Change) -> Result<Receipt>),
    Insert(fn(&MemoryCatalogue, ValidDraft) -> Result<Receipt>),
    /// Executes an update without an expected revision.
    Update(fn(&MemoryCatalogue, RobotId, ValidChanges) -> Result<Receipt>),
    /// A change starts when its result is awaited.
    LateChange,
    ApplyAll(fn(&MemoryCatalogue, Vec<Change>) -> Result<Vec<Receipt>>),
    Get(fn(&MemoryCatalogue, RobotId) -> Option<Robot>),
    Find(fn(&MemoryCatalogue, &str) -> Option<Robot>),
    Page(fn(&MemoryCatalogue, PageRequest<'_>) -> Result<Page<Robot>>),
    /// The filter of pages, counts and summaries.
    Filter(fn(&Filter) -> Filter),
    /// The filter of counts and summaries.
    CountFilter(fn(&Filter) -> Filter),
    Restore(fn(&MemoryCatalogue, &Restoration) -> Result<()>),
    LastId(fn(&MemoryCatalogue) -> Option<RobotId>),
    /// Alters the changes after a position.
    Changes(fn(Result<Changes>) -> Result<Changes>),
    /// Alters the list of every change.
    EveryChange(fn(Result<Changes>) -> Result<Changes>),
    /// Alters the history of a robot.
    History(fn(&mut Vec<Event>)),
    /// Takes another definition.
    Define(fn(Redefinition) -> Redefinition),
    /// The store that is found when it is opened.
    Open(fn(&MemoryCatalogue) -> MemoryCatalogue),
}

/// What is kept while the store is closed.
pub(super) type Disk = Arc<Mutex<Arc<MemoryCatalogue>>>;

pub(super) struct FaultyStore {
    store: Arc<MemoryCatalogue>,
    fault: Fault,
}

impl FaultyStore {
    pub(super) fn new(fault: Fault) -> Self {
        Self::open(&Disk::default(), fault)
    }

    pub(super) fn open(disk: &Disk, fault: Fault) -> Self {
        let mut kept = disk.lock().unwrap_or_else(PoisonError::into_inner);
        if let Fault::Open(open) = fault {
            *kept = Arc::new(open(&kept));
        }
        let store = Arc::clone(&kept);
        Self { store, fault }
    }

    fn counted(&self, filter: &Filter) -> Filter {
        match self.fault {
            Fault::CountFilter(change) | Fault::Filter(change) => change(filter),
            _ => filter.clone(),
        }
    }
}

impl Catalogue for FaultyStore {
    fn start(&self, change: Change, by: Option<&str>) -> Pending<Result<Receipt>> {
        match (self.fault, change) {
            (Fault::Change(apply), change) => Pending::ready(apply(&self.store, change)),
            (Fault::Insert(insert), Change::Insert(draft)) => {
                Pending::ready(insert(&self.store, draft))
            }
            (Fault::Update(update), Change::Update(id, None, changes)) => {
                Pending::ready(update(&self.store, id, changes))
            }
            (Fault::LateChange, change) => {
                let store = Arc::clone(&self.store);
                Pending::awaited(async move { store.apply(change) })
            }
            (_, change) => self.store.start(change, by),
        }
    }

    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        match self.fault {
            Fault::Get(get) => Pending::ready(Ok(get(&self.store, id))),
            _ => self.store.start_get(id),
        }
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        match self.fault {
            Fault::Find(find) => Ok(find(&self.store, name)),
            _ => self.store.find(name),
        }
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        match self.fault {
            Fault::Page(page) => page(&self.store, request),
            Fault::Filter(change) => {
                let filter = &change(request.filter);
                self.store.page(PageRequest { filter, ..request })
            }
            _ => self.store.page(request),
        }
    }

    fn commit(&self, changes: Vec<Change>, by: Option<&str>) -> Result<Commit> {
        match self.fault {
            Fault::ApplyAll(apply) => Ok(Commit {
                receipts: apply(&self.store, changes)?,
                positions: None,
            }),
            _ => self.store.commit(changes, by),
        }
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        match self.fault {
            Fault::Restore(restore) => restore(&self.store, restoration),
            _ => self.store.restore(restoration),
        }
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        match self.fault {
            Fault::LastId(last_id) => Ok(last_id(&self.store)),
            _ => self.store.last_id(),
        }
    }

    fn position(&self) -> Result<Position> {
        self.store.position()
    }

    fn changes(&self, after: &Position, extent: Extent, limit: usize) -> Result<Changes> {
        let changes = self.store.changes(after, extent, limit);
        match (&self.fault, extent) {
            (Fault::Changes(alter), Extent::Latest)
            | (Fault::EveryChange(alter), Extent::Every) => alter(changes),
            _ => changes,
        }
    }

    fn history(&self, id: RobotId, before: Option<Revision>, limit: usize) -> Result<Vec<Event>> {
        let mut events = self.store.history(id, before, limit)?;
        if let Fault::History(alter) = self.fault {
            alter(&mut events);
        }
        Ok(events)
    }

    fn prune(&self, keep: Retention) -> Result<u64> {
        self.store.prune(keep)
    }

    fn definition(&self) -> Arc<Definition> {
        self.store.definition()
    }

    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        match self.fault {
            Fault::Define(change) => self.store.define(change(redefinition)),
            _ => self.store.define(redefinition),
        }
    }

    fn counts(&self, filter: &Filter, by: &[Field]) -> Result<Vec<Count>> {
        self.store.counts(&self.counted(filter), by)
    }
}
