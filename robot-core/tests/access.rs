//! Access tokens and CORS, for every request of the contract.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use robot_core::{
    MemoryCatalogue,
    http::{Access, AccessToken, Api, ApiSettings, Body, Origin, Permission, Response},
};

const READER: &str = "robots_reader";
const WRITER: &str = "robots_writer";
const PAGE: &str = "https://app.example";

/// Every request of the contract, and the permission that it needs.
const REQUESTS: [(&str, &str, Permission); 10] = [
    ("GET", "/api/robots", Permission::Read),
    ("HEAD", "/api/robots", Permission::Read),
    ("GET", "/api/robots/1", Permission::Read),
    ("GET", "/api/robots/search/x", Permission::Read),
    ("GET", "/api/robots/summary", Permission::Read),
    ("GET", "/api/robots/export", Permission::Read),
    ("POST", "/api/robots", Permission::Write),
    ("POST", IMPORT, Permission::Write),
    ("PUT", "/api/robots/1", Permission::Write),
    ("DELETE", "/api/robots/1", Permission::Write),
];

/// The path that needs no permission.
const PUBLIC: &str = "/openapi.json";

const IMPORT: &str = "/api/robots/import?format=ndjson&on_conflict=skip";

fn api(anonymous: Option<Permission>) -> Api {
    api_with_origins(anonymous, Vec::new())
}

fn api_with_origins(anonymous: Option<Permission>, origins: Vec<Origin>) -> Api {
    let tokens = [(READER, Permission::Read), (WRITER, Permission::Write)];
    let tokens = tokens.map(|(text, permission)| AccessToken::of(text, permission));
    let settings = ApiSettings {
        access: Access::new(tokens.into(), anonymous),
        origins,
        ..ApiSettings::default()
    };
    Api::with_settings(Arc::new(MemoryCatalogue::new()), settings)
}

fn call(api: &Api, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    let body = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
    let mut request = http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    api.handle(request.body(body).unwrap())
}

