//! A store with faults that can be switched on.

use std::{
    panic,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    catalogue::{
        Catalogue, Change, Error, Filter, PageRequest, Pending, Restoration, Result, Summary,
    },
    model::{Entry, Robot, RobotId},
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

    fn checked(&self, is_first_page: bool) -> Result<&Arc<dyn Catalogue>> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let current = *fault;
        if current == Some(Fault::SecondPageOnce) && !is_first_page {
            *fault = None;
        }
        drop(fault);
        match current {
            Some(Fault::Unavailable) => Err(Error::unavailable(SECRET)),
            Some(Fault::Broken) => Err(Error::store(SECRET)),
            // Without the panic hook, which would fill the output of the test.
            Some(Fault::Panic) => panic::resume_unwind(Box::new(SECRET)),
            Some(Fault::AllButFirstPage) if !is_first_page => Err(Error::store(SECRET)),
            Some(Fault::SecondPageOnce) if !is_first_page => Err(Error::unavailable(SECRET)),
            Some(Fault::AllButFirstPage | Fault::SecondPageOnce | Fault::DiskFull(_)) | None => {
                Ok(&self.catalogue)
            }
        }
    }

    /// The same, for a write, which may take room on the disk.
    fn checked_write(&self, takes_room: bool) -> Result<&Arc<dyn Catalogue>> {
        let catalogue = self.checked(false)?;
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *fault {
            Some(Fault::DiskFull(0)) => return Err(Error::disk_full(SECRET)),
            Some(Fault::DiskFull(room)) if takes_room => *room -= 1,
            _ => {}
        }
        Ok(catalogue)
    }
}

impl Catalogue for Faulty {
    fn start(&self, change: Change) -> Pending<Result<RobotId>> {
        let takes_room = matches!(change, Change::Insert(_));
        match self.checked_write(takes_room) {
            Ok(catalogue) => catalogue.start(change),
            Err(error) => Pending::ready(Err(error)),
        }
    }
    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        match self.checked(false) {
            Ok(catalogue) => catalogue.start_get(id),
            Err(error) => Pending::ready(Err(error)),
        }
    }
    fn find(&self, name: &str) -> Result<Option<Robot>> {
        self.checked(false)?.find(name)
    }
    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        self.checked(request.cursor.is_start())?.page(request)
    }
    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        let catalogue = self.checked_write(false)?;
        let fault = *self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match fault {
            Some(Fault::DiskFull(room)) if room < changes.len() => Err(Error::disk_full(SECRET)),
            _ => catalogue.apply_all(changes),
        }
    }
    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.checked_write(false)?.restore(restoration)
    }
    fn last_id(&self) -> Result<Option<RobotId>> {
        self.checked(false)?.last_id()
    }
    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        self.checked(request.cursor.is_start())?.entries(request)
    }
    fn count(&self, filter: &Filter) -> Result<u64> {
        self.checked(false)?.count(filter)
    }
    fn summary(&self, filter: &Filter) -> Result<Summary> {
        self.checked(false)?.summary(filter)
    }
}
