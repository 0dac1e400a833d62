//! The members of a JSON object, of which each stays JSON text until its field is known.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in their order, each with its value as JSON text.
#[derive(Default)]
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Members<'a> {
    /// The JSON text of a member.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let mut members = self.0.iter();
        members.find_map(|(known, value)| (known == name).then_some(*value))
    }

    /// The first name that two members have.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let mut names = HashSet::with_capacity(self.0.len());
        let mut all = self.0.iter().map(|(name, _)| &**name);
        all.find(|name| !names.insert(*name))
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
        while let Some((Key(key), value)) = map.next_entry::<_, &RawValue>()? {
            members.0.push((key, value.get()));
        }
        Ok(members)
    }
}

/// The name of a member, borrowed from the text if it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
