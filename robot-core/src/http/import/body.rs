//! The body of an import, as one stream of bytes.

use std::io::{self, Cursor, Read};

use crate::http::request_body::{BodyError, Pieces};

/// The body as one stream of bytes.
pub(super) struct BodyReader {
    pieces: Pieces,
    piece: Cursor<Vec<u8>>,
    /// The number of further bytes that are allowed.
    room: u64,
}

impl BodyReader {
    /// The body of these pieces, up to a number of bytes.
    pub(super) fn new(pieces: Pieces, limit: u64) -> Self {
        Self {
            pieces,
            piece: Cursor::default(),
            room: limit,
        }
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            // The pieces end without a mark if the frontend lost the connection. A part of the last
            // record must not be taken for a whole one then.
            let piece = self.pieces.next().unwrap_or(Err(BodyError::Incomplete));
            let piece = piece.map_err(io::Error::other)?;
            if piece.is_empty() {
                return Ok(0);
            }
            let length = piece.len().try_into().unwrap_or(u64::MAX);
            let Some(room) = self.room.checked_sub(length) else {
                return Err(io::Error::other(BodyError::TooLarge));
            };
            self.room = room;
            self.piece = Cursor::new(piece);
        }
    }
}
