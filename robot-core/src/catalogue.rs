//! The trait that every store implements, and what is the same for all of them.

use std::sync::Arc;

use crate::{
    error::{Error, Result},
    pages::{PageRequest, Pages},
    pending::Pending,
    robot::{Draft, Entry, Robot, RobotId},
    rules::{Rejection, ValidChanges, ValidDraft, Violation, Violations},
};

/// A collection of robots.
///
/// Callers use [`add`](Self::add), [`replace`](Self::replace), [`amend`](Self::amend),
/// [`delete`](Self::delete), [`get`](Self::get), [`find`](Self::find), [`list`](Self::list), [`search`](Self::search),
/// and [`Pages`] for collections that need not fit into memory. Stores implement the methods
/// without a body, and leave the others alone; one whose calls need not block the caller has
/// [`begin`](Self::begin) and [`begin_get`](Self::begin_get) of its own.
///
/// # The contract for authors of a store
///
/// * **Atomic.** Each method takes place at one moment, or not at all: no other caller, in
///   this process or another on the same store, sees half of it. A method that returns an
///   error has changed nothing, unless the error is [`Error::Unknown`], which a store returns
///   only where it cannot tell.
/// * **Durable.** When a writing method returns `Ok`, the change has reached what the store
///   keeps data on (the in-memory store keeps it in memory, and says so).
/// * **Visible.** A read that starts after a write has returned sees it, whoever asks.
/// * **Unique names.** No two robots have names of equal bytes. The store itself decides
///   races (by a unique index, a lock): of many equal inserts exactly one succeeds, and the
///   others fail with [`Violation::NameTaken`]. That violation is reported only when it is
///   so, never inferred from an unexplained failure.
/// * **Ids never come back.** Each insert gives an id that no robot has had before, not even
///   a deleted one, and that is greater than that of every robot that was restored. Ids need not be
///   consecutive.
/// * **Order and comparison by bytes.** Names are kept, compared, ordered and searched by
///   their UTF-8 bytes: no trimming, no folding, no normalising, no wildcards.
/// * **Errors.** [`Error::Unavailable`] where the same call may succeed later, within about
///   two seconds; [`Error::Store`] for all else that is the store's own trouble. Nothing a
///   caller passes makes a method panic.
///
/// The feature `conformance` has the cases that prove most of this.
///
/// ```
/// use robot_core::{
///     Catalogue, Draft, Error, MemoryCatalogue, PageRequest, RobotId, ValidChanges, ValidDraft,
///     Violation,
/// };
///
/// /// What holds for every store.
/// fn check(store: &dyn Catalogue) -> Result<(), Box<dyn std::error::Error>> {
///     let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
///     let id = store.insert(draft.clone())?.id();
///     let again = store.insert(draft).unwrap_err();
///     assert_eq!(again.to_string(), Violation::NameTaken.to_string());
///
///     store.update(id, ValidChanges::new(Draft { year: Some(1980), ..Draft::default() })?)?;
///     assert_eq!(store.get(id)?.map(|robot| robot.year()), Some(1980));
///     assert_eq!(store.find("R2-D2")?.map(|robot| robot.id()), Some(id));
///
///     let request = PageRequest { containing: "2-D", after: "", limit: 10 };
///     assert_eq!(store.page(request)?.len(), 1);
///     assert_eq!(store.entries(request)?[0].id(), id);
///
///     store.delete(id)?;
///     assert!(matches!(store.delete(id), Err(Error::NotFound(_))));
///     assert!(store.list()?.is_empty());
///     Ok(())
/// }
///
/// check(&MemoryCatalogue::new())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Catalogue: Send + Sync {
    /// Keeps a new robot and returns it with the id that it was given.
    ///
    /// # Errors
    /// [`Violation::NameTaken`] where another robot has the name; [`Error::Unavailable`],
    /// [`Error::Store`], [`Error::Unknown`].
    fn insert(&self, draft: ValidDraft) -> Result<Robot>;

    /// Sets the members of a robot that are to change, all together, and leaves the others as
    /// they are at that moment.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no robot has the id, whether or not the name is taken;
    /// [`Violation::NameTaken`] where a robot of another id has the name;
    /// [`Error::Unavailable`], [`Error::Store`], [`Error::Unknown`].
    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()>;

    /// Removes a robot.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no robot has the id; [`Error::Unavailable`],
    /// [`Error::Store`], [`Error::Unknown`].
    fn delete(&self, id: RobotId) -> Result<()>;

    /// The robot that has this id.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn get(&self, id: RobotId) -> Result<Option<Robot>>;

    /// The robot that has exactly this name.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn find(&self, name: &str) -> Result<Option<Robot>>;

    /// The first robots, by name, of those that the request asks for. Fewer than its limit
    /// means that there are no more.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>>;

    /// Keeps robots with the ids that they have, all of them or none: for copies and backups, where
    /// [`insert`](Self::insert) would give them other ids. From then on, no new robot gets an id up
    /// to the greatest of theirs, nor one up to `last_id`, which is the [`last_id`](Self::last_id)
    /// of where they come from.
    ///
    /// Ids and names are looked at in the order of the ids. Some thousands of robots at a time are
    /// restored fast, and keep others waiting for less than a second.
    ///
    /// # Errors
    /// [`Error::NotRestored`], with the first robot whose id is taken ([`Violation::IdTaken`]) or
    /// greater than [`RobotId::GREATEST_RESTORED`] ([`Violation::IdTooGreat`]), or else whose name is
    /// taken ([`Violation::NameTaken`]), be it by another of these robots;
    /// [`Error::Unavailable`], [`Error::Store`], [`Error::Unknown`].
    ///
    /// ```
    /// use robot_core::{Catalogue, Draft, MemoryCatalogue, RobotId, ValidDraft};
    ///
    /// let id = RobotId::new(42).ok_or("not positive")?;
    /// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?.with_id(id);
    ///
    /// let catalogue = MemoryCatalogue::new();
    /// catalogue.restore(&[robot.clone()], None)?;
    /// assert_eq!(catalogue.get(id)?, Some(robot));
    /// assert!(catalogue.add(Draft::new("C-3PO", "droid", 1977))?.id() > id);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn restore(&self, robots: &[Robot], last_id: Option<RobotId>) -> Result<()>;

    /// An id which no robot has ever had a greater one than, as small as the store knows one:
    /// usually that of the newest robot, also where it was deleted. `None` where no robot was ever
    /// added.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    ///
    /// ```
    /// # use robot_core::{Catalogue, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// assert_eq!(catalogue.last_id()?, None);
    /// let id = catalogue.add(Draft::new("R2-D2", "droid", 1977))?.id();
    /// catalogue.delete(id)?;
    /// assert_eq!(catalogue.last_id()?, Some(id));
    /// # Ok::<(), Error>(())
    /// ```
    fn last_id(&self) -> Result<Option<RobotId>>;

    /// Begins a change, for callers who must not block, such as a web server. It comes to the
    /// id of the robot that was added, changed or deleted, or to the error that
    /// [`insert`](Self::insert), [`update`](Self::update) or [`delete`](Self::delete) has.
    ///
    /// Whoever drops the [`Pending`] does not take the change back: it may take place all the
    /// same.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use robot_core::{Catalogue, Change, Draft, ValidDraft};
    ///
    /// let catalogue = robot_core::open("memory:")?;
    /// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
    /// let id = Arc::clone(&catalogue).begin(Change::Insert(draft)).wait()?;
    /// assert!(catalogue.get(id)?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn begin(self: Arc<Self>, change: Change) -> Pending<Result<RobotId>>
    where
        Self: 'static,
    {
        Pending::blocking(move || change.apply_to(&*self))
    }

    /// Begins what [`add`](Self::add) does, for callers who must not block.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{Catalogue, Draft};
    /// let catalogue = robot_core::open("memory:")?;
    /// let pending = Arc::clone(&catalogue).begin_add(Draft::new("R2-D2", "droid", 1977));
    /// let robot = pending.wait()?;
    /// assert_eq!(Arc::clone(&catalogue).begin_get(robot.id()).wait()?, Some(robot));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn begin_add(self: Arc<Self>, draft: Draft) -> Pending<Result<Robot>>
    where
        Self: 'static,
    {
        match ValidDraft::new(draft) {
            Ok(draft) => {
                let id = self.begin(Change::Insert(draft.clone()));
                id.map(|id| Ok(draft.with_id(id?)))
            }
            Err(rejection) => {
                Pending::blocking(move || Err(complete(&*self, rejection, None)?.into()))
            }
        }
    }

    /// Begins what [`replace`](Self::replace) does, for callers who must not block.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{Catalogue, Draft};
    /// let catalogue = robot_core::open("memory:")?;
    /// let id = catalogue.add(Draft::new("R2", "droid", 1977))?.id();
    /// Arc::clone(&catalogue).begin_replace(id, Draft::new("R2-D2", "droid", 1977)).wait()?;
    /// assert!(catalogue.find("R2-D2")?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn begin_replace(self: Arc<Self>, id: RobotId, draft: Draft) -> Pending<Result<()>>
    where
        Self: 'static,
    {
        match ValidDraft::new(draft) {
            Ok(draft) => {
                let id = self.begin(Change::Update(id, draft.into()));
                id.map(|id| id.map(drop))
            }
            Err(rejection) => {
                Pending::blocking(move || Err(complete(&*self, rejection, Some(id))?.into()))
            }
        }
    }

    /// Begins what [`get`](Self::get) does, for callers who must not block. A store that finds
    /// the robot in less time than it takes to hand the question to another thread does so.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{Catalogue, Draft};
    /// let catalogue = robot_core::open("memory:")?;
    /// let robot = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// assert_eq!(Arc::clone(&catalogue).begin_get(robot.id()).wait()?, Some(robot));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn begin_get(self: Arc<Self>, id: RobotId) -> Pending<Result<Option<Robot>>>
    where
        Self: 'static,
    {
        Pending::blocking(move || self.get(id))
    }

    /// What [`page`](Self::page) has, but for the members that no list shows. A store that reads
    /// entries in less time than whole robots does so.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        let robots = self.page(request)?;
        Ok(robots.into_iter().map(Entry::from).collect())
    }

    /// Adds a robot: checks every rule, then keeps it.
    ///
    /// # Errors
    /// [`Error::Rejected`] with all the rules that the draft breaks; [`Error::Unavailable`],
    /// [`Error::Store`], [`Error::Unknown`].
    ///
    /// ```
    /// use robot_core::{Catalogue, Draft, Error, MemoryCatalogue};
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
            Err(rejection) => Err(complete(self, rejection, None)?.into()),
        }
    }

    /// Replaces name, type and year of a robot: checks every rule, then keeps them.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no robot has the id, whatever the draft is;
    /// [`Error::Rejected`] with all the rules that the draft breaks; [`Error::Unavailable`],
    /// [`Error::Store`], [`Error::Unknown`].
    ///
    /// ```
    /// # use robot_core::{Catalogue, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// let id = catalogue.add(Draft::new("R2", "droid", 1977))?.id();
    /// catalogue.replace(id, Draft::new("R2-D2", "droid", 1977))?;
    /// assert_eq!(catalogue.find("R2-D2")?.map(|robot| robot.id()), Some(id));
    /// # Ok::<(), Error>(())
    /// ```
    fn replace(&self, id: RobotId, draft: Draft) -> Result<()> {
        match ValidDraft::new(draft) {
            Ok(draft) => self.update(id, draft.into()),
            Err(rejection) => Err(complete(self, rejection, Some(id))?.into()),
        }
    }

    /// Changes the members of a robot that the draft has: checks every rule, then keeps them.
    /// The others stay as they are, also where somebody else changes them meanwhile.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    ///
    /// ```
    /// # use robot_core::{Catalogue, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// let id = catalogue.add(Draft::new("R2-D2", "droid", 1977))?.id();
    /// catalogue.amend(id, Draft { year: Some(1980), ..Draft::default() })?;
    /// assert_eq!(catalogue.find("R2-D2")?.map(|robot| robot.year()), Some(1980));
    /// # Ok::<(), Error>(())
    /// ```
    fn amend(&self, id: RobotId, draft: Draft) -> Result<()> {
        match ValidChanges::new(draft) {
            Ok(changes) => self.update(id, changes),
            Err(rejection) => Err(complete(self, rejection, Some(id))?.into()),
        }
    }

    /// All robots, by name, in one vector. [`Pages`] reads them piece by piece.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn list(&self) -> Result<Vec<Robot>> {
        self.search("")
    }

    /// All robots whose name contains this text, byte for byte, by name, in one vector.
    /// [`Pages`] reads them piece by piece.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    ///
    /// ```
    /// # use robot_core::{Catalogue, Draft, Error, MemoryCatalogue};
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
}

