//! Import of records into a catalogue: many writes are in flight, and outcomes are returned in the
//! order of the records.

mod lookups;
mod steps;
mod wanted;

pub(super) use self::steps::{RETRY_LIMIT, RETRY_PAUSE, contended, is_conflict};

use std::{
    collections::VecDeque,
    iter::{Fuse, FusedIterator},
    sync::Arc,
};

use self::wanted::{Known, Step, Wanted};
use super::{
    import_metrics::ImportMetrics,
    names::Names,
    outcome::{ChangedValue, ImportError, ImportOptions, Outcome},
    position::RecordPosition,
    record::{ReadError, Record, Values},
};
use crate::{
    catalogue::{Catalogue, Change, Error},
    model::{Definition, Field, Member, Messages, RobotId, Value},
};

/// The default limit of writes in flight. Too low, and a store cannot share one commit among many;
/// too high, and writes of other callers wait in the same queue. The queue of the SQLite store
/// holds four times as many.
const IN_FLIGHT: usize = 1024;

/// The number of bytes of records in flight, for each write in flight that is permitted. Lower, and records of usual
/// length are fewer in flight than the limit; higher, and an import of large robots needs more memory.
const RECORD_BYTES: usize = 256;

/// Imports records into a catalogue, in their order, and returns the outcome of each.
///
/// Many writes are in flight at a time, so that an SQLite store commits them together. The result
/// is as if each record were processed when those before it are done: of two records with the same
/// name, the later one finds the robot of the first. Outcomes that were returned are durable. An
/// iterator that is dropped early may have stored a few more robots than it returned.
/// [`import_atomically`](super::import_atomically) stores all records or none.
///
/// If the import stops at a record that fails, no later record is stored,
/// unless another caller takes a unique value, or the store fails, between the look-up of the value and
/// the write; the outcomes of later records that were stored are then returned as well.
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
    let definition = catalogue.definition();
    Import {
        stored: Arc::clone(&definition),
        definition,
        // Without it, robots that are added by the import itself may be taken for earlier ones.
        last: catalogue.last_id().unwrap_or(Some(RobotId::GREATEST)),
        catalogue,
        records: records.into_iter().fuse(),
        options,
        in_flight: VecDeque::new(),
        limit: IN_FLIGHT,
        bytes: 0,
        waiting: None,
        names: Names::default(),
        given_up: Names::default(),
        present: Names::default(),
        dropped: 0,
        is_closed: false,
        is_unreadable: false,
        has_failed: false,
        changes: None,
        changed: Vec::new(),
        known: Vec::new(),
        metrics: Some(ImportMetrics::new()),
    }
}

/// The outcomes of an [`import()`], in the order of the records.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::MemoryCatalogue;
/// use robot_core::transfer::{FileFormat, ImportOptions, Records, import};
///
/// let records = Records::new("[]".as_bytes(), FileFormat::Json);
/// let mut outcomes = import(Arc::new(MemoryCatalogue::new()), records, ImportOptions::default());
/// assert!(outcomes.next().is_none());
/// ```
#[must_use = "nothing is stored before it is read"]
pub struct Import<C, I> {
    /// The definition that checks the records.
    definition: Arc<Definition>,
    /// The definition of the catalogue.
    stored: Arc<Definition>,
    /// The greatest id that was assigned before the import.
    last: Option<RobotId>,
    catalogue: C,
    records: Fuse<I>,
    options: ImportOptions,
    in_flight: VecDeque<(RecordPosition, Wanted, Step)>,
    /// The limit of writes in flight.
    limit: usize,
    /// The number of bytes of the records in flight, about.
    bytes: usize,
    /// A record that waits, because a record with the same name, or another unique value, is in flight.
    waiting: Option<(RecordPosition, Wanted)>,
    /// The unique values in flight; in a dry run, all that would have been added. And the ids of records.
    names: Names,
    /// In a dry run, the unique values that robots would have given up.
    given_up: Names,
    /// The names whose robots were looked up, and the values of these robots.
    present: Names,
    /// The number of records that were read, but dropped after a failure.
    dropped: usize,
    /// Whether to read no more records.
    is_closed: bool,
    /// Whether the input has failed.
    is_unreadable: bool,
    /// Whether the store or the input has failed.
    has_failed: bool,
    /// The changes that are collected.
    changes: Option<Vec<Change>>,
    /// In a dry run, the first values that robots would get.
    pub(super) changed: Vec<ChangedValue>,
    known: Vec<Known>,
    /// `None` in a dry run of a plan, whose definition does not follow that of the catalogue.
    metrics: Option<ImportMetrics>,
}

impl<C: Catalogue, I: Iterator<Item = Result<Record, ReadError>>> Import<C, I> {
    /// A dry run as if the catalogue had a definition, which is not measured.
    pub(super) fn dry_run(
        catalogue: C,
        records: I,
        options: ImportOptions,
        definition: &Arc<Definition>,
    ) -> Self {
        let options = ImportOptions {
            keeps_going: true,
            is_dry_run: true,
            ..options
        };
        let import = import(catalogue, records, options);
        let known = |field: &Field| Known {
            field: field.clone(),
            robots: 0,
        };
        Self {
            definition: Arc::clone(definition),
            known: import.stored.unique().map(known).collect(),
            metrics: None,
            ..import
        }
    }

