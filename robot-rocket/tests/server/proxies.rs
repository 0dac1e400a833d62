//! Reverse proxies with the configuration files in `deploy/`. `./test.sh release` runs these tests.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use robot_core::{
    CatalogueExt, Draft,
    conformance::{Answer, Call, Client as _, TcpClient},
};

use crate::{
    Server, call, draft, names,
    process::{TIMEOUT, assert_failed, exchange, wait_for},
    proxy::{KINDS, Kind, Proxy, free_port},
};

/// The parts of an answer that the contract fixes.
fn essence(answer: &Answer) -> (u16, String, [Option<&str>; 6]) {
    let headers = [
        "content-type",
        "allow",
        "link",
        "vary",
        "content-security-policy",
        "x-content-type-options",
    ];
    (
        answer.status,
        answer.text(),
        headers.map(|name| answer.header(name)),
    )
}

const TAKEN: &str = r#"{"name":"a/b","type":"droid","year":1}"#;

/// Calls that change nothing.
const CALLS: [(&str, &str); 27] = [
    ("GET /api/robots", ""),
    ("HEAD /api/robots/1", ""),
    ("OPTIONS /api/robots", ""),
    ("GET /api/robots?limit=2&fields=name,id", ""),
    ("GET /api/robots/search/a?limit=1&after=a%2520%2Fb", ""),
    ("GET /api/robots/search/a%2Fb", ""),
    ("GET /api/robots/search/a%2fb", ""),
    ("GET /api/robots/search/a%252Fb", ""),
    ("GET /api/robots/search/%2F%2F", ""),
    ("GET /api/robots/search/%2E%2E%2Fx", ""),
    ("GET /api/robots/search/..", ""),
    ("GET /api/robots/search/a+b", ""),
    ("GET /api/robots/search/%C3%A9", ""),
    ("GET /api/robots/search/%FF", ""),
    ("GET /api/robots/search/", ""),
    ("GET /api/robots/search//", ""),
    ("GET //api/robots", ""),
    ("GET /api/./robots", ""),
    ("GET /api/x/../robots", ""),
    ("GET /nothing", ""),
    ("PATCH /api/robots", "{}"),
    ("BREW /api/robots", ""),
    ("POST /api/robots", TAKEN),
    ("POST /api/robots", "{"),
    ("PUT /api/robots/1", TAKEN),
    ("PUT /api/robots/9999", TAKEN),
    ("DELETE /api/robots/9999", ""),
];

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn proxies_forward_answers_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    let catalogue = robot_core::open(&url).unwrap();
    let names = ["a/b", "a%2Fb", "a+b", "..", "../x", "é", "<b>", "//"];
    // More than one page of the list.
    let many = (0..2100).map(|number| format!("RX-{number:04}"));
    for name in names.into_iter().map(str::to_owned).chain(many) {
        catalogue.add(Draft::new(name, "droid", 1)).unwrap();
    }
    let server = Server::start(folder.path(), &[]);
    for kind in KINDS {
        let proxy = Proxy::start(kind, server.address(), &[]);
        for (line, body) in CALLS {
            let (method, target) = line.split_once(' ').unwrap();
            let direct = call(&server.client(), method, target, body);
            let passed = call(&proxy.client(), method, target, body);
            assert_eq!(essence(&passed), essence(&direct), "{kind:?}: {line}");
        }
        let new = draft(&format!("{kind:?}"));
        let added = call(&proxy.client(), "POST", "/api/robots", &new);
        assert_eq!(added.status, 201, "{}", added.text());
    }
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn proxies_forward_headers_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    for kind in KINDS {
        let proxy = Proxy::start(kind, server.address(), &[]);
        let port = proxy.port;
        for (headers, start) in [
            (
                format!("localhost:{port}\r\nOrigin: http://localhost:{port}"),
                "HTTP/1.1 409 ",
            ),
            (
                format!("localhost:{port}\r\nOrigin: http://localhost:1"),
                "HTTP/1.1 403 ",
            ),
            (
                "localhost\r\nOrigin: https://evil.example".to_owned(),
                "HTTP/1.1 403 ",
            ),
            (
                "localhost\r\nSec-Fetch-Site: cross-site".to_owned(),
                "HTTP/1.1 403 ",
            ),
            ("evil.example".to_owned(), "HTTP/1.1 421 "),
        ] {
            let sent = format!(
                "POST /api/robots HTTP/1.1\r\nHost: {headers}\r\nConnection: close\r\n\
                 Content-Length: 2\r\n\r\n{{}}"
            );
            let answer = exchange(proxy.address(), sent.as_bytes());
            assert!(answer.starts_with(start), "{kind:?}: {headers}: {answer}");
        }
        let sent = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                    Accept: application/json\r\n\r\n";
        let answer = exchange(proxy.address(), sent.as_bytes()).to_lowercase();
        assert!(
            answer.contains("content-type: application/json"),
            "{kind:?}: {answer}"
        );
    }
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn endless_headers_time_out_and_block_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    for kind in KINDS {
        let limit = match kind {
            Kind::Nginx => ("client_header_timeout 10s", "client_header_timeout 1s"),
            Kind::Haproxy => ("timeout http-request 10s", "timeout http-request 1s"),
        };
        let proxy = Proxy::start(kind, server.address(), &[limit]);
        let slow: Vec<_> = (0..30)
            .map(|_| {
                let mut stream = TcpStream::connect(proxy.address()).unwrap();
                stream
                    .write_all(b"GET /api/robots HTTP/1.1\r\nHost: localhost\r\nX: ")
                    .unwrap();
                thread::spawn(move || trickle(stream))
            })
            .collect();
        let answer = call(&proxy.client(), "GET", "/api/robots", "");
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, "[]"),
            "{kind:?}"
        );
        for trickling in slow {
            let lasted = trickling.join().unwrap();
            assert!(lasted < Duration::from_secs(9), "{kind:?}: {lasted:?}");
        }
    }
}

