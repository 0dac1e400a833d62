//! Static files: an existing one takes precedence over routes, and no other files are served.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    process::Command,
};

use robot_core::conformance::Client;

use crate::{
    Server, call, draft,
    process::{assert_failed, assert_status, fail, output_of_failure, read},
};

#[test]
fn existing_file_takes_precedence_over_routes() {
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
        let answer = server.get(target);
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
        let head = server.call("HEAD", target, "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
        assert_eq!(
            head.header("content-length"),
            Some(text.len().to_string().as_str())
        );
    }
    assert_eq!(server.get("/api/robots/1").text(), "a file");
    assert_eq!(server.get("/api/robots/search/x%20y").text(), "a search");
    // Routes handle other methods, and paths without a file.
    assert_eq!(server.call("DELETE", "/api/robots/1", "").status, 404);
    assert_eq!(server.get("/api/robots").text(), "[]");
    assert_eq!(
        server.get("/api/robots/2").text(),
        r#"{"status":"NOT-FOUND"}"#
    );
    assert_eq!(server.call("POST", "/style.css", "").status, 404);
    for target in ["/missing", "/sub%20folder", "/api", "/style.css/"] {
        let answer = server.get(target);
        assert_eq!(answer.status, 404, "{target}");
        assert!(
            answer.text().starts_with(r#"{"status":"ERROR""#),
            "{target}: {}",
            answer.text()
        );
    }
}

#[test]
fn files_outside_the_folder_are_not_served() {
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
        let answer = server.get(target);
        assert!(
            !answer.text().contains("secret\n") && answer.text() != "secret",
            "{target}: {}",
            answer.text()
        );
        assert_eq!(answer.status, 404, "{target}: {}", answer.text());
    }
    assert_eq!(server.get("/inside.txt").text(), "open");
}

/// `curl -d` sends the type of a form.
#[test]
fn forms_reach_the_catalogue_beside_static_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("files")).unwrap();
    let settings = [("DATABASE_URL", "memory:"), ("ROCKET_STATIC_DIR", "files")];
    let server = Server::start(folder.path(), &settings);
    let body = draft("R2-D2");
    let length = body.len();
    let sent = format!(
        "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let answer = read(server.connect(&sent));
    assert_status(&answer, 201);
}

#[test]
fn database_in_the_folder_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("files/deep")).unwrap();
    fs::create_dir(path("data")).unwrap();
    symlink("files", path("link")).unwrap();
    symlink("files/deep", path("folder")).unwrap();
    symlink("../files/deep/robots.db", path("data/robots.db")).unwrap();
    for (static_dir, database) in [
        (".", "robots.db"),
        ("files", "files/robots.db"),
        ("files", "files/deep/robots.db"),
        ("link", "files/robots.db"),
        ("files/deep/..", "folder/robots.db"),
        ("files", "data/robots.db"),
        (".", "data/other.db"),
    ] {
        let settings = [
            ("DATABASE_URL", format!("sqlite://{database}")),
            ("ROCKET_STATIC_DIR", static_dir.to_owned()),
        ];
        let settings = settings
            .each_ref()
            .map(|(name, value)| (*name, value.as_str()));
        let error = output_of_failure(&fail(folder.path(), &settings));
        let expected = "the database is in the folder static_dir '";
        assert!(
            error.contains(expected),
            "{static_dir}, {database}: {error}"
        );
        assert!(error.contains("ROCKET_STATIC_DIR"), "{error}");
    }
    assert!(fs::read_dir(path("files/deep")).unwrap().next().is_none());
    assert!(!path("robots.db").exists());
}

