//! Metrics of requests: what is counted, and that clients cannot add labels.

use std::{collections::BTreeSet, fs};

use robot_core::http::{AccessToken, Permission};

use crate::{
    draft,
    process::assert_status,
    scrape::{Scrape, server, wait_until},
};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");

const RUNNING: &str = "robots_http_requests_running";
const ABORTED: &str = "robots_http_requests_aborted_total";

#[test]
fn requests_are_counted_by_route_method_and_status() {
    let (server, address) = server(&[MEMORY, ("ROCKET_STATIC_DIR", ".")]);
    // A body that states its length, and is read in pieces.
    fs::write(server.folder().join("large.txt"), "x".repeat(300_000)).unwrap();
    let (robots, id) = ("/api/robots", "/api/robots/{id}");
    for (method, target, route, status) in [
        ("POST", robots, robots, "201"),
        ("POST", robots, robots, "409"),
        ("GET", robots, robots, "200"),
        ("GET", "/api/robots/1", id, "200"),
        ("PATCH", robots, robots, "405"),
        (
            "GET",
            "/api/robots/search/R2",
            "/api/robots/search/{name}",
            "200",
        ),
        ("GET", "/livez", "/livez", "200"),
        ("GET", "/", "/", "200"),
        ("GET", "/large.txt", "/<path..>", "200"),
        ("GET", "/nowhere", "none", "404"),
    ] {
        let answer = server.call(method, target, &draft("R2-D2"));
        assert_eq!(answer.status.to_string(), status, "{method} {target}");
        let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
        let sample = format!("robots_http_requests_total{{{labels}}}");
        wait_until(address, &sample, |count| count == 1);
    }
    let posts = "robots_http_request_duration_seconds_count{route=\"/api/robots\",method=\"POST\"}";
    wait_until(address, posts, |count| count == 2);
    wait_until(address, RUNNING, |count| count == 0);
    wait_until(address, ABORTED, |count| count == 0);
}

#[test]
fn hostile_requests_add_no_labels() {
    let (server, address) = server(&[MEMORY]);
    for number in 0..20 {
        for line in [
            format!("GET /api/robots/{number}99"),
            format!("GET /api/robots/search/{number}%22%7D%0A"),
            format!("GET /{number}/%22,x=%22"),
            format!("GET /page/{number}"),
            format!("ROBOT{number} /api/robots"),
            format!("get{number} /{number}"),
        ] {
            let headers = format!("Host: localhost\r\nX-Robot: {number}\r\n");
            server.ask(&line, &headers, "");
        }
        let answer = server.exchange(format!("{number} no request \u{1}\r\n\r\n"));
        assert_status(&answer, 400);
    }
    wait_until(address, RUNNING, |count| count == 0);
    let scrape = Scrape::of(address);
    let labels = |name: &str| -> BTreeSet<&str> {
        let start = format!("{name}=\"");
        let values = scrape.0.lines().filter_map(|line| line.split_once(&start));
        values
            .filter_map(|(_, rest)| rest.split('"').next())
            .collect()
    };
    for (name, expected) in [
        (
            "route",
            &[
                "/api/robots",
                "/api/robots/search/{name}",
                "/api/robots/{id}",
                "none",
            ][..],
        ),
        ("method", &["GET", "none", "other"]),
        ("token", &["none"]),
        ("status", &["200", "400", "404", "405", "501"]),
    ] {
        let expected = expected.iter().copied().collect();
        let unexpected: Vec<_> = labels(name).difference(&expected).copied().collect();
        assert_eq!(unexpected, [""; 0], "{name}");
    }
}

#[test]
fn requests_are_counted_by_names_of_tokens() {
    let named = AccessToken::of("robots_a", Permission::Write);
    let named = named.named("ci".parse().unwrap());
    let unnamed = AccessToken::of("robots_b", Permission::Read);
    let (server, address) = server(&[
        MEMORY,
        ("ROCKET_API_TOKENS", &*format!("{named},{unnamed}")),
        ("ROCKET_ALLOW_ANONYMOUS", "read"),
    ]);
    for (token, name, expected) in [
        ("robots_a", "ci", 1),
        ("robots_a", "ci", 2),
        ("robots_b", "none", 1),
        ("robots_c", "none", 2),
    ] {
        let headers = format!("Host: localhost\r\nAuthorization: Bearer {token}\r\n");
        server.ask("GET /api/robots", &headers, "");
        let sample = format!("robots_http_token_requests_total{{token=\"{name}\"}}");
        wait_until(address, &sample, |count| count == expected);
    }
}

#[test]
fn unread_response_is_running_and_then_aborted() {
    let (server, address) = server(&[MEMORY]);
    server.add_long_list();
    let unread = server.connect("GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n");
    unread.peek(&mut [0]).unwrap();
    wait_until(address, RUNNING, |count| count == 1);
    drop(unread);
    wait_until(address, ABORTED, |count| count == 1);
    wait_until(address, RUNNING, |count| count == 0);
}
