//! Buffered input that counts lines, and the buffer of a record.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::record::ReadError;

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

/// Some editors put it before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Buffered input.
#[derive(Debug)]
pub(super) struct Input<R> {
    reader: BufReader<WithoutMark<R>>,
    line: u64,
    /// The line on which the header or the array begins; 0 before it.
    opening_line: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            reader: BufReader::with_capacity(
                RECORD_LIMIT,
                WithoutMark {
                    input,
                    start: None,
                    is_at_end: false,
                },
            ),
            line: 1,
            opening_line: 0,
        }
    }

    /// The line number of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The line on which the header or the array begins; 0 before it.
    pub(super) fn opening_line(&self) -> u64 {
        self.opening_line
    }

    /// Sets the line on which the header or the array begins.
    pub(super) fn open(&mut self, line: u64) {
        self.opening_line = line;
    }

    /// The bytes in the buffer, which is filled if it is empty; none at the end.
    pub(super) fn fill(&mut self) -> Result<&[u8], ReadError> {
        // Returning the bytes from within the loop would extend their borrow beyond it.
        while let Err(error) = self.reader.fill_buf() {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(ReadError::input(self.line, error));
            }
        }
        Ok(self.reader.buffer())
    }

    /// Consumes bytes of the buffer.
    pub(super) fn consume(&mut self, count: usize) {
        let consumed = &self.reader.buffer()[..count];
        let breaks = memchr::memchr_iter(b'\n', consumed).count();
        self.line = self
            .line
            .saturating_add(breaks.try_into().unwrap_or(u64::MAX));
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
}

/// A reader that skips a byte order mark at the start.
#[derive(Debug)]
struct WithoutMark<R> {
    input: R,
    /// The first bytes, once they are read.
    start: Option<Cursor<Vec<u8>>>,
    /// Whether the end was reached. A terminal would return more after it.
    is_at_end: bool,
}

impl<R: Read> Read for WithoutMark<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = if let Some(start) = &mut self.start {
            start
        } else {
            let mut start = Vec::with_capacity(BYTE_ORDER_MARK.len());
            let length = BYTE_ORDER_MARK.len().try_into().unwrap_or(u64::MAX);
            self.input.by_ref().take(length).read_to_end(&mut start)?;
            self.is_at_end = start.len() < BYTE_ORDER_MARK.len();
            if start == BYTE_ORDER_MARK {
                start.clear();
            }
            self.start.insert(Cursor::new(start))
        };
        let read = start.read(buffer)?;
        if read > 0 || self.is_at_end {
            return Ok(read);
        }
        let read = self.input.read(buffer)?;
        self.is_at_end = read == 0;
        Ok(read)
    }
}

/// The bytes of one record, up to the limit.
#[derive(Debug, Default)]
pub(super) struct RecordBuffer {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl RecordBuffer {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.is_too_long = false;
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.bytes.len() + bytes.len() > RECORD_LIMIT;
        if !self.is_too_long {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// The record; `None` if it is too long.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        (!self.is_too_long).then_some(&self.bytes)
    }
}
