//! The static files: an existing one goes first, and nothing else of the disk is shown.

use std::{fs, os::unix::fs::symlink};

use robot_core::conformance::Client;

use crate::{Server, call};

#[test]
fn an_existing_file_goes_before_the_routes() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir_all(files.join("api/robots/search")).unwrap();
    fs::create_dir_all(files.join("sub folder")).unwrap();
    for (path, text) in [
        ("index.html", "<p>start"),
        ("style.css", "p {}"),
        ("api/robots/1", "a file"),
        ("api/robots/search/x y", "a search"),
        ("sub folder/é.txt", "deep"),
        ("sub folder/index.html", "<p>sub"),
    ] {
        fs::write(files.join(path), text).unwrap();
    }
    let server = Server::start(
        folder.path(),
        &[("DATABASE_URL", "memory:"), ("ROCKET_STATIC_DIR", "files")],
    );
    for (target, content_type, text) in [
        ("/", "text/html; charset=utf-8", "<p>start"),
        ("/index.html", "text/html; charset=utf-8", "<p>start"),
        ("/style.css?version=1", "text/css; charset=utf-8", "p {}"),
        (
            "/sub%20folder/%C3%A9.txt",
            "text/plain; charset=utf-8",
            "deep",
        ),
        ("/sub%20folder/", "text/html; charset=utf-8", "<p>sub"),
        (
            "/sub%20folder/../style.css",
            "text/css; charset=utf-8",
            "p {}",
        ),
    ] {
        let answer = call(&server.client(), "GET", target, "");
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, text),
            "{target}"
        );
        assert_eq!(
            answer.header("content-type"),
            Some(content_type),
            "{target}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let head = call(&server.client(), "HEAD", target, "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
        assert_eq!(
            head.header("content-length"),
            Some(text.len().to_string().as_str())
        );
    }
    assert_eq!(
        call(&server.client(), "GET", "/api/robots/1", "").text(),
        "a file"
    );
    assert_eq!(
        call(&server.client(), "GET", "/api/robots/search/x%20y", "").text(),
        "a search"
    );
    // Other methods, and paths that name no file, are for the routes.
    assert_eq!(
        call(&server.client(), "DELETE", "/api/robots/1", "").status,
        404
    );
    assert_eq!(
        call(&server.client(), "GET", "/api/robots", "").text(),
        "[]"
    );
    assert_eq!(
        call(&server.client(), "GET", "/api/robots/2", "").text(),
        r#"{"status":"NOT-FOUND"}"#
    );
    assert_eq!(call(&server.client(), "POST", "/style.css", "").status, 404);
    for target in ["/missing", "/sub%20folder", "/api", "/style.css/"] {
        let answer = call(&server.client(), "GET", target, "");
        assert_eq!(answer.status, 404, "{target}");
        assert!(
            answer.text().starts_with(r#"{"status":"ERROR""#),
            "{target}: {}",
            answer.text()
        );
    }
}

#[test]
fn nothing_outside_the_folder_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir_all(files.join(".hidden")).unwrap();
    fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    fs::write(files.join(".env"), "secret").unwrap();
    fs::write(files.join(".hidden/file"), "secret").unwrap();
    fs::write(files.join("open.txt"), "open").unwrap();
    symlink("../secret.txt", files.join("link.txt")).unwrap();
    symlink("..", files.join("up")).unwrap();
    symlink("open.txt", files.join("inside.txt")).unwrap();
    let server = Server::start(
        folder.path(),
        &[("DATABASE_URL", "memory:"), ("ROCKET_STATIC_DIR", "files")],
    );
    for target in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e%2fsecret.txt",
        "/x/../../secret.txt",
        "/link.txt",
        "/up/secret.txt",
        "/.env",
        "/%2eenv",
        "/.hidden/file",
        "/open.txt%00",
        "/files/open.txt",
        "//../secret.txt",
        "/..\\secret.txt",
        "/....//secret.txt",
        "/%252e%252e/secret.txt",
        "/up/",
        "/etc/passwd",
    ] {
        let answer = call(&server.client(), "GET", target, "");
        assert!(
            !answer.text().contains("secret\n") && answer.text() != "secret",
            "{target}: {}",
            answer.text()
        );
        assert_eq!(answer.status, 404, "{target}: {}", answer.text());
    }
    assert_eq!(
        call(&server.client(), "GET", "/inside.txt", "").text(),
        "open"
    );
}

#[test]
fn a_folder_that_vanishes_leaves_the_routes() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    let server = Server::start(
        folder.path(),
        &[("DATABASE_URL", "memory:"), ("ROCKET_STATIC_DIR", "files")],
    );
    fs::remove_dir(&files).unwrap();
    let client: &dyn Client = &server.client();
    assert_eq!(call(client, "GET", "/api/robots", "").text(), "[]");
}
