//! The generator of load: connections that each send the next request when the answer to the
//! last is there, spread over two threads that wait for many sockets at once. It is meant to
//! take as little of the machine from the server as `wrk` does.

use std::{
    io::{ErrorKind, Read, Write},
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token, net::TcpStream};

use crate::http::{self, Answers};

/// As many threads as the machine that this is written for has cores.
const THREADS: usize = 2;

/// How long a thread sleeps at most before it looks at the clock.
const NAP: Duration = Duration::from_millis(50);

/// What a request is for, so that the answers are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
}

/// Writes the next request behind what is in the buffer.
pub(crate) type Source = Box<dyn FnMut(&mut Vec<u8>) -> Kind + Send>;

/// A run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) connections: usize,
    pub(crate) length: Duration,
}

/// What came of a run.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    seconds: f64,
    /// How long the answers with a 2xx to reads took, in microseconds, the shortest first.
    reads: Vec<u32>,
    /// And those to writes.
    writes: Vec<u32>,
    /// How many answers were no 2xx.
    pub(crate) failed: u64,
}

impl Outcome {
    pub(crate) fn reads_per_second(&self) -> f64 {
        self.per_second(self.reads.len())
    }

    pub(crate) fn writes_per_second(&self) -> f64 {
        self.per_second(self.writes.len())
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "so many answers take longer than anyone waits"
    )]
    fn per_second(&self, answers: usize) -> f64 {
        answers as f64 / self.seconds
    }

    /// The time that a share of the writes took at most, in seconds.
    pub(crate) fn writes_within(&self, percent: usize) -> f64 {
        let index = (self.writes.len() * percent / 100).min(self.writes.len().saturating_sub(1));
        f64::from(self.writes.get(index).copied().unwrap_or(0)) / 1e6
    }

    /// Fails where an answer was no 2xx: such a run measures something else.
    pub(crate) fn flawless(self) -> Result<Self, String> {
        match self.failed {
            0 => Ok(self),
            failed => Err(format!("{failed} answers were not 2xx")),
        }
    }

    fn add(&mut self, other: Self) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self.failed += other.failed;
    }
}

impl Load {
    /// Loads the server. Each connection has a source of requests of its own.
    pub(crate) fn run(&self, source: impl Fn() -> Source) -> Result<Outcome, String> {
        let mut teams: Vec<Vec<Connection>> = (0..THREADS).map(|_| Vec::new()).collect();
        for number in 0..self.connections {
            teams[number % THREADS].push(Connection::new(self.address, source())?);
        }
        let start = Instant::now();
        let end = start + self.length;
        let outcomes: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = teams
                .into_iter()
                .map(|team| scope.spawn(move || drive(team, end)))
                .collect();
            threads
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect()
        });
        let mut total = Outcome {
            seconds: self.length.as_secs_f64(),
            ..Outcome::default()
        };
        for outcome in outcomes {
            total.add(outcome.map_err(|_| "a thread of the load broke down")??);
        }
        total.reads.sort_unstable();
        total.writes.sort_unstable();
        Ok(total)
    }
}

/// Drives some connections until the end; answers that come later do not count.
fn drive(mut team: Vec<Connection>, end: Instant) -> Result<Outcome, String> {
    let cannot = |error| format!("cannot wait for sockets: {error}");
    let mut poll = Poll::new().map_err(cannot)?;
    let mut buffer = vec![0; 64 * 1024];
    let mut outcome = Outcome::default();
    for (number, connection) in team.iter_mut().enumerate() {
        poll.registry()
            .register(&mut connection.stream, Token(number), Interest::READABLE)
            .map_err(cannot)?;
        connection.send(Instant::now())?;
    }
    let mut events = Events::with_capacity(team.len().max(1));
    while Instant::now() < end {
        match poll.poll(&mut events, Some(NAP)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled.map_err(cannot)?,
        }
        for event in &events {
            team[event.token().0].proceed(&mut buffer, end, &mut outcome)?;
        }
    }
    Ok(outcome)
}