fn with_token(api: &Api, method: &str, path: &str, token: &str) -> Response {
    let credentials = format!("Bearer {token}");
    call(api, method, path, &[("Authorization", &credentials)])
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// The status and challenge of a rejection, after a check of its body.
fn rejection(response: &Response) -> (u16, Option<&str>) {
    let Body::Whole(bytes) = response.body() else {
        panic!("a rejection is streamed");
    };
    let text = String::from_utf8_lossy(bytes);
    assert!(
        text.starts_with(r#"{"status":"ERROR","messages":[""#),
        "{text}"
    );
    assert!(!text.contains("robots_"), "a token is repeated: {text}");
    assert_eq!(
        header(response, "content-type"),
        Some("text/html; charset=UTF-8")
    );
    (
        response.status().as_u16(),
        header(response, "www-authenticate"),
    )
}

#[test]
fn missing_token_returns_401_with_challenge() {
    for (method, path, _) in REQUESTS {
        let response = call(&api(None), method, path, &[]);
        assert_eq!(
            rejection(&response),
            (401, Some(r#"Bearer realm="robots""#)),
            "{method} {path}"
        );
    }
}

#[test]
fn unknown_token_returns_401_even_if_none_is_needed() {
    for anonymous in [None, Some(Permission::Read)] {
        for (method, path, _) in REQUESTS {
            let response = with_token(&api(anonymous), method, path, "robots_guess");
            let challenge = r#"Bearer realm="robots", error="invalid_token""#;
            assert_eq!(
                rejection(&response),
                (401, Some(challenge)),
                "{method} {path}"
            );
        }
    }
}

#[test]
fn write_with_read_token_returns_403() {
    let api = api(None);
    for (method, path, needed) in REQUESTS {
        let response = with_token(&api, method, path, READER);
        if needed == Permission::Read {
            assert_eq!(response.status(), 200, "{method} {path}");
        } else {
            let challenge = r#"Bearer realm="robots", error="insufficient_scope", scope="write""#;
            assert_eq!(
                rejection(&response),
                (403, Some(challenge)),
                "{method} {path}"
            );
        }
    }
    let list = with_token(&api, "GET", "/api/robots", WRITER);
    assert!(matches!(list.body(), Body::Whole(bytes) if bytes == b"[]"));
}

#[test]
fn write_token_permits_everything() {
    let api = api(None);
    for (method, path, _) in REQUESTS {
        let response = with_token(&api, method, path, WRITER);
        let expected = if (method, path) == ("POST", "/api/robots") {
            201
        } else {
            200
        };
        assert_eq!(response.status(), expected, "{method} {path}");
    }
}

#[test]
fn requests_of_these_tests_cover_every_path() {
    let response = call(&api(None), "GET", "/nothing", &[]);
    let text = String::from_utf8(response.into_body().into_bytes().unwrap()).unwrap();
    let (_, paths) = text.split_once("the paths are ").unwrap();
    let (paths, _) = paths.split_once('"').unwrap();
    for path in paths.split(", ") {
        let path = path.replace("{id}", "1").replace("{name}", "x");
        let is_covered = |(_, target, _): &(_, &str, _)| target.split('?').next() == Some(&*path);
        assert!(path == PUBLIC || REQUESTS.iter().any(is_covered), "{path}");
    }
}

#[test]
fn anonymous_reads_can_be_permitted() {
    for (method, path, needed) in REQUESTS {
        let response = call(&api(Some(Permission::Read)), method, path, &[]);
        match needed {
            Permission::Read => assert_eq!(response.status(), 200, "{method} {path}"),
            Permission::Write => assert_eq!(rejection(&response).0, 401, "{method} {path}"),
        }
    }
}

#[test]
fn options_404_405_and_description_need_no_token() {
    for (method, path, status) in [
        ("GET", PUBLIC, 200),
        ("HEAD", PUBLIC, 200),
        ("OPTIONS", "/api/robots", 204),
        ("GET", "/nothing", 404),
        ("PATCH", "/api/robots", 405),
    ] {
        let response = call(&api(None), method, path, &[]);
        assert_eq!(response.status(), status, "{method} {path}");
    }
}

#[test]
fn allowed_origin_can_write_with_a_token() {
    let allowed = || api_with_origins(None, vec![PAGE.parse().unwrap()]);
    let credentials = format!("Bearer {WRITER}");
    let headers = [
        ("Host", "robots.example"),
        ("Origin", PAGE),
        ("Sec-Fetch-Site", "cross-site"),
        ("Authorization", credentials.as_str()),
    ];
    let added = call(&allowed(), "POST", "/api/robots", &headers);
    assert_eq!(added.status(), 201);
    let rejected = call(&allowed(), "POST", "/api/robots", &headers[..3]);
    assert_eq!(rejection(&rejected).0, 401);
    for response in [&added, &rejected] {
        assert_eq!(header(response, "access-control-allow-origin"), Some(PAGE));
        assert_eq!(header(response, "vary"), Some("Accept, Origin"));
    }
    let rejected = call(&api(None), "POST", "/api/robots", &headers);
    assert_eq!(rejection(&rejected).0, 403);
    assert_eq!(header(&rejected, "access-control-allow-origin"), None);
    assert_eq!(header(&rejected, "vary"), Some("Accept"));
}

#[test]
fn preflight_from_allowed_origin_gets_cors_headers() {
    let api = api_with_origins(None, vec![PAGE.parse().unwrap()]);
    let ask = |origin| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "DELETE"),
            ("Access-Control-Request-Headers", "authorization"),
        ];
        call(&api, "OPTIONS", "/api/robots/1", &headers)
    };
    let response = ask(PAGE);
    assert_eq!(response.status(), 204);
    for (name, value) in [
        ("access-control-allow-origin", PAGE),
        (
            "access-control-allow-methods",
            "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
        ),
        (
            "access-control-allow-headers",
            "Authorization, Content-Type, If-Match, If-None-Match, Prefer, X-Request-Id",
        ),
        ("access-control-max-age", "600"),
    ] {
        assert_eq!(header(&response, name), Some(value), "{name}");
    }
    let response = ask("https://evil.example");
    assert_eq!(response.status(), 204);
    let mut names = response.headers().keys();
    assert!(!names.any(|name| name.as_str().starts_with("access-control")));
}
