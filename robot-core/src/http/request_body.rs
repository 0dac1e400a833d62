//! Bodies of requests: their limits, and the errors of reading them.

use std::time::Duration;

use ::http::HeaderMap;

use super::headers::content_length;

/// The maximum number of bytes in a request body that is not streamed.
///
/// A frontend may stop reading after one byte more: [`Exchange::answer`](super::Exchange::answer)
/// then answers 413.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, BODY_LIMIT}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let request = http::Request::post("/api/robots").body(vec![b' '; BODY_LIMIT + 1])?;
/// assert_eq!(api.handle(request).status(), 413);
/// # http::Result::Ok(())
/// ```
pub const BODY_LIMIT: usize = 64 * 1024;

/// The timeout of the contract for a body: see [`Exchange::body_deadline`](super::Exchange::body_deadline).
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It has more bytes than [`BODY_LIMIT`].
    #[error("The body has more than {BODY_LIMIT} bytes; send a shorter one")]
    TooLarge,
    /// It did not arrive within [`Exchange::body_deadline`](super::Exchange::body_deadline), or within
    /// the limits of a streamed body.
    #[error("The request body did not arrive in time; send it again")]
    TooSlow,
    /// The connection or the transfer encoding ended before the body was complete.
    #[error("The body ended early; send it again")]
    Incomplete,
}

/// A piece of a body, or why there are no more. An empty one marks its end.
pub type Piece = Result<Vec<u8>, BodyError>;

/// The pieces of a streamed body.
pub(super) type Pieces = Box<dyn Iterator<Item = Piece> + Send>;

/// The body as a whole, if it is complete and has at most [`BODY_LIMIT`] bytes.
pub(super) fn whole(
    headers: &HeaderMap,
    body: impl Iterator<Item = Piece>,
) -> Result<Vec<u8>, BodyError> {
    let length = content_length(headers);
    if length > Some(BODY_LIMIT) {
        return Err(BodyError::TooLarge);
    }
    let mut whole = Vec::new();
    for piece in body {
        match piece?.as_slice() {
            [] if length <= Some(whole.len()) => return Ok(whole),
            [] => break,
            bytes => whole.extend_from_slice(bytes),
        }
        if whole.len() > BODY_LIMIT {
            return Err(BodyError::TooLarge);
        }
    }
    Err(BodyError::Incomplete)
}
