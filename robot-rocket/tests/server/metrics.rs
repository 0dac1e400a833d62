//! Metrics: that they change, and that they are served.

use std::{collections::BTreeSet, io::Write as _, net::TcpStream};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};

use crate::{
    draft,
    process::{assert_status, exchange, read_to_end},
    scrape::{Scrape, server, wait_until},
};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");

const COMMITTED: &str = "robots_store_commits_total{result=\"committed\"}";
const DURATIONS: &str = "robots_store_batch_duration_seconds_count{queue=\"changes\"}";
const WAITS: &str = "robots_store_queue_wait_seconds_count{queue=\"changes\"}";

#[test]
fn changes_are_counted() {
    let (server, address) = server(&[]);
    for (name, count) in [("R2-D2", 1), ("C-3PO", 2)] {
        Scrape::of(address).assert(&[
            ("robots_store_commits_total{result=\"failed\"}", 0),
            (COMMITTED, count - 1),
            ("robots_store_queue_length{queue=\"changes\"}", 0),
            ("robots_store_connections_busy{queue=\"changes\"}", 0),
            ("robots_store_errors_total{error=\"unavailable\"}", 0),
        ]);
        assert_eq!(server.add(name).status, 201);
        Scrape::of(address).assert(&[
            (COMMITTED, count),
            ("robots_store_batch_size_sum{queue=\"changes\"}", count),
            (DURATIONS, count),
            (WAITS, count),
            ("robots_sqlite_commit_duration_seconds_count", count),
        ]);
    }
    wait_until(address, "robots_sqlite_log_bytes", |bytes| bytes > 0);
}

#[test]
fn locked_database_shows_in_errors_and_queue() {
    let (server, address) = server(&[("ROCKET_DATABASE_TIMEOUT", "1")]);
    let file = server.folder().join("robots.db");
    let mut other = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let request = || {
        let head = "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close";
        let body = draft("R2-D2");
        let length = body.len();
        server.connect(&format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}"))
    };
    let first = request();
    let busy = "robots_store_connections_busy{queue=\"changes\"}";
    wait_until(address, busy, |count| count == 1);
    let _second = request();
    let queued = "robots_store_queue_length{queue=\"changes\"}";
    wait_until(address, queued, |count| count == 1);
    assert_status(&read_to_end(&first).0, 503);
    for sample in [
        "robots_store_errors_total{error=\"unavailable\"}",
        "robots_store_commits_total{result=\"failed\"}",
    ] {
        wait_until(address, sample, |count| count >= 1);
    }
}

#[test]
fn imports_and_checkpoints_are_counted() {
    let (server, address) = server(&[]);
    let import = |option: &str, body: &str| {
        let target = format!("/api/robots/import?format=ndjson&on_conflict=skip{option}");
        assert_eq!(server.call("POST", &target, body).status, 200);
    };
    import("", &(draft("R2-D2") + "\n{}\n"));
    import("&atomic=true", &draft("R2-D2"));
    Scrape::of(address).assert(&[
        ("robots_import_records_read_total", 3),
        ("robots_import_records_total{outcome=\"added\"}", 1),
        ("robots_import_records_total{outcome=\"skipped\"}", 1),
        ("robots_import_records_total{outcome=\"failed\"}", 1),
        ("robots_imports_running", 0),
    ]);
    // An import that has not ended.
    let head = "POST /api/robots/import?format=ndjson HTTP/1.1\r\nHost: localhost";
    let mut running = server.connect(&format!("{head}\r\nContent-Length: 99999\r\n\r\n"));
    let (imports, threads) = ("robots_imports_running", "robots_blocking_threads_busy");
    wait_until(address, imports, |count| count == 1);
    wait_until(address, threads, |count| count >= 1);
    running.write_all(draft("C-3PO").as_bytes()).unwrap();
    drop(running);
    wait_until(address, imports, |count| count == 0);
    wait_until(address, threads, |count| count == 0);

    server.add_long_list();
    let complete = "robots_sqlite_checkpoints_total{result=\"complete\"}";
    wait_until(address, complete, |count| count >= 1);
    let full = "robots_sqlite_checkpoints_total{result=\"disk_full\"}";
    Scrape::of(address).assert(&[(full, 0)]);
    let duration = "robots_sqlite_checkpoint_duration_seconds_count";
    wait_until(address, duration, |count| count >= 1);
}

