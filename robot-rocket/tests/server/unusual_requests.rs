//! Unusual and hostile requests: each is answered as the contract says or rejected, and changes
//! nothing.

use std::time::{Duration, Instant};

use crate::{
    Server, call, draft, names,
    process::{assert_failed, exchange},
};

/// A server with the robots R2-D2 and a/b.
fn server(folder: &tempfile::TempDir) -> Server {
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    for name in ["R2-D2", "a/b"] {
        assert_eq!(
            call(&server.client(), "POST", "/api/robots", &draft(name)).status,
            201
        );
    }
    server
}

/// Asserts that no robot was changed and nothing was logged.
#[track_caller]
fn assert_unchanged(server: Server) {
    assert_eq!(names(&server), ["R2-D2", "a/b"]);
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{status}");
    assert_eq!(log, "");
}

/// Sends a request with these headers, and with a body if it is not empty; returns the answer.
fn send(server: &Server, line: &str, headers: &str, body: &str) -> String {
    let length = match body.len() {
        0 => String::new(),
        length => format!("Content-Length: {length}\r\n"),
    };
    let sent = format!("{line} HTTP/1.1\r\nConnection: close\r\n{headers}{length}\r\n{body}");
    exchange(server.address(), sent.as_bytes())
}

const LOCAL: &str = "Host: localhost\r\n";

/// Asserts the status, and the shape of a failure if it is one.
#[track_caller]
fn assert_status(answer: &str, status: u16, what: &str) {
    let what = &what[..what.len().min(60)];
    if status < 300 {
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{what}: {answer}"
        );
    } else {
        assert_failed(answer, status, what);
    }
}

#[test]
fn unusual_targets_get_answers_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    for (target, status) in [
        (format!("/api/robots/{}", "1".repeat(60_000)), 200),
        (format!("/api/robots/{}1", "0".repeat(60_000)), 200),
        (format!("/api/robots/{}", "%31".repeat(20_000)), 200),
        (format!("/api/robots/search/{}", "%".repeat(60_000)), 200),
        (format!("/api/robots/search/{}", "%00".repeat(20_000)), 200),
        (format!("/api/robots?after={}", "z".repeat(60_000)), 200),
        (format!("/api/robots?{}", "a=b&".repeat(15_000)), 200),
        (format!("/api/robots/search/{}", "/".repeat(60_000)), 404),
        (format!("/api/robots/{}", "../".repeat(20_000)), 404),
        ("/".repeat(60_000), 404),
        ("/%00".to_owned(), 404),
        ("/api/%2e%2e/api/robots".to_owned(), 404),
        ("/api/robots/1;x=1".to_owned(), 404),
        ("/;/api/robots".to_owned(), 404),
        ("*".to_owned(), 404),
        ("http://localhost/x".to_owned(), 404),
        ("http://localhost/api/robots".to_owned(), 200),
        ("/api/robots/1#part".to_owned(), 200),
        ("/api/robots/search/é".to_owned(), 200),
        ("/api/robots/search/%u0041".to_owned(), 200),
        ("/api/robots/search/%c0%ae%c0%ae".to_owned(), 400),
        ("/api/robots?limit=1%00".to_owned(), 400),
        ("/api/robots?limit=%D9%A3".to_owned(), 400),
        ("/api/robots?fields=id;limit=1".to_owned(), 400),
        ("/api/robots?fields=%3Cscript%3E%00%1b".to_owned(), 400),
    ] {
        let answer = send(&server, &format!("GET {target}"), LOCAL, "");
        assert_status(&answer, status, &target);
        assert!(!answer.contains('<'), "{target}: {answer}");
    }
    let connect = send(&server, "CONNECT localhost:80", LOCAL, "");
    assert_failed(&connect, 404, "CONNECT");
    assert_unchanged(server);
}

#[test]
fn long_query_has_limited_messages() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    for parameter in [
        "limit=x&",
        "fields=x&",
        "after=%FF&",
        "limit=1&",
        "fields=id&",
    ] {
        let target = format!("/api/robots?{}", parameter.repeat(6000));
        let answer = send(&server, &format!("GET {target}"), LOCAL, "");
        assert_failed(&answer, 400, parameter);
        assert!(answer.len() < 1500, "{parameter}: {} bytes", answer.len());
    }
    assert_unchanged(server);
}

