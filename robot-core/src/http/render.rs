//! JSON of replies: compact, and safe if a browser interprets it as HTML.
//!
//! Names are user input, and the contract's content type is HTML. So `<`, `>` and `&` are written as
//! escapes, which are equivalent in JSON.

use std::io::{self, Write};

use ::http::{HeaderValue, header::CONTENT_TYPE};
use memchr::memchr3_iter;
use serde::Serialize;
use serde_json::{
    ser::{CompactFormatter, Formatter},
    value::RawValue,
};

use super::{
    accept,
    behaviour::Behaviour,
    failure::Failure,
    list::ListWriter,
    request_id::RequestId,
    response::{self, Response},
};
use crate::model::{Definition, Field, Message, Robot, Value};

/// The reply `{"status":…,"data":…,"messages":…}`, without members that have no value.
pub(super) fn envelope<T: Serialize>(
    status: &str,
    data: Option<T>,
    messages: Vec<String>,
) -> Vec<u8> {
    #[derive(Serialize)]
    struct Envelope<'a, T> {
        status: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<T>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        messages: Vec<String>,
    }
    json(&Envelope {
        status,
        data,
        messages,
    })
}

/// The reply with this data.
pub(super) fn data<T: Serialize>(behaviour: Behaviour, status: &str, data: &T) -> Vec<u8> {
    if behaviour.is_contract() {
        envelope(status, Some(data), Vec::new())
    } else {
        json(data)
    }
}

/// The reply to a request that failed, with what was done before.
pub(super) fn failed(
    behaviour: Behaviour,
    failure: &Failure,
    definition: &Definition,
    request_id: &RequestId,
) -> Response {
    /// The details of a problem (RFC 9457), whose type is that of the status.
    #[derive(Serialize)]
    struct Problem<'a> {
        title: &'a str,
        status: u16,
        detail: String,
        errors: Vec<Message>,
        request_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a RawValue>,
    }
    let status = failure.status(behaviour);
    let data = match failure {
        Failure::Import { data, .. } => data.as_deref(),
        _ => None,
    };
    if behaviour.is_contract() {
        return response::whole(status, envelope("ERROR", data, failure.messages()));
    }
    let errors = failure.errors().into_iter();
    let errors: Vec<_> = errors
        .map(|error| error.with(|text| definition.worded(text)))
        .collect();
    let problem = Problem {
        title: status.canonical_reason().unwrap_or_default(),
        status: status.as_u16(),
        detail: Message::joined(&errors, "; "),
        errors,
        request_id: request_id.as_str(),
        data,
    };
    let mut response = response::whole(status, json(&problem));
    let media_type = HeaderValue::from_static(accept::PROBLEM);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// The JSON of a value, as a part of a reply.
pub(super) fn raw(value: &impl Serialize) -> Option<Box<RawValue>> {
    let json = String::from_utf8(json(value)).ok()?;
    RawValue::from_string(json).ok()
}

/// The JSON of a value.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    append(&mut bytes, value);
    bytes
}

/// Writer of a JSON array of robots with these fields.
pub(super) struct Array {
    /// The fields, with their names in JSON.
    labels: Vec<(Field, String)>,
    has_started: bool,
}

impl Array {
    pub(super) fn new(fields: &[Field]) -> Self {
        let labels = fields
            .iter()
            .map(|field| (field.clone(), format!("\"{field}\":")));
        Self {
            labels: labels.collect(),
            has_started: false,
        }
    }
}

impl ListWriter for Array {
    const NAME: &str = "a list";

    fn write(&mut self, robot: &Robot, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.push(if self.has_started { b',' } else { b'[' });
        self.has_started = true;
        append_view(bytes, robot, &self.labels);
        Ok(())
    }

    fn finish(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.extend_from_slice(if self.has_started { b"]" } else { b"[]" });
        Ok(())
    }
}

