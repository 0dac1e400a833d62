//! The log: a line for each request, and what connects it with answers and errors.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    process::Stdio,
    thread,
    time::Duration,
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use robot_core::conformance::TcpClient;
use serde_json::{Value, json};

use crate::{
    Server, call, draft,
    process::{ask, assert_status, command, fail, read_to_end, wait_for, wait_for_progress},
    scrape::{self, Scrape, free_address, wait_until},
    send,
    strace::Injection,
    token,
};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");
const JSON: (&str, &str) = ("ROCKET_LOG_FORMAT", "json");
const INFO: (&str, &str) = ("RUST_LOG", "info");

const RUNNING: &str = "robots_http_requests_running";
const ABORTED: &str = "robots_http_requests_aborted_total";

/// Waits for this number of lines that have a message, and returns them.
fn lines(server: &Server, message: &str, count: usize) -> Vec<Value> {
    let found = || -> Vec<Value> {
        let log = server.log();
        let complete = log
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        let lines = complete.map(|line| serde_json::from_str(line).unwrap());
        let has_message = |line: &Value| line["message"].as_str().unwrap().starts_with(message);
        lines.filter(has_message).collect()
    };
    let found = wait_for_progress(message, found, |found| found.len() >= count);
    assert_eq!(found.len(), count, "{}", server.log());
    found
}

#[test]
fn every_request_is_logged_and_counted_by_its_route() {
    let (server, metrics) = scrape::server(&[MEMORY, JSON, INFO, ("ROCKET_STATIC_DIR", ".")]);
    // A body that states its length, and is read in pieces.
    fs::write(server.folder().join("large.txt"), "x".repeat(300_000)).unwrap();
    let (robots, robot) = ("/api/robots", "/api/robots/{id}");
    let search = "/api/robots/search/{name}";
    let requests = [
        ("POST", robots, robots, 201),
        ("GET", "/api/robots/1", robot, 200),
        ("HEAD", "/api/robots/1", robot, 200),
        ("DELETE", "/api/robots/7?x=y", robot, 404),
        ("GET", "/api/robots/search/R2", search, 200),
        ("BREW", "/api/robots/1", robot, 405),
        ("GET", "/", "/", 200),
        ("GET", "/page/app.js", "/page/<file>", 200),
        ("GET", "/large.txt", "/<path..>", 200),
        ("GET", "/livez", "/livez", 200),
        ("GET", "/R2-D2", "none", 404),
    ];
    for (number, (method, target, route, status)) in requests.into_iter().enumerate() {
        let answer = server.call(method, target, &draft("R2-D2"));
        assert_eq!(answer.status, status, "{target}");
        let method = if method == "BREW" { "other" } else { method };
        let line = lines(&server, "request", number + 1).remove(number);
        for (field, expected) in [
            ("message", json!("request")),
            ("method", json!(method)),
            ("route", json!(route)),
            ("status", json!(status)),
            ("bytes", json!(answer.body.len())),
            ("client", json!("127.0.0.1")),
            ("request_id", json!(answer.header("x-request-id"))),
        ] {
            assert_eq!(line[field], expected, "{target}: {field}");
        }
        assert!(line["duration_ms"].as_f64() > Some(0.0), "{line}");
        let labels = format!("route=\"{route}\",method=\"{method}\"");
        let requests = format!("robots_http_requests_total{{{labels},status=\"{status}\"}}");
        let durations = format!("robots_http_request_duration_seconds_count{{{labels}}}");
        for sample in [requests, durations] {
            wait_until(metrics, &sample, |count| count == 1);
        }
    }
    assert!(!server.log().contains("R2"), "{}", server.log());
    wait_until(metrics, RUNNING, |count| count == 0);
    wait_until(metrics, ABORTED, |count| count == 0);
}

#[test]
fn request_is_recorded_with_id_token_and_address_of_the_client() {
    // A socket for both versions of IP.
    let all = ("ROCKET_ADDRESS", "::");
    let token = token("ci");
    let settings = [MEMORY, JSON, INFO, all, ("ROCKET_API_TOKENS", &*token)];
    let (server, metrics) = scrape::server(&settings);
    let client = TcpClient::new(SocketAddr::from(([127, 0, 0, 1], server.address().port())));
    let headers = [
        ("Authorization", "Bearer robots_ci"),
        ("X-Request-Id", "of-the-client"),
        ("X-Real-IP", "192.0.2.7"),
    ];
    let known = send(&client, "GET", "/api/robots", &headers, "");
    assert_eq!(known.header("x-request-id"), Some("of-the-client"));
    let headers = [("X-Request-Id", "a b")];
    let unknown = send(&client, "GET", "/api/robots", &headers, "");
    assert_eq!(unknown.status, 401);
    let lines = lines(&server, "request", 2);
    for (line, answer, token, real_ip) in [
        (&lines[0], known, json!("ci"), json!("192.0.2.7")),
        (&lines[1], unknown, Value::Null, Value::Null),
    ] {
        assert_eq!(line["request_id"].as_str(), answer.header("x-request-id"));
        assert_eq!((&line["token"], &line["real_ip"]), (&token, &real_ip));
        assert_eq!(line["client"], "127.0.0.1");
        let token = token.as_str().unwrap_or("none");
        let sample = format!("robots_http_token_requests_total{{token=\"{token}\"}}");
        wait_until(metrics, &sample, |count| count == 1);
    }
}

