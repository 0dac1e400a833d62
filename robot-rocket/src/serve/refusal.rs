//! Requests and connections that the server answers without the application.

use rocket::Request;

/// Why the server answers without the application. The catcher of the catalogue gives the answer the
/// contract's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: &'static str,
}

impl Refusal {
    pub(crate) const MALFORMED: Self = Self::new(400, "The request cannot be understood");
    pub(super) const BODY_TOO_SLOW: Self = Self::new(
        408,
        "The request body did not arrive in time; send it again",
    );
    pub(super) const BODY_TOO_LARGE: Self =
        Self::new(413, "The request body is too large; send a shorter one");
    pub(super) const HEAD_TOO_LARGE: Self = Self::new(
        431,
        "The request line and the headers are too long; send a shorter request",
    );
    pub(super) const TOO_MANY_CONNECTIONS: Self = Self::new(
        503,
        "The service has too many connections; try again in a moment",
    );

    const fn new(status: u16, message: &'static str) -> Self {
        Self { status, message }
    }

    /// The refusal of a request head that hyper cannot parse. `None` if there is no client to answer.
    pub(super) fn of(error: &hyper::Error) -> Option<Self> {
        if error.is_parse_too_large() {
            Some(Self::HEAD_TOO_LARGE)
        } else if error.is_parse() {
            Some(Self::MALFORMED)
        } else {
            None
        }
    }

    /// The refusal for which a catcher runs.
    pub(crate) fn of_request(request: &Request<'_>) -> Option<Self> {
        *request.local_cache(|| None::<Self>)
    }

    /// Attaches it to a request.
    pub(super) fn attach(self, request: &Request<'_>) {
        request.local_cache(|| Some(self));
    }
}
