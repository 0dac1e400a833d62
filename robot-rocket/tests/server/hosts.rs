//! Host names that the server accepts.

use robot_core::conformance::Client;

use crate::{
    Server, call, draft,
    process::{connection, read},
};

/// The status line of the answer to a request with this `Host`.
fn status(server: &Server, host: &str) -> String {
    let head = format!("GET /api/robots HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let answer = read(connection(server, &head));
    answer.lines().next().unwrap().to_owned()
}

#[test]
fn loopback_server_accepts_only_loopback_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    for host in ["localhost", "localhost:8000", "127.0.0.1", "[::1]:80"] {
        assert_eq!(status(&server, host), "HTTP/1.1 200 OK", "{host}");
    }
    for host in ["evil.example", "localhost.evil.example:8000", "10.0.0.1"] {
        assert_eq!(
            status(&server, host),
            "HTTP/1.1 421 Misdirected Request",
            "{host}"
        );
    }
    let rejected = format!(
        "POST /api/robots HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
        draft("x").len(),
        draft("x"),
    );
    let answer = read(connection(&server, &rejected));
    assert!(answer.starts_with("HTTP/1.1 421 "), "{answer}");
    assert!(
        answer.contains(r#"{"status":"ERROR","messages":["#),
        "{answer}"
    );
    let client: &dyn Client = &server.client();
    assert_eq!(call(client, "GET", "/api/robots", "").text(), "[]");
}

#[test]
fn allowed_hosts_setting_adds_names() {
    let folder = tempfile::tempdir().unwrap();
    for names in ["robots.example, robots", r#"["robots.example","robots"]"#] {
        let settings = [("DATABASE_URL", "memory:"), ("ROCKET_ALLOWED_HOSTS", names)];
        let server = Server::start(folder.path(), &settings);
        for host in ["robots.example:80", "Robots", "localhost"] {
            assert_eq!(status(&server, host), "HTTP/1.1 200 OK", "{names}: {host}");
        }
        assert_eq!(
            status(&server, "x"),
            "HTTP/1.1 421 Misdirected Request",
            "{names}"
        );
    }
}

#[test]
fn other_addresses_accept_any_host() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("DATABASE_URL", "memory:"),
        ("ROCKET_ADDRESS", "0.0.0.0"),
        ("ROCKET_ALLOW_ANONYMOUS", "true"),
    ];
    let server = Server::start(folder.path(), &settings);
    assert_eq!(status(&server, "robots.example"), "HTTP/1.1 200 OK");
}
