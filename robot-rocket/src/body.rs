//! Bodies of requests, read from the connection or from Rocket.

use std::{
    io,
    pin::Pin,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::TryStreamExt;
use http_body_util::BodyDataStream;
use robot_core::http::{BODY_LIMIT, BodyError, BodyTimer, IMPORT_LIMIT};
use rocket::{
    Data, Request,
    data::ByteUnit,
    tokio::{
        io::{AsyncRead, AsyncReadExt},
        sync::mpsc,
        time::timeout,
    },
};
use tokio_util::io::StreamReader;

use crate::serve::Received;

/// Size of the pieces of a streamed body, in bytes. Lower, and an import switches threads more often;
/// higher, and each import uses more memory. One record of an import fits.
const PIECE: usize = 64 * 1024;

/// The body of a request.
pub(crate) struct RequestBody<'r>(Pin<Box<dyn AsyncRead + Send + 'r>>);

impl<'r> RequestBody<'r> {
    /// The body, of which one byte more than the largest import can be read.
    pub(crate) fn open(request: &'r Request<'_>, data: Data<'r>) -> Self {
        let limit = IMPORT_LIMIT + 1;
        let received = Received::of(request).and_then(Received::take_body);
        Self(match received {
            Some(body) => {
                // A copy, because hyper cannot use its buffer again while the last piece is kept.
                let pieces = BodyDataStream::new(body)
                    .map_ok(|piece| Bytes::copy_from_slice(&piece))
                    .map_err(io::Error::other);
                Box::pin(StreamReader::new(pieces).take(limit))
            }
            None => Box::pin(data.open(ByteUnit::Byte(limit))),
        })
    }

    /// Reads the whole body, or one byte more than the limit.
    pub(crate) async fn read_whole(self, deadline: Duration) -> Result<Vec<u8>, BodyError> {
        let mut bytes = Vec::new();
        let mut body = self.0.take(BODY_LIMIT as u64 + 1);
        match timeout(deadline, body.read_to_end(&mut bytes)).await {
            Ok(Ok(_)) => Ok(bytes),
            Ok(Err(_)) => Err(BodyError::Incomplete),
            Err(_) => Err(BodyError::TooSlow),
        }
    }

    /// Sends the body in pieces until its end, an error, or the receiver is dropped.
    pub(crate) async fn send_pieces(
        mut self,
        mut timer: BodyTimer,
        receiver: mpsc::Sender<Result<Vec<u8>, BodyError>>,
    ) {
        loop {
            let mut piece = vec![0; PIECE];
            let started = Instant::now();
            let piece = match timeout(timer.next_timeout(), self.0.read(&mut piece)).await {
                Ok(Ok(length)) => {
                    piece.truncate(length);
                    Ok(piece)
                }
                Ok(Err(_)) => Err(BodyError::Incomplete),
                Err(_) => Err(BodyError::TooSlow),
            };
            timer.record(started.elapsed(), piece.as_ref().map_or(0, Vec::len));
            let is_last = piece.as_ref().map_or(true, Vec::is_empty);
            if receiver.send(piece).await.is_err() || is_last {
                return;
            }
        }
    }
}
