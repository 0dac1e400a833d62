//! The operations for callers, on top of what a store implements.

use std::{slice, sync::Arc};

use super::{
    change::{Change, Receipt},
    cursor::{Cursor, Sort},
    error::{Error, Result},
    filter::Filter,
    page::PageRequest,
    pages::Pages,
    pending::Pending,
    revert::{self, Revert, Reverted},
    store::Catalogue,
    summary::{Summary, ValueCount, counted_values},
};
use crate::model::{
    Definition, Draft, Field, Member, Rejection, Revision, Robot, RobotId, ValidChanges,
    ValidDraft, Value, Violations, similar,
};

/// The operations of every [`Catalogue`] for callers: they check the rules, and use the methods of
/// the store.
///
/// Every store has it by a blanket implementation, so that a wrapper around a store cannot change
/// what these methods do. Import it beside [`Catalogue`].
pub trait CatalogueExt: Catalogue {
    /// Why a filter is a mistake: it names a value that is no choice of its field, and that no robot has. `None` if the
    /// filter is right. Robots may have values that were choices before.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    ///
    /// ```
    /// use robot_core::{CatalogueExt, Field, Filter, MemoryCatalogue};
    ///
    /// let catalogue = MemoryCatalogue::new();
    /// let message = catalogue.unknown_choice(&Filter::all().with(Field::TYPE, "druid"))?;
    /// assert_eq!(message.as_deref(), Some("type must be one of: droid, mechanical, virtual; did you mean droid?"));
    /// assert_eq!(catalogue.unknown_choice(&Filter::all().with(Field::TYPE, "droid"))?, None);
    /// # Ok::<(), robot_core::Error>(())
    /// ```
    fn unknown_choice(&self, filter: &Filter) -> Result<Option<String>> {
        for (field, value) in filter.unknown_choices() {
            if self.count(&Filter::all().with(field.clone(), value.clone()))? == 0 {
                let choices = field.choices().iter().map(AsRef::as_ref);
                let hint = similar(&value.to_string(), choices)
                    .map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"));
                return Ok(Some(format!(
                    "{field} must be {}{hint}",
                    field.requirement()
                )));
            }
        }
        Ok(None)
    }

    /// The number of robots that meet a filter.
    ///
    /// # Errors
    /// As [`Catalogue::counts`].
    ///
    /// ```
    /// # use robot_core::{CatalogueExt, Draft, Error, Field, Filter, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// assert_eq!(catalogue.count(&Filter::all().at_least(Field::YEAR, 1978))?, 0);
    /// # Ok::<(), Error>(())
    /// ```
    fn count(&self, filter: &Filter) -> Result<u64> {
        let counts = self.counts(filter, &[])?;
        Ok(counts.iter().map(|one| one.count).sum())
    }

    /// The numbers of robots that meet a filter, by type and decade.
    ///
    /// # Errors
    /// As [`Catalogue::counts`].
    fn summary(&self, filter: &Filter) -> Result<Summary> {
        let counts = self.counts(filter, &[Field::TYPE, Field::YEAR])?;
        Ok(Summary::of(counts))
    }

    /// The numbers of robots that meet a filter, by the values of a field, of dates by their years. The least
    /// value is first, and robots without a value are last.
    ///
    /// # Errors
    /// As [`Catalogue::counts`].
    fn value_counts(&self, filter: &Filter, field: &Field) -> Result<Vec<ValueCount>> {
        let counts = self.counts(filter, slice::from_ref(field))?.into_iter();
        let counts = counts.map(|mut one| (one.values.pop().flatten(), one.count));
        Ok(counted_values(field, counts))
    }

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
        match self.definition().validate(draft) {
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
        let checked = self.definition().validate(draft);
        self.update_by(id, None, &checked.map(ValidChanges::from))
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
    /// catalogue.patch(id, Draft { year: Some(1980), ..Draft::default() })?;
    /// assert_eq!(catalogue.find("R2-D2")?.and_then(|robot| robot.year()), Some(1980));
    /// # Ok::<(), Error>(())
    /// ```
    fn patch(&self, id: RobotId, draft: Draft) -> Result<()> {
        self.update_by(id, None, &self.definition().validate_patch(draft, &[]))
    }

    /// As [`patch`](Self::patch), if the robot still has the revision that the caller has read: a
    /// change of another caller is not overwritten.
    ///
    /// # Errors
    /// [`Error::NotFound`] if no robot has the id; [`Error::Stale`] if it has another revision,
    /// whatever the draft is; otherwise as [`patch`](Self::patch).
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft, Error, MemoryCatalogue};
    /// let catalogue = MemoryCatalogue::new();
    /// let read = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// let next_year = Draft { year: read.year().map(|year| year + 1), ..Draft::default() };
    /// catalogue.patch_if(read.id(), read.revision(), next_year.clone())?;
    /// let again = catalogue.patch_if(read.id(), read.revision(), next_year);
    /// assert!(matches!(again, Err(Error::Stale(_))));
    /// # Ok::<(), Error>(())
    /// ```
    fn patch_if(&self, id: RobotId, revision: Revision, draft: Draft) -> Result<()> {
        let checked = self.definition().validate_patch(draft, &[]);
        self.update_by(id, Some(revision), &checked)
    }

