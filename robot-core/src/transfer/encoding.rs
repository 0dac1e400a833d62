//! Encodings of texts: reads UTF-8, UTF-16, or an encoding that the caller names, as UTF-8.

use std::{
    fs::File,
    io::{self, Cursor, Read},
};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::workbook::to_csv;

/// The number of bytes by which an encoding is recognised.
const START: u64 = 4;

/// Some editors put it before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The size of what is decoded at a time. Lower, and decoding takes more calls; higher, and imports need more memory.
const PIECE: usize = 4096;

/// What an input is.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// A text in an encoding, or in one that is recognised.
    Text(Option<&'static Encoding>),
    /// A workbook, of which a sheet is read as CSV, the first one if none is named.
    Workbook(Option<String>),
}

/// An input as UTF-8, without a byte order mark. Bytes that are no UTF-8 stay as they are, unless an encoding is known.
pub(super) struct Decoding<R> {
    input: R,
    pub(super) source: Source,
    /// The sheet of a workbook.
    sheet: Option<File>,
    start: Option<Cursor<Vec<u8>>>,
    decoder: Option<Box<Decoder>>,
    /// What is not decoded yet.
    encoded: Vec<u8>,
    is_at_end: bool,
    has_mark: bool,
}

impl<R: Read> Decoding<R> {
    pub(super) fn new(input: R, source: Source) -> Self {
        Self {
            input,
            source,
            sheet: None,
            start: None,
            decoder: None,
            encoded: Vec::new(),
            is_at_end: false,
            has_mark: false,
        }
    }

    /// Whether the input has begun with a byte order mark of UTF-8.
    pub(super) fn has_mark(&self) -> bool {
        self.has_mark
    }

    /// Reads the first bytes, and recognises the encoding by them: that of most texts begins with letters of ASCII.
    fn begin(&mut self) -> io::Result<Cursor<Vec<u8>>> {
        let mut start = Vec::new();
        let encoding = match &self.source {
            Source::Text(encoding) => *encoding,
            Source::Workbook(sheet) => {
                self.sheet = Some(to_csv(&mut self.input, sheet.as_deref())?);
                return Ok(Cursor::default());
            }
        };
        self.input.by_ref().take(START).read_to_end(&mut start)?;
        // An input that has ended is not read again: a terminal would return more.
        self.is_at_end = start.len() < 4;
        self.has_mark = start.starts_with(BYTE_ORDER_MARK);
        if self.has_mark {
            start.drain(..BYTE_ORDER_MARK.len());
        }
        let recognised = match start[..] {
            _ if self.has_mark => None,
            [0xff, 0xfe, ..] => Some(UTF_16LE),
            [0xfe, 0xff, ..] => Some(UTF_16BE),
            [one, 0, other, 0, ..] if one != 0 && other != 0 => Some(UTF_16LE),
            [0, one, 0, other, ..] if one != 0 && other != 0 => Some(UTF_16BE),
            _ => encoding.filter(|encoding| *encoding != UTF_8),
        };
        self.decoder = recognised.map(|encoding| Box::new(encoding.new_decoder()));
        Ok(Cursor::new(start))
    }
}

impl<R: Read> Read for Decoding<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start.is_none() {
            self.start = Some(self.begin()?);
        }
        let Self {
            input,
            sheet,
            start: Some(start),
            decoder,
            encoded,
            is_at_end,
            ..
        } = self
        else {
            return Ok(0);
        };
        let was_at_end = *is_at_end;
        let mut read = |buffer: &mut [u8]| match start.read(buffer)? {
            0 if was_at_end => Ok(0),
            0 => match sheet {
                Some(sheet) => sheet.read(buffer),
                None => input.read(buffer),
            },
            count => Ok(count),
        };
        if decoder.is_none() {
            return read(buffer);
        }
        loop {
            let mut piece = [0; PIECE];
            let count = read(&mut piece)?;
            encoded.extend_from_slice(&piece[..count]);
            let Some(active) = decoder else {
                return Ok(0);
            };
            let (result, decoded, written, _) = active.decode_to_utf8(encoded, buffer, count == 0);
            encoded.drain(..decoded);
            if count == 0 {
                *is_at_end = true;
                // A decoder that has finished must not be used.
                decoder.take_if(|_| result == CoderResult::InputEmpty);
            }
            if written > 0 || count == 0 {
                return Ok(written);
            }
        }
    }
}
