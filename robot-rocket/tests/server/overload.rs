//! More requests than can be worked on: some are told to come again, at once, and the others are
//! answered.

use std::{
    io::Read,
    net::TcpStream,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use robot_core::{
    Draft,
    transfer::{ImportOptions, Record, import},
};

use crate::{Server, call, draft, process::connection, slow_disk::slow_reads};

#[test]
fn requests_that_find_all_threads_taken_are_told_so_at_once() {
    const THREADS: usize = 4;
    const LISTS: usize = 24;
    let folder = tempfile::tempdir().unwrap();
    drop({
        let server = Server::start(folder.path(), &[]);
        call(&server.client(), "POST", "/api/robots", &draft("R2-D2"));
        server
    });
    let server = Server::start(
        folder.path(),
        &[
            ("ROCKET_MAX_BLOCKING", &THREADS.to_string()),
            ("ROCKET_DATABASE_TIMEOUT", "60"),
        ],
    );
    let slow = slow_reads(&server);
    let (listed, refused) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..LISTS {
            let client = server.client();
            scope.spawn(move || {
                let answer = call(&client, "GET", "/api/robots", "");
                match answer.status {
                    200 => listed.fetch_add(1, Ordering::SeqCst),
                    503 => {
                        assert_eq!(answer.header("retry-after"), Some("1"));
                        assert!(answer.text().contains("busy"), "{}", answer.text());
                        refused.fetch_add(1, Ordering::SeqCst)
                    }
                    other => panic!("{other}: {}", answer.text()),
                };
            });
        }
        let started = Instant::now();
        while refused.load(Ordering::SeqCst) < LISTS - THREADS {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{} of {LISTS} were refused",
                refused.load(Ordering::SeqCst)
            );
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(
            listed.load(Ordering::SeqCst),
            0,
            "the refusals waited for the disk, or it was not slow"
        );
        let answer = call(&server.client(), "OPTIONS", "/api/robots", "");
        assert_eq!(answer.status, 204);
        drop(slow);
    });
    assert_eq!(listed.load(Ordering::SeqCst), THREADS);
    assert_eq!(call(&server.client(), "GET", "/api/robots", "").status, 200);
}

#[test]
fn lists_that_have_begun_go_before_those_who_come_later() {
    const THREADS: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    let catalogue = robot_core::open(&url).unwrap();
    let long = "🤖".repeat(240);
    // More than the system takes of a list which nobody reads.
    let drafts = (0..20_000).map(|number| Draft::new(format!("{number} {long}"), "droid", 1));
    let mut imported = import(
        catalogue,
        Record::numbered(drafts),
        ImportOptions::default(),
    );
    assert!(imported.all(|outcome| outcome.result.is_ok()));
    let server = Server::start(
        folder.path(),
        &[("ROCKET_MAX_BLOCKING", &THREADS.to_string())],
    );
    let ask = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let begun: Vec<_> = (0..THREADS).map(|_| connection(&server, ask)).collect();
    thread::sleep(Duration::from_secs(1));
    let slow = slow_reads(&server);
    thread::scope(|scope| {
        for stream in begun {
            scope.spawn(|| assert!(is_whole(stream)));
        }
        thread::sleep(Duration::from_secs(1));
        let started = Instant::now();
        let answer = call(&server.client(), "GET", "/api/robots?limit=1", "");
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(started.elapsed() < Duration::from_secs(2));
        drop(slow);
    });
}

/// Whether a list comes to its end.
fn is_whole(mut stream: TcpStream) -> bool {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes.ends_with(b"]\r\n0\r\n\r\n")
}