#[test]
fn refused_and_aborted_requests_are_recorded() {
    let server = Server::with(&[JSON, INFO, ("ROCKET_MAX_CONNECTIONS", "1")]);
    let mut first = server.connect("");
    assert_status(&ask(&mut first, "GET", "/livez", ""), 200);
    assert_status(&server.exchange("GET / HTTP/1.1\r\n\r\n"), 503);
    drop(first);
    wait_for("the connection has ended", || {
        server.exchange("nonsense\r\n\r\n").contains(" 400 ")
    });
    for status in ["503", "400"] {
        let field = format!("\"status\":{status}");
        server.wait_for_log(&field);
    }
    let (server, metrics) = scrape::server(&[MEMORY, JSON, INFO]);
    server.add_long_list();
    let unread = server.connect("GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n");
    unread.peek(&mut [0]).unwrap();
    wait_until(metrics, RUNNING, |count| count == 1);
    drop(unread);
    wait_until(metrics, ABORTED, |count| count == 1);
    wait_until(metrics, RUNNING, |count| count == 0);
    let lines = lines(&server, "request aborted", 1);
    assert_eq!(lines[0]["route"], "/api/robots");
}

#[test]
fn errors_of_the_store_are_logged_with_the_id_of_the_request() {
    // Nothing listens on this port.
    let url = "postgres://robots:secret@127.0.0.1:1/robots";
    let server = Server::with(&[("DATABASE_URL", url), JSON]);
    let answer = server.get("/api/robots/1");
    assert_eq!(answer.status, 503);
    let line = lines(&server, "the store is unavailable", 1).remove(0);
    assert_eq!(line["request_id"].as_str(), answer.header("x-request-id"));
    assert_eq!(line["level"], "WARN");
    assert!(!server.log().contains("secret"), "{}", server.log());
}

#[test]
fn slow_statements_are_logged_without_their_values() {
    let server = Server::sqlite(&[JSON, ("ROCKET_SLOW_STATEMENT", "0")]);
    assert_eq!(server.add("R2-D2").status, 201);
    lines(&server, "slow statement: INSERT INTO robots (", 1);
    let (_, log) = server.stop("TERM");
    assert!(!log.contains("R2-D2"), "{log}");

    let server = Server::sqlite(&[JSON, ("ROCKET_SLOW_STATEMENT", "500")]);
    let assert_slow = |statement: &str| {
        let line = lines(&server, &format!("slow statement: {statement}"), 1).remove(0);
        assert!(line["duration_ms"].as_f64() >= Some(500.0), "{line}");
    };
    let slow = Injection::into(
        &server,
        &["robots.db-wal"],
        "fdatasync",
        "delay_enter=700000",
    );
    assert_eq!(server.add("C-3PO").status, 201);
    drop(slow);
    assert_slow("COMMIT");
    // So is the wait for a lock.
    let file = server.folder().join("robots.db");
    let mut other = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let client = server.client();
    let add = thread::spawn(move || call(&client, "POST", "/api/robots", &draft("BB-8")));
    thread::sleep(Duration::from_secs(1));
    drop(other);
    assert_eq!(add.join().unwrap().status, 201);
    assert_slow("BEGIN IMMEDIATE");
}

#[test]
fn text_is_the_default_format_and_warnings_the_default_level() {
    let server = Server::memory();
    server.get("/api/robots");
    assert_eq!(server.stop("TERM").1, "");
    let server = Server::with(&[("RUST_LOG", "robot_rocket=info")]);
    server.get("/api/robots");
    let (_, log) = server.stop("TERM");
    let line = log.lines().find(|line| line.contains("route=/api/robots "));
    assert!(line.is_some_and(|line| line.contains(" INFO ")), "{log}");
    assert!(!log.contains('\u{1b}'), "colours: {log}");
    for filter in ["", "wran", "=", "wran,robot_rocket=infos"] {
        let server = Server::with(&[("ROCKET_ROBOTS", "1"), ("RUST_LOG", filter)]);
        let (_, log) = server.stop("TERM");
        assert!(
            log.contains(" WARN ") && log.contains("ROCKET_ROBOTS"),
            "{filter}: {log}"
        );
    }
}

#[test]
fn failed_start_is_a_json_line() {
    let folder = tempfile::tempdir().unwrap();
    let output = fail(folder.path(), &[JSON, ("DATABASE_URL", "nothing:")]);
    let line: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(line["level"], "ERROR");
    assert!(
        line["message"].as_str().unwrap().contains("nothing"),
        "{line}"
    );
}

#[test]
fn blocked_log_does_not_block_requests() {
    // More lines than a pipe takes and the server keeps.
    const LINES: usize = 12_000;
    let folder = tempfile::tempdir().unwrap();
    let metrics = free_address();
    let setting = ("ROCKET_METRICS_ADDRESS", &*metrics.to_string());
    let mut command = command(folder.path(), &[MEMORY, JSON, INFO, setting]);
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut greeting = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut greeting).unwrap();
    let address = greeting
        .split(['/', ' '])
        .find(|part| part.starts_with("127."))
        .unwrap();
    let stream = TcpStream::connect(address).unwrap();
    let mut sending = stream.try_clone().unwrap();
    let requests = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(LINES - 1);
    let last = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    thread::spawn(move || sending.write_all((requests + last).as_bytes()));
    let (answers, _) = read_to_end(&stream);
    assert_eq!(answers.matches("\r\n\r\nalive\n").count(), LINES);
    let lost = Scrape::of(metrics).value("robots_log_lines_lost_total");
    assert!((1..2_000).contains(&lost), "{lost}");
    server.kill().unwrap();
    server.wait().unwrap();
}