/// Appends the JSON of a [`View`](crate::model::View) in a third of the time that its serialization
/// takes: most names have nothing to escape, and are copied.
fn append_view(bytes: &mut Vec<u8>, robot: &Robot, labels: &[(Field, String)]) {
    let mut digits = itoa::Buffer::new();
    bytes.push(b'{');
    let mut is_first = true;
    for (field, label) in labels {
        let Some(value) = robot.value_of(field) else {
            continue;
        };
        if !is_first {
            bytes.push(b',');
        }
        is_first = false;
        bytes.extend_from_slice(label.as_bytes());
        match value {
            Value::Id(id) => append_quoted(bytes, digits.format(id.get())),
            Value::Integer(number) => bytes.extend_from_slice(digits.format(number).as_bytes()),
            value @ (Value::Number(_) | Value::Boolean(_) | Value::Timestamp(_)) => {
                append(bytes, &value);
            }
            Value::Text(text) if has_escapes(&text) => append(bytes, &text),
            Value::Text(text) => append_quoted(bytes, &text),
        }
    }
    bytes.push(b'}');
}

fn append_quoted(bytes: &mut Vec<u8>, text: &str) {
    bytes.push(b'"');
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(b'"');
}

/// Whether a character of a text is escaped in a reply.
fn has_escapes(text: &str) -> bool {
    text.bytes()
        .any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&'))
}

fn append(bytes: &mut Vec<u8>, value: &impl Serialize) {
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(
        bytes,
        NoMarkup(CompactFormatter),
    ));
    // Neither writing to memory nor the serialization of these values fails.
    debug_assert!(written.is_ok());
}

/// Compact JSON without the characters of markup.
struct NoMarkup(CompactFormatter);

impl Formatter for NoMarkup {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let bytes = fragment.as_bytes();
        let mut written = 0;
        for index in memchr3_iter(b'<', b'>', b'&', bytes) {
            let escape = match bytes[index] {
                b'<' => b"\\u003c",
                b'>' => b"\\u003e",
                _ => b"\\u0026",
            };
            self.0
                .write_string_fragment(writer, &fragment[written..index])?;
            writer.write_all(escape)?;
            written = index + 1;
        }
        self.0.write_string_fragment(writer, &fragment[written..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::View;
    use crate::{Draft, Robot, RobotId, ValidDraft};

    fn array(robots: &[Robot], fields: &[Field]) -> Vec<u8> {
        let (mut array, mut bytes) = (Array::new(fields), Vec::new());
        for robot in robots {
            array.write(robot, &mut bytes).unwrap();
        }
        array.finish(&mut bytes).unwrap();
        bytes
    }

    fn robot(name: &str) -> Option<Robot> {
        let draft = ValidDraft::new(Draft::new(name, "virtual", 2001)).ok()?;
        Some(draft.with_id(RobotId::new(9)?))
    }

    #[test]
    fn markup_is_written_as_equivalent_escapes() {
        let text = "<img src=x onerror=alert(1)>&\"\\\n</script>é🤖";
        let bytes = json(&text);
        assert!(!bytes.iter().any(|byte| b"<>&".contains(byte)));
        assert_eq!(
            serde_json::from_slice::<String>(&bytes).ok().as_deref(),
            Some(text)
        );
    }

    #[test]
    fn view_has_the_fields_in_the_given_order() {
        let fields = [Field::YEAR, Field::TYPE, Field::NAME, Field::ID];
        assert_eq!(
            String::from_utf8_lossy(&array(robot("HAL").as_slice(), &fields)),
            r#"[{"year":2001,"type":"virtual","name":"HAL","id":"9"}]"#
        );
    }

    #[test]
    fn names_in_lists_are_escaped_as_in_other_replies() {
        let ascii = (1..=127).map(|byte| char::from(byte).to_string());
        let names: Vec<_> = ascii.chain(["é🤖\u{2028}".to_owned()]).collect();
        for name in names
            .iter()
            .flat_map(|name| [name.clone(), format!("R2{name}D2")])
        {
            let robot = robot(&name).unwrap();
            let fields = Field::DEFAULT;
            let expected = json(&View {
                robot: &robot,
                fields,
            });
            assert_eq!(
                array(&[robot], fields),
                [b"[", &expected[..], b"]"].concat()
            );
        }
    }
}
