//! Targets, methods and headers, as bytes on a connection.

use std::io::Write as _;

use crate::{
    Server,
    process::{answer, assert_failed, assert_status},
};

const LOCAL: &str = "Host: localhost\r\n";

/// A server with the robot R2-D2.
fn server() -> Server {
    let server = Server::memory();
    assert_eq!(server.add("R2-D2").status, 201);
    server
}

/// Asserts that no robot was changed and nothing was logged.
#[track_caller]
fn assert_unchanged(server: Server) {
    assert_eq!(server.names(), ["R2-D2"]);
    let (status, log) = server.stop("TERM");
    assert!(status.success() && log.is_empty(), "{status}: {log}");
}

#[test]
fn unusual_targets_get_answers_of_the_contract() {
    let server = server();
    for (target, repeated, status) in [
        ("/api/robots/1", "1", 200),
        ("/api/robots/", "%31", 200),
        ("/api/robots/search/", "%", 200),
        ("/api/robots?after=", "z", 200),
        ("/api/robots?", "a=b&", 200),
        ("/api/robots?", "limit=x&", 400),
        ("/api/robots/search/", "/", 404),
        ("/api/robots/", "../", 404),
        ("/", "/", 404),
        ("/%00", "", 404),
        ("/api/%2e%2e/api/robots", "", 404),
        ("/api/robots/1;x=1", "", 404),
        ("*", "", 404),
        ("http://localhost/x", "", 404),
        ("http://localhost/api/robots", "", 200),
        ("/api/robots/1#part", "", 200),
        ("/api/robots/search/é", "", 200),
        ("/api/robots/search/%u0041", "", 200),
        ("/api/robots/search/%c0%ae%c0%ae", "", 400),
        ("/api/robots?fields=%3Cscript%3E%00%1b", "", 400),
    ] {
        let repeated = repeated.repeat(60_000 / repeated.len().max(1));
        let answer = server.ask(&format!("GET {target}{repeated}"), LOCAL, "");
        if status == 200 {
            assert_status(&answer, status);
        } else {
            assert_failed(&answer, status, target);
        }
        assert!(!answer.contains('<') && answer.len() < 1500, "{answer}");
    }
    assert_unchanged(server);
}

#[test]
fn unknown_methods_are_rejected() {
    let server = server();
    let longest = "M".repeat(10_000);
    for method in ["get", "*", "PRI", "QUERY", "CONNECT", &longest] {
        let line = format!("{method} /api/robots/1");
        assert_failed(&server.ask(&line, LOCAL, "{}"), 405, method);
        let foreign = server.ask(&line, "Host: evil.example\r\n", "");
        assert_failed(&foreign, 421, method);
    }
    let headers = format!("{LOCAL}X-HTTP-Method-Override: DELETE\r\nX-HTTP-Method: DELETE\r\n");
    let overridden = server.ask("POST /api/robots/1", &headers, "{}");
    assert_failed(&overridden, 405, &headers);
    assert_failed(&server.ask("CONNECT localhost:80", LOCAL, ""), 404, "");
    assert_unchanged(server);
}

#[test]
fn large_headers_and_upgrades_are_ignored() {
    let server = server();
    for (name, value, count) in [
        ("Accept", "a/b,", 15_000),
        ("Accept", "*/*;q=0.5,", 6000),
        ("Authorization", "Bearer x", 8000),
        ("Cookie", "a=b;", 15_000),
        ("Range", "bytes=0-0,", 6000),
        ("X-Other", "a", 100_000),
        ("X-Other", "1\r\nX-Other: 1", 20),
        ("Connection", "Upgrade, HTTP2-Settings\r\nUpgrade: h2c", 1),
        ("Connection", "Upgrade\r\nUpgrade: websocket", 1),
    ] {
        let headers = format!("{LOCAL}{name}: {}\r\n", value.repeat(count));
        let answer = server.ask("GET /api/robots/1", &headers, "");
        assert_status(&answer, 200);
        let robot = r#"{"status":"FOUND","data":{"id":"1","name":"R2-D2"}}"#;
        assert!(answer.ends_with(robot), "{name}");
    }
    assert_unchanged(server);
}

