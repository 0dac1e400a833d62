//! Requests and connections that the server answers by itself, in the contract's shape.

use bytes::Bytes;
use hyper::{
    Response,
    header::{HeaderValue, TRANSFER_ENCODING},
    http::request::Parts,
};
use robot_core::http::{Failure, refusal};

/// The maximum size of a request head in bytes. Lower, and long searches are rejected; higher, and a
/// client that sends a part of a head uses more memory.
pub(super) const HEAD_LIMIT: usize = 128 * 1024;

pub(crate) fn response(failure: Failure) -> Response<Bytes> {
    refusal(failure).map(|body| body.into_bytes().unwrap_or_default().into())
}

pub(crate) fn malformed() -> Failure {
    Failure::Malformed(vec!["The request cannot be understood".into()])
}

/// The failure of a request head that hyper cannot parse. `None` if there is no client to answer.
pub(super) fn of(error: &hyper::Error) -> Option<Failure> {
    if error.is_parse_too_large() {
        return Some(Failure::HeadTooLarge);
    }
    error.is_parse().then(malformed)
}

/// Refuses a request head that hyper accepts, but whose body it could not read.
pub(super) fn check(head: &Parts) -> Result<(), Failure> {
    let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
    let is_chunked = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    if codings.all(is_chunked) {
        return Ok(());
    }
    Err(Failure::UnknownCoding)
}

/// The size of a head with the usual white space, in bytes.
pub(super) fn head_size(head: &Parts) -> usize {
    let target = head.uri.path_and_query();
    let line = head.method.as_str().len() + target.map_or(0, |target| target.as_str().len());
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + "  HTTP/1.1\r\n\r\n".len() + headers.sum::<usize>()
}
