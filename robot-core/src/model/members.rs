//! The members of a JSON object, of which each stays JSON text until its field is known.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, each with its index and its value as JSON text.
#[derive(Default)]
pub(crate) struct Members<'a> {
    values: HashMap<Cow<'a, str>, (usize, &'a RawValue)>,
    /// The first member that is repeated.
    repeated: Option<Cow<'a, str>>,
}

impl<'a> Members<'a> {
    /// The JSON text of a member.
    #[cfg(feature = "transfer")]
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.values.get(name).map(|(_, value)| value.get())
    }

    /// The names and JSON texts of all members, in their order.
    pub(crate) fn in_order(&self) -> Vec<(Cow<'a, str>, &'a str)> {
        let mut members: Vec<_> = self.values.iter().collect();
        members.sort_unstable_by_key(|(_, (index, _))| *index);
        let members = members.into_iter();
        members
            .map(|(name, (_, value))| (name.clone(), value.get()))
            .collect()
    }

    /// The first name that two members have.
    pub(super) fn repeated(&self) -> Option<&str> {
        self.repeated.as_deref()
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(Key(key)) = map.next_key()? {
            let value = (members.values.len(), map.next_value()?);
            if members.values.insert(key.clone(), value).is_some() {
                members.repeated.get_or_insert(key);
            }
        }
        Ok(members)
    }
}

/// The name of a member, borrowed from the text if it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
