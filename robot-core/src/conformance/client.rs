//! Clients of a service: calls and answers as plain data.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use crate::http::{Api, BodyMode, Request};

/// A request of a client.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, conformance::{Call, Client}, http::Api};
///
/// let call = Call {
///     method: "GET".to_owned(),
///     target: "/api/robots".to_owned(),
///     headers: vec![("accept".to_owned(), "application/json".to_owned())],
///     body: Vec::new(),
/// };
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
/// use robot_core::{MemoryCatalogue, conformance::{Answer, Call, Client}, http::Api};
///
/// /// Prints each call.
/// struct Logging<C>(C);
///
/// impl<C: Client> Client for Logging<C> {
///     fn send(&self, call: &Call) -> io::Result<Answer> {
///         println!("{} {}", call.method, call.target);
///         self.0.send(call)
///     }
/// }
///
/// let client = Logging(Api::new(Arc::new(MemoryCatalogue::new())));
/// let (method, target) = ("GET".to_owned(), "/api/robots".to_owned());
/// let call = Call { method, target, headers: Vec::new(), body: Vec::new() };
/// assert_eq!(client.send(&call)?.status, 200);
/// # io::Result::Ok(())
/// ```
pub trait Client: Send + Sync {
    /// Sends a call and waits for the answer.
    ///
    /// # Errors
    /// The service is unreachable, or its response is not valid HTTP.
    fn send(&self, call: &Call) -> io::Result<Answer>;
}

impl<C: Client + ?Sized> Client for &C {
    fn send(&self, call: &Call) -> io::Result<Answer> {
        (**self).send(call)
    }
}

/// The size of a piece of a streamed body: small, so that there are many.
const PIECE: usize = 7;

/// Calls the contract without any transport.
impl Client for Api {
    fn send(&self, call: &Call) -> io::Result<Answer> {
        let mut request = Request::new(call.method.as_str(), call.target.as_str());
        request.header("host", b"localhost");
        let length = call.body.len().to_string();
        request.header("content-length", length.as_bytes());
        for (name, value) in &call.headers {
            request.header(name, value.as_bytes());
        }
        let exchange = self.receive(request);
        let pending = match exchange.body_mode() {
            BodyMode::Streamed => {
                let pieces = call.body.chunks(PIECE).map(|piece| Ok(piece.to_vec()));
                let pieces: Vec<_> = pieces.chain([Ok(Vec::new())]).collect();
                exchange.answer_streamed(pieces.into_iter())
            }
            _ => exchange.answer(Ok(call.body.clone())),
        };
        let reply = pending.wait();
        let headers = reply
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
            .collect();
        let body = reply.body.into_bytes().map_err(io::Error::other)?;
        Ok(Answer {
            status: reply.status,
            headers,
            body: if call.method == "HEAD" {
                Vec::new()
            } else {
                body
            },
        })
    }
}

/// The timeout for a response.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A client over HTTP/1.1 with one connection per call. Unlike the usual libraries, it sends malformed
/// calls unchanged.
///
/// ```
/// use std::{io::{Read, Write}, net::TcpListener, thread};
/// use robot_core::conformance::{Call, Client, Service, TcpClient};
///
/// // A service that answers one call of any kind.
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let client = TcpClient::new(listener.local_addr()?).under("/catalogue");
/// let server = thread::spawn(move || -> std::io::Result<()> {
///     let (mut connection, _) = listener.accept()?;
///     let read = connection.read(&mut [0; 1024])?;
///     connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
/// });
/// let service = Service::new(client, || drop(server.join()));
///
/// let (method, target) = ("GET".to_owned(), "/api/robots".to_owned());
/// let call = Call { method, target, headers: Vec::new(), body: Vec::new() };
/// assert_eq!(service.send(&call)?.text(), "[]");
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct TcpClient {
    address: SocketAddr,
    base: String,
}

impl TcpClient {
    /// A client of the service at this address.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            base: String::new(),
        }
    }

    /// Adds a base path before the target of each call.
    #[must_use]
    pub fn under(mut self, base: &str) -> Self {
        base.clone_into(&mut self.base);
        self
    }
}

