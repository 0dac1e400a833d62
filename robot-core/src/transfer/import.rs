//! Import of records into a catalogue: many writes are in flight, and outcomes are returned in the
//! order of the records.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    iter::{Fuse, FusedIterator},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{
    import_metrics::ImportMetrics,
    names::Names,
    outcome::{ImportError, ImportOptions, OnConflict, Outcome, Stored},
    position::Position,
    record::{ReadError, Record},
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Error, Pending, Result as StoreResult},
    model::{
        Definition, Field, Rejection, Revision, RobotId, ValidDraft, Value, Violation, Violations,
    },
};

/// The default limit of writes in flight. Too low, and a store cannot share one commit among many;
/// too high, and writes of other callers wait in the same queue. The queue of the SQLite store
/// holds four times as many.
const IN_FLIGHT: usize = 1024;

/// How long a record or an atomic import is retried, and the pause between two attempts.
pub(super) const RETRY_LIMIT: Duration = Duration::from_secs(2);
pub(super) const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Imports records into a catalogue, in their order, and returns the outcome of each.
///
/// Many writes are in flight at a time, so that an SQLite store commits them together. The result
/// is as if each record were processed when those before it are done: of two records with the same
/// name, the later one finds the robot of the first. Outcomes that were returned are durable. An
/// iterator that is dropped early may have stored a few more robots than it returned.
/// [`import_atomically`](super::import_atomically) stores all records or none.
///
/// If the import stops at a record that fails, no later record is stored,
/// unless another caller takes a name, or the store fails, between the look-up of the name and the
/// write; the outcomes of later records that were stored are then returned as well.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{CatalogueExt, Draft};
/// use robot_core::transfer::{ImportOptions, Record, import};
///
/// let catalogue = robot_core::open("memory:")?;
/// let drafts = ["R2-D2", "C-3PO"].map(|name| Draft::new(name, "droid", 1977));
/// for outcome in import(Arc::clone(&catalogue), Record::numbered(drafts), ImportOptions::default()) {
///     outcome.result?;
/// }
/// assert_eq!(catalogue.list()?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn import<C: Catalogue, I>(
    catalogue: C,
    records: I,
    options: ImportOptions,
) -> Import<C, I::IntoIter>
where
    I: IntoIterator<Item = Result<Record, ReadError>>,
{
    let metrics = Some(ImportMetrics::new());
    Import {
        metrics,
        ..Import::unmeasured(catalogue, records, options)
    }
}

impl<C: Catalogue, I: Iterator<Item = Result<Record, ReadError>>> Import<C, I> {
    fn unmeasured(
        catalogue: C,
        records: impl IntoIterator<IntoIter = I>,
        options: ImportOptions,
    ) -> Self {
        Import {
            definition: catalogue.definition(),
            catalogue,
            records: records.into_iter().fuse(),
            options,
            in_flight: VecDeque::new(),
            limit: IN_FLIGHT,
            waiting: None,
            names: Names::default(),
            dropped: 0,
            is_closed: false,
            is_unreadable: false,
            has_failed: false,
            changes: Vec::new(),
            planned: None,
            metrics: None,
        }
    }

    /// A dry run that also collects the changes.
    pub(super) fn plan(
        catalogue: C,
        records: impl IntoIterator<IntoIter = I>,
        on_conflict: OnConflict,
    ) -> Self {
        let options = ImportOptions {
            on_conflict,
            keeps_going: true,
            is_dry_run: true,
        };
        Self {
            planned: Some(HashMap::new()),
            ..Self::unmeasured(catalogue, records, options)
        }
    }

    /// The changes of a [`plan`](Self::plan).
    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }
}

/// The outcomes of an [`import()`], in the order of the records.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::MemoryCatalogue;
/// use robot_core::transfer::{Format, ImportOptions, Records, import};
///
/// let records = Records::new("[]".as_bytes(), Format::Json);
/// let mut outcomes = import(Arc::new(MemoryCatalogue::new()), records, ImportOptions::default());
/// assert!(outcomes.next().is_none());
/// ```
#[must_use = "nothing is stored before it is read"]
pub struct Import<C, I> {
    definition: Arc<Definition>,
    catalogue: C,
    records: Fuse<I>,
    options: ImportOptions,
    in_flight: VecDeque<(Position, Step)>,
    /// The limit of writes in flight.
    limit: usize,
    /// A record that waits, because a record with the same name, or another unique value, is in flight.
    waiting: Option<(Position, Validated)>,
    /// The unique values in flight; in a dry run, all that would have been added.
    names: Names,
    /// The number of records that were read, but dropped after a failure.
    dropped: u64,
    /// Whether to read no more records.
    is_closed: bool,
    /// Whether the input has failed.
    is_unreadable: bool,
    /// Whether the store or the input has failed.
    has_failed: bool,
    /// The changes that a plan has collected.
    changes: Vec<Change>,
    /// The index of the change for a name, in a plan.
    planned: Option<HashMap<String, usize>>,
    metrics: Option<ImportMetrics>,
}

