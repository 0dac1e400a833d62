//! Rocket responses made of the core's replies.

use std::io::{self, Cursor};

use bytes::Buf;
use futures_util::stream;
use robot_core::http::{self, Body, Chunks, RequestId};
use rocket::{Response, fairing::AdHoc, http::Status, tokio::io::AsyncRead};
use tokio_util::io::StreamReader;

use crate::{forms::is_below, permits::BlockingPermits};

/// The maximum size of a piece of a whole body in bytes. Rocket's default, 4 KiB, needs more messages
/// between its tasks.
const WHOLE_PIECE: usize = 64 * 1024;

/// The maximum size of a piece of a streamed body in bytes. [`serve`](crate::serve) uses larger pieces.
/// Under Rocket's own server, a connection buffers up to 16 pieces for a client that does not read, and
/// Rocket three: with 64 KiB, it would cost half a megabyte. With smaller pieces, sending takes more
/// messages between tasks.
const STREAMED_PIECE: usize = 4 * 1024;

/// Set by a fairing, because Rocket's `Shield`, which is attached to every application, sets it, too,
/// and logs a warning for each response that has it already.
const NO_SNIFF: &str = "x-content-type-options";

/// The response of a reply. A streamed body is read from the store on blocking threads.
pub(crate) fn response(reply: http::Response, permits: &BlockingPermits) -> Response<'static> {
    let mut response = Response::build();
    response.status(Status::new(reply.status().as_u16()));
    let request_id = reply.headers().get(RequestId::HEADER);
    let request_id = request_id
        .and_then(|id| id.to_str().ok())
        .unwrap_or_default();
    let request_id = request_id.to_owned();
    for (name, value) in reply.headers() {
        if name != NO_SNIFF
            && let Ok(value) = value.to_str()
        {
            response.raw_header_adjoin(name.to_string(), value.to_owned());
        }
    }
    // Rocket allocates a buffer of the maximum size, and frees it when the client has read the body.
    // With one byte more than the body, it needs no second buffer to find the end.
    let piece = match reply.into_body() {
        Body::Whole(bytes) => {
            let piece = WHOLE_PIECE.min(bytes.len() + 1);
            response.sized_body(bytes.len(), Cursor::new(bytes));
            piece
        }
        Body::Streamed(chunks) => {
            response.streamed_body(reader(chunks, permits.clone(), request_id));
            STREAMED_PIECE
        }
    };
    // Setting a body resets this size.
    response.max_chunk_size(piece).finalize()
}

/// The response of a reply to a request that Rocket could not parse, for which no fairing runs.
pub(crate) fn response_without_fairings(
    reply: http::Response,
    permits: &BlockingPermits,
) -> Response<'static> {
    let mut response = response(reply, permits);
    response.set_raw_header(NO_SNIFF, "nosniff");
    response
}

/// Forbids browsers to guess the content type of a response under a base path.
pub(crate) fn no_sniffing(base: &str) -> AdHoc {
    let base = base.trim_end_matches('/').to_owned();
    AdHoc::on_response("Robot catalogue: no sniffing", move |request, response| {
        if is_below(&base, request) && !response.headers().contains(NO_SNIFF) {
            response.set_raw_header(NO_SNIFF, "nosniff");
        }
        Box::pin(async {})
    })
}

/// Reads each piece on a blocking thread when the client has received the previous one.
fn reader(chunks: Chunks, permits: BlockingPermits, request_id: String) -> impl AsyncRead + Send {
    let state = (chunks, permits, request_id);
    let pieces = stream::try_unfold(state, |(mut chunks, permits, request_id)| async {
        let (piece, chunks) = permits
            .run_queued(&request_id, move || (chunks.next(), chunks))
            .await
            .map_err(|_| io::Error::other("the list cannot be read"))?;
        let piece = piece.transpose().map_err(io::Error::other)?;
        Ok::<_, io::Error>(piece.map(|bytes| (Piece::new(bytes), (chunks, permits, request_id))))
    });
    StreamReader::new(Box::pin(pieces))
}

/// A piece of a body. It is freed when it has been read, not when the client needs the next one.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    read: usize,
}

impl Piece {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, read: 0 }
    }
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.len() - self.read
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes[self.read..]
    }

    fn advance(&mut self, count: usize) {
        self.read += count;
        if self.read >= self.bytes.len() {
            *self = Self::default();
        }
    }
}
