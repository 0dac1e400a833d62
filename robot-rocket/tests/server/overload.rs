//! More requests than threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::{
    Server,
    process::{TIMEOUT, read_to_end, wait_for},
    scrape::{Scrape, server_in},
    slow_disk::slow_reads,
};

const THREADS: usize = 4;

#[test]
fn requests_beyond_all_threads_are_rejected_immediately() {
    const LISTS: usize = 24;
    let folder = tempfile::tempdir().unwrap();
    Server::start(folder.path(), &[]).add("R2-D2");
    let (server, metrics) = server_in(
        folder.path(),
        &[
            ("ROCKET_MAX_BLOCKING", &*THREADS.to_string()),
            ("ROCKET_DATABASE_TIMEOUT", "60"),
        ],
    );
    let server = &server;
    let slow = slow_reads(server);
    let (listed, rejected) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..LISTS {
            scope.spawn(move || {
                let answer = server.get("/api/robots");
                if answer.status == 200 {
                    return listed.fetch_add(1, Ordering::SeqCst);
                }
                let text = answer.text();
                assert!(answer.status == 503 && text.contains("busy"), "{text}");
                assert_eq!(answer.header("retry-after"), Some("1"));
                rejected.fetch_add(1, Ordering::SeqCst)
            });
        }
        wait_for("rejected lists", TIMEOUT, || {
            rejected.load(Ordering::SeqCst) == LISTS - THREADS
        });
        let early = listed.load(Ordering::SeqCst);
        assert_eq!(
            early, 0,
            "a list was rejected late, or the disk was not slow"
        );
        assert_eq!(server.call("OPTIONS", "/api/robots", "").status, 204);
        let all = "robots_blocking_threads_rejected_total{limit=\"all\"}";
        Scrape::of(metrics).assert(&[
            ("robots_blocking_threads_busy", THREADS as u64),
            ("robots_blocking_threads_limit", THREADS as u64),
            (all, (LISTS - THREADS) as u64),
        ]);
        let warning = "requests get 503: all blocking threads are in use";
        assert_eq!(server.log().matches(warning).count(), 1);
        drop(slow);
    });
    assert_eq!(listed.load(Ordering::SeqCst), THREADS);
    assert_eq!(server.get("/api/robots").status, 200);
}

#[test]
fn lists_in_progress_keep_their_threads() {
    let folder = tempfile::tempdir().unwrap();
    Server::start(folder.path(), &[]).add_long_list();
    let threads = ("ROCKET_MAX_BLOCKING", &*THREADS.to_string());
    let server = Server::start(folder.path(), &[threads]);
    let ask = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let begun: Vec<_> = (0..THREADS).map(|_| server.connect(ask)).collect();
    for stream in &begun {
        assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
    }
    let slow = slow_reads(&server);
    let complete = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for stream in begun {
            scope.spawn(move || {
                assert!(read_to_end(&stream).0.ends_with("]\r\n0\r\n\r\n"));
                complete.fetch_add(1, Ordering::SeqCst)
            });
        }
        // Other requests take all threads for requests, on the slow disk: for a page that none of the
        // lists has read yet, and that is in no cache.
        let page = "/api/robots?limit=1&after=99";
        let ask = ask.replace("/api/robots", page);
        let others: Vec<_> = (0..=THREADS).map(|_| server.connect(&ask)).collect();
        wait_for("one of them is rejected", TIMEOUT, || {
            others.iter().any(|stream| {
                stream.set_nonblocking(true).unwrap();
                stream.peek(&mut [0]).is_ok()
            })
        });
        assert_eq!(server.get(page).status, 503);
        assert_eq!(complete.load(Ordering::SeqCst), 0, "a list did not wait");
        drop(slow);
    });
}