impl Client for TcpClient {
    fn send(&self, call: &Call) -> io::Result<Answer> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        stream.set_nodelay(true)?;
        let mut head = format!(
            "{} {}{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n",
            call.method,
            self.base,
            call.target,
            self.address,
            call.body.len()
        );
        for (name, value) in &call.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        let sent = stream
            .write_all(&[head.as_bytes(), &call.body].concat())
            .and_then(|()| stream.flush());
        let mut received = Vec::new();
        // A service may answer and close the connection before it has read the body, which makes
        // writing or the end of reading fail. Its answer is valid all the same.
        let read = stream.read_to_end(&mut received);
        if received.is_empty() {
            sent.and(read)?;
        }
        parse(&received, call.method == "HEAD")
    }
}

/// A client that stops its service when it is dropped.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, conformance::{Call, Client, Service}, http::Api};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let service = Service::new(api, || println!("stopped"));
/// let (method, target) = ("GET".to_owned(), "/api/robots".to_owned());
/// let call = Call { method, target, headers: Vec::new(), body: Vec::new() };
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
    fn send(&self, call: &Call) -> io::Result<Answer> {
        self.client.send(call)
    }
}

impl<C> Drop for Service<C> {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop();
        }
    }
}

fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn parse(received: &[u8], is_head: bool) -> io::Result<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let status = response.parse(received).map_err(invalid)?;
    let httparse::Status::Complete(length) = status else {
        return Err(invalid("the head of the response is incomplete"));
    };
    let mut answer = Answer {
        status: response.code.ok_or_else(|| invalid("no status"))?,
        headers: response
            .headers
            .iter()
            .map(|header| {
                let value = String::from_utf8_lossy(header.value).into_owned();
                (header.name.to_ascii_lowercase(), value)
            })
            .collect(),
        body: Vec::new(),
    };
    let body = &received[length..];
    let content_length = match answer.header("content-length") {
        Some(length) => Some(length.parse::<usize>().map_err(invalid)?),
        None => None,
    };
    answer.body = match (is_head, answer.header("transfer-encoding"), content_length) {
        (true, ..) => body.to_vec(),
        (false, Some("chunked"), None) => dechunk(body)?,
        (false, None, Some(length)) if body.len() == length => body.to_vec(),
        (false, None, None) if answer.status == 204 && body.is_empty() => Vec::new(),
        (_, encoding, length) => {
            return Err(invalid(format!(
                "a body of {} bytes under Transfer-Encoding {encoding:?}, Content-Length {length:?}",
                body.len()
            )));
        }
    };
    Ok(answer)
}

/// The content of a chunked body, which must be complete.
fn dechunk(mut body: &[u8]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let (start, length) = match httparse::parse_chunk_size(body) {
            Ok(httparse::Status::Complete((start, length))) => {
                (start, usize::try_from(length).map_err(invalid)?)
            }
            _ => return Err(invalid("a chunk without a size")),
        };
        let rest = &body[start..];
        let (chunk, rest) = rest
            .split_at_checked(length)
            .ok_or_else(|| invalid("an incomplete chunk"))?;
        body = rest
            .strip_prefix(b"\r\n")
            .ok_or_else(|| invalid("a chunk without an end"))?;
        if length == 0 {
            return Ok(content);
        }
        content.extend_from_slice(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_body_is_an_error() {
        let text = |received: &str| {
            parse(received.as_bytes(), false)
                .map(|answer| answer.text())
                .ok()
        };
        let head = "HTTP/1.1 200 OK\r\n";
        for (received, body) in [
            ("Content-Length: 2\r\n\r\n[]", Some("[]")),
            ("Content-Length: 3\r\n\r\n[]", None),
            ("Content-Length: 1\r\n\r\n[]", None),
            (
                "Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n",
                Some("[]"),
            ),
            (
                "Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n",
                None,
            ),
            ("Transfer-Encoding: chunked\r\n\r\n9\r\n[\r\n", None),
            ("\r\n[]", None),
        ] {
            assert_eq!(
                text(&format!("{head}{received}")).as_deref(),
                body,
                "{received}"
            );
        }
    }
}