/// A draft after its rules were checked, except that its name is unique.
type Validated = Result<ValidDraft, Rejection>;

/// The processing of a record, to be finished when the records before it are.
enum Step {
    Done(Result<Stored, ImportError>),
    Started(Write),
}

/// A write in flight.
struct Write {
    outcome: Pending<StoreResult<RobotId>>,
    /// The result if it succeeds.
    stored: Stored,
    draft: ValidDraft,
}

impl<C: Catalogue, I: Iterator<Item = Result<Record, ReadError>>> Import<C, I> {
    /// The number of records that were not tried because an earlier one ended the import, to be
    /// called after the last outcome. Reads the rest of the records to count them; `None` if they
    /// cannot be read to their end.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use robot_core::MemoryCatalogue;
    /// use robot_core::transfer::{Format, ImportOptions, Records, import};
    ///
    /// let file = "name,type,year\nR2-D2,toaster,1977\nC-3PO,droid,1977\n";
    /// let records = Records::new(file.as_bytes(), Format::Csv);
    /// let mut outcomes = import(Arc::new(MemoryCatalogue::new()), records, ImportOptions::default());
    /// assert_eq!(outcomes.by_ref().count(), 1);
    /// assert_eq!(outcomes.not_tried(), Some(1));
    /// ```
    pub fn not_tried(&mut self) -> Option<u64> {
        if self.is_unreadable {
            return None;
        }
        let mut count = self.dropped;
        for record in self.records.by_ref() {
            record.ok()?;
            count = count.saturating_add(1);
        }
        Some(count)
    }

    /// Limits the writes in flight.
    pub(crate) fn in_flight(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Starts writes up to the limit.
    fn fill(&mut self) {
        while self.in_flight.len() < self.limit {
            let Some((position, draft)) = self.waiting.take().or_else(|| self.read()) else {
                return;
            };
            let in_flight = match &draft {
                Ok(draft) => self.known(|field| draft.value(field)),
                Err(rejection) => self.known(|field| rejection.value(field)),
            };
            if !self.options.is_dry_run && !in_flight.is_empty() {
                self.waiting = Some((position, draft));
                return;
            }
            let step = match draft {
                Ok(draft) => self.start(draft),
                Err(rejection) => Step::Done(Err(self.violations(rejection).into())),
            };
            self.push(position, step);
        }
    }

    /// The next record that is well-formed. Malformed records before it are queued.
    fn read(&mut self) -> Option<(Position, Validated)> {
        while !self.is_closed && self.in_flight.len() < self.limit {
            let record = self.records.next()?;
            if let Some(metrics) = &self.metrics {
                metrics.read.increment(1);
            }
            match record {
                Ok(Record { position, draft }) => {
                    match draft.map(|draft| self.definition.validate(draft)) {
                        Ok(validated) => return Some((position, validated)),
                        Err(messages) => {
                            self.push(position, Step::Done(Err(ImportError::Malformed(messages))));
                        }
                    }
                }
                Err(error) => {
                    self.is_unreadable = true;
                    self.push(error.position(), Step::Done(Err(error.into())));
                }
            }
        }
        None
    }

    /// Queues a step, and decides whether to read on after it.
    fn push(&mut self, position: Position, step: Step) {
        self.is_closed |= match &step {
            Step::Done(Err(error)) => self.ends_with(error),
            _ => false,
        };
        self.in_flight.push_back((position, step));
    }

    fn ends_with(&self, error: &ImportError) -> bool {
        !self.options.keeps_going || !error.is_record_error()
    }

    /// Starts the write of a record, or returns its result if none is needed. The look-up chooses
    /// between insert and update; the store checks the name again. Without it, an insert that fails
    /// would use up an id on a database server.
    fn start(&mut self, draft: ValidDraft) -> Step {
        let holder = match self.holder(&draft) {
            Ok(holder) => holder,
            Err(error) => return Step::Done(Err(error.into())),
        };
        let is_dry_run = self.options.is_dry_run;
        let planned = self.known(|field| draft.value(field));
        let is_taken = holder.is_some() || planned.contains(&Field::NAME);
        if is_taken && let Some(result) = self.options.on_conflict.without_write() {
            return Step::Done(result);
        }
        let stored = if is_taken {
            Stored::Replaced
        } else {
            Stored::Added
        };
        if is_dry_run {
            let id = holder.map(|(id, _)| id);
            if let Err(error) = self.check_own_values(&draft, id, &planned) {
                return Step::Done(Err(error.into()));
            }
            self.each_key(&draft, Names::insert);
            self.collect(holder, &draft);
            return Step::Done(Ok(stored));
        }
        self.each_key(&draft, Names::insert);
        Step::Started(Write {
            outcome: self.catalogue.start(write(holder, &draft)),
            stored,
            draft,
        })
    }

    /// The robot that has the name of a draft, if names are unique.
    fn holder(&self, draft: &ValidDraft) -> StoreResult<Option<(RobotId, Revision)>> {
        if !self.definition.has_unique_names() {
            return Ok(None);
        }
        let holder = self.catalogue.find(draft.name())?;
        Ok(holder.map(|robot| (robot.id(), robot.revision())))
    }

    /// The unique fields whose values are in flight or, in a dry run, in an earlier record.
    fn known<'v>(&self, value: impl Fn(Field) -> Option<Value<'v>>) -> Vec<Field> {
        let is_known = |field: &Field| {
            value(*field).is_some_and(|value| self.names.contains(&key(*field, &value)))
        };
        self.definition.unique().filter(is_known).collect()
    }

