//! A store that fails when it is told to, to see what clients are told.

use std::{
    panic,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    catalogue::{Catalogue, Change, Error, PageRequest, Pending, Restoration, Result},
    model::{Entry, Robot, RobotId, ValidChanges, ValidDraft},
};

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Every call finds the store unavailable.
    Unavailable,
    /// Every call finds the store broken.
    Broken,
    /// Every call is a bug.
    Panic,
    /// No page but the first can be read.
    AfterTheFirstPage,
    /// The second page is asked for while the store is unavailable, and then it is back.
    OnceAfterTheFirstPage,
}

/// A store that does what another one does, until it is told to fail.
pub(crate) struct Faulty {
    catalogue: Arc<dyn Catalogue>,
    fault: Mutex<Option<Fault>>,
}

/// Words that no client may get to see.
pub(super) const SECRET: &str = "/secret/robots.db";

impl Faulty {
    pub(crate) fn new(catalogue: impl Catalogue + 'static) -> Arc<Self> {
        Arc::new(Self {
            catalogue: Arc::new(catalogue),
            fault: Mutex::new(None),
        })
    }

    /// Fails so from now on, or no longer.
    pub(super) fn fail(&self, fault: impl Into<Option<Fault>>) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault.into();
    }

    fn checked(&self, is_first_page: bool) -> Result<&Arc<dyn Catalogue>> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let current = *fault;
        if current == Some(Fault::OnceAfterTheFirstPage) && !is_first_page {
            *fault = None;
        }
        drop(fault);
        match current {
            Some(Fault::Unavailable) => Err(Error::unavailable(SECRET)),
            Some(Fault::Broken) => Err(Error::store(SECRET)),
            // Without the hook of panics, which would fill the test's output.
            Some(Fault::Panic) => panic::resume_unwind(Box::new(SECRET)),
            Some(Fault::AfterTheFirstPage) if !is_first_page => Err(Error::store(SECRET)),
            Some(Fault::OnceAfterTheFirstPage) if !is_first_page => Err(Error::unavailable(SECRET)),
            Some(Fault::AfterTheFirstPage | Fault::OnceAfterTheFirstPage) | None => {
                Ok(&self.catalogue)
            }
        }
    }
}

impl Catalogue for Faulty {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        self.checked(false)?.insert(draft)
    }
    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.checked(false)?.update(id, changes)
    }
    fn delete(&self, id: RobotId) -> Result<()> {
        self.checked(false)?.delete(id)
    }
    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.checked(false)?.get(id)
    }
    fn find(&self, name: &str) -> Result<Option<Robot>> {
        self.checked(false)?.find(name)
    }
    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        self.checked(request.after.is_empty())?.page(request)
    }
    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.checked(false)?.restore(restoration)
    }
    fn last_id(&self) -> Result<Option<RobotId>> {
        self.checked(false)?.last_id()
    }
    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        self.checked(request.after.is_empty())?.entries(request)
    }
    fn submit(&self, change: Change) -> std::result::Result<Pending<Result<RobotId>>, Change> {
        match self.checked(false) {
            Ok(catalogue) => catalogue.submit(change),
            Err(error) => Ok(Pending::ready(Err(error))),
        }
    }
    fn submit_get(&self, id: RobotId) -> Option<Pending<Result<Option<Robot>>>> {
        match self.checked(false) {
            Ok(catalogue) => catalogue.submit_get(id),
            Err(error) => Some(Pending::ready(Err(error))),
        }
    }
}