/// Sends byte after byte until the proxy closes the connection; how long that took.
fn trickle(mut stream: TcpStream) -> Duration {
    let started = Instant::now();
    stream
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let mut piece = [0; 4096];
    while started.elapsed() < TIMEOUT {
        match stream.read(&mut piece) {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => break,
        }
        if stream.write_all(b"x").is_err() {
            break;
        }
    }
    started.elapsed()
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn oversized_body_returns_413_with_our_message() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    let padded = |length: usize| format!("{}{}", draft("x"), " ".repeat(length - draft("x").len()));
    let expected = call(&server.client(), "POST", "/api/robots", &padded(65_537));
    let head = "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    let large = padded(200_000);
    for kind in KINDS {
        let proxy = Proxy::start(kind, server.address(), &[]);
        for sent in [
            format!("{head}Content-Length: 65537\r\n\r\n{}", padded(65_537)),
            format!(
                "{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
                large.len()
            ),
            format!("{head}Content-Length: 1000000000\r\n\r\n{{"),
        ] {
            let answer = exchange(proxy.address(), sent.as_bytes());
            assert_failed(&answer, 413, &format!("{kind:?}"));
            assert!(answer.ends_with(&expected.text()), "{kind:?}: {answer}");
        }
        assert_eq!(names(&server), [""; 0], "{kind:?}");
        let longest = call(&proxy.client(), "POST", "/api/robots", &padded(65_536));
        assert_eq!(longest.status, 201, "{kind:?}: {}", longest.text());
        assert_eq!(
            call(
                &proxy.client(),
                "DELETE",
                &format!("/api/robots/{}", id(&longest)),
                ""
            )
            .status,
            200
        );
    }
}

