//! Requests and connections that the server answers without the application.

use std::{convert::Infallible, time::Duration};

use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rocket::{
    Request,
    tokio::{
        io::{AsyncRead, AsyncWrite, copy, join, sink},
        time::timeout,
    },
};

use super::application::Application;

/// How long the client may take to read the answer, and then to close the connection. Shorter, and
/// clients on slow networks get no answer; longer, and clients that do not read occupy more memory.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Why the server answers without the application. The catcher of the catalogue gives the answer the
/// contract's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: &'static str,
}

impl Refusal {
    pub(super) const MALFORMED: Self = Self {
        status: 400,
        message: "The request cannot be understood",
    };
    pub(super) const HEAD_TOO_LARGE: Self = Self {
        status: 431,
        message: "The request line and the headers are too long; send a shorter request",
    };
    pub(super) const BODY_TOO_SLOW: Self = Self {
        status: 408,
        message: "The request body did not arrive in time; send it again",
    };
    pub(super) const BODY_TOO_LARGE: Self = Self {
        status: 413,
        message: "The request body is too large; send a shorter one",
    };
    pub(super) const TOO_MANY_CONNECTIONS: Self = Self {
        status: 503,
        message: "The service has too many connections; try again in a moment",
    };

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

/// Sends the answer, and closes the connection. Nothing is read before: the client may have sent any
/// part of a request.
pub(super) async fn refuse<S>(mut stream: S, application: &Application, refusal: Refusal)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // Hyper writes a response only to a request, so it reads this one instead.
    let request: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    let service = service_fn(async |_| {
        let response = application.refusal(refusal).await;
        Ok::<_, Infallible>(response.map(Full::new))
    });
    let connection = http1::Builder::new()
        .half_close(true)
        .serve_connection(TokioIo::new(join(request, &mut stream)), service);
    // The client may be gone, or not read.
    if let Ok(Ok(())) = timeout(TIMEOUT, connection).await {
        // The system discards the answer if bytes of the client arrive that nobody reads.
        let _ = timeout(TIMEOUT, copy(&mut stream, &mut sink())).await;
    }
}
