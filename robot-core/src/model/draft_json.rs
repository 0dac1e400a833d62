//! Parser of drafts in JSON, from a request body, a line or an array.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{error::Category, value::RawValue};

use super::{
    definition::Field,
    draft::{Draft, Source},
    kind::Kind,
    text::excerpt,
    value::Value,
};

/// Messages for a person: one for each error.
pub(crate) type Messages = Vec<Cow<'static, str>>;

/// Why a text is not a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DraftJsonError {
    /// It is not UTF-8; the first invalid byte.
    NotUtf8(usize),
    /// It begins with a byte order mark.
    ByteOrderMark,
    /// It is empty or white space.
    Empty,
    /// It is JSON, but not an object.
    NotAnObject,
    /// It is not JSON.
    NotJson(TextPosition),
    /// It ends in the middle of the object.
    Truncated(TextPosition),
    /// It has more text after the object.
    Trailing(TextPosition),
    /// It has this member twice.
    Repeated(String),
    /// Members have values of the wrong type: a message for each.
    Members(Messages),
}

/// A place in a text, counted from 1, as the parser counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl TextPosition {
    fn of(error: &serde_json::Error) -> Self {
        Self {
            line: error.line(),
            column: error.column(),
        }
    }
}

impl DraftJsonError {
    /// The messages. The subject is the text, such as "The body"; `place` formats a position in
    /// it.
    pub(crate) fn messages(self, subject: &str, place: fn(TextPosition) -> String) -> Messages {
        let message = match self {
            Self::Members(messages) => return messages,
            Self::NotUtf8(byte) => format!("{subject} is not UTF-8 (at byte {byte})"),
            Self::ByteOrderMark => {
                format!("{subject} begins with a byte order mark; send it without")
            }
            Self::Empty => {
                format!(
                    "{subject} is empty; send a JSON object with {}",
                    Field::required_names()
                )
            }
            Self::NotAnObject => {
                format!(
                    "{subject} must be a JSON object with {}",
                    Field::required_names()
                )
            }
            Self::NotJson(at) => format!("{subject} is not valid JSON ({})", place(at)),
            Self::Truncated(at) => format!("{subject} ends before its JSON does ({})", place(at)),
            Self::Trailing(at) => format!(
                "{subject} continues after its JSON object ({}); send one object alone",
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

impl From<serde_json::Error> for DraftJsonError {
    /// Leaves out the parser's message, which is for programmers.
    fn from(error: serde_json::Error) -> Self {
        let place = TextPosition::of(&error);
        match error.classify() {
            Category::Data => Self::NotAnObject,
            Category::Eof => Self::Truncated(place),
            Category::Syntax | Category::Io => Self::NotJson(place),
        }
    }
}

/// Parses a draft.
///
/// Members are kept as raw text first and parsed one by one, so that all errors are reported
/// together, and the values of unknown members cannot cause any.
pub(crate) fn read(bytes: &[u8]) -> Result<Draft, DraftJsonError> {
    read_patch(bytes).map(|(draft, _)| draft)
}

/// Parses a patch (RFC 7396): a draft with the members that are to change, and the fields that are
/// `null`, which a patch removes.
pub(crate) fn read_patch(bytes: &[u8]) -> Result<(Draft, Vec<Field>), DraftJsonError> {
    let text =
        str::from_utf8(bytes).map_err(|error| DraftJsonError::NotUtf8(error.valid_up_to()))?;
    if text.starts_with('\u{feff}') {
        return Err(DraftJsonError::ByteOrderMark);
    }
    if text.trim_ascii().is_empty() {
        return Err(DraftJsonError::Empty);
    }
    let mut parser = serde_json::Deserializer::from_str(text);
    let mut members = Members::deserialize(&mut parser)?;
    parser
        .end()
        .map_err(|error| DraftJsonError::Trailing(TextPosition::of(&error)))?;
    if let Some(member) = members.repeated.take() {
        return Err(DraftJsonError::Repeated(member.into_owned()));
    }
    let draft = Draft::read(&mut members);
    if members.messages.is_empty() {
        Ok((draft, members.null_fields()))
    } else {
        Err(DraftJsonError::Members(members.messages))
    }
}

/// The members of an object as raw text, and the messages about their values.
#[derive(Default)]
struct Members<'a> {
    values: HashMap<Cow<'a, str>, &'a RawValue>,
    /// The first member that occurs twice.
    repeated: Option<Cow<'a, str>>,
    messages: Messages,
}

impl<'a> Members<'a> {
    /// The raw text of the value of a field.
    fn raw(&self, field: Field) -> Option<&'a str> {
        self.values.get(field.name()).map(|value| value.get())
    }

    fn null_fields(&self) -> Vec<Field> {
        let fields = Field::SETTABLE.iter().copied();
        let is_null = |field: &Field| self.raw(*field) == Some("null");
        fields.filter(is_null).collect()
    }
}

/// `null` is the same as a missing member.
impl Source for Members<'_> {
    fn value(&mut self, field: Field) -> Option<Value<'static>> {
        let parsed = parse(field, self.raw(field)?);
        parsed.unwrap_or_else(|message| {
            self.messages.push(message.into());
            None
        })
    }
}

