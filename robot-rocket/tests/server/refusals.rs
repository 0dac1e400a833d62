//! Requests that the server cannot read, answered in the contract's shape, and connections that end.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
    thread,
    time::Duration,
};

use crate::{
    Server, add_long_list, call, draft, names,
    process::{TIMEOUT, answer, ask, assert_failed, connection, cut_off, exchange, read_to_end},
};

const GET: &str = "GET /api/robots/1 HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn server(folder: &tempfile::TempDir) -> Server {
    Server::start(folder.path(), &[("DATABASE_URL", "memory:")])
}

#[test]
fn unreadable_heads_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let start = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n";
    for (sent, status) in [
        ("garbage\r\n\r\n".to_owned(), 400),
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0".to_owned(), 400),
        ("\0\0\0\0".to_owned(), 400),
        ("GET /api/robots\r\n\r\n".to_owned(), 400),
        ("GET  /api/robots HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET /api/robots HTTP/0.9\r\n\r\n".to_owned(), 400),
        ("GET /api/robots HTTP/1.2\r\n\r\n".to_owned(), 400),
        ("GET /api/robots HTTP/2.0\r\n\r\n".to_owned(), 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 400),
        ("GET /api robots HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET \u{7f} HTTP/1.1\r\n\r\n".to_owned(), 400),
        (format!("{start}no colon\r\n\r\n"), 400),
        (format!("{start}a b: c\r\n\r\n"), 400),
        (format!("{start}X: a\0b\r\n\r\n"), 400),
        (format!("{start}X: {}", "x".repeat(200_000)), 431),
        (format!("{start}{}\r\n", "X: x\r\n".repeat(200)), 431),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(70_000)), 431),
    ] {
        let what = &sent[..sent.len().min(60)];
        let answer = exchange(server.address(), sent.as_bytes());
        assert_failed(&answer, status, what);
        let lower = answer.to_ascii_lowercase();
        assert!(
            lower.contains("\r\nconnection: close\r\n"),
            "{what}: {answer}"
        );
        assert!(lower.contains("\r\nx-content-type-options: nosniff\r\n"));
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{what}: {answer}");
    }
}

#[test]
fn unreadable_head_after_a_request_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    for pause in [Duration::ZERO, Duration::from_millis(200)] {
        let mut stream = connection(&server, GET);
        thread::sleep(pause);
        stream.write_all(b"garbage\r\n\r\n").unwrap();
        let found = answer(&mut stream);
        assert!(found.starts_with("HTTP/1.1 200 "), "{found}");
        assert_failed(&read_to_end(&stream).0, 400, "garbage");
    }
    let answers = exchange(server.address(), format!("{GET}garbage\r\n\r\n").as_bytes());
    let (found, rejected) = answers.split_at(answers.rfind("HTTP/1.1 ").unwrap());
    assert!(found.starts_with("HTTP/1.1 200 "), "{answers}");
    assert_failed(rejected, 400, "garbage");
}

#[test]
fn unreadable_head_after_an_unread_list_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    add_long_list(&server);
    let sent = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\ngarbage\r\n\r\n";
    let mut stream = connection(&server, sent);
    thread::sleep(Duration::from_secs(2));
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    // Chunks may end within a character.
    let received = String::from_utf8_lossy(&received);
    assert_eq!(received.matches("HTTP/1.1 ").count(), 2);
    let (list, rejected) = received.split_at(received.rfind("HTTP/1.1 ").unwrap());
    assert!(list.ends_with("]\r\n0\r\n\r\n"));
    assert_failed(rejected, 400, "garbage");
}

#[test]
fn client_that_still_sends_gets_the_413() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let body = "x".repeat(16 * 1024 * 1024);
    for framing in [
        format!("Content-Length: {}\r\n\r\n", body.len()),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len()),
    ] {
        let head = format!("POST /api/robots HTTP/1.1\r\nHost: localhost\r\n{framing}");
        let mut stream = connection(&server, &head);
        // The connection would be reset if the server did not read the rest.
        stream.write_all(body.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let received = io::read_to_string(stream).unwrap();
        assert_failed(&received, 413, &framing);
    }
}

#[test]
fn expectation_is_met_only_if_the_body_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let body = draft("R2-D2");
    let expecting = |length: usize| {
        let head = format!(
            "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        connection(&server, &head)
    };
    let mut stream = expecting(body.len());
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).unwrap();
    assert!(answer(&mut stream).starts_with("HTTP/1.1 201 "));
    assert!(ask(&mut stream, "GET", "/api/robots/1", "").starts_with("HTTP/1.1 200 "));
    let rejected = answer(&mut expecting(1_000_000));
    assert_failed(&rejected, 413, "a large body");
    assert_eq!(names(&server), ["R2-D2"]);
}

/// The server answers without waiting for the rest of the body, and says that it closes the connection.
#[test]
fn known_answers_do_not_wait_for_the_body() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let expect = "Host: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n";
    let long = "Host: localhost\r\nContent-Length: 70000\r\n";
    let foreign = "Host: evil.example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n";
    let coding = "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n";
    let head = format!("Host: localhost\r\nX: {}\r\n", "x".repeat(128 * 1024));
    for (line, headers, status) in [
        ("POST /api/nothing", expect, 404),
        ("DELETE /api/robots", expect, 405),
        ("POST /", expect, 405),
        ("POST /api/robots", foreign, 421),
        ("POST /api/robots", long, 413),
        ("POST /api/robots/import", long, 400),
        ("POST /api/robots", coding, 501),
        ("GET /api/robots", &head, 431),
    ] {
        let request = format!("{line} HTTP/1.1\r\n{headers}\r\n");
        let received = exchange(server.address(), request.as_bytes());
        assert_failed(&received, status, line);
        let is_closing = received.contains("\r\nconnection: close\r\n");
        assert!(is_closing, "{line}: {received}");
    }
}

#[test]
fn client_that_closes_its_sending_side_gets_answers() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let list = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answers = cut_off(server.address(), [GET, list, GET].concat().as_bytes());
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
    add_long_list(&server);
    let received = cut_off(server.address(), list.as_bytes());
    assert!(received.ends_with("]\r\n0\r\n\r\n"));
    assert_eq!(cut_off(server.address(), b""), "");
    assert_eq!(cut_off(server.address(), b"GET /api"), "");
}

#[test]
fn http_1_0_clients_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    call(&server.client(), "POST", "/api/robots", &draft("R2-D2"));
    let answer_to = |target: &str, headers: &str| {
        let sent = format!("GET {target} HTTP/1.0\r\nHost: localhost\r\n{headers}\r\n");
        exchange(server.address(), sent.as_bytes())
    };
    // A list has no length; the end of the connection ends it.
    let list = answer_to("/api/robots", "");
    assert!(list.starts_with("HTTP/1.0 200 "), "{list}");
    assert!(
        list.ends_with("\r\n\r\n[{\"id\":\"1\",\"name\":\"R2-D2\"}]"),
        "{list}"
    );
    assert!(
        !list.to_ascii_lowercase().contains("transfer-encoding"),
        "{list}"
    );
    let kept = "GET /api/robots/1 HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
    let mut stream = connection(&server, kept);
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    for _ in 0..2 {
        assert!(answer(&mut stream).starts_with("HTTP/1.0 200 "));
        stream.write_all(kept.as_bytes()).unwrap();
    }
}
