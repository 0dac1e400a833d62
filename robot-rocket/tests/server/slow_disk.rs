//! A disk that answers slowly.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::{
    Server, call, draft,
    process::wait_for,
    scrape::{self, wait_until},
    strace::Injection,
};

/// Delays each read from the database files by two seconds, except from mapped memory, until the
/// result is dropped.
pub(crate) fn slow_reads(server: &Server) -> Injection {
    let files = ["robots.db", "robots.db-wal"];
    Injection::into(server, &files, "pread64", "delay_enter=2000000")
}

/// A server that has no page of its file, with the robots 1 to 8, in memory.
fn restarted(folder: &std::path::Path, settings: &[(&str, &str)]) -> Server {
    let server = Server::start(folder, settings);
    for number in 1..=8 {
        assert_eq!(server.add(&number.to_string()).status, 201);
    }
    drop(server);
    Server::start(folder, settings)
}

#[test]
fn reads_that_wait_for_the_disk_block_no_others() {
    // The default, and the fewest workers.
    for settings in [&[][..], &[("ROCKET_WORKERS", "2")]] {
        let folder = tempfile::tempdir().unwrap();
        let server = &restarted(folder.path(), settings);
        let slow = slow_reads(server);
        let found = &AtomicUsize::new(0);
        thread::scope(|scope| {
            for id in 1..=8 {
                scope.spawn(move || {
                    let text = server.get(&format!("/api/robots/{id}")).text();
                    found.fetch_add(1, Ordering::SeqCst);
                    assert!(text.contains("FOUND"), "{text}");
                });
            }
            thread::sleep(Duration::from_millis(500));
            for _ in 0..50 {
                assert_eq!(server.call("OPTIONS", "/api/robots", "").status, 204);
            }
            let early = found.load(Ordering::SeqCst);
            assert_eq!(
                early, 0,
                "the other calls waited for the disk, or it was not slow"
            );
            drop(slow);
        });
        assert_eq!(found.load(Ordering::SeqCst), 8);
    }
}

#[test]
fn store_that_does_not_answer_is_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = restarted(folder.path(), &[]);
    let slow = slow_reads(&server);
    for _ in 0..2 {
        let answer = server.get("/readyz");
        let expected = "the database has not answered within 0.8 seconds; the log has the cause if it is known\n";
        assert_eq!((answer.status, answer.text().as_str()), (503, expected));
    }
    drop(slow);
    wait_for("the store", || server.get("/readyz").status == 200);
    let (_, log) = server.stop("TERM");
    for message in [
        "the store is not ready: it has not answered within 0.8 seconds",
        "the store is ready again",
    ] {
        assert_eq!(log.matches(message).count(), 1, "{log}");
    }
    assert_eq!(log.lines().count(), 2, "{log}");
}

#[test]
fn commit_that_hangs_is_measured() {
    let (server, metrics) = scrape::server(&[]);
    let start = "robots_sqlite_commit_start_time_seconds";
    wait_until(metrics, start, |time| time == 0);
    let hanging = Injection::into(&server, &[], "fdatasync", "delay_enter=60000000");
    let client = server.client();
    let added = thread::spawn(move || call(&client, "POST", "/api/robots", &draft("R2-D2")).status);
    wait_until(metrics, start, |time| time > 0);
    assert!(!added.is_finished());
    drop(hanging);
    assert_eq!(added.join().unwrap(), 201);
    wait_until(metrics, start, |time| time == 0);
}