/// What a rejected draft broke, uniqueness included: the store is asked for the name, where
/// it is one that a robot could have, other than the robot `id`, which must exist.
fn complete<C: Catalogue + ?Sized>(
    catalogue: &C,
    rejection: Rejection,
    id: Option<RobotId>,
) -> Result<Violations> {
    if let Some(id) = id {
        catalogue.get(id)?.ok_or(Error::NotFound(id))?;
    }
    let Rejection { violations, name } = rejection;
    let holder = match name {
        Some(name) => catalogue.find(&name)?,
        None => None,
    };
    Ok(match holder {
        Some(robot) if Some(robot.id()) != id => violations.and(Violation::NameTaken),
        _ => violations,
    })
}

/// A change of a catalogue, none of whose rules is broken but for those that only the store can
/// check.
///
/// ```
/// use robot_core::{Catalogue, Change, Draft, MemoryCatalogue, ValidDraft};
///
/// let catalogue = MemoryCatalogue::new();
/// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
/// let id = Change::Insert(draft).apply_to(&catalogue)?;
/// assert_eq!(Change::Delete(id).apply_to(&catalogue)?, id);
/// assert!(catalogue.list()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// [`Catalogue::insert`].
    Insert(ValidDraft),
    /// [`Catalogue::update`].
    Update(RobotId, ValidChanges),
    /// [`Catalogue::delete`].
    Delete(RobotId),
}