/// A connection that waits for an answer.
struct Connection {
    stream: TcpStream,
    answers: Answers,
    source: Source,
    request: Vec<u8>,
    kind: Kind,
    sent: Instant,
}

impl Connection {
    fn new(address: SocketAddr, source: Source) -> Result<Self, String> {
        let stream = http::connect(address)?;
        stream
            .set_nonblocking(true)
            .map_err(|error| format!("cannot use a socket without waiting for it: {error}"))?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            answers: Answers::default(),
            source,
            request: Vec::new(),
            kind: Kind::Read,
            sent: Instant::now(),
        })
    }

    /// Sends the next request. The answer to the last one was there, so that the socket has
    /// room for all of it.
    fn send(&mut self, now: Instant) -> Result<(), String> {
        self.request.clear();
        self.kind = (self.source)(&mut self.request);
        self.sent = now;
        match self.stream.write(&self.request) {
            Ok(length) if length == self.request.len() => Ok(()),
            Ok(_) => Err("a request is too long for a socket; make it shorter".to_owned()),
            Err(error) => Err(format!("cannot send a request: {error}")),
        }
    }

    /// Reads all that has arrived, for the socket tells of it only once. A read that does not
    /// fill the buffer has taken all.
    fn proceed(
        &mut self,
        buffer: &mut [u8],
        end: Instant,
        outcome: &mut Outcome,
    ) -> Result<(), String> {
        loop {
            let length = match self.stream.read(buffer) {
                Ok(0) => return Err("the server closed a connection".to_owned()),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(format!("the server does not answer: {error}")),
            };
            if self.answers.take(&buffer[..length], |_| ())? {
                let now = Instant::now();
                if now < end {
                    self.count(now, outcome);
                    self.send(now)?;
                }
            }
            if length < buffer.len() {
                return Ok(());
            }
        }
    }

    fn count(&self, now: Instant, outcome: &mut Outcome) {
        let micros = u32::try_from((now - self.sent).as_micros()).unwrap_or(u32::MAX);
        match (self.answers.status, self.kind) {
            (200..300, Kind::Read) => outcome.reads.push(micros),
            (200..300, Kind::Write) => outcome.writes.push(micros),
            _ => outcome.failed += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        net::TcpListener,
        sync::atomic::{AtomicU64, Ordering},
    };

    use super::*;

    static REQUESTS: AtomicU64 = AtomicU64::new(0);

    /// Answers every request of a connection; the fourth of each with a 503.
    fn answer(stream: std::net::TcpStream) {
        let mut writer = stream.try_clone().unwrap();
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        for (number, _) in lines.filter(String::is_empty).enumerate() {
            REQUESTS.fetch_add(1, Ordering::Relaxed);
            let status = if number == 3 { "503 Busy" } else { "200 OK" };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
            if writer.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    #[test]
    fn every_answer_is_counted_by_kind_and_failures_apart() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                thread::spawn(move || answer(stream));
            }
        });
        let load = Load {
            address,
            connections: 3,
            length: Duration::from_millis(200),
        };
        let mut outcome = load
            .run(|| {
                let mut number = 0;
                Box::new(move |request| {
                    request.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n");
                    number += 1;
                    if number % 2 == 0 {
                        Kind::Write
                    } else {
                        Kind::Read
                    }
                })
            })
            .unwrap();
        assert_eq!(outcome.failed, 3);
        assert!(outcome.reads.len() > 10 && outcome.writes.len() > 10);
        let counted = outcome.reads.len() as u64 + outcome.writes.len() as u64 + outcome.failed;
        // At the end each connection has at most one more request under way.
        let served = REQUESTS.load(Ordering::Relaxed);
        assert!(
            (counted..=counted + 3).contains(&served),
            "{counted} of {served}"
        );
        assert!(outcome.writes.is_sorted());
        assert!(outcome.writes_within(50) <= outcome.writes_within(99));
        outcome.failed = 0;
        assert!(outcome.flawless().is_ok());
    }
}
