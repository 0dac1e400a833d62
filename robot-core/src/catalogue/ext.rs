//! The operations for callers, on top of what a store implements.

use std::sync::Arc;

use super::{
    change::Change,
    error::{Error, Result},
    pages::Pages,
    pending::Pending,
    store::Catalogue,
};
use crate::model::{
    Draft, Rejection, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violation, Violations,
};

/// The operations of every [`Catalogue`] for callers: they check the rules, and use the methods of
/// the store.
///
/// Every store has it by a blanket implementation, so that a wrapper around a store cannot change
/// what these methods do. Import it beside [`Catalogue`].
pub trait CatalogueExt: Catalogue {
    /// Adds a robot: checks every rule, then stores it.
    ///
    /// # Errors
    /// [`Error::Rejected`] with all rules that the draft violates; [`Error::Unavailable`],
    /// [`Error::Store`], [`Error::Unknown`].
    ///
    /// ```
    /// use robot_core::{Catalogue, CatalogueExt, Draft, Error, MemoryCatalogue};
    ///
    /// let catalogue = MemoryCatalogue::new();
    /// let robot = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// assert_eq!(catalogue.get(robot.id())?, Some(robot));
    ///
    /// let error = catalogue.add(Draft::new("R2-D2", "toaster", 1977)).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
    ///      The robot name must be unique"
    /// );
    /// # Ok::<(), Error>(())
    /// ```
    fn add(&self, draft: Draft) -> Result<Robot> {
        match ValidDraft::new(draft) {
            Ok(draft) => self.insert(draft),
            Err(rejection) => Err(self.violations(rejection, None)?.into()),
        }
    }

    /// Sets all values of a robot: checks every rule, then stores them.
    ///
    /// # Errors
    /// [`Error::NotFound`] if no robot has the id, whatever the draft is; [`Error::Rejected`] with
    /// all rules that the draft violates; [`Error::Unavailable`], [`Error::Store`],
    /// [`Error::Unknown`].
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// let id = catalogue.add(Draft::new("R2", "droid", 1977))?.id();
    /// catalogue.replace(id, Draft::new("R2-D2", "droid", 1977))?;
    /// assert_eq!(catalogue.find("R2-D2")?.map(|robot| robot.id()), Some(id));
    /// # Ok::<(), Error>(())
    /// ```
    fn replace(&self, id: RobotId, draft: Draft) -> Result<()> {
        match ValidDraft::new(draft) {
            Ok(draft) => self.update(id, draft.into()),
            Err(rejection) => Err(self.violations(rejection, Some(id))?.into()),
        }
    }

    /// Sets the members of a robot that the draft has: checks every rule, then stores them. The
    /// other members keep their values, also those that another caller changes at the same time.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// let id = catalogue.add(Draft::new("R2-D2", "droid", 1977))?.id();
    /// catalogue.amend(id, Draft { year: Some(1980), ..Draft::default() })?;
    /// assert_eq!(catalogue.find("R2-D2")?.map(|robot| robot.year()), Some(1980));
    /// # Ok::<(), Error>(())
    /// ```
    fn amend(&self, id: RobotId, draft: Draft) -> Result<()> {
        match ValidChanges::new(draft) {
            Ok(changes) => self.update(id, changes),
            Err(rejection) => Err(self.violations(rejection, Some(id))?.into()),
        }
    }

    /// As [`amend`](Self::amend), if the robot still has the revision that the caller has read: a
    /// change of another caller is not overwritten.
    ///
    /// # Errors
    /// [`Error::NotFound`] if no robot has the id; [`Error::Stale`] if it has another revision,
    /// whatever the draft is; otherwise as [`amend`](Self::amend).
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// let read = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// let next_year = Draft { year: Some(read.year() + 1), ..Draft::default() };
    /// catalogue.amend_if(read.id(), read.revision(), next_year.clone())?;
    /// let again = catalogue.amend_if(read.id(), read.revision(), next_year);
    /// assert!(matches!(again, Err(Error::Stale(_))));
    /// # Ok::<(), Error>(())
    /// ```
    fn amend_if(&self, id: RobotId, revision: Revision, draft: Draft) -> Result<()> {
        match ValidChanges::new(draft) {
            Ok(changes) => self.update_if(id, revision, changes),
            Err(rejection) => {
                let robot = self.get(id)?.ok_or(Error::NotFound(id))?;
                if robot.revision() != revision {
                    return Err(Error::Stale(id));
                }
                Err(self.violations(rejection, Some(id))?.into())
            }
        }
    }

    /// Checks a draft against every rule, that its name is free included, and stores nothing. By
    /// the time it is inserted another caller may have taken the name: the store decides.
    ///
    /// # Errors
    /// [`Error::Rejected`] with all rules that the draft violates; [`Error::Unavailable`],
    /// [`Error::Store`].
    ///
    /// ```
    /// use robot_core::{CatalogueExt, Draft, Error, MemoryCatalogue, Violation};
    ///
    /// let catalogue = MemoryCatalogue::new();
    /// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// match catalogue.check(Draft::new("R2-D2", "droid", -1)) {
    ///     Err(Error::Rejected(violations)) => {
    ///         assert!(violations.iter().any(|one| one == Violation::NAME_TAKEN));
    ///     }
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    fn check(&self, draft: Draft) -> Result<ValidDraft> {
        match ValidDraft::new(draft) {
            Ok(draft) if self.find(draft.name())?.is_none() => Ok(draft),
            Ok(_) => Err(Violation::NAME_TAKEN.into()),
            Err(rejection) => Err(self.violations(rejection, None)?.into()),
        }
    }

