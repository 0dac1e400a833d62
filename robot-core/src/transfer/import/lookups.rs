//! What an import looks up in its catalogue, and what it remembers of earlier records.

use std::borrow::Cow;

use super::{Import, wanted::Wanted};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Filter, Pages, Result as StoreResult, Sort},
    model::{Field, Member, Robot, ValidDraft, Value, Violations},
    transfer::outcome::ImportError,
};

impl<C: Catalogue, I> Import<C, I> {
    /// The robot with a value of the key.
    pub(super) fn robot(
        &self,
        key: &Field,
        value: &Value<'static>,
    ) -> Result<Option<Robot>, ImportError> {
        // The catalogue has no robots, or not this field yet.
        let is_new = self.last.is_none() || self.stored.field(key.name()).is_none();
        if is_new && key.member() != Member::Id {
            return Ok(None);
        }
        let found = self.catalogue.with_value(key, value.clone())?;
        if found.is_none() && key.member() == Member::Id {
            let message = format!("No robot has the id {value}; leave out the ids to add robots");
            return Err(ImportError::Malformed(vec![message.into()]));
        }
        Ok(found)
    }

    /// Whether a robot that was there before has all values of a record. The robots with a name are read once: many records
    /// of a file may repeat it.
    pub(super) fn is_present(
        &mut self,
        draft: &ValidDraft,
        removed: &[Field],
    ) -> StoreResult<bool> {
        let Some(last) = self.last else {
            return Ok(false);
        };
        if self.options.adds_equal || self.definition.has_unique_names() {
            return Ok(false);
        }
        let is_removed = |field: &Field| removed.iter().any(|removed| removed.is(field));
        let fields = self.definition.settable().iter();
        let fields = fields.filter(|field| draft.value(field).is_some() || is_removed(field));
        let fields: Vec<_> = fields.collect();
        let names: Vec<_> = fields.iter().map(|field| field.name()).collect();
        let look_up = format!("{:?}", (draft.name(), names));
        if !self.present.contains(&look_up) {
            let filter = Filter::all().with(Field::NAME, draft.name().to_owned());
            for page in Pages::new(&self.catalogue, filter).sorted(Sort::BY_ID) {
                for robot in page?.iter().filter(|robot| robot.id() <= last) {
                    let values = values(&fields, |field| robot.value_of(field));
                    self.present.insert(&values);
                }
            }
            self.present.insert(&look_up);
        }
        let values = values(&fields, |field| draft.value(field));
        Ok(self.present.contains(&values))
    }

    /// The unique fields whose values are in flight or, in a dry run, in an earlier record.
    pub(super) fn known(&self, wanted: &Wanted) -> Vec<Field> {
        let is_known = |field: &&Field| {
            let value = wanted.value(field);
            value.is_some_and(|value| self.names.contains(&key(field, &value)))
        };
        self.definition.unique().filter(is_known).cloned().collect()
    }

    /// Remembers the unique values of a record, and those of its robot, which it may give up. Returns the hashes
    /// of both. In a dry run, the values that it gives up are remembered as such.
    pub(super) fn insert_names(&mut self, wanted: &Wanted, present: Option<&Robot>) -> Vec<u64> {
        let mut hashes = Vec::new();
        for field in self.definition.unique() {
            let mut old = present.and_then(|robot| robot.value_of(field));
            if self.options.is_dry_run
                && let Some(old) = old.take().filter(|old| wanted.gives_up(field, old))
            {
                self.given_up.insert(&key(field, &old));
            }
            for value in wanted.value(field).into_iter().chain(old) {
                hashes.push(self.names.insert(&key(field, &value)).1);
            }
        }
        hashes
    }

    /// The unique fields whose values other robots have than one that is changed.
    pub(super) fn taken(
        &self,
        value: impl Fn(&Field) -> Option<Value<'static>>,
        robot: Option<&Robot>,
    ) -> StoreResult<Vec<Field>> {
        if self.last.is_none() && self.options.is_dry_run {
            return Ok(Vec::new());
        }
        let value = |field: &Field| {
            let planned = self.definition.field(field.name())?;
            let is_given_up = |value: &Value<'_>| self.given_up.contains(&key(field, value));
            value(field).filter(|value| planned.is_unique() && !is_given_up(value))
        };
        self.catalogue
            .taken(&self.stored, value, robot.map(Robot::id))
    }

    /// Fails if another robot, or an earlier record, has a unique value of the record.
    pub(super) fn check_values(
        &mut self,
        wanted: &Wanted,
        present: Option<&Robot>,
        planned: &[Field],
    ) -> Result<(), ImportError> {
        let value = |field: &Field| {
            let old = present.and_then(|robot| robot.value_of(field));
            let value = wanted
                .value(field)
                .filter(|value| old.as_ref() != Some(value));
            value.map(Value::into_owned)
        };
        let taken = self.taken(value, present)?;
        for known in &mut self.known {
            known.robots += u64::from(taken.contains(&known.field));
        }
        if let Wanted::Robot(draft, removed) = wanted
            && self.is_present(draft, removed)?
        {
            return Err(ImportError::Present);
        }
        let unique = self.definition.unique();
        let is_taken = |field: &&Field| taken.iter().chain(planned).any(|taken| taken.is(field));
        let taken: Vec<_> = unique.filter(is_taken).cloned().collect();
        if taken.is_empty() {
            return Ok(());
        }
        Err(crate::catalogue::Error::from(Violations::taken(&taken)).into())
    }

    /// After a dry run of so many records without a key, the field that could be the key: robots have the values of most
    /// records.
    pub(in crate::transfer) fn candidate(&self, records: u64) -> Option<Field> {
        let keys = self.known.iter().filter(|known| known.robots * 2 > records);
        keys.max_by_key(|known| known.robots)
            .map(|known| known.field.clone())
    }
}

/// The text that identifies values of fields.
fn values<'v>(fields: &[&Field], value: impl Fn(&Field) -> Option<Value<'v>>) -> String {
    let values = fields.iter().map(|field| (field.name(), value(field)));
    format!("{:?}", values.collect::<Vec<_>>())
}

/// The text that identifies a value of a unique field. Names, which are most of these values, have no NUL.
fn key<'v>(field: &Field, value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Text(name) if field.member() == Member::Name => Cow::Borrowed(name),
        value => Cow::Owned(format!("{field}\0{value}")),
    }
}
