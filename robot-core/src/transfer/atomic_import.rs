//! Import of records of which all are stored, or none.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    thread,
    time::Instant,
};

use super::{
    import::{RETRY_LIMIT, RETRY_PAUSE, contended, is_conflict, write},
    import_metrics::ImportMetrics,
    outcome::{ATOMIC_LIMIT, ImportError, ImportOptions, OnConflict, Outcome, Stored},
    position::Position,
    record::{ReadError, Record},
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Error},
    model::{Rejection, ValidDraft, Violation},
};

/// How often the changes are tried, if other callers change the same robots.
const ATTEMPTS: u32 = 5;

/// Imports records into a catalogue, up to [`ATOMIC_LIMIT`], all of them or none. Other callers see all
/// of their robots or none.
///
/// The result has the outcome of each record if none fails. Otherwise nothing was stored, and it has
/// the outcome of every record that fails, whatever `keeps_going` is; only a
/// failure of the store or the input, or too many records, ends the import at once. After
/// [`Error::Unknown`], either all records or none were stored.
///
/// The outcomes are those of an [`import()`](super::import()) of the same records: of two with the
/// same name, the later one finds the robot of the first. With [`OnConflict::Replace`], a robot is
/// updated once, with the values of its last record.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue};
/// use robot_core::transfer::{ImportOptions, Record, import_atomically};
///
/// let catalogue = MemoryCatalogue::new();
/// let import = |names: [&str; 3]| {
///     let drafts = names.map(|name| Draft::new(name, "droid", 1977));
///     import_atomically(&catalogue, Record::numbered(drafts), ImportOptions::default())
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
    options: ImportOptions,
) -> Vec<Outcome> {
    let metrics = ImportMetrics::new();
    let outcomes = match Input::read(records, &metrics) {
        Ok(input) => run(catalogue, input, options),
        Err(failure) => vec![failure],
    };
    for outcome in &outcomes {
        metrics.count(&outcome.result);
    }
    outcomes
}

/// Looks up the names, and applies the changes that follow; again, if another caller has changed the same
/// robots in between, or the store was overloaded for a moment.
fn run<C: Catalogue + ?Sized>(
    catalogue: &C,
    mut input: Input,
    options: ImportOptions,
) -> Vec<Outcome> {
    let (mut attempt, mut deadline) = (1, None);
    loop {
        let mut plan = Plan::new(catalogue, options);
        plan.add_all(&input.records);
        let Plan {
            mut outcomes,
            changes,
            ..
        } = plan;
        outcomes.extend(input.end.take());
        if outcomes.iter().any(|outcome| outcome.result.is_err()) {
            outcomes.retain(|outcome| outcome.result.is_err());
            return outcomes;
        }
        if outcomes.is_empty() || options.is_dry_run {
            return outcomes;
        }
        let deadline = *deadline.get_or_insert_with(|| Instant::now() + RETRY_LIMIT);
        match apply(catalogue, changes) {
            Ok(()) => return outcomes,
            Err(error) if is_conflict(&error) && attempt < ATTEMPTS => attempt += 1,
            Err(Error::Unavailable(_)) if Instant::now() < deadline => {}
            Err(error) => return vec![Position::All.failed(last_error(error))],
        }
        thread::sleep(RETRY_PAUSE);
    }
}

/// The error of the last attempt. The names were free when they were looked up.
fn last_error(error: Error) -> Error {
    match error {
        Error::Rejected(_) | Error::NotFound(_) | Error::Stale(_) => contended(),
        error => error,
    }
}

fn apply<C: Catalogue + ?Sized>(catalogue: &C, changes: Vec<Change>) -> Result<(), Error> {
    let mut ids = HashSet::new();
    let mut changed = changes.iter().filter_map(Change::id);
    if let Some(id) = changed.find(|id| !ids.insert(*id)) {
        // It was renamed between two look-ups.
        return Err(Error::Stale(id));
    }
    catalogue.apply_all(changes).map(drop)
}

/// What was read.
struct Input {
    records: Vec<(Position, Parsed)>,
    /// The failure after them, if the file is malformed from there on.
    end: Option<Outcome>,
}

