//! A store of its own: a catalogue in one JSON file.
//!
//! It is for lists that fit into memory: reads never touch the disk, and each change writes the whole file. A change
//! is stored when its new file is on disk and has replaced the old one, so that a crash leaves one of the two.

mod file;
mod state;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use file::File;
use robot_core::{
    Catalogue, Change, Commit, Definition, Error, OpenError, Page, PageRequest, Pending, Receipt,
    Redefinition, Restoration, Result, Robot, RobotId, Scheme, StoreFiles,
};
use state::State;

/// URLs of such files, for [`Schemes::with`](robot_core::Schemes::with).
pub const SCHEME: Scheme = Scheme {
    names: &["file"],
    example: "file://robots.json",
    open: |url, _| {
        let path = url.strip_prefix("file://").unwrap_or(url);
        Ok(Arc::new(FileCatalogue::open(path)?))
    },
};

/// A catalogue in a JSON file, which one process at a time can open.
#[derive(Debug)]
pub struct FileCatalogue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// What is on disk. A read holds the lock for a moment.
    state: RwLock<Arc<State>>,
    /// Held by one change at a time, until its file is on disk.
    file: Mutex<File>,
}

impl FileCatalogue {
    /// Opens the file, or creates it with an empty catalogue.
    ///
    /// # Errors
    /// [`OpenError::Busy`] if it is open, in this process or another one; [`OpenError::Unusable`] if it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let (file, state) = File::open(path.as_ref())?;
        Ok(Self(Arc::new(Shared {
            state: RwLock::new(Arc::new(state)),
            file: Mutex::new(file),
        })))
    }
}

impl Shared {
    fn state(&self) -> Arc<State> {
        let state = self.state.read();
        Arc::clone(&state.unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes a copy of the state, which takes the place of the present one when it is on disk. After an error
    /// of `change`, nothing has changed.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = State::clone(&self.state());
        let result = change(&mut state)?;
        let written = file.write(&state);
        // An unknown outcome means that the new file has replaced the old one, but may not survive a crash.
        if matches!(written, Ok(()) | Err(Error::Unknown(_))) {
            let mut present = self.state.write().unwrap_or_else(PoisonError::into_inner);
            *present = Arc::new(state);
        }
        written.map(|()| result)
    }
}

impl Catalogue for FileCatalogue {
    fn start(&self, change: Change, _: Option<&str>) -> Pending<Result<Receipt>> {
        // The file is written on the thread that waits for the result.
        let shared = Arc::clone(&self.0);
        Pending::blocking(move || shared.change(|state| state.apply(&change)))
    }

    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        Pending::ready(Ok(self.0.state().get(id).cloned()))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let state = self.0.state();
        let found = state.robots().find(|robot| robot.name() == name);
        Ok(found.cloned())
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        let state = self.0.state();
        let cursor = &request.cursor.resolved(&state.definition());
        Ok(PageRequest { cursor, ..request }.page_of(state.robots()))
    }

    fn commit(&self, changes: Vec<Change>, _: Option<&str>) -> Result<Commit> {
        self.0.change(|state| {
            let receipts = changes.iter().map(|change| state.apply(change));
            Ok(Commit {
                receipts: receipts.collect::<Result<_>>()?,
                positions: None,
            })
        })
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        self.0.change(|state| state.restore(restoration))
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        Ok(self.0.state().last_id())
    }

    fn definition(&self) -> Arc<Definition> {
        self.0.state().definition()
    }

    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        self.0.change(|state| state.define(&redefinition))
    }

    fn files(&self) -> StoreFiles {
        let file = self.0.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.files()
    }
}
