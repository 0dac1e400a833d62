//! Slow, broken and concurrent requests, and a locked database. `faults.rs` tests kills, stops
//! and disk failures.

use std::{
    collections::HashSet,
    io::Read,
    net::Shutdown,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use robot_core::{CatalogueExt, Draft};

use crate::{
    Server, call, draft, names,
    process::{connection, read},
};

#[test]
fn four_hundred_concurrent_writers_are_all_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let client = server.client();
    let ids: HashSet<String> = thread::scope(|scope| {
        let writers: Vec<_> = (0..400)
            .map(|number| {
                let client = &client;
                scope.spawn(move || {
                    let answer = call(client, "POST", "/api/robots", &draft(&number.to_string()));
                    assert_eq!(answer.status, 201, "{}", answer.text());
                    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
                    body["data"]["id"].as_str().unwrap().to_owned()
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    assert_eq!(ids.len(), 400);
    assert_eq!(names(&server).len(), 400);
}

#[test]
fn body_that_stalls_times_out_and_blocks_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("ROCKET_WORKERS", "2")]);
    let head = "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n";
    let stalled: Vec<_> = (0..50)
        .map(|_| connection(&server, &format!("{head}{{\"name\":\"never whole\",")))
        .collect();
    let started = Instant::now();
    assert_eq!(
        call(&server.client(), "POST", "/api/robots", &draft("quick")).status,
        201
    );
    assert!(started.elapsed() < Duration::from_secs(5));
    for stream in stalled {
        let answer = read(stream);
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(
            answer.contains(r#"{"status":"ERROR","messages":["#),
            "{answer}"
        );
    }
    assert_eq!(names(&server), ["quick"]);
}

#[test]
fn truncated_request_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    call(&server.client(), "POST", "/api/robots", &draft("R2-D2"));
    let whole = draft("C-3PO");
    for (method, target, sent) in [
        ("DELETE", "/api/robots/1", ""),
        ("DELETE", "/api/robots/1", "twenty bytes of text"),
        ("PUT", "/api/robots/1", whole.as_str()),
        ("POST", "/api/robots", whole.as_str()),
    ] {
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{sent}",
            sent.len() + 5
        );
        let stream = connection(&server, &head);
        stream.shutdown(Shutdown::Write).unwrap();
        // The HTTP library decides whether there is an answer.
        let _ = std::io::read_to_string(stream);
    }
    thread::sleep(Duration::from_millis(300));
    assert_eq!(names(&server), ["R2-D2"]);
}

#[test]
fn body_announced_as_too_large_is_rejected_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    for length in ["65537", "1000000000000000"] {
        let started = Instant::now();
        let head = format!(
            "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n{{\"name\":\"the first few bytes"
        );
        let mut answer = [0; 12];
        connection(&server, &head).read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413", "{length}");
        assert!(started.elapsed() < Duration::from_secs(5), "{length}");
    }
}

#[test]
fn stalled_readers_do_not_block_other_clients() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    let catalogue = robot_core::open(&url).unwrap();
    let long = "🤖".repeat(200);
    for number in 0..2500 {
        catalogue
            .add(Draft::new(format!("{number} {long}"), "droid", 1))
            .unwrap();
    }
    let server = Server::start(folder.path(), &[("ROCKET_WORKERS", "2")]);
    // More of them than there are connections to the database and workers.
    let stalled: Vec<_> = (0..64)
        .map(|_| {
            connection(
                &server,
                "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n",
            )
        })
        .collect();
    thread::sleep(Duration::from_millis(500));
    // A blocked call would time out in the client.
    assert_eq!(
        call(&server.client(), "POST", "/api/robots", &draft("quick")).status,
        201
    );
    assert_eq!(
        call(&server.client(), "GET", "/api/robots/search/quick", "").status,
        200
    );
    assert_eq!(names(&server).len(), 2501);
    drop(stalled);
}

/// Holds the write lock of the database, as another program may.
fn locked<T>(folder: &std::path::Path, while_locked: impl FnOnce() -> T) -> T {
    use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
    let path = folder.join("robots.db");
    let mut other = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let result = while_locked();
    other.batch_execute("ROLLBACK").unwrap();
    result
}

#[test]
fn locked_database_rejects_writes_and_serves_reads() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    call(&server.client(), "POST", "/api/robots", &draft("before"));
    let answered = &AtomicUsize::new(0);
    locked(folder.path(), || {
        let started = Instant::now();
        thread::scope(|scope| {
            for number in 0..100 {
                let client = server.client();
                scope.spawn(move || {
                    let answer = call(&client, "POST", "/api/robots", &draft(&number.to_string()));
                    assert_eq!(answer.status, 503, "{}", answer.text());
                    assert_eq!(answer.header("retry-after"), Some("1"));
                    assert!(!answer.text().contains("lock"), "{}", answer.text());
                    answered.fetch_add(1, Ordering::SeqCst);
                });
            }
            assert_eq!(names(&server), ["before"]);
            let answered = answered.load(Ordering::SeqCst);
            assert!(answered < 100, "the read waited for the writes");
        });
        // It takes two seconds on an idle machine.
        let took = started.elapsed();
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
    assert_eq!(
        call(&server.client(), "POST", "/api/robots", &draft("after")).status,
        201
    );
    assert_eq!(names(&server), ["after", "before"]);
}

#[test]
fn failing_store_is_logged_and_reveals_nothing() {
    use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let path = folder.path().join("robots.db");
    SqliteConnection::establish(path.to_str().unwrap())
        .unwrap()
        .batch_execute("ALTER TABLE robots RENAME TO elsewhere")
        .unwrap();
    for (method, target) in [
        ("GET", "/api/robots"),
        ("GET", "/api/robots/1"),
        ("POST", "/api/robots"),
        ("DELETE", "/api/robots/1"),
    ] {
        let answer = call(&server.client(), method, target, &draft("x"));
        assert_eq!(answer.status, 500, "{method} {target}");
        assert!(
            answer
                .text()
                .starts_with(r#"{"status":"ERROR","messages":["#)
        );
        for internal in ["table", "robots.db", "SQL", "sql", "Diesel"] {
            assert!(!answer.text().contains(internal), "{}", answer.text());
        }
    }
    let (_, log) = server.stop("TERM");
    assert!(log.contains("no such table: robots"), "{log}");
}

#[test]
fn input_that_is_not_http_leaves_the_server_running() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    for nonsense in [
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\0\0\0\0",
        "GET /a b HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = connection(&server, nonsense);
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    }
    assert_eq!(
        call(&server.client(), "GET", "/api/robots", "").text(),
        "[]"
    );
}
