//! The server program: start, shutdown and errors.

#![expect(
    clippy::unwrap_used,
    reason = "a server that cannot be run fails its test"
)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use robot_core::http::BODY_DEADLINE;

fn server(port: &str, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum-frontend"));
    command.env("PORT", port).env("DATABASE_URL", url);
    command
}

/// A server that listens on a free port. It is killed with the test.
struct Running {
    process: Child,
    address: String,
}

impl Running {
    fn start() -> Self {
        let mut process = server("0", "memory:")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut greeting = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut greeting)
            .unwrap();
        let address = greeting
            .strip_prefix("Robots at http://")
            .and_then(|rest| rest.strip_suffix("/api/robots\n"))
            .unwrap()
            .to_owned();
        Self { process, address }
    }

    fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    }

    /// Sends a signal and returns the exit code.
    fn stop(&mut self, signal: &str) -> Option<i32> {
        let id = self.process.id().to_string();
        let killed = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(killed.unwrap().success());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already if the test passed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn server_prints_its_address_and_stops_on_a_signal() {
    for signal in ["INT", "TERM"] {
        let mut server = Running::start();
        let request = b"GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let list = answer(server.send(request));
        assert!(list.starts_with("HTTP/1.1 200 "), "{list}");
        assert!(list.ends_with("\r\n\r\n[]"), "{list}");
        assert_eq!(server.stop(signal), Some(0), "{signal}");
    }
}

#[test]
fn idle_client_does_not_prevent_shutdown() {
    let mut server = Running::start();
    let _idle = server.send(b"POST /api/robots HTTP/1.1\r\nHost: localhost\r\nContent-Le");
    let start = Instant::now();
    assert_eq!(server.stop("TERM"), Some(0));
    assert!(start.elapsed() < Duration::from_secs(9));
}

#[test]
fn slow_body_returns_408() {
    let server = Running::start();
    let start = Instant::now();
    let stream =
        server.send(b"POST /api/robots HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{");
    let answer = answer(stream);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(
        answer.contains(r#"{"status":"ERROR","messages":["#),
        "{answer}"
    );
    assert!(start.elapsed() >= BODY_DEADLINE);
}

#[test]
fn start_error_is_reported_in_one_line() {
    let running = Running::start();
    let (_, taken) = running.address.split_once(':').unwrap();
    for (port, url, words) in [
        ("http", "memory:", "PORT is 'http'"),
        ("65536", "memory:", "PORT is '65536'"),
        ("0", "ftp://robots", "begin with 'ftp'"),
        ("0", "sqlite:///nowhere/robots.db", "DATABASE_URL"),
        (taken, "memory:", "cannot listen on port"),
    ] {
        let output = server(port, url).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(output.stdout.is_empty());
        assert!(message.starts_with("axum-frontend: "), "{message}");
        assert!(message.contains(words), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}