/// The value of a member; `None` if it is `null`.
fn parse(field: Field, json: &str) -> Result<Option<Value<'static>>, String> {
    match field.kind() {
        _ if json == "null" => Ok(None),
        Kind::Integer { .. } => match json.parse() {
            // Rust parses every integer of JSON, and a plus sign, which is not JSON, was rejected
            // before.
            Ok(integer) => Ok(Some(Value::Integer(integer))),
            Err(_) => Err(field.wrong_kind()),
        },
        Kind::Id | Kind::Text { .. } | Kind::Choice(_) => {
            let text: Result<String, _> = serde_json::from_str(json);
            match text {
                Ok(text) => Ok(Some(Value::Text(text.into()))),
                Err(_) if json.starts_with('"') => Err(format!(
                    "{field} has an escape sequence that stands for no character"
                )),
                Err(_) => Err(format!("{field} must be a string")),
            }
        }
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
            let value = map.next_value()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(body: &[u8]) -> Messages {
        let place = |TextPosition { line, column }| format!("line {line}, column {column}");
        match read(body) {
            Ok(draft) => panic!("accepted as {draft:?}"),
            Err(error) => error.messages("The body", place),
        }
    }

    #[test]
    fn object_is_parsed_into_a_draft() {
        let read = |body: &str| read(body.as_bytes()).ok();
        assert_eq!(
            read(r#" {"name":"R2","type":"droid","year":1977} "#),
            Some(Draft::new("R2", "droid", 1977))
        );
        assert_eq!(read("{}"), Some(Draft::default()));
        assert_eq!(
            read(r#"{"name":null,"type":null,"year":null,"id":9,"x":[{"x":1e400}],"y":"\ud800"}"#),
            Some(Draft::default())
        );
        assert_eq!(
            read(r#"{"n\u0061me":"\u0000\ud83e\udd16","year":-0}"#),
            Some(Draft {
                name: Some("\0🤖".to_owned()),
                year: Some(0),
                robot_type: None
            })
        );
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
        assert_eq!(read(deep.as_bytes()).ok(), Some(Draft::default()));
        assert_eq!(
            messages("[".repeat(60_000).as_bytes()),
            ["The body must be a JSON object with name, type and year"]
        );
    }

    #[test]
    fn every_invalid_member_is_reported() {
        assert_eq!(
            messages(br#"{"year":"1977","name":5,"type":["droid"]}"#),
            [
                "type must be a string",
                "name must be a string",
                "year must be an integer from 0 to 9223372036854775807"
            ]
        );
        assert_eq!(
            messages(br#"{"name":"\ud800"}"#),
            ["name has an escape sequence that stands for no character"]
        );
        for year in [
            "1977.0",
            "1e3",
            "true",
            "{}",
            "9223372036854775808",
            "-9223372036854775809",
            "1e400",
        ] {
            let body = format!(r#"{{"year":{year}}}"#);
            assert_eq!(
                messages(body.as_bytes()),
                ["year must be an integer from 0 to 9223372036854775807"],
                "{year}"
            );
        }
    }

    #[test]
    fn invalid_text_is_described_in_plain_words() {
        for (body, message) in [
            (
                &b""[..],
                "The body is empty; send a JSON object with name, type and year",
            ),
            (
                b" \n",
                "The body is empty; send a JSON object with name, type and year",
            ),
            (b"\xff", "The body is not UTF-8 (at byte 0)"),
            (b"{\"name\":\"\xc3\"}", "The body is not UTF-8 (at byte 9)"),
            (
                b"\xef\xbb\xbf{}",
                "The body begins with a byte order mark; send it without",
            ),
            (
                b"null",
                "The body must be a JSON object with name, type and year",
            ),
            (
                b"\"{}\"",
                "The body must be a JSON object with name, type and year",
            ),
            (
                b"{\"name\":",
                "The body ends before its JSON does (line 1, column 8)",
            ),
            (
                b"{} {}",
                "The body continues after its JSON object (line 1, column 4); send one object alone",
            ),
            (
                b"{\"name\":1}\0",
                "The body continues after its JSON object (line 1, column 11); send one object alone",
            ),
            (
                b"{'name':1}",
                "The body is not valid JSON (line 1, column 2)",
            ),
            (b"name=R2", "The body is not valid JSON (line 1, column 2)"),
            (
                b"{\"year\":01}",
                "The body is not valid JSON (line 1, column 10)",
            ),
            (
                b"{\"year\":NaN}",
                "The body is not valid JSON (line 1, column 9)",
            ),
            (
                b"{\"a\":1,\"a\":1}",
                "The body has the member 'a' twice; send it once",
            ),
            (
                b"{\"name\":1,\"n\\u0061me\":1}",
                "The body has the member 'name' twice; send it once",
            ),
        ] {
            assert_eq!(
                messages(body),
                [message],
                "{}",
                String::from_utf8_lossy(body)
            );
        }
    }
}