    /// Calls a function with each unique value of a draft.
    fn each_key(&mut self, draft: &ValidDraft, call: fn(&mut Names, &str)) {
        for field in self.definition.unique() {
            if let Some(value) = draft.value(field) {
                call(&mut self.names, &key(field, &value));
            }
        }
    }

    /// Fails if another robot, or an earlier record, has a value of the draft that is unique, besides the
    /// name. The values of an earlier record of the same name are replaced.
    fn check_own_values(
        &self,
        draft: &ValidDraft,
        id: Option<RobotId>,
        planned: &[Field],
    ) -> StoreResult<()> {
        let value = |field: Field| {
            draft
                .value(field)
                .filter(|_| field.is_own())
                .map(Value::into_owned)
        };
        let mut taken = self.catalogue.taken(&self.definition, value, id)?;
        if !planned.contains(&Field::NAME) {
            let unique = self.definition.unique();
            let is_taken = |field: &Field| taken.contains(field) || planned.contains(field);
            taken = unique.filter(is_taken).collect();
        }
        if taken.is_empty() {
            return Ok(());
        }
        Err(Violations::taken(&taken).into())
    }

    /// Adds the change to a plan, instead of the one for an earlier record with the same name.
    fn collect(&mut self, holder: Option<(RobotId, Revision)>, draft: &ValidDraft) {
        let Some(planned) = &mut self.planned else {
            return;
        };
        if !self.definition.has_unique_names() {
            self.changes.push(write(holder, draft));
            return;
        }
        let new = self.changes.len();
        let index = *planned.entry(draft.name().to_owned()).or_insert(new);
        match self.changes.get_mut(index) {
            Some(change) => *change = write(holder, draft),
            None => self.changes.push(write(holder, draft)),
        }
    }

    /// Finishes a step.
    fn finish(&mut self, step: Step) -> Result<Stored, ImportError> {
        match step {
            Step::Done(result) => result,
            Step::Started(write) => {
                self.each_key(&write.draft, Names::remove);
                let Err(error) = write.outcome.wait() else {
                    return Ok(write.stored);
                };
                if self.is_retried(&error) && !self.has_failed {
                    self.retry(&write.draft, error)
                } else {
                    Err(error.into())
                }
            }
        }
    }

    /// All rules that a draft violates.
    fn violations(&self, rejection: Rejection) -> Error {
        if self.options.on_conflict != OnConflict::Fail {
            // A name that is taken would be no failure.
            return Error::Rejected(rejection.violations().clone());
        }
        // None are in flight.
        let planned = self.known(|field| rejection.value(field));
        match self.catalogue.violations(rejection, None) {
            Ok(violations) => Error::Rejected(violations.with_taken(&self.definition, &planned)),
            Err(error) => error,
        }
    }