    /// The changes of a robot that a rejected draft makes, if only values violate rules that the robot has already.
    ///
    /// # Errors
    /// [`Error::Rejected`] with all rules that the others violate; [`Error::Unavailable`], [`Error::Store`].
    #[doc(hidden)]
    fn changes_of(&self, robot: &Robot, rejection: Rejection) -> Result<ValidChanges> {
        match rejection.changes_of(&self.definition(), robot) {
            Ok(changes) => Ok(changes),
            Err(rejection) => Err(self.violations(rejection, Some(robot.id()))?.into()),
        }
    }

    /// Changes a robot by valid changes, or else by [`changes_of`](Self::changes_of), again if another caller was faster and
    /// no revision is expected.
    ///
    /// # Errors
    /// As [`patch_if`](Self::patch_if).
    #[doc(hidden)]
    fn update_by(
        &self,
        id: RobotId,
        expected: Option<Revision>,
        checked: &Result<ValidChanges, Rejection>,
    ) -> Result<()> {
        loop {
            let change = match checked.clone() {
                Ok(changes) => Change::Update(id, expected, changes),
                Err(rejection) => {
                    let robot = self.get(id)?.ok_or(Error::NotFound(id))?;
                    let revision = Some(robot.revision());
                    if expected.is_some() && expected != revision {
                        return Err(Error::Stale(id));
                    }
                    Change::Update(id, revision, self.changes_of(&robot, rejection)?)
                }
            };
            match self.apply(change) {
                Err(Error::Stale(_)) if expected.is_none() => {}
                changed => return changed.map(drop),
            }
        }
    }

    /// All rules that a rejected draft violates, uniqueness included. `id` is the robot that the
    /// draft would replace, whose own values are free for it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no robot to replace; [`Error::Unavailable`],
    /// [`Error::Store`].
    fn violations(&self, rejection: Rejection, id: Option<RobotId>) -> Result<Violations> {
        if let Some(id) = id {
            self.get(id)?.ok_or(Error::NotFound(id))?;
        }
        let definition = self.definition();
        let value = |field: &Field| rejection.value(field).map(Value::into_owned);
        let taken = self.taken(&definition, value, id)?;
        Ok(rejection.violations.with_taken(&definition, &taken))
    }

