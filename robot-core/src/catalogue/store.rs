//! The trait that every store implements.

use std::{slice, sync::Arc};

use compact_str::CompactString;

use super::{
    change::{Change, Commit, Receipt},
    cursor::Cursor,
    define::Redefinition,
    error::{Error, Result},
    filter::Filter,
    history::{Changes, Event, Extent, Position},
    page::{Page, PageRequest},
    pending::Pending,
    restoration::Restoration,
    retention::Retention,
    summary::{Count, FrequentValues},
};
use crate::{
    files::StoreFiles,
    model::{Definition, Field, Revision, Robot, RobotId},
};

/// A collection of robots, as a store implements it.
///
/// Callers use [`CatalogueExt`](crate::CatalogueExt) on top of it, whose methods check every rule
/// first, and [`Pages`](crate::Pages) for collections that do not fit into memory.
///
/// A store implements the methods without a body. Pointers (`&C`, `Box<C>`, `Arc<C>`) forward every
/// method. A store that wraps another one must forward those with a body, too: write
/// `#[deny(clippy::missing_trait_methods)]` before its `impl`, and clippy reports what is missing.
///
/// # Contract for store authors
///
/// * **Atomicity.** Each method takes effect at one moment or not at all: no other caller, in
///   this process or another on the same store, observes a part of it. A method that returns an
///   error has changed nothing, except for [`Error::Unknown`](crate::Error::Unknown), which a
///   store returns only if it cannot determine the outcome.
/// * **Durability.** When a writing method returns `Ok`, the change is on the store's storage
///   medium. (The in-memory store has none, and documents that.)
/// * **Visibility.** A read that starts after a write has returned sees the write, whichever
///   thread or process reads.
/// * **Unique values.** No two robots have names of equal bytes, unless the definition permits that, nor equal
///   values of another field that is unique. The store itself decides races
///   (by a unique index or a lock): of several equal inserts exactly one succeeds, and the others
///   fail with [`Rule::Taken`](crate::Rule::Taken) for each such field. A store reports that
///   violation only if it has verified it, and never infers it from another failure.
/// * **Revisions.** Each change of a robot gets the next revision of the catalogue, whether or not a value differs: that
///   of an added, changed or restored robot, and a deletion, too. A caller that has seen a revision never finds a change
///   with a lower one later. Conditional changes compare the revision in the same step that changes the robot: of
///   several equal changes at most one succeeds.
/// * **Ids are never reused.** Each insert assigns an id that no robot has had before, deleted
///   robots included, and that is greater than every restored id. Ids need not be consecutive.
/// * **Byte order.** Names are stored, compared, ordered and searched by their UTF-8 bytes:
///   without trimming, case folding, normalisation or wildcards.
/// * **Errors.** [`Error::Unavailable`](crate::Error::Unavailable), within about two seconds, if
///   the same call may succeed later (SQLite takes 10 seconds if another process was stopped while
///   it changed the shared memory); [`Error::DiskFull`](crate::Error::DiskFull) if there is no
///   room; [`Error::ReadOnly`](crate::Error::ReadOnly) if the store may only be read;
///   [`Error::RestartRequired`](crate::Error::RestartRequired) if every change fails until the
///   program is restarted; [`Error::Unknown`](crate::Error::Unknown) if it is unknown whether a
///   change is stored; [`Error::Store`](crate::Error::Store) for every other failure of the store.
///   No argument makes a method panic.
///
/// The cases of the feature `conformance` test most of this.
///
/// ```
/// use robot_core::{
///     Catalogue, CatalogueExt, Cursor, Draft, Error, Field, Filter, MemoryCatalogue, PageRequest,
///     RobotId, ValidChanges, ValidDraft, Violation,
/// };
///
/// /// Holds for every store.
/// fn check(store: &dyn Catalogue) -> Result<(), Box<dyn std::error::Error>> {
///     let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
///     let id = store.insert(draft.clone())?.id();
///     let duplicate = store.insert(draft).unwrap_err();
///     assert_eq!(duplicate.to_string(), Violation::NAME_TAKEN.to_string());
///
///     store.update(id, ValidChanges::new(Draft { year: Some(1980), ..Draft::default() })?)?;
///     assert_eq!(store.get(id)?.and_then(|robot| robot.year()), Some(1980));
///     assert_eq!(store.find("R2-D2")?.map(|robot| robot.id()), Some(id));
///
///     let (filter, cursor) = (Filter::from("2-D"), Cursor::default());
///     let names = [Field::NAME];
///     let request = PageRequest { fields: &names, ..PageRequest::new(&filter, &cursor) };
///     let page = store.page(request)?;
///     assert_eq!((page.items[0].id(), page.items[0].name()), (id, "R2-D2"));
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
    /// Starts a change, and returns its receipt. Must not block: a store without threads of its own returns [`Pending::blocking`], and callers such as
    /// a web server run that elsewhere. Changes of which none waits for the result of another may
    /// take effect in any order. The history names who makes the change. Dropping the [`Pending`] does not cancel a change that has started.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if no robot has the id;
    /// [`Error::Stale`](crate::Error::Stale) if the robot has another revision than a conditional
    /// change expects; [`Violation::NAME_TAKEN`](crate::Violation::NAME_TAKEN) if a robot with another
    /// id has the name. They take precedence in this order.
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store),
    /// [`Error::Unknown`](crate::Error::Unknown).
    ///
    /// ```
    /// use robot_core::{Catalogue, Change, Draft, Error, MemoryCatalogue, Receipt, ValidDraft};
    ///
    /// let catalogue = MemoryCatalogue::new();
    /// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
    /// let Receipt { id, revision } = catalogue.start(Change::Insert(draft), Some("Anna")).wait()?;
    /// catalogue.start(Change::Delete(id, revision), None).wait()?;
    /// let again = catalogue.start(Change::Delete(id, None), None);
    /// assert!(matches!(again.wait(), Err(Error::NotFound(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn start(&self, change: Change, by: Option<&str>) -> Pending<Result<Receipt>>;

    /// Starts to look up the robot with this id. Must not block, as [`start`](Self::start).
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>>;

    /// The robot with exactly this name; of several, the one with the lowest id.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    fn find(&self, name: &str) -> Result<Option<Robot>>;

    /// The first robots of the request's order that come after its place and meet its filter: up to its limits,
    /// but one at least if there is any. A store may return more bytes than the request permits.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>>;

    /// Executes changes together: all of them take effect at one moment, or none does. Returns a
    /// receipt for each, in their order.
    ///
    /// Within that moment they take effect in their order: a change can take a name that one before it
    /// releases. Change each robot once. Apply up to some ten thousand changes per call: other writers
    /// may be blocked meanwhile, for a second or two.
    ///
    /// # Errors
    /// Those of [`start`](Self::start), for one of the changes that fail. None has taken
    /// effect then, except possibly all of them after [`Error::Unknown`](crate::Error::Unknown).
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Change, Draft, MemoryCatalogue, ValidDraft};
    /// let catalogue = MemoryCatalogue::new();
    /// let insert = |name| ValidDraft::new(Draft::new(name, "droid", 1977)).map(Change::Insert);
    /// let commit = catalogue.commit(vec![insert("R2-D2")?, insert("C-3PO")?], Some("Anna"))?;
    /// assert_eq!(catalogue.find("C-3PO")?.map(|robot| robot.id()), Some(commit.receipts[1].id));
    ///
    /// let result = catalogue.commit(vec![insert("BB-8")?, insert("C-3PO")?], Some("Anna"));
    /// assert_eq!(result.unwrap_err().to_string(), "The robot name must be unique");
    /// assert_eq!(catalogue.find("BB-8")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn commit(&self, changes: Vec<Change>, by: Option<&str>) -> Result<Commit>;

    /// Stores robots under the ids that they have, all of them or none.
    ///
    /// From then on, every new id is greater than [`Restoration::last_id`], also if that is greater
    /// than the id of every robot. Restore a few thousand robots per call: other writers are
    /// blocked for less than a second.
    ///
    /// # Errors
    /// [`Restoration::conflict`] for the robot with the lowest id whose id or name is taken, also by
    /// a robot of the same restoration. A taken id
    /// ([`Violation::ID_TAKEN`](crate::Violation::ID_TAKEN)) takes precedence over a taken name
    /// ([`Violation::NAME_TAKEN`](crate::Violation::NAME_TAKEN)).
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store),
    /// [`Error::Unknown`](crate::Error::Unknown).
    fn restore(&self, restoration: &Restoration) -> Result<()>;

    /// An upper bound of all ids ever assigned or restored, as small as the store knows it: usually
    /// the id of the newest robot, also if that robot was deleted. `None` if no robot was ever
    /// stored.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// assert_eq!(catalogue.last_id()?, None);
    /// let id = catalogue.add(Draft::new("R2-D2", "droid", 1977))?.id();
    /// catalogue.delete(id)?;
    /// assert_eq!(catalogue.last_id()?, Some(id));
    /// # Ok::<(), Error>(())
    /// ```
    fn last_id(&self) -> Result<Option<RobotId>>;

    /// The columns that other programs have added to the table of robots, whose values the catalogue does not
    /// know. The default has none.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    fn foreign_columns(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The numbers of robots that meet a filter, by their values of these fields: in any order, and equal values may come
    /// several times. Without fields, it is the number of all of them. The default reads the robots, all at once.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft, Error, Field, Filter, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// let counts = catalogue.counts(&Filter::all(), &[Field::TYPE])?;
    /// assert_eq!((&counts[0].values, counts[0].count), (&vec![Some("droid".into())], 1));
    /// # Ok::<(), Error>(())
    /// ```
    fn counts(&self, filter: &Filter, by: &[Field]) -> Result<Vec<Count>> {
        let robots = self.page(PageRequest::new(filter, &Cursor::default()))?;
        Ok(Count::of(&robots.items, by))
    }

    /// The values of a field that most robots of a filter have, up to a number of values. The default counts all values.
    ///
    /// # Errors
    /// As [`counts`](Self::counts).
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft, Error, Field, Filter, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// catalogue.add(Draft::new("BB-8", "droid", 2015))?;
    /// let years = catalogue.frequent_values(&Filter::all(), &Field::YEAR, 1)?;
    /// assert_eq!((&years.groups[..], years.others), (&[(Some(1977.into()), 1)][..], (1, 1)));
    /// # Ok::<(), Error>(())
    /// ```
    fn frequent_values(
        &self,
        filter: &Filter,
        field: &Field,
        limit: usize,
    ) -> Result<FrequentValues> {
        let counts = self.counts(filter, slice::from_ref(field))?.into_iter();
        let counts = counts.map(|mut one| (one.values.pop().flatten(), one.count));
        Ok(FrequentValues::new(counts, limit))
    }

    /// The definition of the catalogue, which the methods of [`CatalogueExt`](crate::CatalogueExt) check
    /// drafts by: by default the built-in one. Must not block.
    fn definition(&self) -> Arc<Definition> {
        Arc::clone(Definition::built_in())
    }

    /// Changes the definition of the catalogue. It takes effect at once in this process, and within a second
    /// in others. Robots that violate a new rule stay as they are. By default an error: the store has only
    /// the built-in definition.
    ///
    /// # Errors
    /// [`Error::DefinitionStale`](crate::Error::DefinitionStale) if the definition has another revision than
    /// the expected one; [`Error::DefinitionConflict`](crate::Error::DefinitionConflict) if robots exclude
    /// it. [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store),
    /// [`Error::Unknown`](crate::Error::Unknown).
    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        drop(redefinition);
        Err(Error::read_only(
            "the definition of this store cannot be changed",
        ))
    }

    /// The present position in the order of all changes: after those that are in effect. By default an error: the store
    /// keeps no history, and the same holds for [`changes`](Self::changes) and [`history`](Self::history).
    ///
    /// # Errors
    /// [`Error::NoHistory`](crate::Error::NoHistory).
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    fn position(&self) -> Result<Position> {
        Err(Error::NoHistory)
    }

    /// The first changes after a position, in their order: so many at most.
    ///
    /// # Errors
    /// [`Error::PositionGone`](crate::Error::PositionGone) if the position is not one of this catalogue, or changes after
    /// it are not kept any more. [`Error::NoHistory`](crate::Error::NoHistory).
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    ///
    /// ```
    /// # use robot_core::{Action, Catalogue, CatalogueExt, Draft, Extent, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// let start = catalogue.position()?;
    /// let id = catalogue.add(Draft::new("R2-D2", "droid", 1977))?.id();
    /// catalogue.delete(id)?;
    /// let latest = catalogue.changes(&start, Extent::Latest, 100)?;
    /// assert_eq!((latest.events[0].action, latest.events.len()), (Action::Deleted, 1));
    /// let every = catalogue.changes(&start, Extent::Every, 100)?;
    /// assert_eq!((every.events[0].action, every.events.len()), (Action::Added, 2));
    /// # Ok::<(), robot_core::Error>(())
    /// ```
    fn changes(&self, after: &Position, extent: Extent, limit: usize) -> Result<Changes> {
        let _ = (after, extent, limit);
        Err(Error::NoHistory)
    }

    /// The changes of a robot before a revision, or all, the latest first: so many at most. Also those of a deleted one.
    ///
    /// # Errors
    /// [`Error::NoHistory`](crate::Error::NoHistory).
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    fn history(&self, id: RobotId, before: Option<Revision>, limit: usize) -> Result<Vec<Event>> {
        let _ = (id, before, limit);
        Err(Error::NoHistory)
    }

    /// Removes some past versions that are not kept any more, the oldest first, and returns how many. Positions before
    /// their ends are gone. Call it until it returns 0; other writers are blocked for milliseconds. By default, there are
    /// none.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable), [`Error::Store`](crate::Error::Store).
    fn prune(&self, keep: Retention) -> Result<u64> {
        let _ = keep;
        Ok(0)
    }

    /// The files in which the store keeps its robots: none by default. Other code of the process
    /// must neither open nor replace them.
    fn files(&self) -> StoreFiles {
        StoreFiles::default()
    }
}

