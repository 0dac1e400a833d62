//! As much of HTTP/1.1 as a client needs that knows its server.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

/// How long a client waits for a piece of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// More headers than any answer has.
const HEADER_LIMIT: usize = 32;

/// Reads one answer after the other from the pieces that arrive.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The beginning of a head or of a line that has not arrived wholly.
    pending: Vec<u8>,
    state: State,
    /// The status of the newest answer.
    pub(crate) status: u16,
    /// The status line and the headers of the newest answer.
    head: Vec<u8>,
}

/// What comes next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// So many bytes of the body, and then the end.
    Body(u64),
    ChunkHead,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The line end behind a chunk.
    ChunkEnd,
    /// The lines behind the last chunk, of which the last is empty.
    Trailer,
}

impl Answers {
    /// Takes what has arrived, gives what is of the body to `body`, and tells whether the answer
    /// is complete.
    pub(crate) fn take(
        &mut self,
        arrived: &[u8],
        mut body: impl FnMut(&[u8]),
    ) -> Result<bool, String> {
        let joined;
        let mut bytes = if self.pending.is_empty() {
            arrived
        } else {
            self.pending.extend_from_slice(arrived);
            joined = std::mem::take(&mut self.pending);
            &joined
        };
        loop {
            match self.state {
                State::Body(length) | State::Chunk(length) => {
                    let piece = usize::try_from(length)
                        .unwrap_or(usize::MAX)
                        .min(bytes.len());
                    body(&bytes[..piece]);
                    bytes = &bytes[piece..];
                    let left = length - piece as u64;
                    match (self.state, left) {
                        (State::Body(_), 0) => return self.finish(bytes),
                        (State::Body(_), _) => self.state = State::Body(left),
                        (_, 0) => self.state = State::ChunkEnd,
                        (_, _) => self.state = State::Chunk(left),
                    }
                    if left > 0 {
                        return Ok(false);
                    }
                }
                State::Head => match self.head(bytes)? {
                    Some(length) => bytes = &bytes[length..],
                    None => return Ok(self.keep(bytes)),
                },
                State::ChunkHead | State::ChunkEnd | State::Trailer => {
                    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                        return Ok(self.keep(bytes));
                    };
                    let (line, rest) = bytes.split_at(end + 1);
                    bytes = rest;
                    if self.line(line.trim_ascii_end())? {
                        return self.finish(bytes);
                    }
                }
            }
        }
    }

    /// Keeps what cannot be read before more arrives.
    fn keep(&mut self, bytes: &[u8]) -> bool {
        self.pending.extend_from_slice(bytes);
        false
    }

    fn finish(&mut self, rest: &[u8]) -> Result<bool, String> {
        self.state = State::Head;
        if rest.is_empty() {
            Ok(true)
        } else {
            Err("the server sent more than the answer".to_owned())
        }
    }

    /// Reads a head; its length, if it is there wholly.
    fn head(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        let mut headers = [httparse::EMPTY_HEADER; HEADER_LIMIT];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = response
            .parse(bytes)
            .map_err(|error| format!("the server sent no HTTP: {error}"))?;
        let httparse::Status::Complete(length) = parsed else {
            return Ok(None);
        };
        self.status = response.code.unwrap_or(0);
        self.head.clear();
        self.head.extend_from_slice(&bytes[..length]);
        let content_length = response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("content-length"))
            .and_then(|header| str::from_utf8(header.value).ok()?.parse().ok());
        self.state = content_length.map_or(State::ChunkHead, State::Body);
        Ok(Some(length))
    }

    /// Reads a line of the chunked coding; whether it is the last.
    fn line(&mut self, line: &[u8]) -> Result<bool, String> {
        match self.state {
            State::ChunkHead => {
                let text = str::from_utf8(line).unwrap_or_default();
                let length = u64::from_str_radix(text, 16)
                    .map_err(|_| format!("the server sent '{text}' for the length of a chunk"))?;
                self.state = match length {
                    0 => State::Trailer,
                    length => State::Chunk(length),
                };
            }
            State::Trailer => return Ok(line.is_empty()),
            _ => self.state = State::ChunkHead,
        }
        Ok(false)
    }
}