    /// All rules that a rejected draft violates, uniqueness included. `id` is the robot that the
    /// draft would replace, whose own name is free for it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no robot to replace; [`Error::Unavailable`],
    /// [`Error::Store`].
    fn violations(&self, rejection: Rejection, id: Option<RobotId>) -> Result<Violations> {
        if let Some(id) = id {
            self.get(id)?.ok_or(Error::NotFound(id))?;
        }
        let Rejection { violations, name } = rejection;
        let holder = match name {
            Some(name) => self.find(&name)?,
            None => None,
        };
        Ok(match holder {
            Some(robot) if Some(robot.id()) != id => violations.and(Violation::NAME_TAKEN),
            _ => violations,
        })
    }

    /// Executes a change, and returns the id of the robot that was added, changed or deleted.
    ///
    /// # Errors
    /// Those of the method of [`Catalogue`] that the change names.
    fn apply(&self, change: Change) -> Result<RobotId> {
        match change {
            Change::Insert(draft) => self.insert(draft).map(|robot| robot.id()),
            Change::Update(id, changes) => self.update(id, changes).map(|()| id),
            Change::UpdateIf(id, revision, changes) => {
                self.update_if(id, revision, changes).map(|()| id)
            }
            Change::Delete(id) => self.delete(id).map(|()| id),
            Change::DeleteIf(id, revision) => self.delete_if(id, revision).map(|()| id),
        }
    }

    /// All robots, by name, in one vector. [`Pages`] reads them page by page.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn list(&self) -> Result<Vec<Robot>> {
        self.search("")
    }

    /// All robots whose name contains this text, byte for byte, by name, in one vector. [`Pages`]
    /// reads them page by page.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    ///
    /// ```
    /// # use robot_core::{CatalogueExt, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// assert_eq!(catalogue.search("2-D")?.len(), 1);
    /// assert_eq!(catalogue.search("%")?.len(), 0);
    /// # Ok::<(), Error>(())
    /// ```
    fn search(&self, containing: &str) -> Result<Vec<Robot>> {
        let mut robots = Vec::new();
        for page in Pages::new(self, containing) {
            robots.extend(page?);
        }
        Ok(robots)
    }

    /// Starts a change, for callers that must not block, such as a web server. Dropping the
    /// [`Pending`] does not cancel a change that has started.
    ///
    /// ```
    /// use robot_core::{Catalogue, CatalogueExt, Change, Draft, ValidDraft};
    ///
    /// let catalogue = robot_core::open("memory:")?;
    /// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
    /// let id = catalogue.start(Change::Insert(draft)).wait()?;
    /// assert!(catalogue.get(id)?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn start(self: &Arc<Self>, change: Change) -> Pending<Result<RobotId>>
    where
        Self: 'static,
    {
        self.submit(change).unwrap_or_else(|change| {
            let catalogue = Arc::clone(self);
            Pending::blocking(move || catalogue.apply(change))
        })
    }

    /// Starts [`add`](Self::add), for callers that must not block.
    ///
    /// ```
    /// # use robot_core::{CatalogueExt, Draft};
    /// let catalogue = robot_core::open("memory:")?;
    /// let robot = catalogue.start_add(Draft::new("R2-D2", "droid", 1977)).wait()?;
    /// assert_eq!(catalogue.start_get(robot.id()).wait()?, Some(robot));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn start_add(self: &Arc<Self>, draft: Draft) -> Pending<Result<Robot>>
    where
        Self: 'static,
    {
        match ValidDraft::new(draft) {
            Ok(draft) => {
                let id = self.start(Change::Insert(draft.clone()));
                id.map(|id| Ok(draft.with_id(id?)))
            }
            Err(rejection) => start_violations(self, rejection, None),
        }
    }

    /// Starts [`replace`](Self::replace), for callers that must not block.
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft};
    /// let catalogue = robot_core::open("memory:")?;
    /// let id = catalogue.add(Draft::new("R2", "droid", 1977))?.id();
    /// catalogue.start_replace(id, Draft::new("R2-D2", "droid", 1977)).wait()?;
    /// assert!(catalogue.find("R2-D2")?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn start_replace(self: &Arc<Self>, id: RobotId, draft: Draft) -> Pending<Result<()>>
    where
        Self: 'static,
    {
        match ValidDraft::new(draft) {
            Ok(draft) => {
                let id = self.start(Change::Update(id, draft.into()));
                id.map(|id| id.map(drop))
            }
            Err(rejection) => start_violations(self, rejection, Some(id)),
        }
    }

    /// Starts [`get`](Catalogue::get), for callers that must not block.
    ///
    /// ```
    /// # use robot_core::{CatalogueExt, Draft};
    /// let catalogue = robot_core::open("memory:")?;
    /// let robot = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// assert_eq!(catalogue.start_get(robot.id()).wait()?, Some(robot));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn start_get(self: &Arc<Self>, id: RobotId) -> Pending<Result<Option<Robot>>>
    where
        Self: 'static,
    {
        self.submit_get(id).unwrap_or_else(|| {
            let catalogue = Arc::clone(self);
            Pending::blocking(move || catalogue.get(id))
        })
    }
}

impl<C: Catalogue + ?Sized> CatalogueExt for C {}

/// Looks up, on a thread that may block, what else a rejected draft violates.
fn start_violations<C: Catalogue + ?Sized + 'static, T>(
    catalogue: &Arc<C>,
    rejection: Rejection,
    id: Option<RobotId>,
) -> Pending<Result<T>> {
    let catalogue = Arc::clone(catalogue);
    Pending::blocking(move || Err(catalogue.violations(rejection, id)?.into()))
}
