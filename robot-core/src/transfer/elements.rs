//! JSON: a record is an element of one array.
//!
//! Elements are cut out where a comma or bracket ends them, and the parser gets one after the
//! other, so that an array of any length is read in constant memory.

use std::io::Read;

use super::{
    records::ReadError,
    source::{Cut, Source},
};

const WHITE_SPACE: &[u8] = b" \t\r\n";

/// How far the array is read.
#[derive(Debug, Default)]
pub(super) enum Elements {
    /// Its bracket has not been met.
    #[default]
    Before,
    /// An element comes next, or the end.
    AtTheFirst,
    /// A comma comes next, or the end.
    BehindOne,
    /// Its end has been met.
    Behind,
}

impl Elements {
    /// Cuts the next element out. The line that it begins on; `None` at the end.
    pub(super) fn next<R: Read>(
        &mut self,
        source: &mut Source<R>,
        cut: &mut Cut,
    ) -> Result<Option<u64>, ReadError> {
        if matches!(self, Self::Before) {
            match peek(source)? {
                Some(b'[') => source.take(1),
                Some(_) => return Err(no_array(source)),
                None => {
                    return Err(ReadError::malformed(
                        source.line(),
                        "There is no JSON; an empty array is []",
                    ));
                }
            }
            *self = Self::AtTheFirst;
        }
        let next = peek(source)?;
        match (&self, next) {
            (Self::AtTheFirst | Self::BehindOne, Some(b']')) => {
                source.take(1);
                *self = Self::Behind;
            }
            (Self::BehindOne, Some(b',')) => source.take(1),
            (Self::BehindOne, Some(_)) => return Err(not_json(source.line())),
            _ => {}
        }
        if matches!(self, Self::Behind) {
            return match peek(source)? {
                None => Ok(None),
                Some(_) => Err(ReadError::malformed(
                    source.line(),
                    "Something follows the JSON array; a file has one array",
                )),
            };
        }
        *self = Self::BehindOne;
        cut_element(source, cut).map(Some)
    }
}

/// The next byte that is no white space.
fn peek<R: Read>(source: &mut Source<R>) -> Result<Option<u8>, ReadError> {
    skip(source)?;
    let line = source.line();
    let ahead = source
        .ahead()
        .map_err(|error| ReadError::input(line, error))?;
    Ok(ahead.first().copied())
}

fn skip<R: Read>(source: &mut Source<R>) -> Result<(), ReadError> {
    let skipped = source.skip(WHITE_SPACE);
    skipped.map_err(|error| ReadError::input(source.line(), error))
}

/// Cuts an element out, up to the comma or bracket that ends it, which stays.
fn cut_element<R: Read>(source: &mut Source<R>, cut: &mut Cut) -> Result<u64, ReadError> {
    skip(source)?;
    let line = source.line();
    let mut element = Element::default();
    cut.clear();
    loop {
        let at = source.line();
        let ahead = source
            .ahead()
            .map_err(|error| ReadError::input(at, error))?;
        if ahead.is_empty() {
            return Err(ReadError::malformed(
                line,
                "What begins here has no end: the JSON breaks off, or is not valid",
            ));
        }
        let end = element.end(ahead);
        let count = end.unwrap_or(ahead.len());
        cut.extend(&ahead[..count]);
        source.take(count);
        if end.is_some() {
            let is_there = cut.bytes().is_none_or(|bytes| !bytes.is_empty());
            return if is_there {
                Ok(line)
            } else {
                Err(not_json(line))
            };
        }
    }
}

/// What has been read of an element: enough to tell its end.
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
    /// Where the element ends in these bytes, which go on from those before.
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

fn not_json(line: u64) -> ReadError {
    ReadError::malformed(
        line,
        "The JSON is not valid here; nothing behind it can be read",
    )
}

fn no_array<R: Read>(source: &Source<R>) -> ReadError {
    ReadError::malformed(
        source.line(),
        "The JSON is not an array of objects; an object a line is the format ndjson",
    )
}
