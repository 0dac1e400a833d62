//! Metrics of requests: what is counted, and that clients cannot add labels.

use std::{
    collections::BTreeSet,
    net::{SocketAddr, TcpStream},
};

use robot_core::http::{AccessToken, Permission};

use crate::{
    add_long_list, call, draft,
    process::{TIMEOUT, connection, exchange, wait_for},
    scrape::{Scrape, server},
};

const MEMORY: [(&str, &str); 1] = [("DATABASE_URL", "memory:")];

/// Waits until a sample has a value: a request is counted after its response was sent.
#[track_caller]
fn wait_until(address: SocketAddr, sample: &str, expected: u64) {
    wait_for(sample, TIMEOUT, || {
        Scrape::of(address).find(sample) == Some(expected)
    });
}

fn requests(method: &str, route: &str, status: &str) -> String {
    format!(
        "robots_http_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}}"
    )
}

#[test]
fn requests_are_counted_by_route_method_and_status() {
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path(), &MEMORY);
    let robots = "/api/robots";
    for (method, target, body, route, status) in [
        ("POST", robots, draft("R2-D2"), robots, "201"),
        ("POST", robots, draft("R2-D2"), robots, "409"),
        ("GET", robots, String::new(), robots, "200"),
        (
            "GET",
            "/api/robots/1",
            String::new(),
            "/api/robots/{id}",
            "200",
        ),
        ("PATCH", robots, String::new(), robots, "405"),
        (
            "GET",
            "/api/robots/search/R2",
            String::new(),
            "/api/robots/search/{name}",
            "200",
        ),
        ("GET", "/livez", String::new(), "/livez", "200"),
        ("GET", "/", String::new(), "/", "200"),
        ("GET", "/nowhere", String::new(), "none", "404"),
    ] {
        let answer = call(&server.client(), method, target, &body);
        assert_eq!(answer.status.to_string(), status, "{method} {target}");
        wait_until(address, &requests(method, route, status), 1);
    }
    let posts = "robots_http_request_duration_seconds_count{route=\"/api/robots\",method=\"POST\"}";
    wait_until(address, posts, 2);
    wait_until(address, "robots_http_requests_running", 0);
    wait_until(address, "robots_http_requests_aborted_total", 0);
}

#[test]
fn hostile_requests_add_no_labels() {
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path(), &MEMORY);
    for number in 0..60 {
        for (method, target) in [
            ("GET", format!("/api/robots/{number}99")),
            ("GET", format!("/api/robots/search/{number}%22%7D%0A")),
            ("GET", format!("/{number}/%22,x=%22")),
            ("GET", format!("/page/{number}")),
            (&*format!("ROBOT{number}"), "/api/robots".to_owned()),
            (&*format!("get{number}"), format!("/{number}")),
        ] {
            let head = "Host: localhost\r\nConnection: close";
            let sent = format!("{method} {target} HTTP/1.1\r\n{head}\r\nX-Robot: {number}\r\n\r\n");
            assert!(exchange(server.address(), sent.as_bytes()).starts_with("HTTP/1.1 "));
        }
        let sent = format!("{number} no request \u{1}\r\n\r\n");
        let answer = exchange(server.address(), sent.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    wait_until(address, "robots_http_requests_running", 0);
    let scrape = Scrape::of(address);
    let labels = |name: &str| -> BTreeSet<&str> {
        let lines = scrape.0.lines();
        let values =
            lines.filter_map(|line| line.split_once(&format!("{name}=\""))?.1.split_once('"'));
        values.map(|(value, _)| value).collect()
    };
    let routes = [
        "/api/robots",
        "/api/robots/search/{name}",
        "/api/robots/{id}",
        "none",
    ];
    assert_eq!(labels("route"), BTreeSet::from(routes));
    assert_eq!(labels("method"), BTreeSet::from(["GET", "none", "other"]));
    assert_eq!(labels("token"), BTreeSet::from(["none"]));
    let statuses = labels("status");
    assert!(
        statuses
            .iter()
            .all(|status| ["200", "400", "404", "405", "501"].contains(status)),
        "{statuses:?}"
    );
}

#[test]
fn requests_are_counted_by_names_of_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let named = AccessToken::of("robots_a", Permission::Write);
    let named = named.named("ci".parse().unwrap()).to_string();
    let unnamed = AccessToken::of("robots_b", Permission::Read).to_string();
    let settings = [
        MEMORY[0],
        ("ROCKET_API_TOKENS", &*format!("{named},{unnamed}")),
        ("ROCKET_ALLOW_ANONYMOUS", "read"),
    ];
    let (server, address) = server(folder.path(), &settings);
    for (token, name, count) in [
        ("robots_a", "ci", 1),
        ("robots_a", "ci", 2),
        ("robots_b", "none", 1),
        ("robots_c", "none", 2),
    ] {
        let head = format!("Host: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}");
        let sent = format!("GET /api/robots HTTP/1.1\r\n{head}\r\n\r\n");
        exchange(server.address(), sent.as_bytes());
        let sample = format!("robots_http_token_requests_total{{token=\"{name}\"}}");
        wait_until(address, &sample, count);
    }
}

/// A body that states its length, and is read in pieces.
#[test]
fn large_response_is_not_aborted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("static");
    std::fs::create_dir(&file).unwrap();
    std::fs::write(file.join("large.txt"), "x".repeat(300_000)).unwrap();
    let settings = [MEMORY[0], ("ROCKET_STATIC_DIR", "static")];
    let (server, address) = server(folder.path(), &settings);
    let answer = call(&server.client(), "GET", "/large.txt", "");
    assert_eq!(answer.body.len(), 300_000);
    wait_for("the count of the request", TIMEOUT, || {
        let scrape = Scrape::of(address);
        let mut counts = scrape
            .0
            .lines()
            .filter(|line| line.starts_with("robots_http_requests_total{"));
        counts.any(|line| line.ends_with("status=\"200\"} 1"))
    });
    assert_eq!(
        Scrape::of(address).value("robots_http_requests_aborted_total"),
        0
    );
}

#[test]
fn unread_response_is_running_and_then_aborted() {
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path(), &MEMORY);
    add_long_list(&server);
    let request = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let unread: TcpStream = connection(&server, request);
    unread.peek(&mut [0]).unwrap();
    wait_until(address, "robots_http_requests_running", 1);
    drop(unread);
    wait_until(address, "robots_http_requests_aborted_total", 1);
    wait_until(address, "robots_http_requests_running", 0);
}
