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
const DEFINER: &str = "robots_definer";
const PAGE: &str = "https://app.example";

/// Every request of the contract, and the permission that it needs.
const REQUESTS: [(&str, &str, Permission); 12] = [
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
    ("GET", DEFINITION, Permission::Read),
    ("PUT", DEFINITION, Permission::Define),
];

/// The path that needs no permission.
const PUBLIC: &str = "/openapi.json";

const DEFINITION: &str = "/api/definition";
const IMPORT: &str = "/api/robots/import?format=ndjson&on_conflict=skip";

fn api(anonymous: Option<Permission>) -> Api {
    api_with_origins(anonymous, Vec::new())
}

fn api_with_origins(anonymous: Option<Permission>, origins: Vec<Origin>) -> Api {
    let tokens = [
        (READER, Permission::Read),
        (WRITER, Permission::Write),
        (DEFINER, Permission::Define),
    ];
    let tokens = tokens.map(|(text, permission)| AccessToken::of(text, permission));
    let settings = ApiSettings {
        access: Access::new(tokens.into(), anonymous),
        origins,
        ..ApiSettings::default()
    };
    Api::with_settings(Arc::new(MemoryCatalogue::new()), settings)
}

fn call(api: &Api, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    let body = match path {
        DEFINITION => "{}",
        _ => r#"{"name":"R2-D2","type":"droid","year":1977}"#,
    };
    let mut request = http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    api.handle(request.body(body).unwrap())
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
    let beginning = r#"{"status":"ERROR","messages":[""#;
    assert!(text.starts_with(beginning), "{text}");
    assert!(!text.contains("robots_"), "a token is repeated: {text}");
    let content_type = header(response, "content-type");
    assert_eq!(content_type, Some("text/html; charset=UTF-8"));
    let challenge = header(response, "www-authenticate");
    (response.status().as_u16(), challenge)
}

#[test]
fn token_decides_on_each_request() {
    const MISSING: Option<&str> = Some(r#"Bearer realm="robots""#);
    const INVALID: Option<&str> = Some(r#"Bearer realm="robots", error="invalid_token""#);
    const WEAK: Option<&str> =
        Some(r#"Bearer realm="robots", error="insufficient_scope", scope="write""#);
    const WEAKER: Option<&str> =
        Some(r#"Bearer realm="robots", error="insufficient_scope", scope="define""#);
    let reads = Some(Permission::Read);
    // The challenges for reads, writes and definitions; none if these are permitted.
    for (token, anonymous, challenges) in [
        (None, None, [MISSING; 3]),
        (None, reads, [None, MISSING, MISSING]),
        // It is rejected even if none is needed.
        (Some("robots_guess"), None, [INVALID; 3]),
        (Some("robots_guess"), reads, [INVALID; 3]),
        (Some(READER), None, [None, WEAK, WEAKER]),
        (Some(WRITER), None, [None, None, WEAKER]),
        (Some(DEFINER), None, [None; 3]),
    ] {
        let api = api(anonymous);
        let credentials = token.map(|token| format!("Bearer {token}"));
        let headers = credentials.iter();
        let headers: Vec<_> = headers
            .map(|text| ("Authorization", text.as_str()))
            .collect();
        for (method, path, needed) in REQUESTS {
            let [for_reads, for_writes, for_definitions] = challenges;
            let challenge = match needed {
                Permission::Read => for_reads,
                Permission::Write => for_writes,
                Permission::Define => for_definitions,
            };
            let response = call(&api, method, path, &headers);
            let context = format!("{method} {path} with {token:?}");
            if challenge.is_some() {
                let status = if [WEAK, WEAKER].contains(&challenge) {
                    403
                } else {
                    401
                };
                assert_eq!(rejection(&response), (status, challenge), "{context}");
            } else {
                let is_post = (method, path) == ("POST", "/api/robots");
                let status = if is_post { 201 } else { 200 };
                assert_eq!(response.status(), status, "{context}");
            }
        }
    }
}

#[test]
fn access_says_what_a_client_may_do() {
    let api = |anonymous| {
        let named = AccessToken::of(WRITER, Permission::Write).named("ci".parse().unwrap());
        let access = Access::new(vec![named], anonymous);
        let settings = ApiSettings {
            access,
            ..ApiSettings::default()
        };
        Api::with_settings(Arc::new(MemoryCatalogue::new()), settings)
    };
    for (token, anonymous, expected) in [
        (
            "",
            None,
            r#"{"define":false,"name":null,"read":false,"write":false}"#,
        ),
        (
            "",
            Some(Permission::Read),
            r#"{"define":false,"name":null,"read":true,"write":false}"#,
        ),
        (
            "Bearer robots_writer",
            None,
            r#"{"define":false,"name":"ci","read":true,"write":true}"#,
        ),
        ("Bearer robots_guess", Some(Permission::Read), ""),
    ] {
        let response = call(
            &api(anonymous),
            "GET",
            "/v1/access",
            &[("Authorization", token)],
        );
        let status = if expected.is_empty() { 401 } else { 200 };
        assert_eq!(response.status(), status, "{token}");
        let body = response.into_body().into_bytes().unwrap();
        assert!(status == 401 || body == expected.as_bytes(), "{token}");
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
            "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Prefer, X-Request-Id",
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

#[test]
fn description_shows_own_fields_only_to_clients_that_may_read() {
    let api = api(None);
    let definition = r#"{"properties":{"secret":{"type":"string"}}}"#;
    let request =
        http::Request::put(DEFINITION).header("authorization", format!("Bearer {DEFINER}"));
    assert_eq!(api.handle(request.body(definition).unwrap()).status(), 200);
    for _ in 0..2 {
        for (token, is_shown) in [
            ("", false),
            ("Bearer unknown", false),
            ("Bearer robots_reader", true),
        ] {
            let response = call(&api, "GET", PUBLIC, &[("authorization", token)]);
            assert_eq!(response.status(), 200);
            let text = String::from_utf8(response.into_body().into_bytes().unwrap()).unwrap();
            assert_eq!(text.contains("secret"), is_shown);
        }
    }
}
