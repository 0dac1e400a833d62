//! Steps of an import: the change of a record is found and started, and its result awaited.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    Import,
    wanted::{Found, Step, Tried, Wanted, Write},
};
use crate::{
    catalogue::{Catalogue, Change, Error, Result as StoreResult},
    model::{Field, Rejection, Robot, RobotId, Rule, ValidChanges, Value, Violation},
    transfer::{
        outcome::{ChangedValue, ImportError, OnConflict, Stored},
        record::Values,
    },
};

/// How long a record or an atomic import is retried, and the pause between two attempts.
pub(in crate::transfer) const RETRY_LIMIT: Duration = Duration::from_secs(2);
pub(in crate::transfer) const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// The maximum number of changed values that a dry run notes.
const CHANGED_VALUES: usize = 20;

impl<C: Catalogue, I> Import<C, I> {
    /// Starts the write of a record, or returns its result if none is needed. The look-up chooses
    /// between insert and update; the store checks the name again. Without it, an insert that fails
    /// would use up an id on a database server.
    pub(super) fn start(&mut self, wanted: &Wanted) -> Result<Step, ImportError> {
        let planned = self.known(wanted);
        let (present, change) = match wanted {
            Wanted::Robot(draft, _) => (None, Change::Insert(draft.clone())),
            Wanted::Change(value, values) => match self.change(value, values, &planned)? {
                Ok(change) => change,
                Err(stored) => return Ok(Step::Done(Ok(stored))),
            },
            Wanted::Invalid(rejection) => return Err(self.rejected(rejection, None, &planned)?),
            Wanted::Nothing => return Ok(Step::Done(Ok((Stored::Unchanged, None)))),
        };
        if self.options.is_dry_run || !self.options.keeps_going {
            self.check_values(wanted, present.as_ref(), &planned)?;
        } else if let Wanted::Robot(draft, removed) = wanted {
            // An insert that fails would use up an id on a database server.
            if self.definition.has_unique_names() && self.catalogue.find(draft.name())?.is_some() {
                return Err(Error::from(Violation::NAME_TAKEN).into());
            }
            if self.is_present(draft, removed)? {
                return Err(ImportError::Present);
            }
        }
        let stored = present.as_ref().map_or(Stored::Added, |_| Stored::Replaced);
        let names = self.insert_names(wanted, present.as_ref());
        if self.options.is_dry_run {
            if let (Some(robot), Change::Update(_, _, changes)) = (&present, &change) {
                self.note_values(robot, changes);
            }
            self.changes
                .iter_mut()
                .for_each(|changes| changes.push(change.clone()));
            return Ok(Step::Done(Ok((stored, change.id()))));
        }
        Ok(Step::Started(Write {
            outcome: self.catalogue.start(change, None),
            stored,
            names,
        }))
    }

    /// The robot that a record with a key finds, and its change; or an insert if it finds none. The inner error is the
    /// result of a record that changes nothing.
    fn change(
        &self,
        value: &Value<'static>,
        values: &Values,
        planned: &[Field],
    ) -> Result<Result<(Option<Robot>, Change), Found>, ImportError> {
        let key = self.options.key().unwrap_or(&Field::NAME);
        let Some(robot) = self.robot(key, value)? else {
            return match self.definition.validate(values.draft.clone()) {
                Ok(draft) => Ok(Ok((None, Change::Insert(draft)))),
                Err(rejection) => Err(self.rejected(&rejection, None, planned)?),
            };
        };
        if self.options.on_conflict == OnConflict::Skip {
            return Ok(Err((Stored::Skipped, Some(robot.id()))));
        }
        if values
            .revision
            .is_some_and(|revision| revision != robot.revision())
        {
            let message = format!(
                "robot {} was changed since this file was written; leave out the column revision to overwrite it",
                robot.id()
            );
            return Err(ImportError::Malformed(vec![message.into()]));
        }
        let draft = values.draft.clone();
        match self
            .definition
            .validate_change(&robot, draft, &values.removed)
        {
            Ok(changes) if changes.is_empty() => Ok(Err((Stored::Unchanged, Some(robot.id())))),
            Ok(changes) => {
                let change = Change::Update(robot.id(), Some(robot.revision()), changes);
                Ok(Ok((Some(robot), change)))
            }
            Err(rejection) => Err(self.rejected(&rejection, Some(&robot), planned)?),
        }
    }

