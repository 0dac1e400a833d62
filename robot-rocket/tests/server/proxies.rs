//! The server behind the reverse proxies whose configurations are in `deploy`.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use robot_core::conformance::{Answer, TcpClient};

use crate::{
    Server, call, draft,
    process::{assert_failed, exchange, wait_for},
    proxy::{KINDS, Kind, Proxy, free_port},
};

const LOCAL: &str = "Host: localhost\r\n";

/// The parts of an answer that the contract fixes.
fn essence(answer: &Answer) -> (u16, String, [Option<&str>; 4]) {
    let headers = ["content-type", "allow", "link", "vary"];
    let headers = headers.map(|name| answer.header(name));
    (answer.status, answer.text(), headers)
}

/// Requests that change nothing.
const REQUESTS: &str = "\
GET /api/robots
HEAD /api/robots/1
OPTIONS /api/robots
GET /api/robots/search/a?limit=1&after=a%2520%2Fb
GET /api/robots/search/a%2Fb
GET /api/robots/search/a%252Fb
GET /api/robots/search/%2E%2E%2Fx
GET /api/robots/search/..
GET /api/robots/search/a+b
GET /api/robots/search/%FF
GET /api/robots/search//
GET //api/robots
GET /api/x/../robots
BREW /api/robots
PUT /api/robots/999999
DELETE /api/robots/999999
";

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn proxies_forward_requests_and_answers_unchanged() {
    let server = Server::memory();
    server.add_long_list();
    for name in ["a/b", "a%2Fb", "a+b", "..", "../x", "é", "<b>", "//"] {
        assert_eq!(server.add(name).status, 201);
    }
    for kind in KINDS {
        let proxy = Proxy::start(kind, server.address());
        for line in REQUESTS.lines() {
            let (method, target) = line.split_once(' ').unwrap();
            let direct = server.call(method, target, "{}");
            let passed = proxy.call(method, target, "{}");
            assert_eq!(essence(&passed), essence(&direct), "{kind:?}: {line}");
        }
        let host = format!("localhost:{}", proxy.port);
        for (headers, status) in [
            (format!("Host: {host}\r\nOrigin: http://{host}\r\n"), 409),
            (
                format!("Host: {host}\r\nOrigin: http://localhost:1\r\n"),
                403,
            ),
            (format!("{LOCAL}Sec-Fetch-Site: cross-site\r\n"), 403),
            ("Host: evil.example\r\n".to_owned(), 421),
        ] {
            let answer = proxy.ask("POST /api/robots", &headers, "{}");
            assert_failed(&answer, status, &format!("{kind:?}: {headers}"));
        }
    }
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn oversized_body_returns_413_with_our_message() {
    let server = Server::memory();
    let padded = |name: &str, length: usize| draft(name) + &" ".repeat(length - draft(name).len());
    let too_long = padded("x", 65_537);
    let expected = server.call("POST", "/api/robots", &too_long);
    let head = format!("POST /api/robots HTTP/1.1\r\n{LOCAL}Connection: close\r\n");
    let large = padded("x", 200_000);
    for kind in KINDS {
        let proxy = Proxy::start(kind, server.address());
        for sent in [
            format!("{head}Content-Length: 65537\r\n\r\n{too_long}"),
            format!("{head}Transfer-Encoding: chunked\r\n\r\n30D40\r\n{large}\r\n0\r\n\r\n"),
            format!("{head}Content-Length: 1000000000\r\n\r\n{{"),
        ] {
            let answer = exchange(proxy.address(), sent.as_bytes());
            assert_failed(&answer, 413, &format!("{kind:?}"));
            assert!(answer.ends_with(&expected.text()), "{kind:?}: {answer}");
        }
        let longest = padded(&format!("{kind:?}"), 65_536);
        let longest = proxy.call("POST", "/api/robots", &longest);
        assert_eq!(longest.status, 201, "{kind:?}: {}", longest.text());
        // An import has no limit in the proxies.
        let robots = "A,droid,1977\n".repeat(20_000);
        let file = format!("name,type,year\n{robots}");
        let import = "/v1/robots/import?format=csv&dry_run=true";
        let imported = proxy.call("POST", import, &file);
        assert_eq!(imported.status, 200, "{kind:?}: {}", imported.text());
    }
    assert_eq!(server.names().len(), KINDS.len());
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn idle_connections_at_the_limit_block_no_others() {
    let server = Server::memory();
    for kind in KINDS {
        let proxy = Proxy::start(kind, server.address());
        // HAProxy closes connections beyond its limit, some of them while they connect.
        let idle: Vec<_> = (0..200)
            .filter_map(|_| TcpStream::connect(proxy.address()).ok())
            .collect();
        assert!(idle.len() >= 64, "{kind:?}: {}", idle.len());
        let other = TcpClient::new(proxy.other_address());
        for number in 0..5 {
            let draft = draft(&format!("{kind:?} {number}"));
            let added = call(&other, "POST", "/api/robots", &draft);
            assert_eq!(added.status, 201, "{kind:?}: {}", added.text());
        }
        drop(idle);
        wait_for("the first client is served again", || {
            let answer = proxy.ask("GET /nothing", LOCAL, "");
            answer.starts_with("HTTP/1.1 404 ")
        });
    }
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn unreachable_server_returns_an_error_of_the_contract() {
    for (kind, status) in [(Kind::Nginx, 502), (Kind::Haproxy, 503)] {
        let proxy = Proxy::start(kind, (Ipv4Addr::LOCALHOST, free_port()).into());
        let answer = proxy.ask("GET /api/robots", LOCAL, "");
        assert_failed(&answer, status, &format!("{kind:?}"));
    }
}

/// Answers the first request, and closes the connection without an answer on later ones. Counts
/// the requests.
fn break_after_one(listener: TcpListener) -> Arc<AtomicUsize> {
    let received = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&received);
    // The threads end with the test process.
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                while let Ok(1..) = stream.read(&mut [0; 4096]) {
                    if counted.fetch_add(1, Ordering::SeqCst) > 0 {
                        return;
                    }
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]";
                    stream.write_all(answer).unwrap();
                }
            });
        }
    });
    received
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn write_with_unknown_outcome_is_not_retried() {
    for kind in KINDS {
        for line in [
            "POST /api/robots",
            "PUT /api/robots/1",
            "DELETE /api/robots/1",
        ] {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let proxy = Proxy::start(kind, listener.local_addr().unwrap());
            let received = break_after_one(listener);
            // The proxy keeps this connection for the next request.
            assert_eq!(proxy.call("GET", "/api/robots", "").text(), "[]");
            for number in 2..=4 {
                let answer = proxy.ask(line, LOCAL, &draft("x"));
                assert_failed(&answer, 502, &format!("{kind:?} {line}"));
                assert!(answer.contains("unknown"), "{kind:?} {line}: {answer}");
                assert_eq!(received.load(Ordering::SeqCst), number, "{kind:?} {line}");
            }
        }
    }
}
