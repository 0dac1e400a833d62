//! Clients that read slowly, and a database that is locked.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};

use crate::Server;

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

#[test]
fn locked_database_rejects_writes_and_serves_reads() {
    let server = &Server::sqlite(&[]);
    server.add("before");
    let answered = &AtomicUsize::new(0);
    let file = server.folder().join("robots.db");
    let mut lock = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    lock.batch_execute("BEGIN IMMEDIATE").unwrap();
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