/// A connection on which one request waits for the answer to the other.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    answers: Answers,
    buffer: Vec<u8>,
}

/// What a request came to.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) status: u16,
    /// Until the first byte of the body was there.
    pub(crate) first_byte: Duration,
    /// Until all was there.
    pub(crate) whole: Duration,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, String> {
        Ok(Self {
            stream: connect(address)?,
            answers: Answers::default(),
            buffer: vec![0; 256 * 1024],
        })
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<(), String> {
        self.stream
            .write_all(request)
            .map_err(|error| format!("cannot send a request: {error}"))
    }

    /// Sends a request, and reads the answer.
    pub(crate) fn exchange(
        &mut self,
        request: &[u8],
        mut body: impl FnMut(&[u8]),
    ) -> Result<Exchange, String> {
        let start = Instant::now();
        self.send(request)?;
        let mut first_byte = None;
        loop {
            let length = self
                .stream
                .read(&mut self.buffer)
                .map_err(|error| format!("the server does not answer: {error}"))?;
            if length == 0 {
                return Err("the server broke an answer off".to_owned());
            }
            let complete = self.answers.take(&self.buffer[..length], |piece| {
                if !piece.is_empty() {
                    first_byte.get_or_insert_with(|| start.elapsed());
                }
                body(piece);
            })?;
            if complete {
                let whole = start.elapsed();
                return Ok(Exchange {
                    status: self.answers.status,
                    first_byte: first_byte.unwrap_or(whole),
                    whole,
                });
            }
        }
    }

    /// The status line and the headers of the newest answer.
    pub(crate) fn head(&self) -> String {
        String::from_utf8_lossy(&self.answers.head).into_owned()
    }

    /// Sends a request that must succeed, and returns the body of the answer.
    pub(crate) fn body(&mut self, request: &[u8]) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        let exchange = self.exchange(request, |piece| body.extend_from_slice(piece))?;
        exchange.succeeded()?;
        Ok(body)
    }
}

impl Exchange {
    /// Fails where the answer is not 2xx.
    pub(crate) fn succeeded(&self) -> Result<(), String> {
        match self.status {
            200..300 => Ok(()),
            status => Err(format!("the server answered {status}")),
        }
    }
}

/// Connects, so that small requests leave at once.
pub(crate) fn connect(address: SocketAddr) -> Result<TcpStream, String> {
    let connect = || {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    };
    connect().map_err(|error: std::io::Error| format!("cannot connect to {address}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZED: &[u8] = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello";
    const CHUNKED: &[u8] =
        b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n, my robot\r\n0\r\n\r\n";
    const EMPTY: &[u8] = b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n";

    /// What is read when an answer arrives in pieces of some size.
    fn read(answers: &mut Answers, bytes: &[u8], size: usize) -> (u16, String) {
        let mut body = Vec::new();
        let pieces: Vec<_> = bytes.chunks(size).collect();
        for (number, piece) in pieces.iter().enumerate() {
            let complete = answers.take(piece, |part| body.extend_from_slice(part));
            assert_eq!(complete, Ok(number + 1 == pieces.len()));
        }
        (answers.status, String::from_utf8(body).unwrap())
    }

    #[test]
    fn answers_are_read_in_whatever_pieces_they_arrive() {
        let mut answers = Answers::default();
        for size in 1..120 {
            assert_eq!(read(&mut answers, SIZED, size), (200, "hello".to_owned()));
            let chunked = (201, "hello, my robot".to_owned());
            assert_eq!(read(&mut answers, CHUNKED, size), chunked);
            assert_eq!(read(&mut answers, EMPTY, size), (503, String::new()));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for nonsense in [
            &b"SSH-2.0\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\n\r\nxyz\r\n",
        ] {
            assert!(Answers::default().take(nonsense, |_| ()).is_err());
        }
    }
}