#[test]
fn contradictory_headers_are_rejected() {
    let server = server();
    for (headers, status) in [
        ("Host: localhost\r\nHost: evil\r\n", 421),
        ("Host: evil\r\nHost: localhost\r\n", 421),
        ("Host: evil, localhost\r\n", 421),
        ("Host: \r\n", 421),
        ("Host: localhost@evil\r\n", 421),
        ("Origin: http://localhost\r\nOrigin: http://evil\r\n", 403),
        ("Origin: http://evil\r\nOrigin: http://localhost\r\n", 403),
        ("Origin: http://localhost@evil\r\n", 403),
        ("Origin: \r\n", 403),
        ("Sec-Fetch-Site: CROSS-SITE\r\n", 403),
        (
            "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n",
            403,
        ),
    ] {
        let host = if status == 403 { LOCAL } else { "" };
        let answer = server.ask("POST /api/robots", &format!("{host}{headers}"), "{}");
        assert_failed(&answer, status, headers);
    }
    let without_host = server.ask("POST /api/robots", "Origin: http://localhost\r\n", "{}");
    assert_failed(&without_host, 403, "no host");
    assert_unchanged(server);
}

#[test]
fn hosts_are_accepted_as_the_settings_say() {
    let names = "ROCKET_ALLOWED_HOSTS";
    let [all, anyone] = [
        ("ROCKET_ADDRESS", "0.0.0.0"),
        ("ROCKET_ALLOW_ANONYMOUS", "true"),
    ];
    let loopback = ["localhost", "localhost:8000", "127.0.0.1", "[::1]:80"];
    let named = ["robots.example:80", "Robots", "localhost"];
    let foreign = ["evil.example", "localhost.evil.example:8000", "10.0.0.1"];
    for (settings, accepted, rejected) in [
        (&[][..], &loopback[..], &foreign[..]),
        (&[(names, "robots.example, robots")], &named, &foreign),
        (
            &[(names, r#"["robots.example","robots"]"#)],
            &named,
            &foreign,
        ),
        (&[all, anyone], &foreign, &[]),
    ] {
        let server = Server::with(settings);
        let ask = |host: &&str| server.ask("GET /api/robots", &format!("Host: {host}\r\n"), "");
        for host in accepted {
            assert_status(&ask(host), 200);
        }
        for host in rejected {
            assert_failed(&ask(host), 421, host);
        }
    }
}

#[test]
fn unreadable_heads_are_rejected() {
    let server = server();
    let start = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n";
    for (sent, status) in [
        ("garbage\r\n\r\n".to_owned(), 400),
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0".to_owned(), 400),
        ("GET\r\n\r\n".to_owned(), 400),
        ("GET /api/robots\r\n\r\n".to_owned(), 400),
        ("GET  /api/robots HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET /api/robots HTTP/1.2\r\n\r\n".to_owned(), 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 400),
        ("GET /api robots HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET \u{7f} HTTP/1.1\r\n\r\n".to_owned(), 400),
        (format!("{start}no colon\r\n\r\n"), 400),
        (format!("{start}a b: c\r\n\r\n"), 400),
        (format!("{start}: c\r\n\r\n"), 400),
        (format!("{start}X: a\r\n b\r\n\r\n"), 400),
        (format!("{start}X: a\rb\r\n\r\n"), 400),
        (format!("{start}X: a\0b\r\n\r\n"), 400),
        (format!("{start}X: {}", "x".repeat(200_000)), 431),
        (format!("{start}{}\r\n", "X: x\r\n".repeat(200)), 431),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(70_000)), 431),
    ] {
        let what = &sent[..sent.len().min(60)];
        let answer = server.exchange(&sent);
        assert_failed(&answer, status, what);
        let lower = answer.to_ascii_lowercase();
        for header in ["connection: close", "x-content-type-options: nosniff"] {
            assert!(lower.contains(&format!("\r\n{header}\r\n")), "{answer}");
        }
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    }
    assert_unchanged(server);
}

#[test]
fn http_1_0_clients_are_served() {
    let server = server();
    // A list has no length; the end of the connection ends it.
    let list = server.exchange("GET /api/robots HTTP/1.0\r\n\r\n");
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
    let mut stream = server.connect(kept);
    for _ in 0..2 {
        assert!(answer(&mut stream).starts_with("HTTP/1.0 200 "));
        stream.write_all(kept.as_bytes()).unwrap();
    }
}
