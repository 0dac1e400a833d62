//! The bytes of a file as they come, with the number of the line that they are on.

use std::io::{self, BufRead, BufReader, Cursor, Read};

/// The most bytes that a record may have, so that memory is bounded whatever arrives.
///
/// ```
/// use robot_core::transfer::{Format, RECORD_LIMIT, Records};
///
/// let line = format!("{{\"name\":\"{}\"}}\n", "R".repeat(RECORD_LIMIT));
/// let records: Vec<_> = Records::new(line.as_bytes(), Format::Ndjson).collect::<Result<_, _>>()?;
/// assert!(records[0].draft.is_err());
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub const RECORD_LIMIT: usize = 64 * 1024;

/// What some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes, to be looked at before they are taken.
#[derive(Debug)]
pub(super) struct Source<R> {
    input: BufReader<Unmarked<R>>,
    line: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input: BufReader::with_capacity(
                RECORD_LIMIT,
                Unmarked {
                    input,
                    start: None,
                    is_over: false,
                },
            ),
            line: 1,
        }
    }

    /// The number of the line that the next byte is on, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Some of the bytes that come next; none at the end.
    pub(super) fn ahead(&mut self) -> io::Result<&[u8]> {
        // The borrow of a return within a loop would outlast the loop, so the call is repeated.
        while let Err(error) = self.input.fill_buf() {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(self.input.buffer())
    }

    /// Goes on behind so many of the bytes ahead.
    pub(super) fn take(&mut self, count: usize) {
        let taken = &self.input.buffer()[..count];
        let breaks = memchr::memchr_iter(b'\n', taken).count();
        self.line = self
            .line
            .saturating_add(breaks.try_into().unwrap_or(u64::MAX));
        self.input.consume(count);
    }

    /// Goes on behind what of the bytes ahead is of these.
    pub(super) fn skip(&mut self, bytes: &[u8]) -> io::Result<()> {
        loop {
            let ahead = self.ahead()?;
            let is_other = |byte: &u8| !bytes.contains(byte);
            let count = ahead.iter().position(is_other).unwrap_or(ahead.len());
            if count == 0 {
                return Ok(());
            }
            self.take(count);
        }
    }
}

/// The bytes without the byte order mark that may be their start.
#[derive(Debug)]
struct Unmarked<R> {
    input: R,
    /// As many bytes as a mark has, once they are read.
    start: Option<Cursor<Vec<u8>>>,
    /// Whether the end has been met. Behind it, a terminal would have more.
    is_over: bool,
}

impl<R: Read> Read for Unmarked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = if let Some(start) = &mut self.start {
            start
        } else {
            let mut start = Vec::with_capacity(BYTE_ORDER_MARK.len());
            let length = BYTE_ORDER_MARK.len().try_into().unwrap_or(u64::MAX);
            self.input.by_ref().take(length).read_to_end(&mut start)?;
            self.is_over = start.len() < BYTE_ORDER_MARK.len();
            if start == BYTE_ORDER_MARK {
                start.clear();
            }
            self.start.insert(Cursor::new(start))
        };
        let read = start.read(buffer)?;
        if read > 0 || self.is_over {
            return Ok(read);
        }
        let read = self.input.read(buffer)?;
        self.is_over = read == 0;
        Ok(read)
    }
}

/// A record, as far as it is not too long.
#[derive(Debug, Default)]
pub(super) struct Cut {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Cut {
    /// Forgets the record before.
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

    /// The record; `None` where it is too long.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        (!self.is_too_long).then_some(&self.bytes)
    }
}
