//! Import of records of which all are stored, or none.

use std::{collections::HashSet, thread, time::Instant};

use super::{
    import::{Import, RETRY_LIMIT, RETRY_PAUSE, contended, is_conflict},
    import_metrics::ImportMetrics,
    outcome::{ATOMIC_LIMIT, ImportError, ImportOptions, Outcome, Stored},
    position::RecordPosition,
    record::{ReadError, Record},
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Error, Receipt},
    model::Field,
};

/// Imports records into a catalogue, up to [`ATOMIC_LIMIT`], all of them or none. Other callers see all
/// of their robots or none.
///
/// The result has the outcome of each record if none fails. Otherwise nothing was stored, and it has
/// the outcome of every record that fails, whatever `keeps_going` is; only a
/// failure of the store or the input, or too many records, ends the import at once. After
/// [`Error::Unknown`], either all records or none were stored.
///
/// The outcomes are those of an [`import()`](super::import()) of the same records: of two with the
/// same name, the later one fails.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue};
/// use robot_core::transfer::{ImportOptions, Record, import_atomically};
///
/// let catalogue = MemoryCatalogue::new();
/// let import = |names: [&str; 3]| {
///     let drafts = names.map(|name| Draft::new(name, "droid", 1977));
///     import_atomically(&catalogue, Record::numbered(drafts), &ImportOptions::default())
/// };
/// let failed = import(["R2-D2", "C-3PO", "R2-D2"]);
/// assert_eq!(failed.len(), 1);
/// assert_eq!(failed[0].position.to_string(), "record 3");
/// assert!(catalogue.list()?.is_empty());
///
/// let stored = import(["R2-D2", "C-3PO", "BB-8"]);
/// assert!(stored.iter().all(|outcome| outcome.result.is_ok()));
/// assert_eq!(catalogue.list()?.len(), 3);
/// # Ok::<(), robot_core::Error>(())
/// ```
pub fn import_atomically<C: Catalogue + ?Sized>(
    catalogue: &C,
    records: impl IntoIterator<Item = Result<Record, ReadError>>,
    options: &ImportOptions,
) -> Vec<Outcome> {
    let metrics = ImportMetrics::new();
    let outcomes = match read(records, &metrics) {
        Ok((records, end)) => run(catalogue, &records, end, options),
        Err(failure) => vec![failure],
    };
    for outcome in &outcomes {
        ImportMetrics::count(&outcome.result);
    }
    outcomes
}

/// The records up to the end of the input, or to a place that cannot be parsed, and the outcome of that.
/// Fails if the input cannot be read or is too long.
fn read(
    records: impl IntoIterator<Item = Result<Record, ReadError>>,
    metrics: &ImportMetrics,
) -> Result<(Vec<Record>, Option<Outcome>), Outcome> {
    let mut read = Vec::new();
    for record in records {
        metrics.read.increment(1);
        match record {
            Ok(Record { position, .. }) if read.len() == ATOMIC_LIMIT => {
                return Err(position.failed(ImportError::TooMany));
            }
            Ok(record) => read.push(record),
            Err(error @ ReadError::Input { .. }) => return Err(error.position().failed(error)),
            Err(error) => return Ok((read, Some(error.position().failed(error)))),
        }
    }
    Ok((read, None))
}

/// Plans the changes and applies them, again after a conflict.
fn run<C: Catalogue + ?Sized>(
    catalogue: &C,
    records: &[Record],
    mut end: Option<Outcome>,
    options: &ImportOptions,
) -> Vec<Outcome> {
    let mut deadline = None;
    loop {
        let records = records.iter().cloned().map(Ok);
        let mut plan = Import::plan(catalogue, records, options.clone());
        let mut outcomes: Vec<_> = plan.by_ref().map(of_all_if_store_failed).collect();
        outcomes.extend(end.take());
        if outcomes.iter().any(|outcome| outcome.result.is_err()) {
            outcomes.retain(|outcome| outcome.result.is_err());
            return outcomes;
        }
        if outcomes.is_empty() || options.is_dry_run {
            return outcomes;
        }
        let deadline = *deadline.get_or_insert_with(|| Instant::now() + RETRY_LIMIT);
        match apply(catalogue, plan.into_changes()) {
            Ok(receipts) => {
                let is_stored = |outcome: &&mut Outcome| {
                    matches!(outcome.result, Ok(Stored::Added | Stored::Replaced))
                };
                let stored = outcomes.iter_mut().filter(is_stored);
                stored
                    .zip(receipts)
                    .for_each(|(outcome, receipt)| outcome.id = Some(receipt.id));
                return outcomes;
            }
            Err(
                Error::Rejected(_) | Error::NotFound(_) | Error::Stale(_) | Error::Unavailable(_),
            ) if Instant::now() < deadline => {}
            // The names were free when they were looked up.
            Err(error) if is_conflict(&error, options.key().or(Some(&Field::NAME))) => {
                return vec![RecordPosition::All.failed(contended())];
            }
            Err(error) => return vec![RecordPosition::All.failed(error)],
        }
        thread::sleep(RETRY_PAUSE);
    }
}

/// A failure of the store is not one of a record.
fn of_all_if_store_failed(outcome: Outcome) -> Outcome {
    match outcome.result {
        Err(error) if !error.is_record_error() => RecordPosition::All.failed(error),
        result => Outcome { result, ..outcome },
    }
}

fn apply<C: Catalogue + ?Sized>(
    catalogue: &C,
    changes: Vec<Change>,
) -> Result<Vec<Receipt>, Error> {
    let mut ids = HashSet::new();
    let mut changed = changes.iter().filter_map(Change::id);
    if let Some(id) = changed.find(|id| !ids.insert(*id)) {
        // It was renamed between two look-ups.
        return Err(Error::Stale(id));
    }
    catalogue.apply_all(changes)
}

impl RecordPosition {
    /// The outcome of a record here that failed.
    fn failed(self, error: impl Into<ImportError>) -> Outcome {
        Outcome {
            position: self,
            id: None,
            result: Err(error.into()),
        }
    }
}
