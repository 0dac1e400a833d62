//! A client over HTTP/1.1.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use super::client::{Answer, Call, Client, Framing, Pace};

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
/// let call = Call::new("GET", "/api/robots", &[], "");
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
    fn deliver(&self, call: &Call, framing: Framing, pace: Pace) -> io::Result<Answer> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        let mut received = Vec::new();
        let head = self.head(call, framing);
        // A service may answer and close the connection before it has read the body, which makes
        // writing or the end of reading fail. Its answer is valid all the same.
        let sent = send(
            &mut stream,
            head,
            &call.body,
            (framing, pace),
            &mut received,
        );
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let read = stream.read_to_end(&mut received);
        if received.is_empty() {
            sent.and(read)?;
        }
        parse(&received, call.method == "HEAD")
    }
}

impl TcpClient {
    fn head(&self, call: &Call, framing: Framing) -> Vec<u8> {
        let framing = match framing {
            Framing::Length => format!("Content-Length: {}", call.body.len()),
            Framing::Chunked => "Transfer-Encoding: chunked".to_owned(),
        };
        let mut head = format!(
            "{} {}{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{framing}\r\n",
            call.method, self.base, call.target, self.address,
        );
        for (name, value) in &call.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// The maximum number of bytes in a chunk of a request: small, so that there are many.
const CHUNK: usize = 1000;

/// A part of a body, as it is transferred.
fn framed(part: &[u8], framing: Framing) -> Vec<u8> {
    let chunk = |chunk: &[u8]| {
        let size = format!("{:x}\r\n", chunk.len());
        [size.as_bytes(), chunk, b"\r\n"].concat()
    };
    match framing {
        Framing::Length => part.to_vec(),
        Framing::Chunked => part.chunks(CHUNK).flat_map(chunk).collect(),
    }
}

/// The mark at the end of a body.
fn end(framing: Framing) -> &'static [u8] {
    match framing {
        Framing::Length => b"",
        Framing::Chunked => b"0\r\n\r\n",
    }
}

fn send(
    stream: &mut TcpStream,
    head: Vec<u8>,
    body: &[u8],
    (framing, pace): (Framing, Pace),
    received: &mut Vec<u8>,
) -> io::Result<()> {
    let first = |length: usize| framed(body.get(..length).unwrap_or(body), framing);
    match pace {
        Pace::AtOnce => stream.write_all(&[&head, &*framed(body, framing), end(framing)].concat()),
        Pace::ByteByByte(pause) => {
            stream.write_all(&head)?;
            drip(stream, body, framing, pause, received)
        }
        Pace::StopAfter(length) => stream.write_all(&[head, first(length)].concat()),
        Pace::CutOffAfter(length) => {
            stream.write_all(&[head, first(length)].concat())?;
            stream.shutdown(Shutdown::Write)
        }
    }
}

/// Sends a body byte by byte, until the service answers or closes the connection.
fn drip(
    stream: &mut TcpStream,
    body: &[u8],
    framing: Framing,
    pause: Duration,
    received: &mut Vec<u8>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(pause))?;
    for byte in body.chunks(1) {
        stream.write_all(&framed(byte, framing))?;
        let mut answer = [0; 1024];
        match stream.read(&mut answer) {
            Ok(length) => {
                received.extend_from_slice(answer.get(..length).unwrap_or_default());
                return Ok(());
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    stream.write_all(end(framing))
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
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
        (false, None, None) if matches!(answer.status, 204 | 304) && body.is_empty() => Vec::new(),
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
