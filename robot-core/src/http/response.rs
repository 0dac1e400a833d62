//! Responses and their bodies.

use std::fmt;

use ::http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};

use super::{accept::EVENTS, events::Events, failure::Failure};
use crate::catalogue::{Pending, Result};

/// A response, which a frontend sends unchanged. It adds the headers of the transport
/// (`Content-Length`, `Transfer-Encoding`, `Connection`, `Date`) and no others. It omits the body of a
/// response to `HEAD`, and keeps the headers.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::Api};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let response = api.handle(http::Request::get("/api/robots").body("")?);
/// assert_eq!((response.status().as_u16(), &response.headers()["vary"]), (200, &"Accept".parse()?));
/// assert_eq!(response.into_body().into_bytes()?, b"[]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Response = ::http::Response<Body>;

/// The outcome of a request.
pub(super) type HandlerResult = Result<Response, Failure>;

/// The outcome of a request that may take work which blocks. An `Err` was found without blocking.
pub(super) type Started = Result<Pending<HandlerResult>, Failure>;

/// A response without headers.
pub(super) fn whole(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::Whole(bytes));
    *response.status_mut() = status;
    response
}

/// A response with the status 200.
pub(super) fn ok(bytes: Vec<u8>) -> Response {
    Response::new(Body::Whole(bytes))
}

/// A response with the status 200 that no cache keeps.
pub(super) fn not_stored(bytes: Vec<u8>) -> Response {
    let mut response = ok(bytes);
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(CACHE_CONTROL, no_store);
    response
}

/// A response with the status 200 and a streamed body.
pub(super) fn streamed(chunks: impl Iterator<Item = Result<Vec<u8>>> + Send + 'static) -> Response {
    Response::new(Body::Streamed(Box::new(chunks)))
}

/// A response with events, which no proxy buffers or keeps.
pub(super) fn events(events: Events) -> Response {
    let mut response = Response::new(Body::Events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Sets a header, unless the text cannot be the value of a header.
pub(super) fn set(headers: &mut HeaderMap, name: HeaderName, text: String) {
    if let Ok(value) = HeaderValue::try_from(text) {
        headers.insert(name, value);
    }
}

/// The body of a response.
///
/// ```
/// use std::io::Write;
/// use robot_core::http::Body;
///
/// /// Sends a body, piece by piece if it is streamed.
/// fn send(body: Body, socket: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
///     match body {
///         Body::Whole(bytes) => socket.write_all(&bytes)?,
///         Body::Streamed(chunks) => {
///             for chunk in chunks {
///                 socket.write_all(&chunk?)?;
///             }
///         }
///         // A frontend that blocks a thread for each of them is better without them.
///         Body::Events(_) => {}
///     }
///     Ok(())
/// }
///
/// let mut sent = Vec::new();
/// send(Body::Whole(b"[]".to_vec()), &mut sent)?;
/// assert_eq!(sent, Body::Whole(b"[]".to_vec()).into_bytes()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Body {
    /// The whole body.
    Whole(Vec<u8>),
    /// The body in pieces, each read from the store on demand.
    Streamed(Chunks),
    /// The body in pieces, for which the frontend waits without a thread.
    Events(Events),
}

impl Body {
    /// All bytes in one vector. Blocks while the store is read, or until events end.
    ///
    /// # Errors
    /// Those of the store.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        match self {
            Self::Whole(bytes) => Ok(bytes),
            Self::Streamed(chunks) => {
                let mut bytes = Vec::new();
                for chunk in chunks {
                    bytes.extend(chunk?);
                }
                Ok(bytes)
            }
            Self::Events(mut events) => pollster::block_on(async {
                let mut bytes = Vec::new();
                while let Some(piece) = events.next().await {
                    bytes.extend(piece);
                }
                Ok(bytes)
            }),
        }
    }
}

/// The pieces of a streamed body. `next` may block on the store, so a frontend calls it on a thread
/// that may block. Between the calls no connection of the store is in use.
///
/// After an error there are no more pieces. The response is incomplete then, and the frontend
/// closes the connection without completing it, so that the client can detect that.
pub type Chunks = Box<dyn Iterator<Item = Result<Vec<u8>>> + Send>;

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Body").finish_non_exhaustive()
    }
}