enum Parsed {
    Valid(ValidDraft),
    Rejected(Rejection),
    Malformed(Vec<Cow<'static, str>>),
}

impl Input {
    /// The error is the only outcome: of too many records, or an input that failed.
    fn read(
        records: impl IntoIterator<Item = Result<Record, ReadError>>,
        metrics: &ImportMetrics,
    ) -> Result<Self, Outcome> {
        let mut input = Self {
            records: Vec::new(),
            end: None,
        };
        for record in records {
            metrics.read.increment(1);
            match record {
                Ok(Record { position, .. }) if input.records.len() == ATOMIC_LIMIT => {
                    return Err(position.failed(ImportError::TooMany));
                }
                Ok(Record { position, draft }) => {
                    let parsed = match draft.map(ValidDraft::new) {
                        Ok(Ok(valid)) => Parsed::Valid(valid),
                        Ok(Err(rejection)) => Parsed::Rejected(rejection),
                        Err(messages) => Parsed::Malformed(messages),
                    };
                    input.records.push((position, parsed));
                }
                Err(error @ ReadError::Input { .. }) => return Err(error.position().failed(error)),
                Err(error) => {
                    input.end = Some(error.position().failed(error));
                    break;
                }
            }
        }
        Ok(input)
    }
}

/// The changes that store records, and the outcomes if they succeed.
struct Plan<'a, C: ?Sized> {
    catalogue: &'a C,
    options: ImportOptions,
    outcomes: Vec<Outcome>,
    changes: Vec<Change>,
    /// The index of the change that gives each name.
    by_name: HashMap<&'a str, usize>,
}

impl<'a, C: Catalogue + ?Sized> Plan<'a, C> {
    fn new(catalogue: &'a C, options: ImportOptions) -> Self {
        Self {
            catalogue,
            options,
            outcomes: Vec::new(),
            changes: Vec::new(),
            by_name: HashMap::new(),
        }
    }

    /// Adds records, up to a failure of the store.
    fn add_all(&mut self, records: &'a [(Position, Parsed)]) {
        for (position, parsed) in records {
            let result = match parsed {
                Parsed::Valid(draft) => self.add(draft),
                Parsed::Rejected(rejection) => Err(self.violations(rejection).into()),
                Parsed::Malformed(messages) => Err(ImportError::Malformed(messages.clone())),
            };
            let has_store_failed = matches!(&result, Err(error) if !error.is_record_error());
            let position = if has_store_failed {
                Position::All
            } else {
                *position
            };
            self.outcomes.push(Outcome { position, result });
            if has_store_failed {
                return;
            }
        }
    }

    fn add(&mut self, draft: &'a ValidDraft) -> Result<Stored, ImportError> {
        let earlier = self.by_name.get(draft.name()).copied();
        let holder = match earlier.and_then(|index| self.changes.get(index)) {
            Some(Change::UpdateIf(id, revision, _)) => Some((*id, *revision)),
            Some(_) => None,
            None => {
                let robot = self.catalogue.find(draft.name())?;
                robot.map(|robot| (robot.id(), robot.revision()))
            }
        };
        let is_taken = earlier.is_some() || holder.is_some();
        if is_taken && let Some(result) = self.options.on_conflict.without_write() {
            return result;
        }
        let index = *self
            .by_name
            .entry(draft.name())
            .or_insert(self.changes.len());
        match self.changes.get_mut(index) {
            Some(change) => *change = write(holder, draft),
            None => self.changes.push(write(holder, draft)),
        }
        Ok(if is_taken {
            Stored::Replaced
        } else {
            Stored::Added
        })
    }

    /// All rules that a draft violates, as [`import()`](super::import()) reports them.
    fn violations(&self, rejection: &Rejection) -> Error {
        if self.options.on_conflict != OnConflict::Fail {
            return Error::Rejected(rejection.violations().clone());
        }
        let name = rejection.name.as_deref().unwrap_or_default();
        match self.catalogue.violations(rejection.clone(), None) {
            Ok(violations) if self.by_name.contains_key(name) => {
                Error::Rejected(violations.and(Violation::NAME_TAKEN))
            }
            Ok(violations) => Error::Rejected(violations),
            Err(error) => error,
        }
    }
}

impl Position {
    /// The outcome of a record here that failed.
    fn failed(self, error: impl Into<ImportError>) -> Outcome {
        Outcome {
            position: self,
            result: Err(error.into()),
        }
    }
}
