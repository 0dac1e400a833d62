//! What a JSON object must be to become a draft: in a body, a line or an element of an array.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{error::Category, value::RawValue};

use crate::model::{Draft, excerpt};

/// Messages for a person: one for each thing that is wrong.
pub(crate) type Messages = Vec<Cow<'static, str>>;

/// Why a text is no draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ObjectError {
    /// It is not UTF-8 from this byte on.
    NotUtf8(usize),
    /// It begins with a byte order mark.
    Marked,
    /// There is nothing but white space.
    Empty,
    /// It is JSON, and something else.
    NotAnObject,
    /// It is no JSON, which shows at this place.
    NotJson(Place),
    /// It breaks off at this place.
    BreaksOff(Place),
    /// It is an object, and something else behind it, at this place.
    GoesOn(Place),
    /// It has this member twice.
    Repeated(String),
    /// Members have values of the wrong type: these messages tell which.
    Members(Messages),
}

/// A place in a text, counted from 1, as the parser counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    fn of(error: &serde_json::Error) -> Self {
        Self {
            line: error.line(),
            column: error.column(),
        }
    }
}

impl ObjectError {
    /// The messages about what the text is, "The body" or "The record", and about where in it
    /// something is wrong.
    pub(crate) fn messages(self, subject: &str, place: fn(Place) -> String) -> Messages {
        let message = match self {
            Self::Members(messages) => return messages,
            Self::NotUtf8(byte) => format!("{subject} is not UTF-8 (at byte {byte})"),
            Self::Marked => format!("{subject} begins with a byte order mark; send it without"),
            Self::Empty => {
                format!("{subject} is empty; send a JSON object with name, type and year")
            }
            Self::NotAnObject => {
                format!("{subject} must be a JSON object with name, type and year")
            }
            Self::NotJson(at) => format!("{subject} is not valid JSON ({})", place(at)),
            Self::BreaksOff(at) => format!("{subject} ends before its JSON does ({})", place(at)),
            Self::GoesOn(at) => format!(
                "{subject} goes on behind its JSON object ({}); send one object alone",
                place(at)
            ),
            Self::Repeated(member) => format!(
                "{subject} has the member '{}' twice; send it once",
                excerpt(&member)
            ),
        };
        vec![message.into()]
    }
}

impl From<serde_json::Error> for ObjectError {
    /// The parser's own words are for programmers.
    fn from(error: serde_json::Error) -> Self {
        let place = Place::of(&error);
        match error.classify() {
            Category::Data => Self::NotAnObject,
            Category::Eof => Self::BreaksOff(place),
            Category::Syntax | Category::Io => Self::NotJson(place),
        }
    }
}

/// Reads an object.
///
/// The members stay raw text until their own turn, so that each one that is wrong is named,
/// all of them at once, and nothing in a member of no interest can do harm.
pub(crate) fn read(bytes: &[u8]) -> Result<Draft, ObjectError> {
    let text = str::from_utf8(bytes).map_err(|error| ObjectError::NotUtf8(error.valid_up_to()))?;
    if text.starts_with('\u{feff}') {
        return Err(ObjectError::Marked);
    }
    if text.trim_ascii().is_empty() {
        return Err(ObjectError::Empty);
    }
    let mut parser = serde_json::Deserializer::from_str(text);
    let members = Members::deserialize(&mut parser)?;
    parser
        .end()
        .map_err(|error| ObjectError::GoesOn(Place::of(&error)))?;
    if let Some(member) = members.repeated {
        return Err(ObjectError::Repeated(member.into_owned()));
    }

    let mut messages = Vec::new();
    let draft = Draft {
        robot_type: string("type", members.robot_type, &mut messages),
        name: string("name", members.name, &mut messages),
        year: integer("year", members.year, &mut messages),
    };
    if messages.is_empty() {
        Ok(draft)
    } else {
        Err(ObjectError::Members(messages))
    }
}

/// A member that must be a string, if it is there. `null` counts as not there.
fn string(
    member: &'static str,
    value: Option<&RawValue>,
    messages: &mut Messages,
) -> Option<String> {
    let text = value?.get();
    match serde_json::from_str(text) {
        Ok(string) => string,
        Err(_) if text.starts_with('"') => {
            messages.push(
                format!("{member} has an escape sequence that stands for no character").into(),
            );
            None
        }
        Err(_) => {
            messages.push(format!("{member} must be a string").into());
            None
        }
    }
}

/// A member that must be an integer, if it is there. `null` counts as not there.
fn integer(member: &'static str, value: Option<&RawValue>, messages: &mut Messages) -> Option<i64> {
    let text = value?.get();
    // Rust reads every integer that JSON can write, and JSON writes none with a plus.
    match text.parse() {
        Ok(integer) => Some(integer),
        Err(_) if text == "null" => None,
        Err(_) => {
            messages.push(no_integer(member));
            None
        }
    }
}

/// What is said of a member that is to be an integer and is none.
pub(super) fn no_integer(member: &str) -> Cow<'static, str> {
    format!("{member} must be an integer from 0 to {}", i64::MAX).into()
}

/// The members of an object, each still as text.
#[derive(Default)]
struct Members<'a> {
    name: Option<&'a RawValue>,
    robot_type: Option<&'a RawValue>,
    year: Option<&'a RawValue>,
    /// The first member that stands there twice.
    repeated: Option<Cow<'a, str>>,
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
        let mut seen = HashSet::new();
        while let Some(Key(key)) = map.next_key()? {
            let value = Some(map.next_value()?);
            match key.as_ref() {
                "name" => members.name = value,
                "type" => members.robot_type = value,
                "year" => members.year = value,
                _ => {}
            }
            if seen.contains(&key) {
                members.repeated.get_or_insert(key);
            } else {
                seen.insert(key);
            }
        }
        Ok(members)
    }
}

/// The name of a member, borrowed from the text where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
