//! What a record wants: the robot that it adds or changes, and the unique values that it takes and gives up.

use std::borrow::Cow;

use super::Import;
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Result as StoreResult},
    model::{Field, Rejection, Robot, RobotId, ValidChanges, ValidDraft, Value, Violations},
    transfer::outcome::ImportError,
};

/// What a record wants, after its rules were checked, except for unique values.
pub(super) enum Wanted {
    /// A robot with these values: a new one, or the one with the same name.
    Robot(ValidDraft),
    /// The robot with this id has these values.
    Changes(RobotId, ValidChanges),
    /// Values that violate rules, and the robot that would have them.
    Invalid(Rejection, Option<RobotId>),
    /// The record is malformed.
    Nothing,
}

impl Wanted {
    /// The number of bytes of the values, about.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Robot(draft) => draft.size(),
            Self::Changes(_, changes) => changes.size(),
            Self::Invalid(rejection, _) => rejection.size(),
            Self::Nothing => 0,
        }
    }

    pub(super) fn value(&self, field: Field) -> Option<Value<'_>> {
        match self {
            Self::Robot(draft) => draft.value(field),
            Self::Changes(_, changes) => changes.value(field),
            Self::Invalid(rejection, _) => rejection.value(field),
            Self::Nothing => None,
        }
    }
}

impl<C: Catalogue, I> Import<C, I> {
    /// The robot with an id.
    pub(super) fn robot(&self, id: RobotId) -> Result<Robot, ImportError> {
        self.catalogue.get(id)?.ok_or_else(|| {
            let message = format!("No robot has the id {id}; leave out the id to add a robot");
            ImportError::Malformed(vec![message.into()])
        })
    }

    /// Whether changes leave a robot as it is.
    pub(super) fn is_unchanged(&self, robot: &Robot, changes: &ValidChanges) -> bool {
        let changed = changes.clone().apply_to(robot);
        let mut fields = self.definition.settable().iter();
        fields.all(|field| changed.value_of(*field) == robot.value_of(*field))
    }

    /// The robot that has the name of a draft, if names are unique.
    pub(super) fn holder(&self, draft: &ValidDraft) -> StoreResult<Option<Robot>> {
        if !self.definition.has_unique_names() {
            return Ok(None);
        }
        self.catalogue.find(draft.name())
    }

    /// The unique fields whose values are in flight or, in a dry run, in an earlier record.
    pub(super) fn known(&self, wanted: &Wanted) -> Vec<Field> {
        let is_known = |field: &Field| {
            let value = wanted.value(*field);
            value.is_some_and(|value| self.names.contains(&key(*field, &value)))
        };
        self.definition.unique().filter(is_known).collect()
    }

    /// Remembers the unique values of a record, and those of its robot, which it may give up. Returns the hashes
    /// of both. In a dry run, a robot gives up nothing.
    pub(super) fn insert_names(&mut self, wanted: &Wanted, present: Option<&Robot>) -> Vec<u64> {
        let present = present.filter(|_| !self.options.is_dry_run);
        let mut hashes = Vec::new();
        for field in self.definition.unique() {
            let old = present.and_then(|robot| robot.value_of(field));
            for value in wanted.value(field).into_iter().chain(old) {
                hashes.push(self.names.insert(&key(field, &value)).1);
            }
        }
        hashes
    }

    /// Fails if another robot, or an earlier record, has a unique value of the record. If records are matched by
    /// names, the name is checked already, and the values of an earlier record of the same name are replaced.
    pub(super) fn check_values(
        &self,
        wanted: &Wanted,
        present: Option<&Robot>,
        planned: &[Field],
    ) -> StoreResult<()> {
        let is_by_name = matches!(wanted, Wanted::Robot(_));
        let value = |field: Field| {
            let old = present.and_then(|robot| robot.value_of(field));
            let value = wanted
                .value(field)
                .filter(|value| (field.is_own() || !is_by_name) && old.as_ref() != Some(value));
            value.map(Value::into_owned)
        };
        let id = present.map(Robot::id);
        let mut taken = self.catalogue.taken(&self.definition, value, id)?;
        if !(is_by_name && planned.contains(&Field::NAME)) {
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
    pub(super) fn collect(&mut self, wanted: &Wanted, change: Change) {
        let Some(planned) = &mut self.planned else {
            return;
        };
        let new = self.changes.len();
        let index = match wanted {
            Wanted::Robot(draft) if self.definition.has_unique_names() => {
                *planned.entry(draft.name().to_owned()).or_insert(new)
            }
            _ => new,
        };
        match self.changes.get_mut(index) {
            Some(present) => *present = change,
            None => self.changes.push(change),
        }
    }
}

/// The text that identifies a value of a unique field. Names, which are most of these values, have no NUL.
fn key<'v>(field: Field, value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Text(name) if field == Field::NAME => Cow::Borrowed(name),
        value => Cow::Owned(format!("{field}\0{value}")),
    }
}
