//! From the core's replies to Rocket's responses.

use std::io::{self, Cursor};

use futures_util::stream;
use robot_core::http::{Body, Chunks, Reply};
use rocket::{Response, fairing::AdHoc, http::Status, tokio::io::AsyncRead};
use tokio_util::io::StreamReader;

use crate::{forms::is_below, threads::BlockingThreads};

/// The most bytes that go into one piece of a body. Rocket's own choice, 4 KiB, costs a list
/// of robots more time than reading it.
const PIECE: usize = 64 * 1024;

/// Set by a fairing, because the `Shield` that Rocket attaches to every application sets it,
/// too, and warns of each response that brings its own.
const NO_SNIFF: &str = "x-content-type-options";

/// The response of a reply, of which what is still to be read is read on these threads.
pub(crate) fn response(reply: Reply, threads: &BlockingThreads) -> Response<'static> {
    let mut response = Response::build();
    response.status(Status::new(reply.status));
    for (name, value) in reply.headers {
        if name != NO_SNIFF {
            response.raw_header(name, value);
        }
    }
    // Rocket makes room for a whole piece before it looks how much there is, and the room stays until
    // the client has taken the body. One byte more than the body, and its end needs no second room.
    let piece = match reply.body {
        Body::Whole(bytes) => {
            let piece = PIECE.min(bytes.len() + 1);
            response.sized_body(bytes.len(), Cursor::new(bytes));
            piece
        }
        Body::Streamed(chunks) => {
            response.streamed_body(reader(chunks, threads.clone()));
            PIECE
        }
    };
    // Each body begins with Rocket's own size, so this comes behind it.
    response.max_chunk_size(piece).finalize()
}

/// The response of a reply to a request that Rocket could not make sense of, which no
/// fairing gets to see.
pub(crate) fn unseen_by_fairings(reply: Reply, threads: &BlockingThreads) -> Response<'static> {
    let mut response = response(reply, threads);
    response.set_raw_header(NO_SNIFF, "nosniff");
    response
}

/// Keeps browsers from guessing the type of any response under a base path.
pub(crate) fn no_sniffing(base: &str) -> AdHoc {
    let base = base.trim_end_matches('/').to_owned();
    AdHoc::on_response("Robot catalogue: no sniffing", move |request, response| {
        if is_below(&base, request) && !response.headers().contains(NO_SNIFF) {
            response.set_raw_header(NO_SNIFF, "nosniff");
        }
        Box::pin(async {})
    })
}

/// Reads the pieces, each on a thread that may block, when the client has taken the last.
fn reader(chunks: Chunks, threads: BlockingThreads) -> impl AsyncRead + Send {
    let pieces = stream::try_unfold((chunks, threads), |(mut chunks, threads)| async {
        let (piece, chunks) = threads
            .run_in_turn(move || (chunks.next(), chunks))
            .await
            .map_err(|_| io::Error::other("the list was given up"))?;
        let piece = piece.transpose().map_err(io::Error::other)?;
        Ok::<_, io::Error>(piece.map(|bytes| (Cursor::new(bytes), (chunks, threads))))
    });
    StreamReader::new(Box::pin(pieces))
}