    /// Whether a record is processed again after an error.
    fn is_retried(&self, error: &Error) -> bool {
        match error {
            // Otherwise the robot that has taken the name is skipped or replaced.
            Error::Rejected(_) if self.options.on_conflict == OnConflict::Fail => false,
            Error::Unavailable(_) => true,
            error => is_conflict(error),
        }
    }

    /// Processes a record by itself, after another caller added, changed or deleted the robot
    /// since the look-up, or the store had no capacity.
    fn retry(&self, draft: &ValidDraft, error: Error) -> Result<Stored, ImportError> {
        let deadline = Instant::now() + RETRY_LIMIT;
        let mut last = error;
        while Instant::now() < deadline {
            match self.attempt(draft) {
                Err(ImportError::Store(error)) if self.is_retried(&error) => last = error,
                outcome => return outcome,
            }
            thread::sleep(RETRY_PAUSE);
        }
        Err(match last {
            Error::NotFound(_) | Error::Stale(_) => contended().into(),
            last => last.into(),
        })
    }

    fn attempt(&self, draft: &ValidDraft) -> Result<Stored, ImportError> {
        let Some((id, revision)) = self.holder(draft)? else {
            self.catalogue.insert(draft.clone())?;
            return Ok(Stored::Added);
        };
        if let Some(result) = self.options.on_conflict.without_write() {
            return result;
        }
        let changes = draft.clone().into();
        self.catalogue.update_if(id, revision, changes)?;
        Ok(Stored::Replaced)
    }

    /// Reads no more records, and discards the queued ones that have not started.
    fn close(&mut self) {
        self.is_closed = true;
        let read = self.in_flight.len() + usize::from(self.waiting.take().is_some());
        self.in_flight.retain(
            |(_, step)| matches!(step, Step::Started(write) if !write.outcome.is_unstarted()),
        );
        self.drop_records(read - self.in_flight.len());
    }

    fn drop_records(&mut self, count: usize) {
        let count = count.try_into().unwrap_or(u64::MAX);
        self.dropped = self.dropped.saturating_add(count);
    }
}

/// The text that identifies a value of a unique field. Names, which are most of these values, have no NUL.
fn key<'v>(field: Field, value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Text(name) if field == Field::NAME => Cow::Borrowed(name),
        value => Cow::Owned(format!("{field}\0{value}")),
    }
}

/// The change that stores a draft as a new robot, or as one with this id, unless that was changed since
/// the look-up: it might have another name.
fn write(holder: Option<(RobotId, Revision)>, draft: &ValidDraft) -> Change {
    match holder {
        Some((id, revision)) => Change::UpdateIf(id, revision, draft.clone().into()),
        None => Change::Insert(draft.clone()),
    }
}

/// The error of the last attempt, if other callers have changed the robot before each.
pub(super) fn contended() -> Error {
    Error::unavailable("other clients change the robots of an import all the time")
}

/// Whether a write failed because the name was taken, or the robot changed or deleted, since the look-up.
pub(super) fn is_conflict(error: &Error) -> bool {
    match error {
        Error::NotFound(_) | Error::Stale(_) => true,
        Error::Rejected(violations) => violations.iter().eq([&Violation::NAME_TAKEN]),
        _ => false,
    }
}

impl<C: Catalogue, I: Iterator<Item = Result<Record, ReadError>>> Iterator for Import<C, I> {
    type Item = Outcome;

    fn next(&mut self) -> Option<Outcome> {
        loop {
            self.fill();
            let (position, step) = self.in_flight.pop_front()?;
            let result = self.finish(step);
            match &result {
                // A store that accepts no changes is reported once.
                Err(ImportError::Store(
                    Error::Unavailable(_)
                    | Error::DiskFull(_)
                    | Error::ReadOnly(_)
                    | Error::RestartRequired(_),
                )) if self.has_failed => {
                    self.drop_records(1);
                    continue;
                }
                Err(error) if self.ends_with(error) => {
                    self.has_failed |= !error.is_record_error();
                    self.close();
                }
                _ => {}
            }
            if self.metrics.is_some() {
                ImportMetrics::count(&result);
            }
            return Some(Outcome { position, result });
        }
    }
}

impl<C: Catalogue, I: Iterator<Item = Result<Record, ReadError>>> FusedIterator for Import<C, I> {}
