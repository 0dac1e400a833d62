//! What a body must be to become a draft.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{error::Category, value::RawValue};

use super::failure::{Failure, excerpt};
use crate::robot::Draft;

/// Reads the body of a `POST` or `PUT`.
///
/// The members stay raw text until their own turn, so that each one that is wrong is named,
/// all of them at once, and nothing in a member of no interest can do harm.
pub(super) fn read(body: &[u8]) -> Result<Draft, Failure> {
    let text = str::from_utf8(body).map_err(|error| {
        malformed(format!(
            "The body is not UTF-8 (at byte {})",
            error.valid_up_to()
        ))
    })?;
    if text.starts_with('\u{feff}') {
        return Err(malformed(
            "The body begins with a byte order mark; send it without",
        ));
    }
    if text.trim_ascii().is_empty() {
        return Err(malformed(
            "The body is empty; send a JSON object with name, type and year",
        ));
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| not_an_object(&error))?;
    if let Some(member) = members.repeated {
        return Err(malformed(format!(
            "The body has the member '{}' twice; send it once",
            excerpt(&member)
        )));
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
        Err(Failure::Malformed(messages))
    }
}

fn malformed(message: impl Into<Cow<'static, str>>) -> Failure {
    Failure::Malformed(vec![message.into()])
}

/// Says why a text is no JSON object, in words of ours: the parser's own are for programmers.
fn not_an_object(error: &serde_json::Error) -> Failure {
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Data => malformed("The body must be a JSON object with name, type and year"),
        Category::Eof => malformed(format!("The body ends before its JSON does ({place})")),
        Category::Syntax | Category::Io => {
            malformed(format!("The body is not valid JSON ({place})"))
        }
    }
}

/// A member that must be a string, if it is there. `null` counts as not there.
fn string(
    member: &'static str,
    value: Option<&RawValue>,
    messages: &mut Vec<Cow<'static, str>>,
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
fn integer(
    member: &'static str,
    value: Option<&RawValue>,
    messages: &mut Vec<Cow<'static, str>>,
) -> Option<i64> {
    let text = value?.get();
    // Rust reads every integer that JSON can write, and JSON writes none with a plus.
    match text.parse() {
        Ok(integer) => Some(integer),
        Err(_) if text == "null" => None,
        Err(_) => {
            messages.push(format!("{member} must be an integer from 0 to {}", i64::MAX).into());
            None
        }
    }
}

/// The members of a body, each still as text.
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

/// The name of a member, borrowed from the body where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(body: &[u8]) -> Vec<String> {
        match read(body) {
            Ok(draft) => panic!("taken as {draft:?}"),
            Err(failure) => failure.messages(),
        }
    }

    #[test]
    fn an_object_becomes_a_draft() {
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
    fn nesting_is_harmless() {
        let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
        assert_eq!(read(deep.as_bytes()).ok(), Some(Draft::default()));
        assert_eq!(
            messages("[".repeat(60_000).as_bytes()),
            ["The body must be a JSON object with name, type and year"]
        );
    }

    #[test]
    fn each_member_that_is_wrong_is_named() {
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
    fn what_is_no_object_is_told_in_plain_words() {
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
            (b"{} {}", "The body is not valid JSON (line 1, column 4)"),
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
