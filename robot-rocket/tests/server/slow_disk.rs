//! Slow disk: requests that wait for it block no others.

use std::{
    io::{Read, Write},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::{
    Server, call, draft,
    process::{TIMEOUT, wait_for},
    scrape::{self, Scrape},
    strace::Injection,
};

/// Delays each read from the database files by two seconds, except from mapped memory, until the
/// result is dropped.
pub(crate) fn slow_reads(server: &Server) -> Injection {
    let files = ["robots.db", "robots.db-wal"];
    Injection::into(server, &files, "pread64", "delay_enter=2000000")
}

#[test]
fn reads_that_wait_for_the_disk_block_no_others() {
    // The default, and the fewest workers.
    read_while_the_disk_is_slow(&[]);
    read_while_the_disk_is_slow(&[("ROCKET_WORKERS", "2")]);
}

fn read_while_the_disk_is_slow(settings: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<String> = {
        let server = Server::start(folder.path(), &[]);
        let add = |number| {
            let answer = server.add(&format!("{number}"));
            answer.text().split('"').nth_back(1).unwrap().to_owned()
        };
        (0..8).map(add).collect()
    };
    // This process has no page of the file in memory.
    let server = Server::start(folder.path(), settings);
    let slow = slow_reads(&server);
    let found = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for id in &ids {
            let client = server.client();
            scope.spawn(move || {
                let answer = call(&client, "GET", &format!("/api/robots/{id}"), "");
                found.fetch_add(1, Ordering::SeqCst);
                assert!(answer.text().contains("FOUND"), "{}", answer.text());
            });
        }
        thread::sleep(Duration::from_millis(500));
        for _ in 0..50 {
            let answer = server.call("OPTIONS", "/api/robots", "");
            assert_eq!(answer.status, 204);
        }
        assert_eq!(
            found.load(Ordering::SeqCst),
            0,
            "the other calls waited for the disk, or it was not slow"
        );
        drop(slow);
    });
    assert_eq!(found.load(Ordering::SeqCst), ids.len());
}

#[test]
fn store_that_does_not_answer_is_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    Server::start(folder.path(), &[]).add("R2-D2");
    let server = Server::start(folder.path(), &[]);
    let ready = || server.get("/readyz");
    let slow = slow_reads(&server);
    for _ in 0..2 {
        let answer = ready();
        let expected = "the database has not answered within 0.8 seconds; the log has the cause if it is known\n";
        assert_eq!((answer.status, answer.text().as_str()), (503, expected));
    }
    drop(slow);
    wait_for("the store", TIMEOUT, || ready().status == 200);
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
    let start = || Scrape::of(metrics).value("robots_sqlite_commit_start_time_seconds");
    assert_eq!(start(), 0);
    let hanging = Injection::into(&server, &[], "fdatasync", "delay_enter=60000000");
    let client = server.client();
    let added = thread::spawn(move || call(&client, "POST", "/api/robots", &draft("R2-D2")).status);
    wait_for("the commit", TIMEOUT, || start() > 0);
    assert!(!added.is_finished());
    drop(hanging);
    assert_eq!(added.join().unwrap(), 201);
    wait_for("the end of the commit", TIMEOUT, || start() == 0);
}

#[test]
fn read_that_waits_for_the_disk_blocks_no_connections() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let added = server.add("R2-D2");
    assert_eq!(added.status, 201);
    drop(server);
    let server = Server::start(folder.path(), &[("ROCKET_WORKERS", "2")]);
    // The connection is open and its worker idle before the disk becomes slow.
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut reader = server.connect(&request("/nothing"));
    let mut answer = [0; 4096];
    assert!(reader.read(&mut answer).unwrap() > 0);
    let slow = slow_reads(&server);
    reader
        .write_all(request("/api/robots/1").as_bytes())
        .unwrap();
    thread::sleep(Duration::from_millis(300));
    for _ in 0..20 {
        let answer = server.call("OPTIONS", "/api/robots", "");
        assert_eq!(answer.status, 204);
    }
    reader.set_nonblocking(true).unwrap();
    let early = reader.read(&mut answer);
    assert!(
        early.is_err(),
        "the other calls waited for the disk, or it was not slow"
    );
    drop(slow);
    reader.set_nonblocking(false).unwrap();
    let length = reader.read(&mut answer).unwrap();
    let text = String::from_utf8_lossy(&answer[..length]);
    assert!(text.contains(r#""status":"FOUND""#), "{text}");
}
