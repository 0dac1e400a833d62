//! Checks of the health, and the option `--ready`.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Command,
    thread,
    time::Duration,
};

use crate::{Server, process::command, token};
use crate::{TLS, certificates::certify};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");

#[test]
fn checks_are_for_everyone_not_cached_and_only_read() {
    let server = Server::with(&[
        ("ROCKET_API_TOKENS", &*token("ci")),
        ("ROCKET_ALLOW_ANONYMOUS", "false"),
        ("ROCKET_STATIC_DIR", "."),
    ]);
    assert_eq!(server.get("/api/robots").status, 401);
    for (path, text) in [("/livez", "alive\n"), ("/readyz", "ready\n")] {
        // Static files do not replace checks.
        fs::write(server.folder().join(&path[1..]), "a file").unwrap();
        let answer = server.ask(&format!("GET {path}"), "Host: 10.1.2.3\r\n", "");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{text}")), "{answer}");
        for (method, status, body) in [
            ("GET", 200, text),
            ("HEAD", 200, ""),
            ("OPTIONS", 204, ""),
            ("POST", 405, ""),
            ("DELETE", 405, ""),
        ] {
            let answer = server.call(method, path, "");
            assert_eq!((answer.status, &*answer.text()), (status, body));
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
        }
    }
}

/// The status and the message of `robot-rocket --ready` with the settings of a server.
fn ready(folder: &Path, settings: &[(&str, &str)], address: SocketAddr) -> (Option<i32>, String) {
    let port = address.port().to_string();
    let mut command = command(folder, settings);
    state(command.env("ROCKET_PORT", port).arg("--ready"))
}

fn state(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), log)
}

fn is_ready() -> (Option<i32>, String) {
    (Some(0), String::new())
}

#[test]
fn ready_option_finds_the_server_of_its_settings_or_at_a_url() {
    let folder = tempfile::tempdir().unwrap();
    let anyone = ("ROCKET_ALLOW_ANONYMOUS", "true");
    let settings = [MEMORY, ("ROCKET_ADDRESS", "0.0.0.0"), anyone];
    let server = Server::start(folder.path(), &settings);
    let address = server.address();
    let port = address.port();
    assert_eq!(ready(folder.path(), &settings, address), is_ready());
    let ready_at = |url: &str| state(command(folder.path(), &[]).args(["--ready", url]));
    for host in ["localhost", "127.0.0.1"] {
        assert_eq!(ready_at(&format!("http://{host}:{port}")), is_ready());
        assert_eq!(ready_at(&format!("http://{host}:{port}/")), is_ready());
    }
    server.stop("TERM");
    let (status, log) = ready(folder.path(), &settings, address);
    assert_eq!(status, Some(1));
    let expected = format!("robot-rocket: the server at 127.0.0.1:{port} does not answer: ");
    assert!(log.starts_with(&expected), "{log}");
    for (url, message) in [
        (
            &*format!("http://localhost:{port}/catalogue"),
            "is no URL of a server",
        ),
        ("https://robots.example", "is no URL of a server"),
        (&format!("http://127.0.0.2:{port}"), "does not answer"),
        ("localhost:8000", "is no URL of a server"),
        ("ftp://localhost", "is no URL of a server"),
    ] {
        let (status, log) = ready_at(url);
        assert!(status == Some(1) && log.contains(message), "{url}: {log}");
    }
}

#[test]
fn ready_option_waits_for_a_start_and_reports_the_response() {
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
    let server = thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        Server::with(&[("ROCKET_PORT", &address.port().to_string())])
    });
    assert_eq!(ready(folder.path(), &[MEMORY], address), is_ready());
    drop(server.join().unwrap());
}

#[test]
fn ready_option_accepts_any_certificate() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let settings = [MEMORY, TLS];
    let server = Server::start(folder.path(), &settings);
    // The server still has the previous one.
    certify(folder.path());
    let address = server.address();
    assert_eq!(ready(folder.path(), &settings, address), is_ready());
    let (status, log) = ready(folder.path(), &settings[..1], address);
    assert!(status == Some(1) && log.contains("set ROCKET_TLS"), "{log}");
}
