//! Buffered input that counts lines, and the buffer of a record.

use std::{
    borrow::Cow,
    io::{self, BufRead, BufReader, Read},
};

use super::{
    encoding::{Decoding, Source},
    position::RecordPosition,
    record::ReadError,
};

/// The maximum number of bytes in a record, which bounds the memory that a reader needs.
///
/// ```
/// use robot_core::transfer::{FileFormat, RECORD_LIMIT, Records};
///
/// let line = format!("{{\"name\":\"{}\"}}\n", "R".repeat(RECORD_LIMIT));
/// let records: Vec<_> = Records::new(line.as_bytes(), FileFormat::Ndjson).collect::<Result<_, _>>()?;
/// assert!(records[0].values.is_err());
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub const RECORD_LIMIT: usize = 64 * 1024;

/// Lower, and files are read by more calls of the system; higher, and each import needs more memory.
const BUFFER_SIZE: usize = 16 * 1024;

/// Buffered input, and the record that was read last.
pub(super) struct Input<R> {
    reader: BufReader<Decoding<R>>,
    /// Whether the end was reached. A terminal would return more after it.
    is_at_end: bool,
    line: u64,
    /// Whether the last byte that was consumed is a carriage return.
    is_after_return: bool,
    /// The number of records so far.
    count: u64,
    /// The line on which the last record begins, or before it the header or the array; 0 before these.
    last_line: u64,
    /// The bytes of the record, up to the limit.
    record: Vec<u8>,
    is_too_long: bool,
}

impl<R: Read> Input<R> {
    pub(super) fn new(input: R, source: Source) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER_SIZE, Decoding::new(input, source)),
            is_at_end: false,
            line: 1,
            is_after_return: false,
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

    /// Notes the line of the header or of the `[`. A record on that line is located by its number.
    pub(super) fn open(&mut self, line: u64) {
        self.last_line = line;
    }

    /// Counts a record, which begins on this line, and returns its position.
    pub(super) fn count(&mut self, line: u64) -> RecordPosition {
        let position = self.locate(line);
        self.count += 1;
        self.last_line = line;
        position
    }

    /// The position of the record after the last one, which begins on this line.
    fn locate(&self, line: u64) -> RecordPosition {
        if line > self.last_line {
            RecordPosition::Line(line)
        } else {
            RecordPosition::Record(self.count + 1)
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
            match self.reader.fill_buf().map(<[u8]>::len) {
                Ok(count) => self.is_at_end = count == 0,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) if cause.kind() == io::ErrorKind::InvalidData => {
                    return Err(self.malformed(self.line, cause.to_string()));
                }
                Err(cause) => {
                    let position = self.locate(self.line);
                    return Err(ReadError::Input { position, cause });
                }
            }
        }
        Ok(self.reader.buffer())
    }

    /// Sets what the input is, before it is read.
    pub(super) fn set_source(&mut self, source: Source) {
        self.reader.get_mut().source = source;
    }

    /// Whether the input begins with a byte order mark of UTF-8.
    pub(super) fn has_mark(&self) -> bool {
        self.reader.get_ref().has_mark()
    }

    /// The number of records so far.
    pub(super) fn records(&self) -> u64 {
        self.count
    }

    /// Consumes bytes of the buffer.
    pub(super) fn consume(&mut self, count: usize) {
        let consumed = &self.reader.buffer()[..count];
        for place in memchr::memchr2_iter(b'\n', b'\r', consumed) {
            let before = place.checked_sub(1).and_then(|before| consumed.get(before));
            let is_after_return = before.map_or(self.is_after_return, |byte| *byte == b'\r');
            // Both together are one line break.
            self.line += u64::from(!(consumed[place] == b'\n' && is_after_return));
        }
        if let Some(last) = consumed.last() {
            self.is_after_return = *last == b'\r';
        }
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
