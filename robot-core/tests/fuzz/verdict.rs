//! Model of the contract's rules for a request body.

use std::fmt;

use robot_core::Draft;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The expected outcome of a body.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Malformed,
    /// With these messages.
    Rejected(Vec<&'static str>),
    Accepted(Draft),
}

/// The members of an object in their order, with repetitions.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// The expected outcome of a body if these names are taken.
pub(crate) fn verdict(body: &[u8], taken: &[&str]) -> Verdict {
    let Some(draft) = draft(body) else {
        return Verdict::Malformed;
    };
    let messages = [
        type_messages(draft.robot_type.as_deref()),
        name_messages(draft.name.as_deref().unwrap_or_default(), taken),
        year_messages(draft.year),
    ]
    .concat();
    if messages.is_empty() {
        Verdict::Accepted(draft)
    } else {
        Verdict::Rejected(messages)
    }
}

/// The draft, unless the body is no object, or a member is repeated or has a wrong type.
fn draft(body: &[u8]) -> Option<Draft> {
    let Members(mut members) = serde_json::from_slice(body).ok()?;
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let member = |name: &str| {
        let found = members.iter().find(|(known, _)| known == name);
        found.map_or("null", |(_, value)| value.get())
    };
    Some(Draft {
        robot_type: serde_json::from_str(member("type")).ok()?,
        name: serde_json::from_str(member("name")).ok()?,
        year: match member("year") {
            "null" => None,
            // The parser of integers rejects dots and exponents, as the contract does.
            number => Some(number.parse().ok()?),
        },
        ..Draft::default()
    })
}

fn type_messages(robot_type: Option<&str>) -> Vec<&'static str> {
    match robot_type {
        None => vec!["type is required"],
        Some("droid" | "mechanical" | "virtual") => vec![],
        Some(_) => vec!["Value of field 'type' must be part of list: droid, mechanical, virtual"],
    }
}

fn name_messages(name: &str, taken: &[&str]) -> Vec<&'static str> {
    let is_too_long = name.chars().count() > 255;
    let broken = [
        (name.is_empty(), "name is required"),
        (is_too_long, "The name must be at most 255 characters long"),
        (
            name.contains('\0'),
            "The name must not contain the NUL character (U+0000)",
        ),
        (taken.contains(&name), "The robot name must be unique"),
    ];
    let broken = broken.into_iter().filter(|(is_broken, _)| *is_broken);
    broken.map(|(_, message)| message).collect()
}

fn year_messages(year: Option<i64>) -> Vec<&'static str> {
    match year {
        None => vec!["year is required"],
        Some(..0) => vec!["The year cannot be less than zero"],
        Some(0..) => vec![],
    }
}
