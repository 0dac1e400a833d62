//! Parser of drafts in JSON, from a request body, a line or an array.

use std::{collections::HashMap, fmt};

use serde::de::Deserialize;
use serde_json::{Error, error::Category};

use super::{
    definition::Definition,
    draft::{Draft, Messages},
    field::Field,
    id::RobotId,
    kind::Kind,
    reading::whole,
    text::{Message, UNKNOWN_LIMIT, excerpt, unknown as unknown_name},
    value::Value,
};

pub(crate) use super::members::Members;

/// Where the JSON is from: its name in messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// The body of a request.
    Body {
        /// Whether a member that is not a field is an error.
        is_strict: bool,
        /// The id that the body must have, if it has one, as text. If that is empty, neither an id nor a revision may
        /// be sent. Otherwise a revision may, so that a robot that was read can be sent back. `None` under the
        /// contract.
        id: Option<&'a str>,
    },
    /// A record of a file, which has one line in most files.
    Record,
}

impl Subject<'_> {
    fn message(self, text: impl fmt::Display) -> Messages {
        let subject = match self {
            Self::Body { .. } => "body",
            Self::Record => "record",
        };
        vec![format!("The {subject} {text}").into()]
    }

    /// A number, which may have decimals that are zero, except under the contract.
    fn number(self, json: &str) -> &str {
        match self {
            Self::Body { id: None, .. } => json,
            Self::Body { .. } | Self::Record => whole(json),
        }
    }

    fn place(self, error: &Error) -> String {
        match self {
            Self::Body { .. } => format!("line {}, column {}", error.line(), error.column()),
            Self::Record => format!("column {}", error.column()),
        }
    }

    fn syntax_message(self, definition: &Definition, error: &Error) -> Messages {
        let place = self.place(error);
        match error.classify() {
            Category::Data => {
                let names = definition.required_names();
                self.message(format_args!("must be a JSON object with {names}"))
            }
            Category::Eof => self.message(format_args!("ends before its JSON does ({place})")),
            Category::Syntax | Category::Io => {
                self.message(format_args!("is not valid JSON ({place})"))
            }
        }
    }
}

/// Parses a JSON object: a draft, and the fields that are `null`, which a patch (RFC 7396) removes. Members are
/// kept as raw text first and parsed one by one, so that all errors are reported together, and the values of
/// unknown members cannot cause any.
pub(crate) fn read(
    definition: &Definition,
    bytes: &[u8],
    subject: Subject<'_>,
) -> Result<(Draft, Vec<Field>), Messages> {
    let members = Members::parse(definition, bytes, subject)?;
    let values = members.0.iter().map(|(name, json)| (&**name, *json));
    let values: HashMap<_, _> = values.collect();
    let member = |field: &Field| values.get(field.name()).copied();
    let draft = Draft::read(definition, |field| match member(field) {
        None | Some("null") => Ok(None),
        Some(json) => parse_json(field, subject.number(json)).map(Some),
    });
    let fields = definition.settable().iter();
    let nulls = fields
        .filter(|field| member(field) == Some("null"))
        .cloned()
        .collect();
    let others = members.check_others(definition, subject);
    match draft {
        Ok(draft) if others.is_empty() => Ok((draft, nulls)),
        Ok(_) => Err(others),
        Err(messages) => Err([messages, others].concat()),
    }
}

impl<'a> Members<'a> {
    /// Parses a JSON object whose members have different names.
    pub(crate) fn parse(
        definition: &Definition,
        bytes: &'a [u8],
        subject: Subject<'_>,
    ) -> Result<Self, Messages> {
        let text = str::from_utf8(bytes).map_err(|error| {
            let byte = error.valid_up_to();
            subject.message(format_args!("is not UTF-8 (at byte {byte})"))
        })?;
        if text.starts_with('\u{feff}') {
            return Err(subject.message("begins with a byte order mark; send it without"));
        }
        if text.trim_ascii().is_empty() {
            let names = definition.required_names();
            return Err(subject.message(format_args!("is empty; send a JSON object with {names}")));
        }
        let mut parser = serde_json::Deserializer::from_str(text);
        let members = Self::deserialize(&mut parser);
        let members = members.map_err(|error| subject.syntax_message(definition, &error))?;
        parser.end().map_err(|error| {
            let place = subject.place(&error);
            subject.message(format_args!(
                "continues after its JSON object ({place}); send one object alone"
            ))
        })?;
        if let Some(member) = members.repeated() {
            let member = excerpt(member);
            return Err(subject.message(format_args!(
                "has the member '{member}' twice; send it once"
            )));
        }
        Ok(members)
    }
}

