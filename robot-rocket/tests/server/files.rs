//! Static files: an existing one takes precedence over routes, and no other files are served.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Server, draft,
    process::{assert_failed, assert_status, fail, output_of_failure},
};

const STATIC: (&str, &str) = ("ROCKET_STATIC_DIR", "files");

/// A server over a store in memory that serves these files, and its folder.
fn serve(files: &[(&str, &str)]) -> (Server, PathBuf) {
    // The folder must exist at the start.
    let server = Server::with(&[("ROCKET_STATIC_DIR", ".")]);
    let folder = server.folder().to_owned();
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (server, folder)
}

#[track_caller]
fn assert_not_served(server: &Server, targets: &[&str]) {
    for target in targets {
        let answer = server.get(target);
        let text = answer.text();
        assert_eq!(answer.status, 404, "{target}: {text}");
        assert!(text.starts_with(r#"{"status":"ERROR""#), "{target}: {text}");
    }
}

#[test]
fn existing_file_takes_precedence_over_routes() {
    let (server, _) = serve(&[
        ("index.html", "<p>start"),
        ("style.css", "p {}"),
        ("api/robots/1", "a file"),
        ("api/robots/search/x y", "a search"),
        ("sub folder/é.txt", "deep"),
        ("sub folder/index.html", "<p>sub"),
    ]);
    for (target, content_type, text) in [
        ("/", "text/html", "<p>start"),
        ("/index.html", "text/html", "<p>start"),
        ("/style.css?version=1", "text/css", "p {}"),
        ("/sub%20folder/%C3%A9.txt", "text/plain", "deep"),
        ("/sub%20folder/", "text/html", "<p>sub"),
        ("/sub%20folder/../style.css", "text/css", "p {}"),
        ("/api/robots/1", "", "a file"),
        ("/api/robots/search/x%20y", "", "a search"),
    ] {
        let answer = server.get(target);
        assert_eq!((answer.status, &*answer.text()), (200, text), "{target}");
        if !content_type.is_empty() {
            let expected = format!("{content_type}; charset=utf-8");
            assert_eq!(answer.header("content-type"), Some(&*expected), "{target}");
        }
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let head = server.call("HEAD", target, "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
        let length = text.len().to_string();
        assert_eq!(head.header("content-length"), Some(&*length), "{target}");
    }
    // Routes handle other methods, and paths without a file.
    assert_eq!(server.call("DELETE", "/api/robots/1", "").status, 404);
    assert_eq!(server.get("/api/robots").text(), "[]");
    assert_eq!(
        server.get("/api/robots/2").text(),
        r#"{"status":"NOT-FOUND"}"#
    );
    assert_eq!(server.call("POST", "/style.css", "").status, 404);
    assert_not_served(
        &server,
        &["/missing", "/sub%20folder", "/api", "/style.css/"],
    );
    // `curl -d` sends the type of a form.
    let form = "Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    assert_status(&server.ask("POST /api/robots", form, &draft("R2-D2")), 201);
    // Unsupported headers are ignored.
    for header in ["Range: bytes=0-1", "If-None-Match: *", "If-Match: \"x\""] {
        let headers = format!("Host: localhost\r\n{header}\r\n");
        let answer = server.ask("GET /style.css", &headers, "");
        assert!(answer.ends_with("p {}"), "{headers}: {answer}");
    }
    let foreign = server.ask("GET /style.css", "Host: evil.example\r\n", "");
    assert_failed(&foreign, 421, "a foreign host");
}

#[test]
fn files_outside_the_folder_are_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir_all(files.join(".hidden")).unwrap();
    fs::create_dir_all(files.join("sub/index.html")).unwrap();
    for (path, text) in [
        ("secret.txt", "secret"),
        ("files/.env", "secret"),
        ("files/.hidden/file", "secret"),
        ("files/open.txt", "open"),
    ] {
        fs::write(folder.path().join(path), text).unwrap();
    }
    let made = Command::new("mkfifo").arg(files.join("pipe")).status();
    assert!(made.unwrap().success());
    let _socket = UnixListener::bind(files.join("socket")).unwrap();
    fs::write(files.join(OsStr::from_bytes(b"\xff.txt")), "odd").unwrap();
    for (target, link) in [
        ("../secret.txt", "link.txt"),
        ("..", "up"),
        ("open.txt", "inside.txt"),
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
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:"), STATIC]);
    let outside = "/../secret.txt /%2e%2e/secret.txt /..%2fsecret.txt /%2e%2e%2fsecret.txt \
                   /x/../../secret.txt /link.txt /up/secret.txt /.env /%2eenv /.hidden/file \
                   /open.txt%00 /files/open.txt //../secret.txt /..\\secret.txt /....//secret.txt \
                   /%252e%252e/secret.txt /up/ /etc/passwd";
    let special = "/pipe /to-pipe /socket /zeros /input /environment /loop /broken /env.txt /sub/ \
                   /sub/index.html /%FF.txt /%00 /..%2ffiles%2f.env";
    for targets in [outside, special] {
        assert_not_served(&server, &targets.split_whitespace().collect::<Vec<_>>());
    }
    let long = [
        format!("/{}", "a".repeat(300)),
        format!("/{}", "a/".repeat(10_000)),
    ];
    assert_not_served(&server, &long.each_ref().map(String::as_str));
    assert_eq!(server.get("/inside.txt").text(), "open");
    // The routes stay without the folder.
    fs::remove_dir_all(files).unwrap();
    assert_eq!(server.get("/api/robots").text(), "[]");
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
        ("files", "files/deep/robots.db"),
        ("link", "files/robots.db"),
        ("files/deep/..", "folder/robots.db"),
        ("files", "data/robots.db"),
        (".", "data/other.db"),
    ] {
        let url = format!("sqlite://{database}");
        let settings = [("DATABASE_URL", &*url), ("ROCKET_STATIC_DIR", static_dir)];
        let error = output_of_failure(&fail(folder.path(), &settings));
        for words in [
            "the database is in the folder static_dir '",
            "ROCKET_STATIC_DIR",
        ] {
            assert!(error.contains(words), "{static_dir}, {database}: {error}");
        }
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
    let server = Server::start(folder.path(), &[STATIC]);
    assert_eq!(server.add("R2-D2").status, 201);
    let inodes = ["robots.db", "robots.db-shm"].map(|file| fs::metadata(path(file)).unwrap().ino());
    let has_locks = || has_lasting_locks(&server, inodes);
    assert!(has_locks(), "the server has no locks");
    let check = |target: &str| {
        for method in ["GET", "HEAD"] {
            assert_eq!(server.call(method, target, "").status, 404, "{target}");
        }
        assert!(has_locks(), "{target}");
    };
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("robots.db{suffix}");
        let links = ["link", "to", "linked"].map(|link| format!("files/{link}{suffix}"));
        let [hard, to, linked] = &links;
        fs::hard_link(path(&file), path(hard)).unwrap();
        symlink(format!("../{file}"), path(to)).unwrap();
        symlink(Path::new(hard).file_name().unwrap(), path(linked)).unwrap();
        for link in links {
            check(&link["files".len()..]);
        }
    }
    // Also where it is moved.
    fs::rename(path("robots.db"), path("files/moved.db")).unwrap();
    check("/moved.db");
    assert_eq!(server.get("/open.txt").text(), "open");
}

/// Whether a server has the locks that SQLite keeps while a database is open: it shares the
/// file (1,073,741,826), and the index of the WAL in shared memory (128).
fn has_lasting_locks(server: &Server, [database, shared_memory]: [u64; 2]) -> bool {
    let id = server.id().to_string();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let has = |inode: u64, first: &str| {
        locks.lines().any(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            line.contains(" POSIX ")
                && words[4] == id
                && words[5].ends_with(&format!(":{inode}"))
                && words[6] == first
        })
    };
    has(database, "1073741826") && has(shared_memory, "128")
}