/// Opening and closing a file drops all locks that the process has on it.
#[test]
fn files_of_the_database_are_never_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("files")).unwrap();
    fs::write(path("files/open.txt"), "open").unwrap();
    let server = Server::start(folder.path(), &[("ROCKET_STATIC_DIR", "files")]);
    let client: &dyn Client = &server.client();
    let added = call(client, "POST", "/api/robots", &draft("R2-D2"));
    assert_eq!(added.status, 201);
    let before = locks(&server);
    assert!(before > 0, "the server has no locks");
    let suffixes = ["", "-wal", "-shm"];
    for suffix in suffixes {
        let (file, link) = (
            format!("robots.db{suffix}"),
            format!("files/link{suffix}.txt"),
        );
        fs::hard_link(path(&file), path(&link)).unwrap();
        symlink(format!("../{file}"), path(&format!("files/to{suffix}"))).unwrap();
        symlink(
            format!("link{suffix}.txt"),
            path(&format!("files/linked{suffix}")),
        )
        .unwrap();
    }
    let links = suffixes.map(|suffix| {
        [
            format!("/link{suffix}.txt"),
            format!("/to{suffix}"),
            format!("/linked{suffix}"),
        ]
    });
    let check = |targets: &mut dyn Iterator<Item = &String>| {
        for target in targets {
            for method in ["GET", "HEAD"] {
                assert_eq!(call(client, method, target, "").status, 404, "{target}");
            }
        }
        assert_eq!(locks(&server), before);
    };
    check(&mut links.iter().flatten());
    // Also where it is moved.
    fs::rename(path("robots.db"), path("files/moved.db")).unwrap();
    check(&mut ["/moved.db".to_owned()].iter());
    assert_eq!(call(client, "GET", "/open.txt", "").text(), "open");
}

/// The number of POSIX locks that a server has.
fn locks(server: &Server) -> usize {
    let id = server.id().to_string();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let is_its =
        |line: &&str| line.contains("POSIX") && line.split_whitespace().nth(4) == Some(&id);
    locks.lines().filter(is_its).count()
}

#[test]
fn deleted_folder_leaves_the_routes() {
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

#[test]
fn special_files_are_not_served_and_do_not_block() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir_all(files.join("sub/index.html")).unwrap();
    let made = Command::new("mkfifo").arg(files.join("pipe")).status();
    assert!(made.unwrap().success());
    let _socket = UnixListener::bind(files.join("socket")).unwrap();
    fs::write(files.join(".env"), "secret").unwrap();
    fs::write(files.join(OsStr::from_bytes(b"\xff.txt")), "odd").unwrap();
    for (target, link) in [
        ("pipe", "to-pipe"),
        ("/dev/zero", "zeros"),
        ("/dev/stdin", "input"),
        ("/proc/self/environ", "environment"),
        ("loop", "loop"),
        ("missing", "broken"),
        (".env", "env.txt"),
    ] {
        symlink(target, files.join(link)).unwrap();
    }
    let server = Server::start(
        folder.path(),
        &[("DATABASE_URL", "memory:"), ("ROCKET_STATIC_DIR", "files")],
    );
    for target in [
        "/pipe",
        "/to-pipe",
        "/socket",
        "/zeros",
        "/input",
        "/environment",
        "/loop",
        "/broken",
        "/env.txt",
        "/sub/",
        "/sub/index.html",
        "/%FF.txt",
        "/%00",
        "/..%2ffiles%2f.env",
        &format!("/{}", "a".repeat(300)),
        &format!("/{}", "a/".repeat(10_000)),
    ] {
        let answer = server.get(target);
        assert_eq!(answer.status, 404, "{target}: {}", answer.text());
        assert!(
            answer.text().starts_with(r#"{"status":"ERROR""#),
            "{target}"
        );
    }
}

#[test]
fn foreign_host_is_served_no_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("files")).unwrap();
    fs::write(folder.path().join("files/page.html"), "<p>page").unwrap();
    let server = Server::start(
        folder.path(),
        &[("DATABASE_URL", "memory:"), ("ROCKET_STATIC_DIR", "files")],
    );
    let ask = |headers: &str| {
        let sent = format!("GET /page.html HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n");
        server.exchange(sent.as_bytes())
    };
    assert_failed(&ask("Host: evil.example"), 421, "a foreign host");
    // Unsupported headers are ignored.
    for headers in ["Range: bytes=0-1", "If-None-Match: *", "If-Match: \"x\""] {
        let answer = ask(&format!("Host: localhost\r\n{headers}"));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{headers}: {answer}");
        assert!(answer.ends_with("<p>page"), "{headers}: {answer}");
    }
}
