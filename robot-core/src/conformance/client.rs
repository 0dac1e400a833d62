//! Clients of a service: calls and answers as plain data.

use std::{io, time::Duration};

use ::http::{
    HeaderValue,
    header::{CONTENT_LENGTH, HOST},
};

use crate::http::{Api, BodyError, Response};

/// A request of a client.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, conformance::{Call, Client}, http::Api};
///
/// let call = Call::new("GET", "/api/robots", &[("accept", "application/json")], "");
/// let answer = Api::new(Arc::new(MemoryCatalogue::new())).send(&call)?;
/// assert_eq!((answer.status, answer.text()), (200, "[]".to_owned()));
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The method, as in the request line.
    pub method: String,
    /// The path and query, as in the request line.
    pub target: String,
    /// The headers, besides those of the transport (`Host`, `Content-Length`).
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Call {
    /// A request with these headers and this body.
    #[must_use]
    pub fn new(
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Self {
        let headers = headers.iter();
        let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.collect(),
            body: body.into(),
        }
    }
}

/// The response to a [`Call`].
///
/// ```
/// use robot_core::conformance::Answer;
///
/// let answer = Answer {
///     status: 200,
///     headers: vec![("vary".to_owned(), "Accept".to_owned())],
///     body: b"[]".to_vec(),
/// };
/// assert_eq!((answer.header("vary"), answer.text().as_str()), (Some("Accept"), "[]"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, without transfer encoding.
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header; `None` if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A client of one service, which several threads can use.
///
/// ```
/// use std::{io, sync::Arc};
/// use robot_core::{
///     MemoryCatalogue, conformance::{Answer, Call, Client, Framing, Pace}, http::Api,
/// };
///
/// /// Prints each call.
/// struct Logging<C>(C);
///
/// impl<C: Client> Client for Logging<C> {
///     fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
///         println!("{} {}", call.method, call.target);
///         self.0.deliver(call, framing, pace)
///     }
/// }
///
/// let client = Logging(Api::new(Arc::new(MemoryCatalogue::new())));
/// let call = Call::new("GET", "/api/robots", &[], "");
/// assert_eq!(client.send(&call)?.status, 200);
/// # io::Result::Ok(())
/// ```
pub trait Client: Send + Sync {
    /// Sends a call, with its body in this way, and waits for the answer.
    ///
    /// # Errors
    /// The service is unreachable, does not answer, or its response is not valid HTTP.
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer>;

    /// Sends a call and waits for the answer.
    ///
    /// # Errors
    /// As [`deliver`](Self::deliver).
    fn send(&self, call: &Call) -> io::Result<Answer> {
        self.deliver(call, Framing::Length, Pace::AtOnce)
    }
}

/// How a client declares the end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length` of the whole body, even if less of it is sent.
    Length,
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// How a body arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// All of it with the head.
    AtOnce,
    /// Byte by byte, with a pause after each.
    ByteByByte(Duration),
    /// Its first bytes, and nothing more. The connection stays open.
    StopAfter(usize),
    /// Its first bytes. Then the client closes its side of the connection.
    CutOffAfter(usize),
}

impl<C: Client + ?Sized> Client for &C {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        (**self).deliver(call, framing, pace)
    }
}

/// The size of a piece of a body: small, so that there are many.
const PIECE: usize = 7;

/// Calls the contract without any transport and without waiting: what does not arrive in time is a
/// [`BodyError`].
impl Client for Api {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        let mut request = ::http::Request::builder()
            .method(call.method.as_str())
            .uri(call.target.as_str())
            .header(HOST, "localhost");
        if framing == Framing::Length {
            request = request.header(CONTENT_LENGTH, call.body.len());
        }
        for (name, value) in &call.headers {
            request = request.header(name, value.as_bytes());
        }
        let request = request.body(()).map_err(io::Error::other)?;
        let exchange = self.receive(request.into_parts().0);
        let (body, end) = arriving(&call.body, pace, exchange.body_deadline());
        let pieces = body.chunks(PIECE).map(|piece| Ok(piece.to_vec()));
        let pieces: Vec<_> = pieces.chain([end.map(|()| Vec::new())]).collect();
        answer_of(exchange.answer(pieces).wait(), call.method == "HEAD")
    }
}

/// The part of a body that arrives, and how it ends.
fn arriving(body: &[u8], pace: Pace, deadline: Duration) -> (&[u8], Result<(), BodyError>) {
    let first = |length: usize| body.get(..length).unwrap_or(body);
    match pace {
        Pace::AtOnce => (body, Ok(())),
        Pace::ByteByByte(pause) => {
            let bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
            let is_late = pause.saturating_mul(bytes) > deadline;
            let end = if is_late {
                Err(BodyError::TooSlow)
            } else {
                Ok(())
            };
            (body, end)
        }
        Pace::StopAfter(length) => (first(length), Err(BodyError::TooSlow)),
        Pace::CutOffAfter(length) => (first(length), Err(BodyError::Incomplete)),
    }
}

fn answer_of(response: Response, is_head: bool) -> io::Result<Answer> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value)));
    Ok(Answer {
        status: response.status().as_u16(),
        headers: headers.collect(),
        body: if is_head {
            Vec::new()
        } else {
            let body = response.into_body();
            body.into_bytes().map_err(io::Error::other)?
        },
    })
}

/// A client that stops its service when it is dropped.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, conformance::{Call, Client, Service}, http::Api};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let service = Service::new(api, || println!("stopped"));
/// let call = Call::new("GET", "/api/robots", &[], "");
/// assert_eq!(service.send(&call)?.status, 200);
/// // This stops it.
/// drop(service);
/// # std::io::Result::Ok(())
/// ```
pub struct Service<C> {
    client: C,
    stop: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl<C: Client> Service<C> {
    /// A client, and a function that stops its service.
    pub fn new(client: C, stop: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self {
            client,
            stop: Some(Box::new(stop)),
        }
    }
}

impl<C: Client> Client for Service<C> {
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        self.client.deliver(call, framing, pace)
    }
}

impl<C> Drop for Service<C> {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop();
        }
    }
}