    /// Notes the values that a robot would get.
    fn note_values(&mut self, robot: &Robot, changes: &ValidChanges) {
        let owned = |value: Option<Value<'_>>| value.map(Value::into_owned);
        let fields = self.definition.settable().iter();
        let fields =
            fields.filter(|field| changes.value(field).is_some() || changes.removes(field));
        let values = fields.map(|field| ChangedValue {
            id: robot.id(),
            name: robot.name().to_owned(),
            field: field.name().to_owned(),
            before: owned(robot.value_of(field)),
            after: owned(changes.value(field)),
        });
        let room = CHANGED_VALUES - self.changed.len();
        self.changed.extend(values.take(room));
    }

    /// Finishes a step. The record is processed again if another caller added, changed or deleted the robot
    /// since the look-up, or the store had no capacity.
    pub(super) fn finish(&mut self, wanted: &Wanted, step: Step) -> Tried {
        let is_write = matches!(step, Step::Started(_));
        let mut result = self.wait(step);
        let mut deadline = None;
        while let Err(ImportError::Store(error)) = &result
            && is_write
            && !self.has_failed
            && (matches!(error, Error::Unavailable(_)) || is_conflict(error, self.options.key()))
            && Instant::now() < *deadline.get_or_insert_with(|| Instant::now() + RETRY_LIMIT)
        {
            // The catalogue may have had no robots at the start.
            self.last = self.last.or(self.options.key().map(|_| RobotId::GREATEST));
            result = self.start(wanted).and_then(|step| self.wait(step));
            if result.is_err() {
                thread::sleep(RETRY_PAUSE);
            }
        }
        result.or_else(|error| match error {
            ImportError::Store(Error::NotFound(_) | Error::Stale(_)) => Err(contended().into()),
            error => self.skipped(error),
        })
    }

    /// Whether records of robots that exist are skipped, whatever value finds them.
    fn skips(&self) -> bool {
        self.options.on_conflict == OnConflict::Skip && self.options.key.is_none()
    }

    /// The result of a record that failed: without a key, robots that exist are skipped.
    pub(super) fn skipped(&self, error: ImportError) -> Tried {
        let is_there = matches!(error, ImportError::Present) || error.is_taken();
        if is_there && self.skips() {
            Ok((Stored::Skipped, None))
        } else {
            Err(error)
        }
    }

    /// Waits for a write.
    fn wait(&mut self, step: Step) -> Tried {
        let write = match step {
            Step::Done(result) => return result,
            Step::Started(write) => write,
        };
        write.names.iter().for_each(|hash| self.names.remove(*hash));
        let id = write.outcome.wait()?.id;
        Ok((write.stored, Some(id)))
    }

    /// The error of all rules that a record violates.
    fn rejected(
        &self,
        rejection: &Rejection,
        robot: Option<&Robot>,
        planned: &[Field],
    ) -> StoreResult<ImportError> {
        let violations = rejection.violations.clone();
        if self.skips() {
            // A robot that exists is no failure.
            return Ok(Error::Rejected(violations).into());
        }
        let value = |field: &Field| rejection.value(field).map(Value::into_owned);
        let taken = [&self.taken(value, robot)?, planned].concat();
        Ok(Error::Rejected(violations.with_taken(&self.definition, &taken)).into())
    }
}

/// The error of the last attempt, if other callers have changed the robot before each.
pub(in crate::transfer) fn contended() -> Error {
    Error::unavailable("other clients change the robots of an import all the time")
}

/// Whether a write failed because a robot was changed, deleted, or added with the value of the key, since the look-up.
pub(in crate::transfer) fn is_conflict(error: &Error, key: Option<&Field>) -> bool {
    match error {
        Error::NotFound(_) | Error::Stale(_) => true,
        Error::Rejected(violations) => {
            let is_taken = violations.iter().all(|one| one.rule() == Rule::Taken);
            is_taken && key.is_some_and(|key| violations.concern(key))
        }
        _ => false,
    }
}
