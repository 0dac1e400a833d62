//! What arrives.

use std::{fmt, time::Duration};

use memchr::memchr;

/// The most bytes that a request body may have. A frontend stops reading behind them and
/// passes [`BodyError::TooLarge`].
///
/// ```
/// use std::io::{self, Read};
/// use robot_core::http::{BODY_LIMIT, BodyError, within_limit};
///
/// /// Reads a body, and no more than a byte behind the limit.
/// fn read(socket: impl Read) -> io::Result<Result<Vec<u8>, BodyError>> {
///     let mut bytes = Vec::new();
///     socket.take(BODY_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
///     Ok(within_limit(bytes))
/// }
///
/// assert_eq!(read(io::repeat(b' '))?, Err(BodyError::TooLarge));
/// # io::Result::Ok(())
/// ```
pub const BODY_LIMIT: usize = 64 * 1024;

/// How long a whole body may take to arrive, or a piece of one that is
/// [streamed](super::Api::streams_body). A frontend stops waiting then and passes
/// [`BodyError::TooSlow`].
///
/// ```
/// use std::net::{TcpListener, TcpStream};
/// use robot_core::http::BODY_DEADLINE;
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let connection = TcpStream::connect(listener.local_addr()?)?;
/// // No single read waits longer; a frontend counts all of them together.
/// connection.set_read_timeout(Some(BODY_DEADLINE))?;
/// # std::io::Result::Ok(())
/// ```
pub const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Why there is no body.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, BodyError, Request}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let request = Request::new("POST", "/api/robots").body_read(Err(BodyError::TooLarge));
/// assert_eq!(api.handle(request).status, 413);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It has more bytes than [`BODY_LIMIT`].
    #[error("the body has more than {BODY_LIMIT} bytes")]
    TooLarge,
    /// It was not there within [`BODY_DEADLINE`].
    #[error("the body was not there in time")]
    TooSlow,
    /// The connection or its encoding broke off in the middle.
    #[error("the body ended early")]
    Incomplete,
}

/// A request, as a frontend received it.
///
/// ```
/// use robot_core::http::Request;
///
/// let mut request = Request::new("PUT", "/api/robots/7?x=y").body("{}");
/// for (name, value) in [("Accept", "application/json"), ("X-Other", "is let go")] {
///     request.header(name, value.as_bytes());
/// }
/// ```
#[derive(Clone)]
pub struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Headers,
    pub(super) body: Result<Vec<u8>, BodyError>,
}

/// The headers that matter; the others are let go.
#[derive(Clone, Default)]
pub(super) struct Headers {
    pub(super) accept: Option<String>,
    pub(super) authorization: Option<String>,
    pub(super) content_length: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) sec_fetch_site: Option<String>,
}

impl fmt::Debug for Request {
    /// Without what is nobody's business: the body, and the headers, a token among them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Request")
            .field("method", &self.method)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// A request without headers and body. The method and the target (path and query) are
    /// those of the request line, to the letter: nothing is decoded or normalised yet. Where
    /// the request line has no path (`CONNECT host:80`), the target is empty.
    pub fn new(method: impl Into<String>, target: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            target: target.into(),
            headers: Headers::default(),
            body: Ok(Vec::new()),
        }
    }

    /// Adds a header. A frontend passes every one that it received, in order.
    pub fn header(&mut self, name: &str, value: &[u8]) {
        let headers = &mut self.headers;
        let known = [
            ("accept", &mut headers.accept),
            ("authorization", &mut headers.authorization),
            ("content-length", &mut headers.content_length),
            ("content-type", &mut headers.content_type),
            ("host", &mut headers.host),
            ("origin", &mut headers.origin),
            ("sec-fetch-site", &mut headers.sec_fetch_site),
        ];
        let Some((_, kept)) = known
            .into_iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known))
        else {
            return;
        };
        let value = String::from_utf8_lossy(value);
        // Several lines of one header mean the same as one line with commas.
        match kept {
            Some(kept) => *kept = format!("{kept}, {value}"),
            None => *kept = Some(value.into_owned()),
        }
    }

    /// With this body.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = Ok(bytes.into());
        self
    }

    /// With what reading the body came to.
    ///
    /// ```
    /// use robot_core::http::{Request, within_limit};
    ///
    /// let request = Request::new("POST", "/api/robots").body_read(within_limit(b"{}".to_vec()));
    /// ```
    #[must_use]
    pub fn body_read(mut self, body: Result<Vec<u8>, BodyError>) -> Self {
        self.body = body;
        self
    }

    /// Whether a frontend has to read the body: where the method could change something, so
    /// that nothing is changed by a request which never arrives whole, and unless its
    /// `Content-Length` is too large to begin with.
    ///
    /// ```
    /// use robot_core::http::Request;
    ///
    /// assert!(!Request::new("GET", "/api/robots").takes_body());
    /// let mut request = Request::new("POST", "/api/robots");
    /// assert!(request.takes_body());
    /// request.header("Content-Length", b"1000000000");
    /// assert!(!request.takes_body());
    /// ```
    #[must_use]
    pub fn takes_body(&self) -> bool {
        matches!(self.method.as_str(), "POST" | "PUT" | "DELETE")
            && self
                .content_length()
                .is_none_or(|length| length <= BODY_LIMIT)
    }

    /// The body, if it is whole and not too large.
    pub(super) fn into_body(self) -> Result<Vec<u8>, BodyError> {
        let length = self.content_length();
        if length.is_some_and(|length| length > BODY_LIMIT) {
            return Err(BodyError::TooLarge);
        }
        let body = self.body?;
        match length {
            Some(length) if body.len() < length => Err(BodyError::Incomplete),
            _ => Ok(body),
        }
    }

    /// How long the body is to be. A number that is too large for us is as good as any that
    /// is too large; frontends let no text pass that is no number.
    pub(super) fn content_length(&self) -> Option<usize> {
        let length = self.headers.content_length.as_ref()?;
        Some(length.parse().unwrap_or(usize::MAX))
    }

    /// The path, as it was sent.
    pub(super) fn path(&self) -> &str {
        &self.target[..self.path_end()]
    }

    /// The query, as it was sent; empty where there is none.
    pub(super) fn query(&self) -> &str {
        self.target.get(self.path_end() + 1..).unwrap_or_default()
    }

    fn path_end(&self) -> usize {
        memchr(b'?', self.target.as_bytes()).unwrap_or(self.target.len())
    }
}

/// What a body of these bytes comes to: itself, or too large.
///
/// ```
/// use robot_core::http::{BODY_LIMIT, BodyError, within_limit};
///
/// assert_eq!(within_limit(vec![b' '; BODY_LIMIT]).map(|body| body.len()), Ok(BODY_LIMIT));
/// assert_eq!(within_limit(vec![b' '; BODY_LIMIT + 1]), Err(BodyError::TooLarge));
/// ```
///
/// # Errors
/// [`BodyError::TooLarge`] where there are more than [`BODY_LIMIT`]. A frontend need not
/// read further than one byte behind the limit.
pub fn within_limit(bytes: Vec<u8>) -> Result<Vec<u8>, BodyError> {
    if bytes.len() > BODY_LIMIT {
        return Err(BodyError::TooLarge);
    }
    Ok(bytes)
}
