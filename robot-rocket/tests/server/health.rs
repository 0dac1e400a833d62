//! Health checks.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Command,
    thread,
    time::Duration,
};

#[cfg(feature = "tls")]
use crate::certificates::write_certificate;
use crate::{
    Server, call,
    process::{command, read},
};

const CHECKS: [(&str, &str); 2] = [("/livez", "alive\n"), ("/readyz", "ready\n")];

#[test]
fn checks_accept_every_host_and_need_no_token() {
    let entry = format!("write:sha256:{}", "0".repeat(64));
    let settings = [
        ("DATABASE_URL", "memory:"),
        ("ROCKET_API_TOKENS", entry.as_str()),
        ("ROCKET_ALLOW_ANONYMOUS", "false"),
    ];
    let server = Server::sqlite(&settings);
    assert_eq!(server.get("/api/robots").status, 401);
    for (path, text) in CHECKS {
        let head = format!("GET {path} HTTP/1.1\r\nHost: 10.1.2.3\r\nConnection: close\r\n\r\n");
        let answer = read(server.connect(&head));
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{text}")), "{answer}");
    }
}

#[test]
fn checks_are_not_cached_and_only_read() {
    let server = Server::memory();
    let client = server.client();
    for (path, text) in CHECKS {
        for (method, status, body) in [
            ("GET", 200, text),
            ("HEAD", 200, ""),
            ("OPTIONS", 204, ""),
            ("POST", 405, ""),
            ("DELETE", 405, ""),
        ] {
            let answer = call(&client, method, path, "");
            assert_eq!((answer.status, answer.text().as_str()), (status, body));
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            let allowed = (status != 200).then_some("GET, HEAD, OPTIONS");
            assert_eq!(answer.header("allow"), allowed, "{method}");
        }
    }
}

#[test]
fn static_files_do_not_replace_checks() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    for name in ["livez", "readyz"] {
        fs::write(files.join(name), "a file").unwrap();
    }
    let settings = [("DATABASE_URL", "memory:"), ("ROCKET_STATIC_DIR", "files")];
    let server = Server::start(folder.path(), &settings);
    for (path, text) in CHECKS {
        assert_eq!(server.get(path).text(), text);
    }
}

/// Runs `robot-rocket --ready` with the settings of a server.
fn ready(folder: &Path, settings: &[(&str, &str)], address: SocketAddr) -> (Option<i32>, String) {
    let port = address.port().to_string();
    let mut command = command(folder, settings);
    state(command.env("ROCKET_PORT", port).arg("--ready"))
}

/// The status and the message of `robot-rocket --ready`.
fn state(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), log)
}

#[test]
fn ready_option_finds_a_server_on_all_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("DATABASE_URL", "memory:"),
        ("ROCKET_ADDRESS", "0.0.0.0"),
        ("ROCKET_ALLOW_ANONYMOUS", "true"),
    ];
    let server = Server::start(folder.path(), &settings);
    let address = server.address();
    let state = ready(folder.path(), &settings, address);
    assert_eq!(state, (Some(0), String::new()));
    server.stop("TERM");
    let (status, log) = ready(folder.path(), &settings, address);
    assert_eq!(status, Some(1));
    let port = address.port();
    let expected = format!("robot-rocket: the server at 127.0.0.1:{port} does not answer: ");
    assert!(log.starts_with(&expected), "{log}");
}

#[test]
fn ready_option_asks_the_server_at_a_url() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    let port = server.address().port();
    let ready = |url: &str| state(command(folder.path(), &[]).args(["--ready", url]));
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("http://{host}:{port}");
        assert_eq!(ready(&url), (Some(0), String::new()));
        assert_eq!(ready(&format!("{url}/")), (Some(0), String::new()));
    }
    for (url, message) in [
        (
            format!("http://localhost:{port}/catalogue"),
            "is no URL of a server",
        ),
        ("https://robots.example".to_owned(), "is no URL of a server"),
        (format!("http://127.0.0.2:{port}"), "does not answer"),
        ("localhost:8000".to_owned(), "is no URL of a server"),
        ("ftp://localhost".to_owned(), "is no URL of a server"),
    ] {
        let (status, log) = ready(&url);
        assert_eq!(status, Some(1), "{url}");
        assert!(log.contains(message), "{url}: {log}");
    }
}

#[test]
fn ready_option_reports_why_a_server_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 60]).unwrap();
        let answer = "HTTP/1.1 503 Service Unavailable\r\n\r\nthe server is stopping\n";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let expected =
        format!("robot-rocket: the server at {address} is not ready: the server is stopping\n");
    assert_eq!(ready(folder.path(), &[], address), (Some(1), expected));
    server.join().unwrap();
}

#[cfg(feature = "tls")]
#[test]
fn ready_option_accepts_only_the_certificate_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    write_certificate(&path("chain.pem"), &path("key.pem"));
    let settings = [
        ("DATABASE_URL", "memory:"),
        ("ROCKET_TLS", r#"{certs="chain.pem",key="key.pem"}"#),
    ];
    let server = Server::start(folder.path(), &settings);
    let is_ready = (Some(0), String::new());
    assert_eq!(ready(folder.path(), &settings, server.address()), is_ready);
    write_certificate(&path("chain.pem"), &path("key.pem"));
    let (status, log) = ready(folder.path(), &settings, server.address());
    assert_eq!(status, Some(1));
    assert!(log.contains("and the certificate of ROCKET_TLS"), "{log}");
    let (status, log) = ready(folder.path(), &settings[..1], server.address());
    assert_eq!(status, Some(1));
    assert!(log.contains("set ROCKET_TLS"), "{log}");
}

#[test]
fn ready_option_waits_for_a_server_that_starts() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", "memory:")];
    let first = Server::start(folder.path(), &settings);
    let address = first.address();
    first.stop("TERM");
    let port = address.port().to_string();
    let server = thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        let folder = tempfile::tempdir().unwrap();
        let settings = [("DATABASE_URL", "memory:"), ("ROCKET_PORT", port.as_str())];
        Server::start(folder.path(), &settings)
    });
    let state = ready(folder.path(), &settings, address);
    assert_eq!(state, (Some(0), String::new()));
    drop(server.join().unwrap());
}
