//! Requests, their limits, and the errors of reading their bodies.

use std::{fmt, time::Duration};

use memchr::memchr;

use super::request_id::RequestId;

/// The maximum number of bytes in a request body that is not streamed.
///
/// A frontend may stop reading after one byte more: [`Exchange::answer`](super::Exchange::answer)
/// then answers 413.
///
/// ```
/// use std::{io::{self, Read}, sync::Arc};
/// use robot_core::{MemoryCatalogue, http::{Api, BODY_LIMIT, Request}};
///
/// let mut body = Vec::new();
/// io::repeat(b' ').take(BODY_LIMIT as u64 + 1).read_to_end(&mut body)?;
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// assert_eq!(api.handle(Request::new("POST", "/api/robots").body(body)).status, 413);
/// # io::Result::Ok(())
/// ```
pub const BODY_LIMIT: usize = 64 * 1024;

/// The timeout of the contract for a body: see [`Exchange::body_deadline`](super::Exchange::body_deadline).
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Why a body could not be read.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, BodyError, Request}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let exchange = api.receive(Request::new("POST", "/api/robots"));
/// assert_eq!(exchange.answer(Err(BodyError::TooLarge)).wait().status, 413);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It has more bytes than [`BODY_LIMIT`].
    #[error("the body has more than {BODY_LIMIT} bytes")]
    TooLarge,
    /// It did not arrive within [`Exchange::body_deadline`](super::Exchange::body_deadline), or within
    /// the limits of a streamed body.
    #[error("the body did not arrive in time")]
    TooSlow,
    /// The connection or the transfer encoding ended before the body was complete.
    #[error("the body ended early")]
    Incomplete,
}

/// The pieces of a streamed body. An empty piece marks its end.
pub(super) type Pieces = Box<dyn Iterator<Item = Result<Vec<u8>, BodyError>> + Send>;

/// A request, as a frontend received it.
///
/// ```
/// use robot_core::http::Request;
///
/// let mut request = Request::new("PUT", "/api/robots/7?x=y").body("{}");
/// for (name, value) in [("Accept", "application/json"), ("X-Other", "is ignored")] {
///     request.header(name, value.as_bytes());
/// }
/// ```
#[derive(Clone)]
pub struct Request {
    pub(super) method: String,
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
    /// The id that the client has sent or the frontend has set.
    pub(super) id: Option<RequestId>,
    target: String,
}

/// The headers that this module evaluates.
#[derive(Clone, Default)]
pub(super) struct Headers {
    pub(super) accept: Option<String>,
    pub(super) authorization: Option<String>,
    pub(super) content_length: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) host: Option<String>,
    pub(super) if_match: Option<String>,
    pub(super) if_none_match: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) prefer: Option<String>,
    pub(super) sec_fetch_site: Option<String>,
}