#[test]
fn unknown_methods_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let longest = "M".repeat(10_000);
    for method in [
        "get",
        "GETT",
        "*",
        "PRI",
        "LINK",
        "QUERY",
        "CONNECT",
        longest.as_str(),
    ] {
        let answer = send(
            &server,
            &format!("{method} /api/robots/1"),
            LOCAL,
            &draft("x"),
        );
        assert_failed(&answer, 405, method);
        let answer = send(
            &server,
            &format!("{method} /api/robots/1"),
            "Host: evil.example\r\n",
            "",
        );
        assert_failed(&answer, 421, method);
    }
    for header in [
        "X-HTTP-Method-Override",
        "X-HTTP-Method",
        "X-Method-Override",
    ] {
        let headers = format!("{LOCAL}{header}: DELETE\r\n");
        assert_failed(
            &send(&server, "POST /api/robots/1", &headers, "{}"),
            405,
            header,
        );
    }
    assert_unchanged(server);
}

#[test]
fn method_field_of_a_form_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let part = "--x\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\nDELETE\r\n--x--\r\n";
    for kind in [
        "application/x-www-form-urlencoded",
        "Application/X-WWW-Form-Urlencoded; charset=utf-8",
        "multipart/form-data; boundary=x",
    ] {
        let headers = format!("{LOCAL}Content-Type: {kind}\r\n");
        for body in [
            "_method=HEAD",
            "_method=HEAD&x=1",
            "_method=head&x=1",
            "_method=GET",
            "_method=PUT&x",
            "_method=DELETE",
            "_method=OPTIONS",
            "_method=TRACE",
            "_method=CONNECT",
            "%5fmethod=DELETE",
            part,
        ] {
            let what = format!("{kind} {body}");
            assert_failed(
                &send(&server, "POST /api/robots/1", &headers, body),
                405,
                &what,
            );
            assert_failed(
                &send(&server, "POST /api/robots", &headers, body),
                400,
                &what,
            );
            assert_failed(&send(&server, "POST /nothing", &headers, body), 404, &what);
        }
    }
    assert_unchanged(server);
}

#[test]
fn large_headers_are_accepted_or_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let started = Instant::now();
    for (name, value) in [
        ("Accept", "a/b,".repeat(15_000)),
        ("Accept", ",".repeat(60_000)),
        ("Accept", format!("a/b{}", ";x=y".repeat(15_000))),
        ("Accept", "*/*;q=0.5,".repeat(6000)),
        ("Authorization", format!("Bearer {}", "x".repeat(60_000))),
        ("Cookie", "a=b;".repeat(15_000)),
        ("Content-Type", "x/".repeat(30_000)),
        ("Range", format!("bytes={}", "0-0,".repeat(15_000))),
        ("X-Other", "a".repeat(100_000)),
        (
            "X-Others: 1\r\nX-Others",
            "1\r\nX-Others: 1\r\nX-Others: 1".to_owned(),
        ),
    ] {
        let answer = send(
            &server,
            "GET /api/robots/1",
            &format!("{LOCAL}{name}: {value}\r\n"),
            "",
        );
        assert!(answer.starts_with("HTTP/1.1 200 "), "{name}: {answer}");
        assert!(
            answer.ends_with(r#"{"status":"FOUND","data":{"id":"1","name":"R2-D2"}}"#),
            "{name}"
        );
    }
    let many = "X: 1\r\n".repeat(200);
    let long = format!("X: {}\r\n", "a".repeat(1_000_000));
    for headers in [many, long] {
        let answer = send(&server, "GET /api/robots", &format!("{LOCAL}{headers}"), "");
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
    let took = started.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_unchanged(server);
}

#[test]
fn contradictory_headers_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    for (headers, status) in [
        ("Host: localhost\r\nHost: evil.example\r\n", 421),
        ("Host: evil.example\r\nHost: localhost\r\n", 421),
        ("Host: evil.example, localhost\r\n", 421),
        ("Host: \r\n", 421),
        ("Host: localhost@evil.example\r\n", 421),
        (
            "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n",
            403,
        ),
        (
            "Host: localhost\r\nOrigin: http://evil.example\r\nOrigin: http://localhost\r\n",
            403,
        ),
        (
            "Host: localhost\r\nOrigin: http://localhost@evil.example\r\n",
            403,
        ),
        ("Host: localhost\r\nOrigin: \r\n", 403),
        ("Host: localhost\r\nSec-Fetch-Site: CROSS-SITE\r\n", 403),
        ("Host: localhost\r\nSec-Fetch-Site: nonsense\r\n", 403),
        (
            "Host: localhost\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n",
            403,
        ),
        ("Origin: http://localhost\r\n", 403),
    ] {
        let answer = send(&server, "POST /api/robots", headers, &draft("x"));
        assert_failed(&answer, status, headers);
    }
    for broken in [
        "X: a\r\n b\r\n",
        "X: a\0b\r\n",
        "X Y: 1\r\n",
        "nonsense\r\n",
        ": x\r\n",
        "X: a\rb\r\n",
    ] {
        let answer = send(
            &server,
            "POST /api/robots",
            &format!("{LOCAL}{broken}"),
            &draft("x"),
        );
        assert!(answer.starts_with("HTTP/1.1 400 "), "{broken:?}: {answer}");
    }
    assert_unchanged(server);
}

