//! What a body must be to become a draft.

use super::failure::Failure;
use crate::{
    model::Draft,
    transfer::object::{self, Place},
};

/// Reads the body of a `POST` or `PUT`.
pub(super) fn read(body: &[u8]) -> Result<Draft, Failure> {
    object::read(body).map_err(|error| Failure::Malformed(error.messages("The body", place)))
}

fn place(Place { line, column }: Place) -> String {
    format!("line {line}, column {column}")
}

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
            (
                b"{} {}",
                "The body goes on behind its JSON object (line 1, column 4); send one object alone",
            ),
            (
                b"{\"name\":1}\0",
                "The body goes on behind its JSON object (line 1, column 11); send one object alone",
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
