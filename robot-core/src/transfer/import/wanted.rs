//! What a record wants, and how far it is: the robot that it adds or changes, and the write in flight.

use crate::{
    catalogue::{Pending, Receipt, Result as StoreResult},
    model::{Field, Rejection, RobotId, ValidDraft, Value},
    transfer::{
        outcome::{ImportError, Stored},
        record::Values,
    },
};

/// What a record wants.
pub(super) enum Wanted {
    /// A robot with these values, which were checked except for unique values. The values of these fields are missing.
    Robot(ValidDraft, Vec<Field>),
    /// The robot with this value of the key has these values.
    Change(Value<'static>, Values),
    /// Values that violate rules.
    Invalid(Rejection),
    /// The record is malformed.
    Nothing,
}

impl Wanted {
    /// The number of bytes of the values, about.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Robot(draft, _) => draft.size(),
            Self::Change(_, values) => values.draft.size(),
            Self::Invalid(rejection) => rejection.size(),
            Self::Nothing => 0,
        }
    }

    pub(super) fn value(&self, field: &Field) -> Option<Value<'_>> {
        match self {
            Self::Robot(draft, _) => draft.value(field),
            Self::Change(_, values) => values.draft.value(field),
            Self::Invalid(rejection) => rejection.value(field),
            Self::Nothing => None,
        }
    }

    /// Whether a robot with this value of a field has another one, or none, after the change.
    pub(super) fn gives_up(&self, field: &Field, old: &Value<'_>) -> bool {
        match self {
            Self::Change(_, values) if values.removed.iter().any(|removed| removed.is(field)) => {
                true
            }
            _ => self.value(field).is_some_and(|value| value != *old),
        }
    }
}

/// How often robots have the value of a unique field that a record of a dry run has.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) field: Field,
    pub(super) robots: u64,
}

/// What was stored, and the id of the robot.
pub(super) type Found = (Stored, Option<RobotId>);

pub(super) type Tried = Result<Found, ImportError>;

/// The processing of a record, to be finished when the records before it are.
pub(super) enum Step {
    Done(Tried),
    Started(Write),
}

/// A write in flight.
pub(super) struct Write {
    pub(super) outcome: Pending<StoreResult<Receipt>>,
    /// The result if it succeeds.
    pub(super) stored: Stored,
    /// The hashes of its unique values, and of those that it replaces.
    pub(super) names: Vec<u64>,
}