impl Change {
    /// Makes the change, and waits for it: the id of the robot that was added, changed or
    /// deleted.
    ///
    /// # Errors
    /// Those of the method of the catalogue.
    pub fn apply_to<C: Catalogue + ?Sized>(self, catalogue: &C) -> Result<RobotId> {
        match self {
            Self::Insert(draft) => catalogue.insert(draft).map(|robot| robot.id()),
            Self::Update(id, changes) => catalogue.update(id, changes).map(|()| id),
            Self::Delete(id) => catalogue.delete(id).map(|()| id),
        }
    }
}

/// A pointer to a catalogue is one: every call goes to the catalogue behind it.
macro_rules! forward_to_the_catalogue_behind {
    ($($pointer:ty),+) => {$(
        impl<C: Catalogue + ?Sized> Catalogue for $pointer {
            fn insert(&self, draft: ValidDraft) -> Result<Robot> {
                (**self).insert(draft)
            }
            fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
                (**self).update(id, changes)
            }
            fn delete(&self, id: RobotId) -> Result<()> {
                (**self).delete(id)
            }
            fn get(&self, id: RobotId) -> Result<Option<Robot>> {
                (**self).get(id)
            }
            fn find(&self, name: &str) -> Result<Option<Robot>> {
                (**self).find(name)
            }
            fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
                (**self).page(request)
            }
            fn restore(&self, robots: &[Robot], last_id: Option<RobotId>) -> Result<()> {
                (**self).restore(robots, last_id)
            }
            fn last_id(&self) -> Result<Option<RobotId>> {
                (**self).last_id()
            }
            fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
                (**self).entries(request)
            }
        }
    )+};
}

forward_to_the_catalogue_behind!(&C, Box<C>, Arc<C>);