impl fmt::Debug for Request {
    /// Without the headers and the body, which may contain secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Request")
            .field("method", &self.method)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// A request without headers and body. The method and the target (path and query) are those of
    /// the request line, neither decoded nor normalised. The target is empty if the request line
    /// has no path (`CONNECT host:80`).
    pub fn new(method: impl Into<String>, target: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            headers: Headers::default(),
            body: Vec::new(),
            id: None,
            target: target.into(),
        }
    }

    /// Adds a header. A frontend passes all headers that it received, in order.
    pub fn header(&mut self, name: &str, value: &[u8]) {
        if name.eq_ignore_ascii_case(RequestId::HEADER) {
            let received = str::from_utf8(value).ok().and_then(|id| id.parse().ok());
            self.id = self.id.take().or(received);
            return;
        }
        let headers = &mut self.headers;
        let known = [
            ("accept", &mut headers.accept),
            ("authorization", &mut headers.authorization),
            ("content-length", &mut headers.content_length),
            ("content-type", &mut headers.content_type),
            ("host", &mut headers.host),
            ("if-match", &mut headers.if_match),
            ("if-none-match", &mut headers.if_none_match),
            ("origin", &mut headers.origin),
            ("prefer", &mut headers.prefer),
            ("sec-fetch-site", &mut headers.sec_fetch_site),
        ];
        let Some((_, field)) = known
            .into_iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known))
        else {
            return;
        };
        let value = String::from_utf8_lossy(value);
        // Several lines of one header are equivalent to one line with commas.
        match field {
            Some(first) => *field = Some(format!("{first}, {value}")),
            None => *field = Some(value.into_owned()),
        }
    }

    /// Sets the id. Otherwise, it is that of the header `X-Request-Id`, or random.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, Request, RequestId}};
    /// let id = RequestId::random();
    /// let mut request = Request::new("GET", "/api/robots");
    /// request.set_id(id.clone());
    /// let reply = Api::new(Arc::new(MemoryCatalogue::new())).handle(request);
    /// assert_eq!(reply.header("x-request-id"), Some(id.as_str()));
    /// ```
    pub fn set_id(&mut self, id: RequestId) {
        self.id = Some(id);
    }

    /// Sets the body, for [`Api::handle`](super::Api::handle). Other frontends pass it to
    /// [`Exchange::answer`](super::Exchange::answer).
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = bytes.into();
        self
    }

    /// The body that was read, if it is complete and within the limit.
    pub(super) fn check_body(
        &self,
        body: Result<Vec<u8>, BodyError>,
    ) -> Result<Vec<u8>, BodyError> {
        if self.exceeds_limit() {
            return Err(BodyError::TooLarge);
        }
        let body = self.check_length(body)?;
        if body.len() > BODY_LIMIT {
            return Err(BodyError::TooLarge);
        }
        Ok(body)
    }

    /// The body that was read, if it is complete.
    pub(super) fn check_length(
        &self,
        body: Result<Vec<u8>, BodyError>,
    ) -> Result<Vec<u8>, BodyError> {
        let body = body?;
        match self.content_length() {
            Some(length) if body.len() < length => Err(BodyError::Incomplete),
            _ => Ok(body),
        }
    }

    /// Whether `Content-Length` is greater than [`BODY_LIMIT`].
    pub(super) fn exceeds_limit(&self) -> bool {
        let length = self.content_length();
        length.is_some_and(|length| length > BODY_LIMIT)
    }

    /// The `Content-Length`, or `usize::MAX` for a number that is out of range. Frontends reject
    /// text that is not a number.
    pub(super) fn content_length(&self) -> Option<usize> {
        let length = self.headers.content_length.as_ref()?;
        Some(length.parse().unwrap_or(usize::MAX))
    }

    /// Whether the client prefers an error to an unknown parameter that is ignored (`Prefer`, RFC 7240).
    pub(super) fn is_strict(&self) -> bool {
        let preferences = self.headers.prefer.as_deref().unwrap_or_default();
        let handling = preference(preferences, "handling");
        handling.is_some_and(|value| value.eq_ignore_ascii_case("strict"))
    }

    /// The path, as it was sent.
    pub(super) fn path(&self) -> &str {
        &self.target[..self.path_end()]
    }

    /// The query, as it was sent; empty if there is none.
    pub(super) fn query(&self) -> &str {
        self.target.get(self.path_end() + 1..).unwrap_or_default()
    }

    fn path_end(&self) -> usize {
        memchr(b'?', self.target.as_bytes()).unwrap_or(self.target.len())
    }
}

/// The value of the first preference with this name (RFC 7240), without its parameters.
fn preference<'a>(preferences: &'a str, name: &str) -> Option<&'a str> {
    split_unquoted(preferences, ',').find_map(|preference| {
        let preference = split_unquoted(preference, ';').next()?;
        let (found, value) = preference.split_once('=').unwrap_or((preference, ""));
        let is_found = found.trim().eq_ignore_ascii_case(name);
        is_found.then(|| value.trim().trim_matches('"'))
    })
}

/// The parts of a header value between separators that are not in a quoted string.
fn split_unquoted(value: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    value.split(move |character| {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            _ => return character == separator && !is_quoted,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_preference_with_the_name_counts() {
        for (preferences, is_strict) in [
            ("handling=strict", true),
            ("respond-async, Handling = \"Strict\" ; x=1", true),
            ("handling=strict;handling=lenient", true),
            ("handling=strict, handling=lenient", true),
            ("handling=lenient, handling=strict", false),
            ("x=\"a, handling=strict\"", false),
            ("x=\"\\\", handling=strict, \"", false),
            ("x;handling=strict", false),
            ("handling", false),
            ("", false),
        ] {
            let mut request = Request::new("GET", "/");
            request.header("prefer", preferences.as_bytes());
            assert_eq!(request.is_strict(), is_strict, "{preferences}");
        }
    }
}
