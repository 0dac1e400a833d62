//! Buffered input that counts lines, and the buffer of a record.

use std::{
    borrow::Cow,
    io::{self, BufRead, BufReader, Chain, Cursor, Read, Take},
};

use super::{position::Position, record::ReadError};

/// The maximum number of bytes in a record, which bounds the memory that a reader needs.
///
/// ```
/// use robot_core::transfer::{Format, RECORD_LIMIT, Records};
///
/// let line = format!("{{\"name\":\"{}\"}}\n", "R".repeat(RECORD_LIMIT));
/// let records: Vec<_> = Records::new(line.as_bytes(), Format::Ndjson).collect::<Result<_, _>>()?;
/// assert!(records[0].values.is_err());
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub const RECORD_LIMIT: usize = 64 * 1024;

/// Lower, and files are read by more calls of the system; higher, and each import needs more memory.
const BUFFER_SIZE: usize = 16 * 1024;

/// Some editors put it before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const MARK_LENGTH: u64 = 3;

/// Buffered input, and the record that was read last.
#[derive(Debug)]
pub(super) struct Input<R> {
    /// The first bytes, without a mark, and the input after them.
    reader: BufReader<Chain<Cursor<Vec<u8>>, Take<R>>>,
    has_start: bool,
    /// Whether the end was reached. A terminal would return more after it.
    is_at_end: bool,
    line: u64,
    /// The number of records so far.
    count: u64,
    /// The line on which the last record begins, or before it the header or the array; 0 before these.
    last_line: u64,
    /// The bytes of the record, up to the limit.
    record: Vec<u8>,
    is_too_long: bool,
}

impl<R: Read> Input<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            reader: BufReader::with_capacity(
                BUFFER_SIZE,
                Cursor::default().chain(input.take(MARK_LENGTH)),
            ),
            has_start: false,
            is_at_end: false,
            line: 1,
            count: 0,
            last_line: 0,
            record: Vec::new(),
            is_too_long: false,
        }
    }

    /// The line number of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Begins the header or the array on this line.
    pub(super) fn open(&mut self, line: u64) {
        self.last_line = line;
    }

    /// Counts a record, which begins on this line, and returns its position.
    pub(super) fn count(&mut self, line: u64) -> Position {
        let position = self.locate(line);
        self.count += 1;
        self.last_line = line;
        position
    }

    /// The position of the record after the last one, which begins on this line.
    fn locate(&self, line: u64) -> Position {
        if line > self.last_line {
            Position::Line(line)
        } else {
            Position::Record(self.count + 1)
        }
    }

    /// The error that the input does not have its format on this line.
    pub(super) fn malformed(&self, line: u64, message: impl Into<Cow<'static, str>>) -> ReadError {
        ReadError::Malformed {
            position: self.locate(line),
            message: message.into(),
        }
    }

    /// The bytes in the buffer, which is filled if it is empty; none at the end.
    pub(super) fn fill(&mut self) -> Result<&[u8], ReadError> {
        while !self.is_at_end && self.reader.buffer().is_empty() {
            match self.fill_buffer() {
                Ok(count) => self.is_at_end = count == 0,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => {
                    let position = self.locate(self.line);
                    return Err(ReadError::Input { position, cause });
                }
            }
        }
        Ok(self.reader.buffer())
    }

    fn fill_buffer(&mut self) -> io::Result<usize> {
        let (start, input) = self.reader.get_mut().get_mut();
        if !self.has_start {
            input.read_to_end(start.get_mut())?;
            self.has_start = true;
            if input.limit() == 0 {
                input.set_limit(u64::MAX);
            } else {
                // The input has ended, and is not read again.
                input.set_limit(0);
            }
            if start.get_ref() == BYTE_ORDER_MARK {
                start.get_mut().clear();
            }
        }
        self.reader.fill_buf().map(<[u8]>::len)
    }

    /// Consumes bytes of the buffer.
    pub(super) fn consume(&mut self, count: usize) {
        let consumed = &self.reader.buffer()[..count];
        self.line += memchr::memchr_iter(b'\n', consumed).count() as u64;
        self.reader.consume(count);
    }

    /// Consumes all following bytes that are among these.
    pub(super) fn skip(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        loop {
            let buffer = self.fill()?;
            let is_other = |byte: &u8| !bytes.contains(byte);
            let count = buffer.iter().position(is_other).unwrap_or(buffer.len());
            if count == 0 {
                return Ok(());
            }
            self.consume(count);
        }
    }

    /// Reads a record up to the byte at which it ends, which is not consumed. Returns whether there is one.
    pub(super) fn read_record(
        &mut self,
        mut is_end: impl FnMut(u8) -> bool,
    ) -> Result<bool, ReadError> {
        self.record.clear();
        self.is_too_long = false;
        loop {
            let bytes = self.fill()?;
            let end = bytes.iter().position(|byte| is_end(*byte));
            let count = end.unwrap_or(bytes.len());
            self.is_too_long |= self.record.len() + count > RECORD_LIMIT;
            if !self.is_too_long {
                let bytes = &self.reader.buffer()[..count];
                self.record.extend_from_slice(bytes);
            }
            self.consume(count);
            if end.is_some() || count == 0 {
                return Ok(end.is_some());
            }
        }
    }

    /// The record; `None` if it is too long.
    pub(super) fn record(&self) -> Option<&[u8]> {
        (!self.is_too_long).then_some(&self.record)
    }
}