    /// The robot with this value of a unique field.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn with_value(&self, field: &Field, value: Value<'static>) -> Result<Option<Robot>> {
        match value {
            Value::Id(id) => self.get(id),
            Value::Text(name) if field.member() == Member::Name => self.find(&name),
            value => {
                let filter = Filter::all().with(field.clone(), value);
                let mut robots = self.page(PageRequest {
                    limit: 1,
                    ..PageRequest::new(&filter, &Cursor::default())
                })?;
                Ok(robots.items.pop())
            }
        }
    }

    /// The unique fields whose values another robot has than the one with this id.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    #[doc(hidden)]
    fn taken(
        &self,
        definition: &Definition,
        value: impl Fn(&Field) -> Option<Value<'static>>,
        id: Option<RobotId>,
    ) -> Result<Vec<Field>> {
        let mut taken = Vec::new();
        for field in definition.unique() {
            let Some(value) = value(field) else {
                continue;
            };
            let holder = self.with_value(field, value)?;
            if holder.is_some_and(|robot| Some(robot.id()) != id) {
                taken.push(field.clone());
            }
        }
        Ok(taken)
    }

    /// Executes a change.
    ///
    /// # Errors
    /// Those of [`Catalogue::start`].
    fn apply(&self, change: Change) -> Result<Receipt> {
        self.start(change, None).wait()
    }

    /// Undoes changes, all or none, by changes of this catalogue's author. A robot that other changes have changed since is
    /// left alone. A deleted robot comes back under its id.
    ///
    /// # Errors
    /// [`Error::NotReverted`] if robots cannot have their earlier values by the present rules;
    /// [`Error::TooManyChanges`]; [`Error::Stale`] or [`Error::Rejected`] if another client has changed them meanwhile;
    /// those of [`changes`](Catalogue::changes) and [`commit`](Catalogue::commit).
    fn revert(&self, revert: &Revert) -> Result<Reverted> {
        revert::revert(self, revert, &|rejection, id| {
            self.violations(rejection, id)
        })
    }

    /// Gives a robot the values again that a version had, by a new change. A deleted robot comes back under its id. If it
    /// has these values, nothing changes. Returns the robot.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the history has nothing of the robot; [`Error::NoSuchVersion`]; [`Error::Stale`] if the robot
    /// has another revision than the expected one, or another client has changed it meanwhile; [`Error::Rejected`] if the
    /// values violate the present rules; those of [`history`](Catalogue::history) and [`start`](Catalogue::start).
    fn revert_to(
        &self,
        id: RobotId,
        revision: Revision,
        expected: Option<Revision>,
    ) -> Result<Robot> {
        let explain = |rejection, id| self.violations(rejection, id);
        revert::revert_to(self, id, revision, expected, &explain)
    }

    /// Executes changes together, as [`commit`](Catalogue::commit) does, without an author.
    ///
    /// # Errors
    /// Those of [`commit`](Catalogue::commit).
    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<Receipt>> {
        self.commit(changes, None).map(|commit| commit.receipts)
    }

    /// Stores a new robot, and returns it with its id.
    ///
    /// # Errors
    /// Those of [`Catalogue::start`].
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        let receipt = self.apply(Change::Insert(draft.clone()))?;
        Ok(receipt.new_robot(draft))
    }

    /// Sets the members that `changes` has, all together. The others keep the values that they have
    /// at that moment.
    ///
    /// # Errors
    /// Those of [`Catalogue::start`].
    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.apply(Change::Update(id, None, changes)).map(drop)
    }

    /// Removes a robot.
    ///
    /// # Errors
    /// Those of [`Catalogue::start`].
    fn delete(&self, id: RobotId) -> Result<()> {
        self.apply(Change::Delete(id, None)).map(drop)
    }

    /// The robot with this id.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.start_get(id).wait()
    }

    /// The robot with this id and at least the values of these fields: also those of [`Field::AUDIT`].
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Store`].
    fn get_with(&self, id: RobotId, fields: &[Field]) -> Result<Option<Robot>> {
        if !fields.iter().any(Field::is_audit) {
            return self.get(id);
        }
        let filter = Filter::all().with(Field::ID, Value::Id(id));
        let cursor = Cursor::start(Sort::BY_ID);
        let request = PageRequest {
            fields,
            ..PageRequest::new(&filter, &cursor)
        };
        Ok(self.page(request)?.items.pop())
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

    /// Starts [`add`](Self::add), for callers that must not block.
    ///
    /// ```
    /// # use robot_core::{Catalogue, CatalogueExt, Draft};
    /// let catalogue = robot_core::open("memory:")?;
    /// let robot = catalogue.start_add(Draft::new("R2-D2", "droid", 1977)).wait()?;
    /// assert_eq!(catalogue.start_get(robot.id()).wait()?, Some(robot));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn start_add(self: &Arc<Self>, draft: Draft) -> Pending<Result<Robot>>
    where
        Self: 'static,
    {
        match self.definition().validate(draft) {
            Ok(draft) => {
                let receipt = self.start(Change::Insert(draft.clone()), None);
                receipt.map(|receipt| Ok(receipt?.new_robot(draft)))
            }
            Err(rejection) => {
                let catalogue = Arc::clone(self);
                Pending::blocking(move || Err(catalogue.violations(rejection, None)?.into()))
            }
        }
    }
}

impl<C: Catalogue + ?Sized> CatalogueExt for C {}
