//! More requests than threads: those beyond the limit are rejected with 503, the others answered.

use std::{
    io::Read,
    net::TcpStream,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use robot_core::{
    Draft,
    transfer::{ImportOptions, Record, import},
};

use crate::{
    Server, call,
    process::{TIMEOUT, wait_for},
    scrape::{self, Scrape},
    slow_disk::slow_reads,
};

#[test]
fn requests_beyond_all_threads_are_rejected_immediately() {
    const THREADS: usize = 4;
    const LISTS: usize = 24;
    let folder = tempfile::tempdir().unwrap();
    drop({
        let server = Server::start(folder.path(), &[]);
        server.add("R2-D2");
        server
    });
    let (server, metrics) = scrape::server_in(
        folder.path(),
        &[
            ("ROCKET_MAX_BLOCKING", &*THREADS.to_string()),
            ("ROCKET_DATABASE_TIMEOUT", "60"),
        ],
    );
    let slow = slow_reads(&server);
    let (listed, rejected) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
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
                        rejected.fetch_add(1, Ordering::SeqCst)
                    }
                    other => panic!("{other}: {}", answer.text()),
                };
            });
        }
        wait_for("rejected lists", TIMEOUT, || {
            rejected.load(Ordering::SeqCst) == LISTS - THREADS
        });
        assert_eq!(
            listed.load(Ordering::SeqCst),
            0,
            "a list was rejected late, or the disk was not slow"
        );
        let answer = server.call("OPTIONS", "/api/robots", "");
        assert_eq!(answer.status, 204);
        let scrape = Scrape::of(metrics);
        for (sample, count) in [
            ("robots_blocking_threads_busy", THREADS),
            ("robots_blocking_threads_limit", THREADS),
            (
                "robots_blocking_threads_rejected_total{limit=\"all\"}",
                LISTS - THREADS,
            ),
        ] {
            assert_eq!(scrape.value(sample), count as u64, "{sample}");
        }
        let warning = "requests get 503: all blocking threads are in use";
        assert_eq!(server.log().matches(warning).count(), 1);
        drop(slow);
    });
    assert_eq!(listed.load(Ordering::SeqCst), THREADS);
    assert_eq!(server.get("/api/robots").status, 200);
}

#[test]
fn lists_in_progress_keep_their_threads() {
    const THREADS: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    let catalogue = robot_core::open(&url).unwrap();
    let long = "🤖".repeat(240);
    // More than the buffers of a connection take while the client does not read.
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
    let begun: Vec<_> = (0..THREADS).map(|_| server.connect(ask)).collect();
    for stream in &begun {
        wait_for("the beginning of a list", TIMEOUT, || {
            stream.peek(&mut [0]).unwrap() > 0
        });
    }
    let slow = slow_reads(&server);
    let complete = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for stream in begun {
            scope.spawn(|| {
                assert!(is_complete(stream));
                complete.fetch_add(1, Ordering::SeqCst)
            });
        }
        // Other requests take all threads for requests, on the slow disk.
        // A page that none of the lists has read yet, and that is in no cache.
        let page = "/api/robots?limit=1&after=99";
        let ask = ask.replace("/api/robots", page);
        let others: Vec<_> = (0..=THREADS).map(|_| server.connect(&ask)).collect();
        wait_for("one of them is rejected", TIMEOUT, || {
            others.iter().any(is_answered)
        });
        assert_eq!(server.get(page).status, 503);
        assert_eq!(complete.load(Ordering::SeqCst), 0, "a list did not wait");
        drop(slow);
    });
}

/// Whether a list is complete.
fn is_complete(mut stream: TcpStream) -> bool {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes.ends_with(b"]\r\n0\r\n\r\n")
}

/// Whether the first bytes of an answer have arrived.
fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    stream.peek(&mut [0]).is_ok()
}