impl Members<'_> {
    /// Messages about the members that are not fields which clients set.
    fn check_others(&self, definition: &Definition, subject: Subject<'_>) -> Messages {
        let Subject::Body { is_strict, id } = subject else {
            return Messages::new();
        };
        let mut messages = Messages::new();
        let sent = |field: &Field| self.get(field.name()).filter(|json| *json != "null");
        if id == Some("") && sent(&Field::REVISION).is_some() {
            let message = "revision must be left out; the service counts revisions".to_owned();
            messages.push(Message::about("revision", message));
        }
        if let (Some(id), Some(json)) = (id, sent(&Field::ID))
            && (id.is_empty() || json.trim_matches('"').parse::<RobotId>() != id.parse())
        {
            let message = match id {
                "" => "id must be left out; the service chooses ids".to_owned(),
                id => format!("id must be {}, as in the path, or be left out", excerpt(id)),
            };
            messages.push(Message::about("id", message));
        }
        if is_strict {
            let names: Vec<_> = definition.readable().map(Field::name).collect();
            let members = self.0.iter().map(|(name, _)| &**name);
            let unknown = members.filter(|name| !names.contains(name));
            let settable: Vec<_> = definition.settable().iter().map(Field::name).collect();
            messages.extend(unknown.take(UNKNOWN_LIMIT).map(|name| {
                let message = unknown_name(name, "field", &settable);
                Message::about(excerpt(name).into_owned(), message)
            }));
        }
        messages
    }
}

/// The value of a member that is not `null`.
pub(crate) fn parse_json(field: &Field, json: &str) -> Result<Value<'static>, String> {
    match field.kind() {
        // Rust parses every number of JSON, and a plus sign, which is not JSON, was rejected before.
        Kind::Integer { .. } | Kind::Number { .. } | Kind::Boolean => {
            field.parse_value(json).map(Value::into_owned)
        }
        Kind::Id | Kind::Text { .. } | Kind::Choice(_) | Kind::Timestamp => {
            let text: Result<String, _> = serde_json::from_str(json);
            match text {
                Ok(text) => Ok(Value::Text(text.into())),
                Err(_) if json.starts_with('"') => Err(format!(
                    "{field} has an escape sequence that stands for no character"
                )),
                Err(_) => Err(format!("{field} must be a string")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: Subject<'_> = Subject::Body {
        is_strict: false,
        id: None,
    };

    fn messages(body: &[u8]) -> Vec<String> {
        let messages = read(Definition::built_in(), body, BODY).unwrap_err();
        messages.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn object_is_parsed_into_a_draft() {
        let read = |body: &str| {
            let read = read(Definition::built_in(), body.as_bytes(), BODY);
            read.ok().map(|(draft, _)| draft)
        };
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
                name: Some("\0🤖".into()),
                year: Some(0),
                ..Draft::default()
            })
        );
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
        assert_eq!(
            read(Definition::built_in(), deep.as_bytes(), BODY).ok(),
            Some((Draft::default(), Vec::new()))
        );
        assert_eq!(messages("[".repeat(60_000).as_bytes()), [NOT_AN_OBJECT]);
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

    const EMPTY: &str = "The body is empty; send a JSON object with name, type and year";
    const NOT_AN_OBJECT: &str = "The body must be a JSON object with name, type and year";

    #[test]
    fn invalid_text_is_described_in_plain_words() {
        for (body, message) in [
            (&b""[..], EMPTY),
            (b" \n", EMPTY),
            (b"\xff", "The body is not UTF-8 (at byte 0)"),
            (b"{\"name\":\"\xc3\"}", "The body is not UTF-8 (at byte 9)"),
            (
                b"\xef\xbb\xbf{}",
                "The body begins with a byte order mark; send it without",
            ),
            (b"null", NOT_AN_OBJECT),
            (b"\"{}\"", NOT_AN_OBJECT),
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
