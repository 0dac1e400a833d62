//! Methods, paths, content negotiation and origins.

use super::{Case, Session, assert_answer, assert_failure, assert_ok, draft, json};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    unknown_path_returns_404,
    known_method_on_wrong_path_returns_405,
    unknown_method_returns_405,
    head_answers_like_get_without_a_body,
    description_has_every_path_and_method,
    options_returns_the_methods,
    content_type_follows_the_accept_header,
    request_id_is_returned_if_well_formed,
    write_from_another_origin_returns_403,
    read_from_another_origin_is_answered,
    form_field_does_not_override_the_method,
];

fn unknown_path_returns_404(session: &Session<'_>) {
    session.add("R2-D2");
    let paths = "/nothing /api /api/ /api/robots/ /api/robots/x /api/robots/-1 /api/robots/+1 \
        /api/robots/1.0 /api/robots/1x /api/robots/0x1 /api/robots/%7Bid%7D /api/robots/%D9%A1 \
        /api/robots/1%00 /api/robots/1%2F /api/robots/%201 /api/robots/1/ /api/robots/1/2 \
        /api/robots/search /api/robots/import/ /api/robots/export/1 /api/robots/Import \
        /api/robots/search/a/b /api/robots/search/a/ /api//robots //api/robots /API/robots \
        /api/Robots /api/robot /api/robots.json /api%2Frobots /api/robots;x=1 /api/robots%3Fx";
    for path in paths.split(' ') {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
            assert_failure(&session.call(method, path, &[], b""), 404);
        }
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

/// Each path with the methods that it takes.
const PATHS: [(&str, &str); 9] = [
    ("/openapi.json", "GET, HEAD, OPTIONS"),
    ("/api/definition", "GET, HEAD, PUT, OPTIONS"),
    ("/api/robots", "GET, HEAD, POST, OPTIONS"),
    ("/api/robots/import", "POST, OPTIONS"),
    ("/api/robots/export", "GET, HEAD, OPTIONS"),
    ("/api/robots/1", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
    (
        "/api/robots/99999999999999999999",
        "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
    ),
    ("/api/robots/search/x", "GET, HEAD, OPTIONS"),
    ("/api/robots/search/", "GET, HEAD, OPTIONS"),
];

fn known_method_on_wrong_path_returns_405(session: &Session<'_>) {
    for (path, allow) in PATHS {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"] {
            if allow.contains(method) {
                continue;
            }
            let body = draft("x", "droid", 1);
            let answer = session.call(method, path, &[], body.as_bytes());
            assert_failure(&answer, 405);
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        }
    }
    assert_eq!(session.names("/api/robots"), [""; 0]);
}

fn unknown_method_returns_405(session: &Session<'_>) {
    for method in ["BREW", "get", "PROPFIND", "M-SEARCH"] {
        for (path, allow) in PATHS {
            let answer = session.call(method, path, &[], b"");
            assert_failure(&answer, 405);
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        }
        assert_failure(&session.call(method, "/nothing", &[], b""), 404);
    }
}

fn head_answers_like_get_without_a_body(session: &Session<'_>) {
    let by_id = format!("/api/robots/{}", session.add("R2-D2"));
    let paths = "/api/robots /api/robots/0 /api/robots/search/R /api/robots/search/%FF /nothing";
    for path in paths.split(' ').chain([&*by_id]) {
        let (get, head) = (session.get(path), session.call("HEAD", path, &[], b""));
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        for name in ["content-type", "content-length"] {
            assert_eq!(head.header(name), get.header(name), "{path}");
        }
    }
}

fn description_has_every_path_and_method(session: &Session<'_>) {
    let answer = session.get("/openapi.json");
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/json"))
    );
    let description = json(&answer);
    let paths = description["paths"].as_object();
    let described = paths.into_iter().flatten().map(|(path, methods)| {
        let methods = ["get", "head", "post", "put", "patch", "delete", "options"]
            .into_iter()
            .filter(|method| methods.get(method).is_some());
        let path = path.replace("{id}", "1").replace("{name}", "x");
        (path, methods.collect::<Vec<_>>().join(", ").to_uppercase())
    });
    let described: Vec<_> = described.collect();
    assert!(!described.is_empty());
    for (path, allow) in described {
        let answer = session.call("OPTIONS", &path, &[], b"");
        assert_eq!(answer.header("allow"), Some(allow.as_str()), "{path}");
    }
}