fn id(answer: &Answer) -> String {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    body["data"]["id"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn idle_connections_at_the_limit_block_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    for kind in KINDS {
        let proxy = Proxy::start(kind, server.address(), &[]);
        // HAProxy closes connections beyond its limit, some of them while they connect.
        let idle: Vec<_> = (0..200)
            .filter_map(|_| TcpStream::connect(proxy.address()).ok())
            .collect();
        assert!(idle.len() >= 64, "{kind:?}: {}", idle.len());
        for number in 0..5 {
            let added = call(
                &proxy.other_client(),
                "POST",
                "/api/robots",
                &draft(&format!("{kind:?} {number}")),
            );
            assert_eq!(added.status, 201, "{kind:?}: {}", added.text());
        }
        drop(idle);
        wait_for("the first client is served again", TIMEOUT, || {
            let request = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            exchange(proxy.address(), request).starts_with("HTTP/1.1 404 ")
        });
    }
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn unreachable_server_returns_an_error_of_the_contract() {
    for kind in KINDS {
        let proxy = Proxy::start(kind, (Ipv4Addr::LOCALHOST, free_port()).into(), &[]);
        let request = b"GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let status = match kind {
            Kind::Nginx => 502,
            Kind::Haproxy => 503,
        };
        assert_failed(
            &exchange(proxy.address(), request),
            status,
            &format!("{kind:?}"),
        );
    }
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn missing_body_times_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    let sent = "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"na";
    for kind in KINDS {
        let limit = match kind {
            Kind::Nginx => ("client_body_timeout 10s", "client_body_timeout 1s"),
            Kind::Haproxy => ("wait-for-body time 10s", "wait-for-body time 1s"),
        };
        let proxy = Proxy::start(kind, server.address(), &[limit]);
        let started = Instant::now();
        let answer = exchange(proxy.address(), sent.as_bytes());
        let lasted = started.elapsed();
        assert!(lasted < Duration::from_secs(9), "{kind:?}: {lasted:?}");
        match kind {
            Kind::Nginx => assert_eq!(answer, ""),
            Kind::Haproxy => assert_failed(&answer, 408, "HAProxy"),
        }
    }
}

/// Answers the first request, and closes the connection without an answer on later ones. Counts
/// the requests.
fn break_after_one(listener: TcpListener) -> Arc<AtomicUsize> {
    let received = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&received);
    // The thread ends with the test process.
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || answer_one(stream, &counted));
        }
    });
    received
}

fn answer_one(mut stream: TcpStream, received: &AtomicUsize) {
    while let Ok(1..) = stream.read(&mut [0; 4096]) {
        if received.fetch_add(1, Ordering::SeqCst) > 0 {
            return;
        }
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]";
        stream.write_all(answer).unwrap();
    }
}

#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn write_with_unknown_outcome_is_not_retried() {
    for (kind, line) in KINDS.into_iter().flat_map(|kind| {
        [
            "POST /api/robots",
            "PUT /api/robots/1",
            "DELETE /api/robots/1",
        ]
        .map(|line| (kind, line))
    }) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = Proxy::start(kind, listener.local_addr().unwrap(), &[]);
        let received = break_after_one(listener);
        // The proxy keeps this connection for the next request.
        assert_eq!(call(&proxy.client(), "GET", "/api/robots", "").text(), "[]");
        for number in 2..=4 {
            let body = draft("x");
            let sent = format!(
                "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let answer = exchange(proxy.address(), sent.as_bytes());
            assert_failed(&answer, 502, &format!("{kind:?} {line}"));
            assert!(answer.contains("unknown"), "{kind:?} {line}: {answer}");
            assert_eq!(received.load(Ordering::SeqCst), number, "{kind:?} {line}");
        }
    }
}

/// nginx weakens the `ETag` of each response that it compresses.
#[test]
#[ignore = "needs nginx and HAProxy; ./test.sh release runs it"]
fn tags_that_nginx_weakens_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    let gzip = "server_tokens off; gzip on; gzip_min_length 1; gzip_proxied any;";
    let proxy = Proxy::start(
        Kind::Nginx,
        server.address(),
        &[("server_tokens off;", gzip)],
    );
    let client = proxy.client();
    let path = "/api/robots/1";
    send(&client, "POST", "/api/robots", &[], &draft("R2-D2"));
    let read = send(&client, "GET", path, &[("Accept-Encoding", "gzip")], "");
    assert_eq!(read.header("content-encoding"), Some("gzip"));
    assert_eq!(read.header("etag"), Some("W/\"1\""));
    let weak = ("If-None-Match", "W/\"1\"");
    let headers = [("Accept-Encoding", "gzip"), weak];
    let cached = send(&client, "GET", path, &headers, "");
    assert_eq!((cached.status, cached.body.len()), (304, 0));
    let weak = [("If-Match", "W/\"1\"")];
    let body = draft("C-3PO");
    assert_eq!(send(&client, "PUT", path, &weak, &body).status, 200);
    for method in ["PUT", "DELETE"] {
        assert_eq!(send(&client, method, path, &weak, &body).status, 412);
    }
    let patch = [
        ("If-Match", "W/\"2\""),
        ("Content-Type", "application/merge-patch+json"),
    ];
    let patched = send(&client, "PATCH", path, &patch, r#"{"year":5}"#);
    assert_eq!(
        (patched.status, patched.header("etag")),
        (200, Some("\"3\""))
    );
}

fn send(
    client: &TcpClient,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    client
        .send(&Call {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.collect(),
            body: body.into(),
        })
        .unwrap()
}
