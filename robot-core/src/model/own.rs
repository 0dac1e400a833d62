//! Values of the fields that are no member of the types of this library.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};

use super::{
    definition::{Field, Member},
    kind::Kind,
    value::Value,
};

/// The values of a robot's own fields, by their names: in JSON, an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnValues(BTreeMap<&'static str, Value<'static>>);

impl OwnValues {
    pub(super) fn get(&self, field: Field) -> Option<Value<'_>> {
        Some(match self.0.get(field.name())? {
            Value::Text(text) => text.as_ref().into(),
            other => other.clone(),
        })
    }

    pub(super) fn set(&mut self, field: Field, value: Value<'_>) {
        self.0.insert(field.name(), value.into_owned());
    }

    pub(super) fn remove(&mut self, field: Field) {
        self.0.remove(field.name());
    }

    /// Sets the values of `changes`, too.
    pub(super) fn extend(&mut self, changes: Self) {
        self.0.extend(changes.0);
    }

    /// The values as a JSON object; `None` if there is none.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn to_json(&self) -> Option<String> {
        self.to_merge_patch(&[])
    }

    /// The JSON merge patch (RFC 7396) that sets these values, and removes those of other fields; `None` if
    /// it changes nothing.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn to_merge_patch(&self, removed: &[Field]) -> Option<String> {
        let set = self.0.iter().map(|(name, value)| (*name, Some(value)));
        let removed = removed.iter().map(|field| (field.name(), None));
        let patch: BTreeMap<_, _> = set.chain(removed).collect();
        let is_empty = patch.is_empty();
        serde_json::to_string(&patch).ok().filter(|_| !is_empty)
    }
}

impl Serialize for OwnValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(&self.0)
    }
}

impl<'de> Deserialize<'de> for OwnValues {
    /// Ignores members that are no own fields.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;

        impl<'de> Visitor<'de> for Values {
            type Value = OwnValues;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OwnValues, A::Error> {
                let mut values = OwnValues::default();
                while let Some(name) = map.next_key::<String>()? {
                    let field = name.parse().ok();
                    match field.filter(|field: &Field| field.member() == Member::Own) {
                        Some(field) if matches!(field.kind(), Kind::Integer { .. }) => {
                            values.set(field, Value::Integer(map.next_value()?));
                        }
                        Some(field) => {
                            let text: String = map.next_value()?;
                            let value = field.parse_value(&text).map_err(Error::custom)?;
                            values.set(field, value);
                        }
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(values)
            }
        }

        deserializer.deserialize_map(Values)
    }
}
