//! Imports that are slow, stall or are truncated.

use std::{
    io::Write,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use robot_core::http::BODY_DEADLINE;

use crate::{
    Server,
    process::{assert_failed, assert_status, read_to_end, wait_for},
    scrape::{self, wait_until},
};

/// Begins an import of a file of a kilobyte.
fn begin(server: &Server, file: &str) -> TcpStream {
    server.connect(&request("", "Content-Length: 1000\r\n", file))
}

fn request(query: &str, framing: &str, file: &str) -> String {
    let line = format!("POST /api/robots/import?format=csv{query}");
    let headers = "Host: localhost\r\nConnection: close";
    format!("{line} HTTP/1.1\r\n{headers}\r\n{framing}\r\n{file}")
}

#[test]
fn truncated_import_stores_no_partial_record() {
    let server = Server::sqlite(&[("ROCKET_WORKERS", "2")]);
    let file = "name,type,year\nR2-D2,droid,1977\nC-3PO,droid,1";
    let chunk = format!("{:x}\r\n{file}", file.len());
    for (framing, sent) in [
        ("Content-Length: 1000\r\n", file),
        ("Transfer-Encoding: chunked\r\n", &chunk),
    ] {
        // There may be no answer, since the client has closed its side.
        let answer = server.cut_off(request("", framing, sent));
        assert!(!answer.contains("\"added\":2"), "{answer}");
    }
    let is_there = || server.names() == ["R2-D2"];
    wait_for("the robot of the complete line", is_there);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(server.names(), ["R2-D2"]);
    for (query, length, sent, status) in [
        ("", 1000, "name,type", 400),
        ("", 1_u64 << 31, "name,type,year\n", 413),
        ("&dry_run=true", 1 << 27, "name,type,year\n", 413),
    ] {
        let length = format!("Content-Length: {length}\r\n");
        let answer = server.cut_off(request(query, &length, sent));
        assert_failed(&answer, status, query);
    }
}

#[test]
fn slow_import_succeeds_and_stalled_import_times_out() {
    let server = Server::sqlite(&[("ROCKET_WORKERS", "2")]);
    let (start, records) = (
        "name,type,year\n",
        ["R2-D2,droid,1977\n", "C-3PO,droid,1977\n"],
    );
    let length = format!(
        "Content-Length: {}\r\n",
        start.len() + records.concat().len()
    );
    let mut slow = server.connect(&request("", &length, start));
    let stalled = begin(&server, &format!("{start}only,droid"));
    let stalled_later = begin(&server, &format!("{start}BB-8,droid,2015\n"));
    let started = Instant::now();
    for record in records {
        thread::sleep(BODY_DEADLINE * 3 / 5);
        slow.write_all(record.as_bytes()).unwrap();
    }
    // Other clients are served meanwhile.
    assert_eq!(server.add("quick").status, 201);
    let (answer, _) = read_to_end(&slow);
    assert!(started.elapsed() > BODY_DEADLINE);
    assert!(
        answer.contains(r#"{"added":2,"replaced":0,"skipped":0,"failed":0}"#),
        "{answer}"
    );
    assert_failed(&read_to_end(&stalled).0, 408, "a stalled import");
    // Earlier records were stored.
    let (answer, _) = read_to_end(&stalled_later);
    assert_failed(&answer, 408, "an import that stalls later");
    let expected = r#"{"status":"ERROR","data":{"added":1,"replaced":0,"skipped":0,"failed":1},"messages":["line 3: The request body did not arrive in time; send it again","To import the rest, send the file again with on_conflict=skip in the query"]}"#;
    assert!(answer.ends_with(expected), "{answer}");
    assert_eq!(server.names(), ["BB-8", "C-3PO", "R2-D2", "quick"]);
}

#[test]
fn stalled_imports_leave_threads_for_others() {
    const THREADS: usize = 8;
    let (server, metrics) = scrape::server(&[("ROCKET_MAX_BLOCKING", &*THREADS.to_string())]);
    let silent: Vec<_> = (0..4 * THREADS)
        .map(|_| begin(&server, "name,type,year\n"))
        .collect();
    wait_until(metrics, "robots_imports_running", |count| count == 1);
    // Lists need threads, too.
    assert_eq!(server.get("/api/robots").status, 200);
    // One of the silent imports has a thread, and is ended for each that has data.
    for name in ["R2-D2", "C-3PO"] {
        let file = format!("name,type,year\n{name},droid,1977\n");
        let imported = server.call("POST", "/api/robots/import?format=csv", &file);
        assert_eq!(imported.status, 200, "{name}");
    }
    assert_eq!(server.names(), ["C-3PO", "R2-D2"]);
    for connection in silent {
        let answer = read_to_end(&connection).0;
        assert!(
            answer.starts_with("HTTP/1.1 408 ") || answer.starts_with("HTTP/1.1 503 "),
            "{answer}"
        );
    }
}

#[test]
fn import_is_rejected_while_all_others_send() {
    let (server, metrics) = scrape::server(&[("ROCKET_MAX_BLOCKING", "1")]);
    let length = format!("Content-Length: {}\r\n", 1 << 30);
    let mut fast = server.connect(&request("", &length, "name,type,year\n"));
    wait_until(metrics, "robots_imports_running", |count| count == 1);
    let writer = thread::spawn(move || {
        let record = format!("{},toaster,1977\n", "x".repeat(1000));
        let mut sent = 0;
        // Until the server is stopped.
        while fast.write_all(record.as_bytes()).is_ok() {
            sent += 1;
        }
        sent
    });
    let file = "name,type,year\nlater,droid,1977\n";
    let imported = server.call("POST", "/api/robots/import?format=csv", file);
    assert_eq!(imported.status, 503);
    let rejected = "robots_blocking_threads_rejected_total{limit=\"imports\"}";
    wait_until(metrics, rejected, |count| count == 1);
    drop(server);
    assert!(writer.join().unwrap() > 0);
}

#[test]
fn trickled_imports_time_out_and_free_their_threads() {
    // Threads for two imports.
    let server = Server::sqlite(&[("ROCKET_MAX_BLOCKING", "64")]);
    let slow = [(); 2].map(|()| begin(&server, "name,type,year\n"));
    // Each byte arrives in time, but they are too few.
    let trickle = || {
        for mut connection in &slow {
            // The server may have closed it.
            let _ = connection.write_all(b"x");
        }
        thread::sleep(Duration::from_secs(1));
    };
    (0..3).for_each(|_| trickle());
    let file = "name,type,year\nlater,droid,1977\n";
    thread::scope(|scope| {
        let import = scope.spawn(|| {
            server
                .call("POST", "/api/robots/import?format=csv", file)
                .status
        });
        while !import.is_finished() {
            trickle();
        }
        assert_eq!(import.join().unwrap(), 200);
    });
    for connection in slow {
        assert_status(&read_to_end(&connection).0, 408);
    }
}

#[test]
fn import_longer_than_the_timeout_returns_408() {
    let server = Server::sqlite(&[
        ("ROCKET_IMPORT_TIMEOUT", "3"),
        ("ROCKET_IMPORT_MINIMUM_RATE", "0"),
    ]);
    let mut slow = begin(&server, "name,type,year\n");
    for number in 0..6 {
        thread::sleep(Duration::from_secs(1));
        // The server may have closed it.
        let _ = slow.write_all(format!("{number},droid,1\n").as_bytes());
    }
    let (answer, _) = read_to_end(&slow);
    assert_failed(&answer, 408, "an import of more than three seconds");
    assert!(answer.contains(r#""failed":1}"#), "{answer}");
}
