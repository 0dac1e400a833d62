//! Rocket responses made of the core's responses.

use std::io::Cursor;

use robot_core::http::{self, Body, RequestId};
use rocket::{Response, fairing::AdHoc, http::Status};
use tokio_util::io::StreamReader;

use crate::{mounted::Mounted, permits::BlockingPermits};

/// The maximum size of a piece of a whole body in bytes. Rocket's default, 4 KiB, needs more messages
/// between its tasks.
const WHOLE_PIECE: usize = 64 * 1024;

/// Set by a fairing, because Rocket's `Shield`, which is attached to every application, sets it, too,
/// and logs a warning for each response that has it already.
const NO_SNIFF: &str = "x-content-type-options";

/// The response of Rocket. A streamed body is read from the store on blocking threads.
pub(crate) fn convert(response: http::Response, permits: &BlockingPermits) -> Response<'static> {
    let (head, body) = response.into_parts();
    let mut converted = Response::build();
    converted.status(Status::new(head.status.as_u16()));
    for (name, value) in &head.headers {
        if name != NO_SNIFF
            && let Ok(value) = value.to_str()
        {
            converted.raw_header_adjoin(name.to_string(), value.to_owned());
        }
    }
    match body {
        Body::Whole(bytes) => {
            // Rocket allocates a buffer of the maximum size. With one byte more than the body, it needs
            // no second buffer to find the end.
            let piece = WHOLE_PIECE.min(bytes.len() + 1);
            converted.sized_body(bytes.len(), Cursor::new(bytes));
            // Setting a body resets this size.
            converted.max_chunk_size(piece);
        }
        Body::Streamed(chunks) => {
            let id = head.headers.get(RequestId::HEADER);
            let id = id.and_then(|id| id.to_str().ok()?.parse().ok());
            let pieces = permits.pieces(chunks, id.unwrap_or_else(RequestId::random));
            converted.streamed_body(StreamReader::new(Box::pin(pieces)));
        }
    }
    converted.finalize()
}

/// The response to a request that Rocket could not parse, for which no fairing runs.
pub(crate) fn convert_without_fairings(
    response: http::Response,
    permits: &BlockingPermits,
) -> Response<'static> {
    let mut converted = convert(response, permits);
    converted.set_raw_header(NO_SNIFF, "nosniff");
    converted
}

/// Forbids browsers to guess the content type of a response under the base of a catalogue.
pub(crate) fn no_sniffing(mounted: Mounted) -> AdHoc {
    AdHoc::on_response("Robot catalogue: no sniffing", move |request, response| {
        let is_below = mounted.is_above(request.uri().path().as_str());
        if is_below && !response.headers().contains(NO_SNIFF) {
            response.set_raw_header(NO_SNIFF, "nosniff");
        }
        Box::pin(async {})
    })
}