#[test]
fn connections_and_bytes_are_counted() {
    let (server, address) = server(&[MEMORY, ("ROCKET_MAX_CONNECTIONS", "2")]);
    let connections = [(); 2].map(|()| server.connect(""));
    wait_until(address, "robots_http_connections", |count| count == 2);
    read_to_end(&server.connect(""));
    Scrape::of(address).assert(&[
        ("robots_http_connections_limit", 2),
        ("robots_http_connections_accepted_total", 3),
        ("robots_http_connections_rejected_total{limit=\"all\"}", 1),
    ]);
    drop(connections);
    wait_until(address, "robots_http_connections", |count| count == 0);
    let before = Scrape::of(address);
    let request = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = server.exchange(request);
    let after = Scrape::of(address);
    for (sample, text) in [
        ("robots_http_received_bytes_total", request),
        ("robots_http_sent_bytes_total", &answer),
    ] {
        let grown = after.value(sample) - before.value(sample);
        assert_eq!(grown, text.len() as u64, "{sample}");
    }
}

#[test]
fn only_metrics_can_be_read() {
    let (server, address) = server(&[MEMORY]);
    // Nothing is on the main address.
    assert_eq!(server.get("/metrics").status, 404);
    let silent = [(); 20].map(|()| TcpStream::connect(address).unwrap());
    for (request, host, status) in [
        ("GET /metrics", "localhost", 200),
        ("GET /metrics", "10.1.2.3:9100", 200),
        ("GET /metrics", "robots.example", 421),
        ("GET /metrics?name=x", "localhost", 200),
        ("HEAD /metrics", "localhost", 200),
        ("POST /metrics", "localhost", 404),
        ("ROBOT /metrics", "localhost", 404),
        ("GET /", "localhost", 404),
        ("GET /api/robots", "localhost", 404),
        ("GET /metrics/", "localhost", 404),
    ] {
        let sent = format!("{request} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let answer = exchange(address, sent.as_bytes());
        assert_status(&answer, status);
        let has_text = answer.contains("# TYPE ");
        assert_eq!(has_text, request.starts_with("GET") && status == 200);
    }
    drop(silent);
}

#[test]
fn hostile_requests_add_no_labels() {
    let (server, address) = server(&[MEMORY]);
    for number in 0..20 {
        for line in [
            format!("GET /api/robots/{number}99"),
            format!("GET /api/robots/search/{number}%22%7D%0A"),
            format!("GET /{number}/%22,x=%22"),
            format!("GET /page/{number}"),
            format!("ROBOT{number} /api/robots"),
            format!("get{number} /{number}"),
        ] {
            let headers = format!("Host: localhost\r\nX-Robot: {number}\r\n");
            server.ask(&line, &headers, "");
        }
        let answer = server.exchange(format!("{number} no request \u{1}\r\n\r\n"));
        assert_status(&answer, 400);
    }
    wait_until(address, "robots_http_requests_running", |count| count == 0);
    let scrape = Scrape::of(address);
    let labels = |name: &str| -> BTreeSet<&str> {
        let start = format!("{name}=\"");
        let values = scrape.0.lines().filter_map(|line| line.split_once(&start));
        values
            .filter_map(|(_, rest)| rest.split('"').next())
            .collect()
    };
    for (name, expected) in [
        (
            "route",
            "/api/robots /api/robots/search/{name} /api/robots/{id} none",
        ),
        ("method", "GET none other"),
        ("token", "none"),
        ("status", "200 400 404 405 501"),
    ] {
        let expected = expected.split(' ').collect();
        let unexpected: Vec<_> = labels(name).difference(&expected).copied().collect();
        assert_eq!(unexpected, [""; 0], "{name}");
    }
}
