//! JSON readers: a record is an element of one array, or a line (NDJSON).
//!
//! The array is split into elements at its delimiters, and each element is parsed by itself, so that
//! an array of any length is read in constant memory.

use std::io::Read;

use super::{input::Input, record::ReadError};

const WHITE_SPACE: &[u8] = b" \t\r\n";

/// The position in the array.
#[derive(Debug, Default)]
pub(super) enum JsonReader {
    #[default]
    BeforeArray,
    BeforeFirst,
    AfterElement,
}

impl JsonReader {
    /// Reads the next element. Returns the line on which it begins; `None` at the end.
    pub(super) fn next<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<u64>, ReadError> {
        if matches!(self, Self::BeforeArray) {
            open_array(input)?;
            *self = Self::BeforeFirst;
        }
        match (peek(input)?, &self) {
            (Some(b']'), _) => {
                input.consume(1);
                return match peek(input)? {
                    None => Ok(None),
                    Some(_) => Err(input.malformed(
                        input.line(),
                        "The JSON array is followed by something else; send one array",
                    )),
                };
            }
            (Some(b','), Self::AfterElement) => input.consume(1),
            (Some(_), Self::AfterElement) => return Err(not_json(input, input.line())),
            _ => {}
        }
        *self = Self::AfterElement;
        read_element(input).map(Some)
    }
}

/// Reads the bracket before the first element.
fn open_array<R: Read>(input: &mut Input<R>) -> Result<(), ReadError> {
    let message = match peek(input)? {
        Some(b'[') => {
            input.open(input.line());
            input.consume(1);
            return Ok(());
        }
        Some(_) => {
            "The JSON is not an array of objects; for one object per line, use the format ndjson"
        }
        None => "The input is empty; an empty JSON array is []",
    };
    Err(input.malformed(input.line(), message))
}

/// The next byte that is not white space.
fn peek<R: Read>(input: &mut Input<R>) -> Result<Option<u8>, ReadError> {
    input.skip(WHITE_SPACE)?;
    Ok(input.fill()?.first().copied())
}

/// Reads an element up to its delimiter, a comma or bracket, which is not consumed.
fn read_element<R: Read>(input: &mut Input<R>) -> Result<u64, ReadError> {
    input.skip(WHITE_SPACE)?;
    let line = input.line();
    if !input.read_record(end_of_element())? {
        return Err(input.malformed(
            line,
            "What begins here does not end: the JSON is truncated or not valid",
        ));
    }
    match input.record() {
        Some([]) => Err(not_json(input, line)),
        _ => Ok(line),
    }
}

/// Whether an element ends before a byte, given all its bytes in order.
fn end_of_element() -> impl FnMut(u8) -> bool {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    move |byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b',' | b']' | b'}' if depth == 0 => return true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        false
    }
}

pub(super) fn not_json<R: Read>(input: &Input<R>, line: u64) -> ReadError {
    input.malformed(
        line,
        "The JSON is not valid here; nothing after it can be read",
    )
}

/// Reads the next line that is not blank. Returns its number; `None` at the end.
pub(super) fn next_line<R: Read>(input: &mut Input<R>) -> Result<Option<u64>, ReadError> {
    loop {
        let line = input.line();
        if input.fill()?.is_empty() {
            return Ok(None);
        }
        if input.read_record(|byte| byte == b'\n')? {
            input.consume(1);
        }
        let record = input.record();
        if record.is_none_or(|bytes| !bytes.trim_ascii().is_empty()) {
            return Ok(Some(line));
        }
    }
}