    /// A dry run that also collects the changes.
    pub(super) fn plan(catalogue: C, records: I, options: ImportOptions) -> Self {
        let definition = catalogue.definition();
        Self {
            changes: Some(Vec::new()),
            ..Self::dry_run(catalogue, records, options, &definition)
        }
    }

    /// The changes of a [`plan`](Self::plan).
    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes.unwrap_or_default()
    }

    /// The number of records that were not tried because an earlier one ended the import, to be
    /// called after the last outcome. Reads the rest of the records to count them; `None` if they
    /// cannot be read to their end.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use robot_core::MemoryCatalogue;
    /// use robot_core::transfer::{FileFormat, ImportOptions, Records, import};
    ///
    /// let file = "name,type,year\nR2-D2,toaster,1977\nC-3PO,droid,1977\n";
    /// let records = Records::new(file.as_bytes(), FileFormat::Csv);
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
            count += 1;
        }
        count.try_into().ok()
    }

    /// Limits the writes in flight.
    pub(crate) fn in_flight(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    fn is_full(&self) -> bool {
        self.in_flight.len() >= self.limit || self.bytes >= self.limit * RECORD_BYTES
    }

    /// Starts writes up to the limit.
    fn fill(&mut self) {
        while !self.is_full() {
            let Some((position, wanted)) = self.waiting.take().or_else(|| self.read()) else {
                return;
            };
            if !self.options.is_dry_run && !self.known(&wanted).is_empty() {
                self.waiting = Some((position, wanted));
                return;
            }
            let step = self.start(&wanted);
            let step = step.unwrap_or_else(|error| Step::Done(self.skipped(error)));
            self.push(position, wanted, step);
        }
    }

    /// The next record that is well-formed. Malformed records before it are queued.
    fn read(&mut self) -> Option<(RecordPosition, Wanted)> {
        while !self.is_closed && !self.is_full() {
            let record = self.records.next()?;
            if let Some(metrics) = &self.metrics {
                metrics.read.increment(1);
                // It may have changed since the record before.
                self.stored = self.catalogue.definition();
                self.definition = Arc::clone(&self.stored);
            }
            let (position, error) = match record {
                Ok(Record { position, values }) => {
                    match values.and_then(|values| self.validate(values)) {
                        Ok(wanted) => return Some((position, wanted)),
                        Err(messages) => (position, ImportError::Malformed(messages)),
                    }
                }
                Err(error) => {
                    self.is_unreadable = true;
                    (error.position(), error.into())
                }
            };
            self.push(position, Wanted::Nothing, Step::Done(Err(error)));
        }
        None
    }

    /// Checks the rules of a record. An id that is given twice is malformed.
    fn validate(&mut self, values: Values) -> Result<Wanted, Messages> {
        let Some(key) = self.options.key() else {
            let draft = self.definition.validate(values.draft);
            return Ok(draft.map_or_else(Wanted::Invalid, |draft| {
                Wanted::Robot(draft, values.removed)
            }));
        };
        let value = if key.member() == Member::Id {
            values.id.map(Value::Id)
        } else {
            values.draft.value(key).map(Value::into_owned)
        };
        let value = value.ok_or_else(|| {
            vec![format!("The record has no {key}, which finds its robot").into()]
        })?;
        if !self.names.insert(&format!("\0{value}")).0 {
            let message =
                format!("An earlier record has the {key} {value}, too; give each {key} once");
            return Err(vec![message.into()]);
        }
        Ok(Wanted::Change(value, values))
    }

    /// Queues a step, and decides whether to read on after it.
    fn push(&mut self, position: RecordPosition, wanted: Wanted, step: Step) {
        self.is_closed |= match &step {
            Step::Done(Err(error)) => self.ends_with(error),
            _ => false,
        };
        self.bytes += wanted.size();
        self.in_flight.push_back((position, wanted, step));
    }

    fn ends_with(&self, error: &ImportError) -> bool {
        !self.options.keeps_going || !error.is_record_error()
    }

    /// Reads no more records, and discards the queued ones that have not started.
    fn close(&mut self) {
        self.is_closed = true;
        let read = self.in_flight.len() + usize::from(self.waiting.take().is_some());
        self.in_flight.retain(
            |(.., step)| matches!(step, Step::Started(write) if !write.outcome.is_unstarted()),
        );
        self.dropped += read - self.in_flight.len();
    }
}

impl<C: Catalogue, I: Iterator<Item = Result<Record, ReadError>>> Iterator for Import<C, I> {
    type Item = Outcome;

    fn next(&mut self) -> Option<Outcome> {
        loop {
            self.fill();
            let (position, wanted, step) = self.in_flight.pop_front()?;
            self.bytes = self.bytes.saturating_sub(wanted.size());
            let (result, id) = match self.finish(&wanted, step) {
                Ok((stored, id)) => (Ok(stored), id),
                Err(error) => (Err(error), None),
            };
            match &result {
                // A store that accepts no changes is reported once.
                Err(ImportError::Store(
                    Error::Unavailable(_)
                    | Error::DiskFull(_)
                    | Error::ReadOnly(_)
                    | Error::RestartRequired(_),
                )) if self.has_failed => {
                    self.dropped += 1;
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
            return Some(Outcome {
                position,
                id,
                result,
            });
        }
    }
}

impl<C: Catalogue, I: Iterator<Item = Result<Record, ReadError>>> FusedIterator for Import<C, I> {}
