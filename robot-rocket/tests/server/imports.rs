//! Imports that are slow, stall or are truncated.

use std::{
    io::Write,
    thread,
    time::{Duration, Instant},
};

use robot_core::http::BODY_DEADLINE;

use crate::{
    Server, call, draft, names,
    process::{TIMEOUT, assert_failed, connection, cut_off, read, wait_for},
};

const HEAD: &str =
    "POST /api/robots/import?format=csv HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";

fn server(folder: &tempfile::TempDir) -> Server {
    Server::start(folder.path(), &[("ROCKET_WORKERS", "2")])
}

#[test]
fn truncated_import_stores_no_partial_record() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let file = "name,type,year\nR2-D2,droid,1977\nC-3PO,droid,1";
    for framing in [
        "Content-Length: 1000\r\n\r\n".to_owned(),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", file.len()),
    ] {
        let request = format!("{HEAD}{framing}{file}");
        // There may be no answer, since the client has closed its side.
        let answer = cut_off(server.address(), request.as_bytes());
        assert!(!answer.contains("\"added\":2"), "{answer}");
    }
    let is_there = || names(&server) == ["R2-D2"];
    wait_for("the robot of the complete line", TIMEOUT, is_there);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(names(&server), ["R2-D2"]);
}

#[test]
fn import_truncated_in_its_first_bytes_returns_400() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let request = format!("{HEAD}Content-Length: 1000\r\n\r\nname,type");
    let answer = cut_off(server.address(), request.as_bytes());
    assert_failed(&answer, 400, "a body of a few bytes");
}

#[test]
fn slow_import_succeeds_and_stalled_import_times_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let length = "Content-Length: 1000\r\n\r\n";
    let start = "name,type,year\n";
    let records = ["R2-D2,droid,1977\n", "C-3PO,droid,1977\n"];
    let whole = start.len() + records.concat().len();
    let head = format!("{HEAD}Content-Length: {whole}\r\n\r\n");
    let mut slow = connection(&server, &format!("{head}{start}"));
    let stalled = connection(&server, &format!("{HEAD}{length}{start}only,droid"));
    let stalled_later = connection(&server, &format!("{HEAD}{length}{start}BB-8,droid,2015\n"));
    let started = Instant::now();
    for record in records {
        thread::sleep(BODY_DEADLINE * 3 / 5);
        slow.write_all(record.as_bytes()).unwrap();
    }
    // Other clients are served meanwhile.
    let answer = call(&server.client(), "POST", "/api/robots", &draft("quick"));
    assert_eq!(answer.status, 201);
    let answer = read(slow);
    assert!(started.elapsed() > BODY_DEADLINE);
    assert!(
        answer.contains(r#"{"added":2,"replaced":0,"skipped":0,"failed":0}"#),
        "{answer}"
    );
    assert_failed(&read(stalled), 408, "a stalled import");
    // Earlier records were stored, so that the status is 200 and the timeout is a message.
    let answer = read(stalled_later);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(
        answer.ends_with(
            r#"{"status":"OK","data":{"added":1,"replaced":0,"skipped":0,"failed":1},"messages":["line 3: The request body did not arrive in time; send it again"]}"#
        ),
        "{answer}"
    );
    assert_eq!(names(&server), ["BB-8", "C-3PO", "R2-D2", "quick"]);
}

#[test]
fn import_announced_as_too_large_returns_413() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    for (query, length) in [("", 1_u64 << 31), ("&dry_run=true", 1 << 27)] {
        let head = HEAD.replace("=csv", &format!("=csv{query}"));
        let answer = cut_off(
            server.address(),
            format!("{head}Content-Length: {length}\r\n\r\nname,type,year\n").as_bytes(),
        );
        assert_failed(&answer, 413, "a body of gigabytes");
    }
}

#[test]
fn stalled_imports_leave_threads_for_others() {
    const THREADS: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(
        folder.path(),
        &[
            ("DATABASE_URL", "memory:"),
            ("ROCKET_MAX_BLOCKING", &THREADS.to_string()),
        ],
    );
    let request = format!("{HEAD}Content-Length: 1000\r\n\r\nname,type,year\n");
    let slow: Vec<_> = (0..THREADS)
        .map(|_| {
            let connection = connection(&server, &request);
            thread::sleep(Duration::from_millis(50));
            connection
        })
        .collect();
    // Lists need threads, too.
    for _ in 0..3 {
        assert_eq!(call(&server.client(), "GET", "/api/robots", "").status, 200);
    }
    let mut answers: Vec<_> = slow.into_iter().map(read).collect();
    // The first one times out; the others are rejected.
    assert_failed(&answers.remove(0), 408, "a stalled import");
    for answer in answers {
        assert_failed(&answer, 503, "one import too many");
    }
}
