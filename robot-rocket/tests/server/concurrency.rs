//! Many clients at the same time, and faults of the database that they notice.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};

use crate::{Server, draft};

#[test]
fn four_hundred_concurrent_writers_are_all_served() {
    let server = &Server::sqlite(&[]);
    let ids: HashSet<String> = thread::scope(|scope| {
        let add = |number: usize| {
            let answer = server.add(&number.to_string());
            assert_eq!(answer.status, 201, "{}", answer.text());
            let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
            body["data"]["id"].as_str().unwrap().to_owned()
        };
        let writers: Vec<_> = (0..400)
            .map(|number| scope.spawn(move || add(number)))
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    assert_eq!((ids.len(), server.names().len()), (400, 400));
}

#[test]
fn stalled_readers_do_not_block_other_clients() {
    let server = Server::sqlite(&[("ROCKET_WORKERS", "2")]);
    server.add_long_list();
    // More of them than there are connections to the database and workers.
    let list = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let stalled: Vec<_> = (0..64).map(|_| server.connect(list)).collect();
    thread::sleep(Duration::from_millis(500));
    // A blocked call would time out in the client.
    assert_eq!(server.add("quick").status, 201);
    assert_eq!(server.get("/api/robots/search/quick").status, 200);
    assert_eq!(server.get("/api/robots?limit=1000").status, 200);
    drop(stalled);
}

/// Runs statements as another program may.
fn execute(server: &Server, statements: &str) -> SqliteConnection {
    let file = server.folder().join("robots.db");
    let mut other = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    other.batch_execute(statements).unwrap();
    other
}

#[test]
fn locked_database_rejects_writes_and_serves_reads() {
    let server = &Server::sqlite(&[]);
    server.add("before");
    let answered = &AtomicUsize::new(0);
    let mut lock = execute(server, "BEGIN IMMEDIATE");
    let started = Instant::now();
    thread::scope(|scope| {
        for number in 0..100 {
            scope.spawn(move || {
                let answer = server.add(&number.to_string());
                assert_eq!(answer.status, 503, "{}", answer.text());
                assert_eq!(answer.header("retry-after"), Some("1"));
                assert!(!answer.text().contains("lock"), "{}", answer.text());
                answered.fetch_add(1, Ordering::SeqCst);
            });
        }
        assert_eq!(server.names(), ["before"]);
        let answered = answered.load(Ordering::SeqCst);
        assert!(answered < 100, "the read waited for the writes");
    });
    // It takes two seconds on an idle machine.
    let took = started.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    lock.batch_execute("ROLLBACK").unwrap();
    assert_eq!(server.add("after").status, 201);
    assert_eq!(server.names(), ["after", "before"]);
}

#[test]
fn failing_store_is_logged_and_reveals_nothing() {
    let server = Server::sqlite(&[]);
    drop(execute(&server, "ALTER TABLE robots RENAME TO elsewhere"));
    for (method, target) in [
        ("GET", "/api/robots"),
        ("GET", "/api/robots/1"),
        ("POST", "/api/robots"),
        ("DELETE", "/api/robots/1"),
    ] {
        let answer = server.call(method, target, &draft("x"));
        assert_eq!(answer.status, 500, "{method} {target}");
        let text = answer.text();
        assert!(
            text.starts_with(r#"{"status":"ERROR","messages":["#),
            "{text}"
        );
        for internal in ["table", "robots.db", "SQL", "sql", "Diesel"] {
            assert!(!text.contains(internal), "{text}");
        }
    }
    let (_, log) = server.stop("TERM");
    assert!(log.contains("no such table: robots"), "{log}");
}