fn options_returns_the_methods(session: &Session<'_>) {
    for (path, allow) in PATHS {
        // A preflight has the query of the request that it is about.
        let strict = [("Prefer", "handling=strict")];
        let answer = session.call("OPTIONS", &format!("{path}?x=1"), &strict, b"");
        assert_eq!((answer.status, answer.text().as_str()), (204, ""), "{path}");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
}

fn content_type_follows_the_accept_header(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    let contract = "text/html; charset=UTF-8";
    for (accept, content_type) in [
        ("application/json", "application/json"),
        ("application/json, text/plain, */*", "application/json"),
        ("text/html;q=0.9, application/json", "application/json"),
        ("text/html, application/json;q=0.9", contract),
        ("*/*", contract),
        ("text/html", contract),
        ("application/xml", contract),
        ("nonsense", contract),
    ] {
        for (method, target, status) in [
            ("GET", "/api/robots", 200),
            ("GET", by_id.as_str(), 200),
            ("GET", "/api/robots/0", 200),
            ("GET", "/nothing", 404),
            ("DELETE", "/api/robots", 405),
            ("POST", "/api/robots", 400),
            ("DELETE", "/api/robots/0", 404),
        ] {
            let answer = session.call(method, target, &[("Accept", accept)], b"");
            assert_eq!(answer.status, status, "{method} {target}");
            assert_eq!(
                answer.header("content-type"),
                Some(content_type),
                "{method} {target} with Accept: {accept}"
            );
        }
    }
    let twice = [
        ("Accept", "text/html;q=0.5"),
        ("Accept", "application/json"),
    ];
    let answer = session.call("GET", "/api/robots", &twice, b"");
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

fn request_id_is_returned_if_well_formed(session: &Session<'_>) {
    let request_id = |sent: &str, path: &str| {
        let answer = session.call("GET", path, &[("X-Request-Id", sent)], b"");
        answer.header("x-request-id").unwrap_or_default().to_owned()
    };
    let longest = "x".repeat(128);
    let too_long = "x".repeat(129);
    for path in ["/api/robots", "/api/robots/x", "/nothing"] {
        for id in ["7", "b0a6-42f3", "A.b_c:d/e+f=g@h", longest.as_str()] {
            assert_eq!(request_id(id, path), id, "{path}");
        }
        for other in [
            "",
            "two words",
            "\"x\"",
            "a,b",
            "ä",
            "<x>",
            too_long.as_str(),
        ] {
            assert_ne!(request_id(other, path), other, "{path}");
        }
    }
    assert_ne!(
        session.get("/api/robots").header("x-request-id"),
        session.get("/api/robots").header("x-request-id")
    );
}

/// Headers of a browser for a page of another origin.
const FOREIGN: [(&str, &str); 4] = [
    ("Origin", "https://evil.example"),
    ("Origin", "null"),
    ("Sec-Fetch-Site", "cross-site"),
    ("Sec-Fetch-Site", "same-site"),
];

fn write_from_another_origin_returns_403(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    let body = draft("x", "droid", 1);
    for header in FOREIGN {
        for (method, target) in [
            ("POST", "/api/robots"),
            ("POST", "/api/robots/import?format=ndjson"),
            ("PUT", &by_id),
            ("DELETE", &by_id),
        ] {
            let answer = session.call(method, target, &[header], body.as_bytes());
            assert_failure(&answer, 403);
        }
        // This takes precedence over all other failures.
        let form = [
            header,
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        for method in ["DELETE", "PUT", "GET"] {
            let body = format!("_method={method}&x=1");
            let answer = session.call("POST", &by_id, &form, body.as_bytes());
            assert_failure(&answer, 403);
        }
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
    for (name, value) in [
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Site", "none"),
    ] {
        let answer = session.call("PUT", &by_id, &[(name, value)], body.as_bytes());
        assert_ok(&answer);
    }
}

fn read_from_another_origin_is_answered(session: &Session<'_>) {
    for header in FOREIGN {
        let answer = session.call("GET", "/api/robots", &[header], b"");
        assert_answer(&answer, 200, "[]");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

fn form_field_does_not_override_the_method(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    for (field, method) in [
        ("_method", "DELETE"),
        ("_method", "PUT"),
        ("&_method", "GET"),
        ("._method", "PUT"),
        ("[_method]", "PUT"),
        ("_method", "PATCH"),
    ] {
        let body = format!("{field}={method}&x=1");
        let answer = session.call("POST", &format!("/api/robots/{id}"), &form, body.as_bytes());
        assert_failure(&answer, 405);
        let answer = session.call("POST", "/api/robots", &form, body.as_bytes());
        assert_failure(&answer, 400);
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}
