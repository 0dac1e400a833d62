//! Bodies of requests, read from the connection or from Rocket, and of responses.

use std::{
    io, mem,
    pin::{Pin, pin},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{
    FutureExt, Stream, StreamExt, TryStreamExt,
    future::{Either, select},
    stream::BoxStream,
};
use robot_core::http::{BodyError, BodyTimer};
use rocket::tokio::{sync::mpsc, time::timeout};

use crate::import_client::ImportClient;

/// Size from which a piece of a streamed body is passed on, in bytes. Lower, and an import switches threads
/// more often; higher, and each import uses more memory.
const PIECE: usize = 32 * 1024;

/// A body that is read while the client reads it.
pub(crate) type BodyStream = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The content of a response.
pub(crate) enum Content {
    Whole(Bytes),
    /// With the size, if it is known.
    Streamed(BodyStream, Option<usize>),
}

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

    /// Reads the whole body, if it is no longer than the limit, and arrives within this time.
    pub(crate) async fn read_whole(
        &mut self,
        limit: usize,
        time_limit: Duration,
    ) -> Result<Vec<u8>, BodyError> {
        let read = timeout(time_limit, async {
            let mut bytes = Vec::new();
            while let Some(piece) = self.next().await? {
                bytes.extend_from_slice(&piece);
                if bytes.len() > limit {
                    return Err(BodyError::TooLarge);
                }
            }
            Ok(bytes)
        });
        read.await.unwrap_or(Err(BodyError::TooSlow))
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

    /// Sends the body in pieces until its end, an error, or the receiver is dropped. Before a thread
    /// receives them, only full pieces are queued, which bounds the memory. If the import is ended in favour of another one, its client is
    /// too slow.
    pub(crate) async fn send_pieces(
        &mut self,
        mut timer: BodyTimer,
        receiver: mpsc::Sender<Result<Vec<u8>, BodyError>>,
        client: &ImportClient,
    ) {
        let mut buffered = Vec::new();
        loop {
            let started = Instant::now();
            client.start_waiting();
            let read = pin!(timeout(timer.next_timeout(), self.read_piece()));
            let mut piece = match select(read, pin!(client.ended.cancelled())).await {
                Either::Left((Ok(piece), _)) => piece,
                _ => Err(BodyError::TooSlow),
            };
            let size = piece.as_ref().map_or(0, Vec::len);
            timer.record(started.elapsed(), size);
            client.received(size);
            if let Ok(bytes) = &mut piece {
                buffered.append(bytes);
            }
            if size > 0 && buffered.len() < PIECE && !client.has_thread.is_cancelled() {
                continue;
            }
            client.is_ahead.cancel();
            let full = Ok(mem::take(&mut buffered));
            let is_sent = full == Ok(Vec::new()) || receiver.send(full).await.is_ok();
            if size == 0 {
                // Fails if the receiver needs no more.
                let _ = receiver.send(piece).await;
                return;
            }
            if !is_sent {
                return;
            }
        }
    }
}
