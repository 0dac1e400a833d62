//! From records to robots of a catalogue: many are under way at a time, and each is answered for
//! in its order.

use std::{
    collections::{HashSet, VecDeque},
    hash::{BuildHasher, RandomState},
    iter::{Fuse, FusedIterator},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{
    outcome::{AfterFailure, ImportError, ImportOptions, OnConflict, Outcome, Rehearsal, Stored},
    records::{ReadError, Record},
};
use crate::{
    catalogue::{Catalogue, Change},
    error::{Error, Result as StoreResult},
    load::UNDER_WAY,
    pending::Pending,
    robot::{Draft, RobotId},
    rules::{ValidDraft, Violation, Violations},
};

/// For how long a record is tried again, and how long each pause is.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// Brings records into a catalogue, in their order, and tells what became of each.
///
/// Many are under way at a time, so that a store in a file makes them durable together. It is as
/// if each were dealt with when those before it are done: of two with the same name the later
/// one finds the robot of the first. What was told of is durable. An iterator that is not read to
/// its end may have stored some more than it told of.
///
/// Where the import [stops](AfterFailure::Stop) at a record that fails, nothing behind it is
/// stored, unless somebody else takes a name, or the store fails, between a look at the catalogue and the write; then
/// what was stored behind it is told as well.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{Catalogue, Draft};
/// use robot_core::transfer::{ImportOptions, Record, import};
///
/// let catalogue = robot_core::open("memory:")?;
/// let drafts = ["R2-D2", "C-3PO"].map(|name| Draft::new(name, "droid", 1977));
/// let records = (1..).zip(drafts).map(|(line, draft)| Ok(Record { line, draft: Ok(draft) }));
/// for outcome in import(Arc::clone(&catalogue), records, ImportOptions::default()) {
///     outcome.result?;
/// }
/// assert_eq!(catalogue.list()?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn import<C, I>(catalogue: Arc<C>, records: I, options: ImportOptions) -> Import<C, I::IntoIter>
where
    C: Catalogue + ?Sized + 'static,
    I: IntoIterator<Item = Result<Record, ReadError>>,
{
    Import {
        catalogue,
        records: records.into_iter().fuse(),
        options,
        under_way: VecDeque::new(),
        limit: UNDER_WAY,
        waiting: None,
        names: Names::default(),
        is_closed: false,
        has_given_up: false,
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
pub struct Import<C: ?Sized, I> {
    catalogue: Arc<C>,
    records: Fuse<I>,
    options: ImportOptions,
    under_way: VecDeque<(u64, Step)>,
    /// How many may be under way.
    limit: usize,
    /// A record whose name is that of one under way, so that it has to wait.
    waiting: Option<(u64, ValidDraft)>,
    /// The names of those under way; in a rehearsal, of all that would have been added.
    names: Names,
    /// Whether no more records are read.
    is_closed: bool,
    /// Whether the store, or what is read, has failed for good.
    has_given_up: bool,
}

/// What is to be known, or done, when those before it are done.
enum Step {
    Known(Result<Stored, ImportError>),
    /// A draft that breaks rules: the catalogue tells whether its name is taken, too.
    Broken(Draft),
    Begun(Write),
}

/// A write that is under way.
struct Write {
    outcome: Pending<StoreResult<RobotId>>,
    to_be: Stored,
    draft: ValidDraft,
}

impl<C: Catalogue + ?Sized + 'static, I> Import<C, I>
where
    I: Iterator<Item = Result<Record, ReadError>>,
{
    /// With so many under way at most.
    pub(crate) fn under_way(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Begins as much as there is room for.
    fn fill(&mut self) {
        while self.under_way.len() < self.limit {
            let Some((line, draft)) = self.waiting.take().or_else(|| self.read()) else {
                return;
            };
            let must_wait =
                self.options.rehearsal == Rehearsal::No && self.names.contain(draft.name());
            if must_wait {
                self.waiting = Some((line, draft));
                return;
            }
            let step = self.begin(draft);
            self.push(line, step);
        }
    }

    /// The next record that breaks no rule; those before it that do are put into the queue.
    fn read(&mut self) -> Option<(u64, ValidDraft)> {
        while !self.is_closed && self.under_way.len() < self.limit {
            match self.records.next()? {
                Ok(Record { line, draft }) => {
                    match draft.map(|draft| (ValidDraft::new(draft.clone()), draft)) {
                        Ok((Ok(valid), _)) => return Some((line, valid)),
                        Ok((Err(rejection), draft)) => {
                            let step = if self.options.on_conflict == OnConflict::Fail {
                                Step::Broken(draft)
                            } else {
                                // A name that is taken would be no failure.
                                let violations = rejection.violations().clone();
                                Step::Known(Err(Error::Rejected(violations).into()))
                            };
                            self.push(line, step);
                        }
                        Err(messages) => {
                            self.push(line, Step::Known(Err(ImportError::Malformed(messages))));
                        }
                    }
                }
                Err(error) => self.push(error.line(), Step::Known(Err(error.into()))),
            }
        }
        None
    }

    /// Puts a step into the queue, and reads on only where that is right behind it.
    fn push(&mut self, line: u64, step: Step) {
        self.is_closed |= match &step {
            Step::Known(Err(error)) => self.ends_with(error),
            Step::Broken(_) => self.options.after_failure == AfterFailure::Stop,
            _ => false,
        };
        self.under_way.push_back((line, step));
    }

    fn ends_with(&self, error: &ImportError) -> bool {
        self.options.after_failure == AfterFailure::Stop || !error.is_of_the_record()
    }

    /// Begins what a record comes to. The catalogue is looked at to choose what that is; it is the
    /// store that decides.
    fn begin(&mut self, draft: ValidDraft) -> Step {
        let holder = match self.catalogue.find(draft.name()) {
            Ok(holder) => holder.map(|robot| robot.id()),
            Err(error) => return Step::Known(Err(error.into())),
        };
        let is_rehearsed = self.options.rehearsal == Rehearsal::Yes;
        let is_taken = holder.is_some() || (is_rehearsed && self.names.contain(draft.name()));
        if is_taken && let Some(result) = self.without_a_write() {
            return Step::Known(result);
        }
        self.names.insert(draft.name());
        let to_be = if is_taken {
            Stored::Replaced
        } else {
            Stored::Added
        };
        if is_rehearsed {
            return Step::Known(Ok(to_be));
        }
        let change = match holder {
            Some(id) => Change::Update(id, draft.clone().into()),
            None => Change::Insert(draft.clone()),
        };
        Step::Begun(Write {
            outcome: Arc::clone(&self.catalogue).begin(change),
            to_be,
            draft,
        })
    }

    /// What a record whose name is taken comes to, unless it replaces the robot.
    fn without_a_write(&self) -> Option<Result<Stored, ImportError>> {
        match self.options.on_conflict {
            OnConflict::Fail => Some(Err(Error::from(Violation::NameTaken).into())),
            OnConflict::Skip => Some(Ok(Stored::Skipped)),
            OnConflict::Replace => None,
        }
    }

    /// Waits for what a step comes to.
    fn settle(&mut self, step: Step) -> Result<Stored, ImportError> {
        match step {
            Step::Known(result) => result,
            Step::Broken(draft) => Err(self.rejection(draft).into()),
            Step::Begun(write) => {
                self.names.remove(write.draft.name());
                let Err(refused) = write.outcome.wait() else {
                    return Ok(write.to_be);
                };
                if may_fare_better(&refused) && !self.has_given_up {
                    self.again(&write.draft, refused)
                } else {
                    Err(refused.into())
                }
            }
        }
    }

    /// All the rules that a draft breaks, which breaks one at least.
    fn rejection(&self, draft: Draft) -> Error {
        let name = draft.name.clone();
        match self.catalogue.add(draft) {
            Err(Error::Rejected(violations)) => {
                let is_rehearsed = self.options.rehearsal == Rehearsal::Yes;
                let is_taken = name.is_some_and(|name| self.names.contain(&name));
                Error::Rejected(if is_rehearsed && is_taken {
                    violations.and(Violation::NameTaken)
                } else {
                    violations
                })
            }
            Err(error) => error,
            // No store keeps what breaks a rule.
            Ok(_) => Error::Rejected(Violations::from(Violation::NameMissing)),
        }
    }

    /// Deals with a record by itself, for a while: somebody else has added, renamed or deleted the
    /// robot since the catalogue was looked at, or there was no room for one more write.
    fn again(&self, draft: &ValidDraft, refused: Error) -> Result<Stored, ImportError> {
        let deadline = Instant::now() + PATIENCE;
        let mut last = refused;
        while Instant::now() < deadline {
            match self.attempt(draft) {
                Err(ImportError::Refused(error)) if may_fare_better(&error) => last = error,
                outcome => return outcome,
            }
            thread::sleep(PAUSE);
        }
        Err(last.into())
    }

    fn attempt(&self, draft: &ValidDraft) -> Result<Stored, ImportError> {
        let Some(robot) = self.catalogue.find(draft.name())? else {
            self.catalogue.insert(draft.clone())?;
            return Ok(Stored::Added);
        };
        if let Some(result) = self.without_a_write() {
            // What is found is no race any more.
            return result;
        }
        self.catalogue.update(robot.id(), draft.clone().into())?;
        Ok(Stored::Replaced)
    }

    /// Reads no more, and keeps of what is in the queue only what another thread is at already.
    fn close(&mut self) {
        self.is_closed = true;
        self.waiting = None;
        self.under_way.retain(|(_, step)| {
            matches!(step, Step::Begun(write) if !matches!(write.outcome, Pending::Blocking(_)))
        });
    }
}

/// Whether a write failed because the catalogue had changed since it was looked at, or was too
/// busy.
fn may_fare_better(error: &Error) -> bool {
    match error {
        Error::NotFound(_) | Error::Unavailable(_) => true,
        Error::Rejected(violations) => violations.iter().eq([Violation::NameTaken]),
        _ => false,
    }
}

impl<C: Catalogue + ?Sized + 'static, I> Iterator for Import<C, I>
where
    I: Iterator<Item = Result<Record, ReadError>>,
{
    type Item = Outcome;

    fn next(&mut self) -> Option<Outcome> {
        loop {
            self.fill();
            let (line, step) = self.under_way.pop_front()?;
            let result = self.settle(step);
            match &result {
                // Of a store that is full, or away, it is told once.
                Err(ImportError::Refused(Error::Unavailable(_))) if self.has_given_up => continue,
                Err(error) if self.ends_with(error) => {
                    self.has_given_up |= !error.is_of_the_record();
                    self.close();
                }
                _ => {}
            }
            return Some(Outcome { line, result });
        }
    }
}

impl<C: Catalogue + ?Sized + 'static, I> FusedIterator for Import<C, I> where
    I: Iterator<Item = Result<Record, ReadError>>
{
}

/// Names, by a hash of 64 bits that nobody outside can foresee. Two names of one hash, of which
/// there are none among a million (one chance in 30 millions), would be taken for the same.
#[derive(Default)]
struct Names {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

impl Names {
    fn contain(&self, name: &str) -> bool {
        self.hashes.contains(&self.hasher.hash_one(name))
    }

    fn insert(&mut self, name: &str) {
        self.hashes.insert(self.hasher.hash_one(name));
    }

    fn remove(&mut self, name: &str) {
        self.hashes.remove(&self.hasher.hash_one(name));
    }
}
