//! More requests than threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::{
    Server,
    process::wait_for,
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
        wait_for("rejected lists", || {
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
