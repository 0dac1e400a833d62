//! Limits of connections, and of open files.

use std::{
    io::Write as _,
    net::{SocketAddr, TcpStream},
    process::Command,
    thread,
    time::Duration,
};

use crate::{
    Server, draft,
    process::{
        TIMEOUT, ask, assert_failed, assert_status, cpu_time, open_files, read_to_end, wait_for,
    },
    scrape::{self, Scrape},
};

/// Rejected connections are answered without waiting for a time limit, which are all 60 seconds.
const AT_ONCE: Duration = Duration::from_secs(15);

fn server(settings: &[(&str, &str)]) -> Server {
    let common = [("ROCKET_HEADER_TIMEOUT", "60"), ("ROCKET_KEEP_ALIVE", "60")];
    Server::with(&[&common, settings].concat())
}

#[track_caller]
fn assert_served(stream: &mut TcpStream) {
    assert_status(&ask(stream, "GET", "/api/robots/1", ""), 200);
}

/// Asserts that the server rejects a connection, on which this is sent.
#[track_caller]
fn assert_rejected(mut stream: &TcpStream, sent: &str) {
    // The server may have closed the connection.
    let _ = stream.write_all(sent.as_bytes());
    let (received, elapsed) = read_to_end(stream);
    assert_failed(&received, 503, sent);
    let lower = received.to_ascii_lowercase();
    assert!(lower.contains("\r\nretry-after: 1\r\n"), "{received}");
    assert!(lower.contains("\r\nconnection: close\r\n"), "{received}");
    assert!(received.contains("too many connections"), "{received}");
    assert!(elapsed < AT_ONCE, "{elapsed:?}");
}

/// Connects until the server admits the connection.
fn admitted(address: SocketAddr) -> TcpStream {
    let mut admitted = None;
    wait_for("a connection is admitted", || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nonblocking(true).unwrap();
        thread::sleep(Duration::from_millis(100));
        let is_admitted = stream.peek(&mut [0]).is_err();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        if is_admitted {
            assert_served(&mut stream);
            admitted = Some(stream);
        }
        is_admitted
    });
    admitted.unwrap()
}

#[test]
fn connections_beyond_the_limit_are_rejected_with_503() {
    const LIMIT: usize = 5;
    let server = server(&[("ROCKET_MAX_CONNECTIONS", &LIMIT.to_string())]);
    let mut admitted_ones: Vec<_> = (0..LIMIT).map(|_| server.connect("")).collect();
    admitted_ones.iter_mut().for_each(assert_served);
    for sent in [
        "",
        "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nContent-Length: 44\r\n\r\n{",
        "no request",
    ] {
        assert_rejected(&server.connect(""), sent);
        admitted_ones.iter_mut().for_each(assert_served);
    }
    drop(admitted_ones.pop());
    admitted_ones.push(admitted(server.address()));
    admitted_ones.iter_mut().for_each(assert_served);
}

/// More connections than may hold a large head, each with more bytes of heads than a small one has.
#[test]
fn kept_connections_serve_any_number_of_requests() {
    let server = server(&[]);
    let target = format!("/api/robots/1?_={}", "x".repeat(2000));
    let mut connections: Vec<_> = (0..80).map(|_| server.connect("")).collect();
    for stream in &mut connections {
        for _ in 0..10 {
            assert_status(&ask(stream, "GET", &target, ""), 200);
        }
    }
}

#[test]
fn many_rejected_connections_disturb_no_others() {
    let server = server(&[("ROCKET_MAX_CONNECTIONS", "2")]);
    let mut early = server.connect("");
    let mut other = server.connect("");
    assert_served(&mut early);
    assert_served(&mut other);
    let before = open_files(&server);
    // More than are answered at the same time.
    let rejected: Vec<_> = (0..500).map(|_| server.connect("")).collect();
    for _ in 0..100 {
        assert_served(&mut early);
        let extra = open_files(&server).saturating_sub(before);
        assert!(extra < 100, "{extra} rejected connections are open");
    }
    let mut answers: Vec<_> = rejected
        .iter()
        .map(|stream| read_to_end(stream).0)
        .collect();
    answers.retain(|answer| !answer.is_empty());
    assert!(!answers.is_empty(), "no connection got an answer");
    assert!(
        answers
            .iter()
            .all(|answer| answer.starts_with("HTTP/1.1 503 "))
    );
    drop((rejected, other));
    assert_served(&mut admitted(server.address()));
    assert_served(&mut early);
}

#[test]
fn connections_beyond_the_file_limit_wait_idle() {
    let settings = [("ROCKET_HEADER_TIMEOUT", "60"), ("ROCKET_KEEP_ALIVE", "60")];
    let (server, metrics) = scrape::server(&settings);
    let mut early = server.connect("");
    let added = ask(&mut early, "POST", "/api/robots", &draft("first"));
    assert_status(&added, 201);
    // This opens the connection to the database for lists.
    assert_eq!(server.names(), ["first"]);
    let limited = Command::new("prlimit")
        .args(["--nofile=64:64", "--pid", &server.id().to_string()])
        .status()
        .unwrap_or_else(|error| panic!("cannot run prlimit (Debian package util-linux): {error}"));
    assert!(limited.success());
    let idle: Vec<_> = (0..100).map(|_| server.connect("")).collect();
    wait_for("the limit of open files is reached", || {
        open_files(&server) >= 64
    });
    let before = cpu_time(&server);
    thread::sleep(Duration::from_secs(3));
    let used = cpu_time(&server) - before;
    // Without a pause it would use one CPU, that is 300 ticks.
    assert!(used < 30, "{used} ticks of CPU time");
    for number in 1..10 {
        let robot = draft(&number.to_string());
        assert_status(&ask(&mut early, "POST", "/api/robots", &robot), 201);
        assert_served(&mut early);
        let list = ask(&mut early, "GET", "/api/robots", "");
        assert!(list.contains(&format!("\"{number}\"")), "{list}");
    }
    drop(idle);
    let mut late = server.connect("");
    assert_served(&mut late);
    assert_eq!(server.names().len(), 10);
    assert!(Scrape::of(metrics).value("robots_http_accept_failures_total") > 0);
    let deleted = server.call("DELETE", "/api/robots/1", "");
    assert_eq!(deleted.status, 200);
    let (_, log) = server.stop("TERM");
    assert!(log.contains("allow more open files (ulimit -n)"), "{log}");
    assert!(log.lines().count() < 20, "{log}");
}
