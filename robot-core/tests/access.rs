//! Tokens and pages of other origins, through the whole of the contract.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use robot_core::{
    MemoryCatalogue,
    http::{Access, AccessToken, Api, Body, Permission, Reply, Request},
};

const READER: &str = "robots_reader";
const WRITER: &str = "robots_writer";
const PAGE: &str = "https://app.example";

/// Every request that the contract knows, and what has to be permitted for it.
const REQUESTS: [(&str, &str, Permission); 7] = [
    ("GET", "/api/robots", Permission::Read),
    ("HEAD", "/api/robots", Permission::Read),
    ("GET", "/api/robots/1", Permission::Read),
    ("GET", "/api/robots/search/x", Permission::Read),
    ("POST", "/api/robots", Permission::Write),
    ("PUT", "/api/robots/1", Permission::Write),
    ("DELETE", "/api/robots/1", Permission::Write),
];

fn api(anonymous: Option<Permission>) -> Api {
    let tokens = [(READER, Permission::Read), (WRITER, Permission::Write)];
    let tokens = tokens.map(|(text, permission)| AccessToken::of(text, permission));
    Api::new(Arc::new(MemoryCatalogue::new())).access(Access::new(tokens.into(), anonymous))
}

fn call(api: &Api, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    let body = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
    let mut request = Request::new(method, path).body(body);
    for (name, value) in headers {
        request.header(name, value.as_bytes());
    }
    api.handle(request)
}

fn with_token(api: &Api, method: &str, path: &str, token: &str) -> Reply {
    let credentials = format!("Bearer {token}");
    call(api, method, path, &[("Authorization", &credentials)])
}

fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    let header = reply.headers.iter().find(|(known, _)| *known == name);
    header.map(|(_, value)| value.as_ref())
}

/// The challenge of a refusal, which has the contract's shape and does not look like another.
fn refusal(reply: &Reply) -> (u16, Option<&str>) {
    let Body::Whole(bytes) = &reply.body else {
        panic!("a refusal is streamed");
    };
    let text = String::from_utf8_lossy(bytes);
    assert!(
        text.starts_with(r#"{"status":"ERROR","messages":[""#),
        "{text}"
    );
    assert!(!text.contains("robots_"), "a token is repeated: {text}");
    assert_eq!(
        header(reply, "content-type"),
        Some("text/html; charset=UTF-8")
    );
    (reply.status, header(reply, "www-authenticate"))
}

#[test]
fn whoever_has_no_token_is_asked_for_one() {
    for (method, path, _) in REQUESTS {
        let reply = call(&api(None), method, path, &[]);
        assert_eq!(
            refusal(&reply),
            (401, Some(r#"Bearer realm="robots""#)),
            "{method} {path}"
        );
    }
}

#[test]
fn a_wrong_token_is_told_even_where_none_is_needed() {
    for anonymous in [None, Some(Permission::Read)] {
        for (method, path, _) in REQUESTS {
            let reply = with_token(&api(anonymous), method, path, "robots_guess");
            let challenge = r#"Bearer realm="robots", error="invalid_token""#;
            assert_eq!(refusal(&reply), (401, Some(challenge)), "{method} {path}");
        }
    }
}

#[test]
fn a_token_to_read_permits_no_changes() {
    let api = api(None);
    for (method, path, needed) in REQUESTS {
        let reply = with_token(&api, method, path, READER);
        if needed == Permission::Read {
            assert_eq!(reply.status, 200, "{method} {path}");
        } else {
            let challenge = r#"Bearer realm="robots", error="insufficient_scope", scope="write""#;
            assert_eq!(refusal(&reply), (403, Some(challenge)), "{method} {path}");
        }
    }
    let list = with_token(&api, "GET", "/api/robots", WRITER);
    assert!(matches!(list.body, Body::Whole(bytes) if bytes == b"[]"));
}

#[test]
fn a_token_to_write_permits_everything() {
    let api = api(None);
    let added = with_token(&api, "POST", "/api/robots", WRITER);
    assert_eq!(added.status, 201);
    for (method, path) in [
        ("GET", "/api/robots/1"),
        ("PUT", "/api/robots/1"),
        ("DELETE", "/api/robots/1"),
    ] {
        let reply = with_token(&api, method, path, WRITER);
        assert_eq!(reply.status, 200, "{method} {path}");
    }
}

#[test]
fn reads_may_be_left_open() {
    for (method, path, needed) in REQUESTS {
        let reply = call(&api(Some(Permission::Read)), method, path, &[]);
        match needed {
            Permission::Read => assert_eq!(reply.status, 200, "{method} {path}"),
            Permission::Write => assert_eq!(refusal(&reply).0, 401, "{method} {path}"),
        }
    }
}

#[test]
fn what_there_is_no_secret_about_takes_no_token() {
    for (method, path, status) in [
        ("OPTIONS", "/api/robots", 204),
        ("GET", "/nothing", 404),
        ("PATCH", "/api/robots", 405),
    ] {
        let reply = call(&api(None), method, path, &[]);
        assert_eq!(reply.status, status, "{method} {path}");
    }
}

#[test]
fn a_page_of_another_origin_that_is_allowed_may_do_what_others_may() {
    let allowed = || api(None).origins(vec![PAGE.parse().unwrap()]);
    let credentials = format!("Bearer {WRITER}");
    let headers = [
        ("Host", "robots.example"),
        ("Origin", PAGE),
        ("Sec-Fetch-Site", "cross-site"),
        ("Authorization", credentials.as_str()),
    ];
    let added = call(&allowed(), "POST", "/api/robots", &headers);
    assert_eq!(added.status, 201);
    let refused = call(&allowed(), "POST", "/api/robots", &headers[..3]);
    assert_eq!(refusal(&refused).0, 401);
    for reply in [&added, &refused] {
        assert_eq!(header(reply, "access-control-allow-origin"), Some(PAGE));
        assert_eq!(header(reply, "vary"), Some("Accept, Origin"));
    }
    let refused = call(&api(None), "POST", "/api/robots", &headers);
    assert_eq!(refusal(&refused).0, 403);
    assert_eq!(header(&refused, "access-control-allow-origin"), None);
    assert_eq!(header(&refused, "vary"), Some("Accept"));
}

#[test]
fn a_browser_that_asks_for_a_page_is_told_what_the_page_may_do() {
    let api = api(None).origins(vec![PAGE.parse().unwrap()]);
    let ask = |origin| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "DELETE"),
            ("Access-Control-Request-Headers", "authorization"),
        ];
        call(&api, "OPTIONS", "/api/robots/1", &headers)
    };
    let reply = ask(PAGE);
    assert_eq!(reply.status, 204);
    for (name, value) in [
        ("access-control-allow-origin", PAGE),
        (
            "access-control-allow-methods",
            "GET, HEAD, PUT, DELETE, OPTIONS",
        ),
        (
            "access-control-allow-headers",
            "Authorization, Content-Type",
        ),
        ("access-control-max-age", "600"),
    ] {
        assert_eq!(header(&reply, name), Some(value), "{name}");
    }
    let reply = ask("https://evil.example");
    assert_eq!(reply.status, 204);
    let told = |(name, _): &(&str, _)| name.starts_with("access-control");
    assert!(!reply.headers.iter().any(told));
}
