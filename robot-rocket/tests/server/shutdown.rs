//! SIGTERM: connections without a request end at once, others have a grace period.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::{
    Server, draft,
    process::{answer, ask, assert_status, wait_for},
};

/// A stop without requests takes less than this, and one that waits for the grace period more.
const AT_ONCE: Duration = Duration::from_secs(30);

/// The default settings, except that clients may be silent for longer.
fn server(settings: &[(&str, &str)]) -> Server {
    let common = [
        ("ROCKET_HEADER_TIMEOUT", "60"),
        ("ROCKET_KEEP_ALIVE", "60"),
        ("ROCKET_SHUTDOWN", "{grace=60,mercy=2}"),
    ];
    Server::with(&[&common, settings].concat())
}

/// Stops the server, which must succeed, and returns how long that took and the log.
fn stop(server: Server) -> (Duration, String) {
    let started = Instant::now();
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{status}: {log}");
    (started.elapsed(), log)
}

#[test]
fn shutdown_is_logged_with_its_cause() {
    for signal in ["TERM", "INT"] {
        let (status, log) = server(&[("RUST_LOG", "info")]).stop(signal);
        assert!(status.success(), "{status}: {log}");
        let beginning = format!("shutting down, because SIG{signal} was received\n");
        let (_, end) = log
            .split_once(&beginning)
            .unwrap_or_else(|| panic!("{log}"));
        assert!(end.ends_with(" all connections are closed\n"), "{log}");
    }
}

#[test]
fn stop_closes_connections_without_requests_at_once() {
    let server = server(&[("ROCKET_MAX_CONNECTIONS", "85")]);
    let silent: Vec<_> = (0..20).map(|_| server.connect("")).collect();
    let partial: Vec<_> = (0..20).map(|_| server.connect("GET /api")).collect();
    let used = |sent: &str| {
        let mut stream = server.connect("");
        assert_status(&ask(&mut stream, "GET", "/api/robots/1", ""), 200);
        stream.write_all(sent.as_bytes()).unwrap();
        stream
    };
    let idle: Vec<_> = (0..20).map(|_| used("")).collect();
    let idle_partial: Vec<_> = (0..20).map(|_| used("POST /api/robots HTTP/1.1")).collect();
    let refused: Vec<_> = (0..5).map(|_| server.connect("garbage\r\n\r\n")).collect();
    let rejected: Vec<_> = (0..20).map(|_| server.connect("")).collect();
    rejected[0].peek(&mut [0]).unwrap();
    let (elapsed, log) = stop(server);
    assert!(elapsed < AT_ONCE, "{elapsed:?}");
    let warning = "connections get 503: 85 are open, as many as max_connections permits\n";
    assert!(log.ends_with(warning) && log.lines().count() == 1, "{log}");
    drop((silent, partial, idle, idle_partial, refused, rejected));
}

#[test]
fn stop_finishes_requests_in_progress() {
    let server = server(&[]);
    let body = draft("in progress");
    let mut stream = server.begin(body.len());
    let address = server.address();
    let stopping = thread::spawn(move || stop(server));
    wait_for("new connections are refused", || {
        TcpStream::connect(address).is_err()
    });
    // Longer than silent connections have.
    thread::sleep(Duration::from_millis(500));
    stream.write_all(body.as_bytes()).unwrap();
    let added = answer(&mut stream);
    assert_status(&added, 201);
    let lower = added.to_ascii_lowercase();
    assert!(lower.contains("\r\nconnection: close\r\n"), "{added}");
    let (_, log) = stopping.join().unwrap();
    assert_eq!(log, "");
}

#[test]
fn stop_finishes_a_list_in_progress() {
    let server = server(&[]);
    server.add_long_list();
    let list = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = server.connect(list);
    stream.peek(&mut [0]).unwrap();
    let stopping = thread::spawn(move || stop(server));
    thread::sleep(Duration::from_millis(500));
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert!(received.ends_with(b"]\r\n0\r\n\r\n"));
    let (_, log) = stopping.join().unwrap();
    assert_eq!(log, "");
}

#[test]
fn stop_aborts_requests_that_take_too_long() {
    let server = server(&[("ROCKET_SHUTDOWN", "{grace=1,mercy=1}")]);
    let stream = server.begin(draft("in progress").len());
    let (elapsed, log) = stop(server);
    assert!(elapsed > Duration::from_millis(1800), "{elapsed:?}");
    // The time limit of the body is ten seconds.
    assert!(elapsed < Duration::from_secs(7), "{elapsed:?}");
    assert!(
        log.contains("because their requests took too long: 1"),
        "{log}"
    );
    drop(stream);
}
