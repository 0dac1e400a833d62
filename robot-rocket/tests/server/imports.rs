//! Imports that are slow, stall or are truncated.

use std::{
    io::Write,
    thread,
    time::{Duration, Instant},
};

use robot_core::http::BODY_DEADLINE;

use crate::{
    Server,
    process::{TIMEOUT, assert_failed, read, wait_for},
    scrape::{self, Scrape},
};

const HEAD: &str =
    "POST /api/robots/import?format=csv HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";

#[test]
fn truncated_import_stores_no_partial_record() {
    let server = Server::sqlite(&[("ROCKET_WORKERS", "2")]);
    let file = "name,type,year\nR2-D2,droid,1977\nC-3PO,droid,1";
    for framing in [
        "Content-Length: 1000\r\n\r\n".to_owned(),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", file.len()),
    ] {
        let request = format!("{HEAD}{framing}{file}");
        // There may be no answer, since the client has closed its side.
        let answer = server.cut_off(request.as_bytes());
        assert!(!answer.contains("\"added\":2"), "{answer}");
    }
    let is_there = || server.names() == ["R2-D2"];
    wait_for("the robot of the complete line", TIMEOUT, is_there);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(server.names(), ["R2-D2"]);
}

#[test]
fn import_truncated_in_its_first_bytes_returns_400() {
    let server = Server::sqlite(&[("ROCKET_WORKERS", "2")]);
    let request = format!("{HEAD}Content-Length: 1000\r\n\r\nname,type");
    let answer = server.cut_off(request.as_bytes());
    assert_failed(&answer, 400, "a body of a few bytes");
}

#[test]
fn slow_import_succeeds_and_stalled_import_times_out() {
    let server = Server::sqlite(&[("ROCKET_WORKERS", "2")]);
    let length = "Content-Length: 1000\r\n\r\n";
    let start = "name,type,year\n";
    let records = ["R2-D2,droid,1977\n", "C-3PO,droid,1977\n"];
    let whole = start.len() + records.concat().len();
    let head = format!("{HEAD}Content-Length: {whole}\r\n\r\n");
    let mut slow = server.connect(&format!("{head}{start}"));
    let stalled = server.connect(&format!("{HEAD}{length}{start}only,droid"));
    let stalled_later = server.connect(&format!("{HEAD}{length}{start}BB-8,droid,2015\n"));
    let started = Instant::now();
    for record in records {
        thread::sleep(BODY_DEADLINE * 3 / 5);
        slow.write_all(record.as_bytes()).unwrap();
    }
    // Other clients are served meanwhile.
    let answer = server.add("quick");
    assert_eq!(answer.status, 201);
    let answer = read(slow);
    assert!(started.elapsed() > BODY_DEADLINE);
    assert!(
        answer.contains(r#"{"added":2,"replaced":0,"skipped":0,"failed":0}"#),
        "{answer}"
    );
    assert_failed(&read(stalled), 408, "a stalled import");
    // Earlier records were stored.
    let answer = read(stalled_later);
    assert_failed(&answer, 408, "an import that stalls later");
    assert!(
        answer.ends_with(
            r#"{"status":"ERROR","data":{"added":1,"replaced":0,"skipped":0,"failed":1},"messages":["line 3: The request body did not arrive in time; send it again","To import the rest, send the file again with on_conflict=skip in the query"]}"#
        ),
        "{answer}"
    );
    assert_eq!(server.names(), ["BB-8", "C-3PO", "R2-D2", "quick"]);
}

#[test]
fn import_announced_as_too_large_returns_413() {
    let server = Server::sqlite(&[("ROCKET_WORKERS", "2")]);
    for (query, length) in [("", 1_u64 << 31), ("&dry_run=true", 1 << 27)] {
        let head = HEAD.replace("=csv", &format!("=csv{query}"));
        let answer = server
            .cut_off(format!("{head}Content-Length: {length}\r\n\r\nname,type,year\n").as_bytes());
        assert_failed(&answer, 413, "a body of gigabytes");
    }
}

#[test]
fn stalled_imports_leave_threads_for_others() {
    const THREADS: usize = 8;
    let (server, metrics) = scrape::server(&[
        ("DATABASE_URL", "memory:"),
        ("ROCKET_MAX_BLOCKING", &THREADS.to_string()),
    ]);
    let request = format!("{HEAD}Content-Length: 1000\r\n\r\nname,type,year\n");
    let slow: Vec<_> = (0..THREADS)
        .map(|_| {
            let connection = server.connect(&request);
            thread::sleep(Duration::from_millis(50));
            connection
        })
        .collect();
    // Lists need threads, too.
    for _ in 0..3 {
        assert_eq!(server.get("/api/robots").status, 200);
    }
    let mut answers: Vec<_> = slow.into_iter().map(read).collect();
    // The first one times out; the others are rejected.
    assert_failed(&answers.remove(0), 408, "a stalled import");
    for answer in answers {
        assert_failed(&answer, 503, "one import too many");
    }
    let rejected = "robots_blocking_threads_rejected_total{limit=\"imports\"}";
    let count = Scrape::of(metrics).value(rejected);
    assert_eq!(count, THREADS as u64 - 1);
}

#[test]
fn trickled_imports_time_out_and_free_their_threads() {
    // Threads for two imports.
    let server = Server::sqlite(&[("ROCKET_MAX_BLOCKING", "64")]);
    let request = format!("{HEAD}Content-Length: 1000\r\n\r\nname,type,year\n");
    let mut slow = [(); 2].map(|()| server.connect(&request));
    thread::sleep(Duration::from_millis(300));
    let import = |name: &str| {
        let file = format!("name,type,year\n{name},droid,1977\n");
        let target = "/api/robots/import?format=csv";
        server.call("POST", target, &file).status
    };
    assert_eq!(import("too early"), 503);
    // Each byte arrives in time, but they are too few.
    let waited = wait_for("an import", TIMEOUT * 2, || {
        thread::sleep(Duration::from_secs(2));
        for connection in &mut slow {
            // The server may have closed it.
            let _ = connection.write_all(b"x");
        }
        import("in time") == 200
    });
    assert!(waited > BODY_DEADLINE, "{waited:?}");
    for connection in slow {
        assert_failed(
            &read(connection),
            408,
            "an import with a byte every two seconds",
        );
    }
    assert_eq!(server.names(), ["in time"]);
}

#[test]
fn import_longer_than_the_timeout_returns_408() {
    let settings = [
        ("ROCKET_IMPORT_TIMEOUT", "3"),
        ("ROCKET_IMPORT_MINIMUM_RATE", "0"),
    ];
    let server = Server::sqlite(&settings);
    let request = format!("{HEAD}Content-Length: 1000\r\n\r\nname,type,year\n");
    let mut slow = server.connect(&request);
    for number in 0..6 {
        thread::sleep(Duration::from_secs(1));
        // The server may have closed it.
        let _ = slow.write_all(format!("{number},droid,1\n").as_bytes());
    }
    let answer = read(slow);
    assert_failed(&answer, 408, "an import of more than three seconds");
    assert!(answer.contains(r#""failed":1}"#), "{answer}");
}
