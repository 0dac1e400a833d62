//! JSON reader: a record is an element of one array.
//!
//! The array is split into elements at its delimiters, and each element is parsed by itself, so that
//! an array of any length is read in constant memory.

use std::io::Read;

use super::{
    input::{Input, RecordBuffer},
    record::ReadError,
};

const WHITE_SPACE: &[u8] = b" \t\r\n";

/// The position in the array.
#[derive(Debug, Default)]
pub(super) enum JsonReader {
    #[default]
    BeforeArray,
    BeforeFirst,
    AfterElement,
    AfterArray,
}

impl JsonReader {
    /// Reads the next element. Returns the line on which it begins; `None` at the end.
    pub(super) fn next<R: Read>(
        &mut self,
        input: &mut Input<R>,
        record: &mut RecordBuffer,
    ) -> Result<Option<u64>, ReadError> {
        if matches!(self, Self::BeforeArray) {
            match peek(input)? {
                Some(b'[') => {
                    input.open(input.line());
                    input.consume(1);
                }
                Some(_) => return Err(not_an_array(input)),
                None => {
                    return Err(ReadError::malformed(
                        input.line(),
                        "The input is empty; an empty JSON array is []",
                    ));
                }
            }
            *self = Self::BeforeFirst;
        }
        let next = peek(input)?;
        match (&self, next) {
            (Self::BeforeFirst | Self::AfterElement, Some(b']')) => {
                input.consume(1);
                *self = Self::AfterArray;
            }
            (Self::AfterElement, Some(b',')) => input.consume(1),
            (Self::AfterElement, Some(_)) => return Err(not_json(input.line())),
            _ => {}
        }
        if matches!(self, Self::AfterArray) {
            return match peek(input)? {
                None => Ok(None),
                Some(_) => Err(ReadError::malformed(
                    input.line(),
                    "The JSON array is followed by something else; send one array",
                )),
            };
        }
        *self = Self::AfterElement;
        read_element(input, record).map(Some)
    }
}

/// The next byte that is not white space.
fn peek<R: Read>(input: &mut Input<R>) -> Result<Option<u8>, ReadError> {
    input.skip(WHITE_SPACE)?;
    Ok(input.fill()?.first().copied())
}

/// Reads an element up to its delimiter, a comma or bracket, which is not consumed.
fn read_element<R: Read>(
    input: &mut Input<R>,
    record: &mut RecordBuffer,
) -> Result<u64, ReadError> {
    input.skip(WHITE_SPACE)?;
    let line = input.line();
    let mut element = Element::default();
    record.clear();
    loop {
        let buffer = input.fill()?;
        if buffer.is_empty() {
            return Err(ReadError::malformed(
                line,
                "What begins here does not end: the JSON is truncated or not valid",
            ));
        }
        let end = element.end(buffer);
        let count = end.unwrap_or(buffer.len());
        record.extend(&buffer[..count]);
        input.consume(count);
        if end.is_some() {
            let is_present = record.bytes().is_none_or(|bytes| !bytes.is_empty());
            return if is_present {
                Ok(line)
            } else {
                Err(not_json(line))
            };
        }
    }
}

/// The state of the scan for the end of an element.
#[derive(Debug, Default)]
struct Element {
    depth: usize,
    string: InString,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum InString {
    #[default]
    No,
    Yes,
    /// The next character is escaped.
    Escaped,
}

impl Element {
    /// The end of the element in the next bytes; `None` if it continues after them.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, byte) in bytes.iter().enumerate() {
            match self.string {
                InString::No => match byte {
                    b'"' => self.string = InString::Yes,
                    b',' | b']' | b'}' if self.depth == 0 => return Some(index),
                    b'[' | b'{' => self.depth += 1,
                    b']' | b'}' => self.depth -= 1,
                    _ => {}
                },
                InString::Yes => match byte {
                    b'"' => self.string = InString::No,
                    b'\\' => self.string = InString::Escaped,
                    _ => {}
                },
                InString::Escaped => self.string = InString::Yes,
            }
        }
        None
    }
}

pub(super) fn not_json(line: u64) -> ReadError {
    ReadError::malformed(
        line,
        "The JSON is not valid here; nothing after it can be read",
    )
}

fn not_an_array<R: Read>(input: &Input<R>) -> ReadError {
    ReadError::malformed(
        input.line(),
        "The JSON is not an array of objects; for one object per line, use the format ndjson",
    )
}
