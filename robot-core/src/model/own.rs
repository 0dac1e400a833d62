//! Values of the fields that are no member of the types of this library.

use std::collections::BTreeMap;

use super::{
    definition::Definition,
    field::Field,
    value::{Value, of_json},
};
use compact_str::CompactString;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

/// The values of a robot's own fields, by their names: in JSON, an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnValues(
    /// In the order of the names. Robots have few, so that a map would need more memory.
    Vec<(CompactString, Value<'static>)>,
);

impl OwnValues {
    /// The place of the value with a name, or the place where it would be.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(other, _)| other.as_str().cmp(name))
    }

    pub(super) fn get(&self, name: &str) -> Option<Value<'_>> {
        let place = self.place(name).ok()?;
        Some(self.0[place].1.borrowed())
    }

    /// The names of the fields that have a value.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn set(&mut self, name: &str, value: Value<'_>) {
        let value = value.into_owned();
        match self.place(name) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (name.into(), value)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Ok(place) = self.place(name) {
            self.0.remove(place);
        }
    }

    /// Sets the values of `changes`, too.
    pub(super) fn extend(&mut self, changes: Self) {
        for (name, value) in changes.0 {
            self.set(&name, value);
        }
    }

    /// The number of bytes of the names and values, about.
    pub(super) fn size(&self) -> usize {
        let size = |value: &Value<'_>| match value {
            Value::Text(text) => text.len(),
            _ => size_of::<i64>(),
        };
        let sizes = self.0.iter().map(|(name, value)| name.len() + size(value));
        sizes.sum()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values of the fields of a definition as a JSON object; `None` if there is none. Another definition may
    /// have permitted other values.
    pub(crate) fn to_json(&self, definition: &Definition) -> Option<String> {
        self.to_merge_patch(definition, &[])
    }

    /// The JSON merge patch (RFC 7396) that sets these values, and removes those with other names; `None` if
    /// it changes nothing.
    pub(crate) fn to_merge_patch(
        &self,
        definition: &Definition,
        removed: &[&str],
    ) -> Option<String> {
        if self.is_empty() && removed.is_empty() {
            return None;
        }
        let has = |name: &str, value: &Value<'_>| {
            let field = definition.field(name).filter(|field| field.is_own());
            field.is_some_and(|field| field.kind().has(value))
        };
        let set = self.0.iter().filter(|(name, value)| has(name, value));
        let set = set.map(|(name, value)| (name.as_str(), Some(value)));
        let removed = removed.iter().map(|name| (*name, None));
        let patch: BTreeMap<_, _> = set.chain(removed).collect();
        let is_empty = patch.is_empty();
        serde_json::to_string(&patch).ok().filter(|_| !is_empty)
    }
}

impl<'de> Deserialize<'de> for OwnValues {
    /// Ignores members that are `null`, an array or an object, and those of built-in fields.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = BTreeMap::<CompactString, Json>::deserialize(deserializer)?;
        let is_own = |name: &str| Field::ALL.iter().all(|field| field.name() != name);
        let values = members.into_iter().filter(|(name, _)| is_own(name));
        let values = values.filter_map(|(name, json)| Some((name, of_json(json)?)));
        Ok(Self(values.collect()))
    }
}
