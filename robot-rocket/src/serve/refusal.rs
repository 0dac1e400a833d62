//! Requests and connections that the server answers by itself.

use bytes::Bytes;
use hyper::{
    Response, StatusCode,
    header::{HeaderValue, RETRY_AFTER, TRANSFER_ENCODING},
    http::request::Parts,
};
use robot_core::http::{Body, refusal};

/// The maximum size of a request head in bytes. Lower, and long searches are rejected; higher, and a
/// client that sends a part of a head uses more memory.
pub(super) const HEAD_LIMIT: usize = 128 * 1024;

/// Why the server answers by itself, in the contract's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    message: &'static str,
}

impl Refusal {
    pub(super) const MALFORMED: Self =
        Self::new(StatusCode::BAD_REQUEST, "The request cannot be understood");
    pub(super) const BODY_TOO_SLOW: Self = Self::new(
        StatusCode::REQUEST_TIMEOUT,
        "The request body did not arrive in time; send it again",
    );
    pub(super) const BODY_TOO_LARGE: Self = Self::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "The request body is too large; send a shorter one",
    );
    pub(super) const HEAD_TOO_LARGE: Self = Self::new(
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "The request line and the headers are too long; send a shorter request",
    );
    const UNKNOWN_CODING: Self = Self::new(
        StatusCode::NOT_IMPLEMENTED,
        "The Transfer-Encoding is not supported; send the body with chunked, or with its length",
    );
    pub(super) const TOO_MANY_CONNECTIONS: Self = Self::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "The service has too many connections; try again in a moment",
    );

    const fn new(status: StatusCode, message: &'static str) -> Self {
        Self { status, message }
    }

    /// The refusal of a request head that hyper cannot parse. `None` if there is no client to answer.
    pub(super) fn of(error: &hyper::Error) -> Option<Self> {
        if error.is_parse_too_large() {
            return Some(Self::HEAD_TOO_LARGE);
        }
        error.is_parse().then_some(Self::MALFORMED)
    }

    /// Refuses a request head that hyper accepts, but whose body it could not read.
    pub(super) fn check(head: &Parts) -> Result<(), Self> {
        let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
        let is_chunked = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
        if codings.all(is_chunked) {
            return Ok(());
        }
        Err(Self::UNKNOWN_CODING)
    }

    pub(super) fn response(self) -> Response<Bytes> {
        let whole = |body: Body| body.into_bytes().unwrap_or_default().into();
        let mut response = refusal(self.status, self.message).map(whole);
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// The size of a head with the usual white space, in bytes.
pub(super) fn head_size(head: &Parts) -> usize {
    let target = head.uri.path_and_query();
    let line = head.method.as_str().len() + target.map_or(0, |target| target.as_str().len());
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + "  HTTP/1.1\r\n\r\n".len() + headers.sum::<usize>()
}