/// Implements [`Catalogue`] by forwarding every method to a target, with an author of changes. The lint rejects an implementation that
/// leaves a method to its default, which would lose the target's own.
macro_rules! forward_catalogue {
    ($type:ty, $self:ident => $target:expr, $by:ident => $author:expr) => {
        #[deny(clippy::missing_trait_methods)]
        impl<C: Catalogue + ?Sized> Catalogue for $type {
            fn start(&$self, change: Change, $by: Option<&str>) -> Pending<Result<Receipt>> {
                $target.start(change, $author)
            }
            fn start_get(&$self, id: RobotId) -> Pending<Result<Option<Robot>>> {
                $target.start_get(id)
            }
            fn find(&$self, name: &str) -> Result<Option<Robot>> {
                $target.find(name)
            }
            fn page(&$self, request: PageRequest<'_>) -> Result<Page<Robot>> {
                $target.page(request)
            }
            fn commit(&$self, changes: Vec<Change>, $by: Option<&str>) -> Result<Commit> {
                $target.commit(changes, $author)
            }
            fn restore(&$self, restoration: &Restoration) -> Result<()> {
                $target.restore(restoration)
            }
            fn last_id(&$self) -> Result<Option<RobotId>> {
                $target.last_id()
            }
            fn foreign_columns(&$self) -> Result<Vec<String>> {
                $target.foreign_columns()
            }
            fn counts(&$self, filter: &Filter, by: &[Field]) -> Result<Vec<Count>> {
                $target.counts(filter, by)
            }
            fn frequent_values(
                &$self,
                filter: &Filter,
                field: &Field,
                limit: usize,
            ) -> Result<FrequentValues> {
                $target.frequent_values(filter, field, limit)
            }
            fn definition(&$self) -> Arc<Definition> {
                $target.definition()
            }
            fn define(&$self, redefinition: Redefinition) -> Result<Arc<Definition>> {
                let $by = redefinition.by.as_deref();
                let by = $author.map(CompactString::from);
                $target.define(Redefinition { by, ..redefinition })
            }
            fn position(&$self) -> Result<Position> {
                $target.position()
            }
            fn changes(&$self, after: &Position, extent: Extent, limit: usize) -> Result<Changes> {
                $target.changes(after, extent, limit)
            }
            fn history(
                &$self,
                id: RobotId,
                before: Option<Revision>,
                limit: usize,
            ) -> Result<Vec<Event>> {
                $target.history(id, before, limit)
            }
            fn prune(&$self, keep: Retention) -> Result<u64> {
                $target.prune(keep)
            }
            fn files(&$self) -> StoreFiles {
                $target.files()
            }
        }
    };
}

forward_catalogue!(&C, self => **self, by => by);
forward_catalogue!(Box<C>, self => **self, by => by);
forward_catalogue!(Arc<C>, self => **self, by => by);

/// A catalogue whose changes have an author: the methods of [`CatalogueExt`](crate::CatalogueExt) name none.
///
/// ```
/// use robot_core::{AuthoredCatalogue, Catalogue, CatalogueExt, Draft, MemoryCatalogue};
///
/// let catalogue = MemoryCatalogue::new();
/// let robot = AuthoredCatalogue::new(&catalogue, "Anna").add(Draft::new("R2-D2", "droid", 1977))?;
/// let history = catalogue.history(robot.id(), None, 1)?;
/// assert_eq!(history[0].by.as_deref(), Some("Anna"));
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AuthoredCatalogue<C: ?Sized> {
    by: CompactString,
    catalogue: C,
}

impl<C: Catalogue> AuthoredCatalogue<C> {
    /// A catalogue whose changes have this author, unless they name another one.
    pub fn new(catalogue: C, by: impl Into<CompactString>) -> Self {
        let by = by.into();
        Self { by, catalogue }
    }
}

forward_catalogue!(AuthoredCatalogue<C>, self => self.catalogue, by => by.or(Some(&self.by)));
