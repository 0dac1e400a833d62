//! The application as a server on a thread, and requests to it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use robot_core::MemoryCatalogue;
use robot_rocket::{ServeError, ServeOptions, Settings, mount, serve};
use rocket::{Build, Config, Orbit, Rocket, Shutdown, fairing::AdHoc, figment::Figment};

/// A served application, stopped on drop.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: Shutdown,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

/// Rocket's default settings, a free port and a short shutdown.
pub(crate) fn figment() -> Figment {
    Config::figment()
        .merge(("port", 0))
        .merge(("workers", 2))
        .merge(("log_level", "off"))
        .merge(("shutdown.ctrlc", false))
        .merge(("shutdown.signals", Vec::<String>::new()))
}

impl Served {
    /// Serves an application with a catalogue under `/robots`.
    pub(crate) fn start(rocket: Rocket<Build>) -> Self {
        let options = ServeOptions::bind(rocket.figment()).unwrap();
        Self::start_with(rocket, options)
    }

    pub(crate) fn start_with(rocket: Rocket<Build>, options: ServeOptions) -> Self {
        let (ready, launched) = mpsc::channel();
        let catalogue = Arc::new(MemoryCatalogue::new());
        let rocket = mount(rocket, "/robots", catalogue, &Settings::default()).attach(
            AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
                let address = SocketAddr::new(rocket.config().address, rocket.config().port);
                ready.send((address, rocket.shutdown())).unwrap();
                Box::pin(async {})
            }),
        );
        let thread = thread::spawn(|| rocket::execute(serve(rocket, options)));
        let (address, shutdown) = launched.recv().unwrap();
        Self {
            address,
            shutdown,
            thread: Some(thread),
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Connection(BufReader::new(stream))
    }

    /// Sends a request on a connection of its own.
    pub(crate) fn answer(&self, line: &str, headers: &str, body: &str) -> String {
        self.connect().answer(line, headers, body)
    }

    /// Requests the shutdown, and waits for the end.
    pub(crate) fn stop(mut self) -> Result<(), ServeError> {
        self.shutdown.clone().notify();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.shutdown.clone().notify();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(thread::panicking() || ended.is_ok());
        }
    }
}

/// A connection that stays open.
pub(crate) struct Connection(pub(crate) BufReader<TcpStream>);

impl Connection {
    /// Sends a request, and returns the answer, with the names of headers in lower case.
    pub(crate) fn answer(&mut self, line: &str, headers: &str, body: &str) -> String {
        self.send(line, headers, body);
        let head = self.head();
        let length = head
            .split_once("\r\ncontent-length: ")
            .and_then(|(_, rest)| rest.split_once('\r'))
            .map_or(0, |(length, _)| length.parse().unwrap());
        let mut body = vec![0; if line.starts_with("HEAD ") { 0 } else { length }];
        self.0.read_exact(&mut body).unwrap();
        head + str::from_utf8(&body).unwrap()
    }

    pub(crate) fn send(&mut self, line: &str, headers: &str, body: &str) {
        let length = body.len();
        let sent = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        // The server may answer before it has read all.
        let _ = self.0.get_mut().write_all(sent.as_bytes());
    }

    /// Reads the head of an answer.
    pub(crate) fn head(&mut self) -> String {
        self.until("\r\n\r\n")
    }

    /// Reads up to a text.
    pub(crate) fn until(&mut self, end: &str) -> String {
        let (mut received, end) = (Vec::new(), end.as_bytes());
        while !received.ends_with(end) {
            let count = self.0.read_until(end[end.len() - 1], &mut received);
            let so_far = String::from_utf8_lossy(&received);
            assert!(count.unwrap() > 0, "the connection ended: {so_far}");
        }
        String::from_utf8(received).unwrap()
    }
}

/// The body of an answer.
pub(crate) fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[track_caller]
pub(crate) fn assert_status(answer: &str, status: u16) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{answer}"
    );
}
