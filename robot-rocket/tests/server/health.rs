//! Health checks.

use std::fs;

use crate::{
    Server, call,
    process::{connection, read},
};

const CHECKS: [(&str, &str); 2] = [("/livez", "alive\n"), ("/readyz", "ready\n")];

#[test]
fn checks_accept_every_host_and_need_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let entry = format!("write:sha256:{}", "0".repeat(64));
    let settings = [
        ("DATABASE_URL", "memory:"),
        ("ROCKET_API_TOKENS", entry.as_str()),
        ("ROCKET_ALLOW_ANONYMOUS", "false"),
    ];
    let server = Server::start(folder.path(), &settings);
    assert_eq!(call(&server.client(), "GET", "/api/robots", "").status, 401);
    for (path, text) in CHECKS {
        let head = format!("GET {path} HTTP/1.1\r\nHost: 10.1.2.3\r\nConnection: close\r\n\r\n");
        let answer = read(connection(&server, &head));
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{text}")), "{answer}");
    }
}

#[test]
fn checks_are_not_cached_and_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
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
        assert_eq!(call(&server.client(), "GET", path, "").text(), text);
    }
}
