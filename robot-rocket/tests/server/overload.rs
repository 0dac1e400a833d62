//! More requests than can be worked on: some are told to come again, at once, and the others are
//! answered.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{Server, call, draft, slow_disk::slow_reads};

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
