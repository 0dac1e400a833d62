//! A store with faults that can be switched on.

use std::{
    panic,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    catalogue::{
        Catalogue, Change, Changes, Commit, Count, Cursor, Error, Event, Extent, Filter, Page,
        PageRequest, Pending, Position, Receipt, Redefinition, Restoration, Result,
    },
    model::{Definition, Field, Revision, Robot, RobotId},
};

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Every call fails with [`Error::Unavailable`].
    Unavailable,
    /// Every call fails with [`Error::Store`].
    Broken,
    /// Every call panics.
    Panic,
    /// Every page except the first fails with [`Error::Store`].
    AllButFirstPage,
    /// The second page fails with [`Error::Unavailable`] once.
    SecondPageOnce,
    /// Every write fails with [`Error::DiskFull`] after this number of inserts.
    DiskFull(usize),
}

/// A wrapper of a store that can have a fault.
pub(crate) struct Faulty {
    catalogue: Arc<dyn Catalogue>,
    fault: Mutex<Option<Fault>>,
}

/// The cause of all failures, which no answer may contain.
pub(super) const SECRET: &str = "/secret/robots.db";

impl Faulty {
    pub(crate) fn new(catalogue: impl Catalogue + 'static) -> Arc<Self> {
        Arc::new(Self {
            catalogue: Arc::new(catalogue),
            fault: Mutex::new(None),
        })
    }

    /// Switches a fault on, or all faults off.
    pub(super) fn fail(&self, fault: impl Into<Option<Fault>>) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault.into();
    }

    /// The store, if it does not fail when it is used in this way.
    fn checked(&self, access: Access) -> Result<&Arc<dyn Catalogue>> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match (&mut *fault, access) {
            (Some(Fault::Unavailable), _) => return Err(Error::unavailable(SECRET)),
            (Some(Fault::Broken), _) | (Some(Fault::AllButFirstPage), Access::Other) => {
                return Err(Error::store(SECRET));
            }
            (Some(Fault::Panic), _) => {
                drop(fault);
                // Without the panic hook, which would fill the output of the test.
                panic::resume_unwind(Box::new(SECRET));
            }
            (Some(Fault::SecondPageOnce), Access::Other) => {
                *fault = None;
                return Err(Error::unavailable(SECRET));
            }
            (Some(Fault::DiskFull(room)), Access::Write(inserts)) => {
                if *room == 0 || *room < inserts {
                    return Err(Error::disk_full(SECRET));
                }
                *room -= inserts;
            }
            _ => {}
        }
        Ok(&self.catalogue)
    }
}

/// A use of the store.
#[derive(Debug, Clone, Copy)]
enum Access {
    FirstPage,
    /// A change, with this number of inserts.
    Write(usize),
    Other,
}

impl Access {
    fn page(request: PageRequest<'_>) -> Self {
        if *request.cursor == Cursor::start(request.cursor.sort().clone()) {
            Self::FirstPage
        } else {
            Self::Other
        }
    }
}

impl Catalogue for Faulty {
    fn start(&self, change: Change, by: Option<&str>) -> Pending<Result<Receipt>> {
        let inserts = usize::from(matches!(change, Change::Insert(_)));
        match self.checked(Access::Write(inserts)) {
            Ok(catalogue) => catalogue.start(change, by),
            Err(error) => Pending::ready(Err(error)),
        }
    }
    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        match self.checked(Access::Other) {
            Ok(catalogue) => catalogue.start_get(id),
            Err(error) => Pending::ready(Err(error)),
        }
    }
    fn find(&self, name: &str) -> Result<Option<Robot>> {
        self.checked(Access::Other)?.find(name)
    }
    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        self.checked(Access::page(request))?.page(request)
    }
    fn commit(&self, changes: Vec<Change>, by: Option<&str>) -> Result<Commit> {
        self.checked(Access::Write(changes.len()))?
            .commit(changes, by)
    }
    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.checked(Access::Write(0))?.restore(restoration)
    }
    fn last_id(&self) -> Result<Option<RobotId>> {
        self.checked(Access::Other)?.last_id()
    }
    fn position(&self) -> Result<Position> {
        self.checked(Access::Other)?.position()
    }
    fn changes(&self, after: &Position, extent: Extent, limit: usize) -> Result<Changes> {
        self.checked(Access::Other)?.changes(after, extent, limit)
    }
    fn history(&self, id: RobotId, before: Option<Revision>, limit: usize) -> Result<Vec<Event>> {
        self.checked(Access::Other)?.history(id, before, limit)
    }
    fn counts(&self, filter: &Filter, by: &[Field]) -> Result<Vec<Count>> {
        self.checked(Access::Other)?.counts(filter, by)
    }
    fn definition(&self) -> Arc<Definition> {
        self.catalogue.definition()
    }
    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        self.checked(Access::Write(0))?.define(redefinition)
    }
}