#[test]
fn other_protocols_are_not_upgraded_to() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    for headers in [
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    ] {
        let answer = send(
            &server,
            "GET /api/robots/1",
            &format!("{LOCAL}{headers}"),
            "",
        );
        assert!(answer.starts_with("HTTP/1.1 200 "), "{headers}: {answer}");
    }
    let older = exchange(server.address(), b"GET /api/robots/1 HTTP/1.0\r\n\r\n");
    assert!(older.starts_with("HTTP/1.0 200 "), "{older}");
    for unknown in [
        "GET /api/robots\r\n\r\n",
        "GET / HTTP/1.2\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
    ] {
        let answer = exchange(server.address(), unknown.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 "), "{unknown:?}: {answer}");
    }
    assert_unchanged(server);
}

#[test]
fn unusual_bodies_change_no_robot() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let rest = r#""name":"a/b","type":"droid","year":1}"#;
    let member = |value: String| format!("{{\"other\":{value},{rest}");
    let many: Vec<_> = (0..5000).map(|number| format!("\"{number}\":0,")).collect();
    let many = many.concat();
    let key = "k".repeat(30_000);
    for (body, status) in [
        // These are valid, except that the name is taken.
        (
            member(["[", "]"].map(|bracket| bracket.repeat(32_000)).concat()),
            409,
        ),
        (
            member(format!("{}1{}", "{\"x\":".repeat(9000), "}".repeat(9000))),
            409,
        ),
        (member("{\"x\":1,\"x\":2}".to_owned()), 409),
        (member("9".repeat(60_000)), 409),
        (format!("{{{many}{rest}"), 409),
        (format!("{{\"__proto__\":{{}},{rest}"), 409),
        (
            format!("{{\"$serde_json::private::RawValue\":\"1\",{rest}"),
            409,
        ),
        ("{\"o\":".to_owned() + &"[".repeat(65_000), 400),
        (
            r#"{"name":{"$serde_json::private::RawValue":"\"x\""},"type":"droid","year":1}"#
                .to_owned(),
            400,
        ),
        (format!("{{\"{key}\":1,\"{key}\":1}}"), 400),
        (r#"{"<script>":1,"<script>":2}"#.to_owned(), 400),
        (
            format!(
                r#"{{"name":"x","type":"droid","year":{}}}"#,
                "9".repeat(60_000)
            ),
            400,
        ),
        (
            format!(
                r#"{{"name":"x","type":"droid","year":{}}}"#,
                "0".repeat(60_000)
            ),
            400,
        ),
        (
            "{\"name\":\"x\0\",\"type\":\"droid\",\"year\":1}".to_owned(),
            400,
        ),
        ("\u{c}{}".to_owned(), 400),
        ("\u{a0}{}".to_owned(), 400),
    ] {
        let answer = send(&server, "POST /api/robots", LOCAL, &body);
        assert_status(&answer, status, &body);
        assert!(!answer.contains('<'), "{answer}");
    }
    assert_unchanged(server);
}
