//! Bodies of requests, read from the connection or from Rocket.

use std::time::Instant;

use bytes::Bytes;
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, stream::BoxStream};
use robot_core::http::{BodyError, BodyTimer};
use rocket::tokio::{sync::mpsc, time::timeout};

/// Size from which a piece of a streamed body is passed on, in bytes. Lower, and an import switches threads
/// more often; higher, and each import uses more memory.
const PIECE: usize = 64 * 1024;

/// The body of a request.
pub(crate) struct RequestBody<'a> {
    pieces: BoxStream<'a, Result<Bytes, BodyError>>,
    /// How the body ended, once it has.
    end: Option<Result<(), BodyError>>,
}

impl<'a> RequestBody<'a> {
    /// A body, which has no pieces if it is complete.
    pub(crate) fn new<E: 'a>(
        is_complete: bool,
        pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'a,
    ) -> Self {
        let end = is_complete.then_some(Ok(()));
        let pieces = pieces.map_err(|_| BodyError::Incomplete).boxed();
        Self { pieces, end }
    }

    /// Whether nothing of the body is left to be read.
    pub(crate) fn is_complete(&self) -> bool {
        self.end == Some(Ok(()))
    }

    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let end = match self.end {
            Some(end) => end,
            None => match self.pieces.try_next().await {
                Ok(Some(piece)) => return Ok(Some(piece)),
                end => end.map(drop),
            },
        };
        self.end = Some(end);
        end.map(|()| None)
    }

    /// Reads the whole body, if it is no longer than the limit.
    pub(crate) async fn read_whole(&mut self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > limit {
                return Err(BodyError::TooLarge);
            }
        }
        Ok(bytes)
    }

    /// The next piece, with what has arrived after it; empty at the end of the body. Copied, because hyper
    /// cannot use its buffer again while a piece is kept.
    async fn read_piece(&mut self) -> Result<Vec<u8>, BodyError> {
        let mut bytes = self.next().await?.unwrap_or_default().to_vec();
        while !bytes.is_empty() && bytes.len() < PIECE {
            // The next call returns an error, and what has arrived before is used.
            let Some(Ok(Some(piece))) = self.next().now_or_never() else {
                break;
            };
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// Sends the body in pieces until its end, an error, or the receiver is dropped.
    pub(crate) async fn send_pieces(
        &mut self,
        mut timer: BodyTimer,
        receiver: mpsc::Sender<Result<Vec<u8>, BodyError>>,
    ) {
        loop {
            let started = Instant::now();
            let piece = timeout(timer.next_timeout(), self.read_piece()).await;
            let piece = piece.unwrap_or(Err(BodyError::TooSlow));
            timer.record(started.elapsed(), piece.as_ref().map_or(0, Vec::len));
            let is_last = piece.as_ref().map_or(true, Vec::is_empty);
            if receiver.send(piece).await.is_err() || is_last {
                return;
            }
        }
    }
}
