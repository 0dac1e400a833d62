//! The log: a line for each request, and what connects it with answers and errors.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use robot_core::conformance::{Answer, Call, Client, TcpClient};
use serde_json::Value;

use crate::{
    Server, call, draft,
    process::{TIMEOUT, ask, command, fail, output_of_failure, read, wait_for},
    scrape::{Scrape, free_address},
    strace::Injection,
};

const JSON: [(&str, &str); 2] = [("ROCKET_LOG_FORMAT", "json"), ("RUST_LOG", "info")];
const IN_MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");

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
    wait_for(message, TIMEOUT, || found().len() >= count);
    assert_eq!(found().len(), count, "{}", server.log());
    found()
}

fn send(client: &TcpClient, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
    let headers = headers.iter();
    let call = Call {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        body: Vec::new(),
    };
    client.send(&call).unwrap()
}

#[test]
fn every_request_is_logged_with_its_route() {
    let server = Server::with(&[JSON[0], JSON[1]]);
    let client = server.client();
    let requests = [
        ("POST", "/api/robots", "/api/robots", 201),
        ("GET", "/api/robots/1", "/api/robots/{id}", 200),
        ("HEAD", "/api/robots/1", "/api/robots/{id}", 200),
        ("DELETE", "/api/robots/7?x=y", "/api/robots/{id}", 404),
        (
            "GET",
            "/api/robots/search/R2",
            "/api/robots/search/{name}",
            200,
        ),
        ("BREW", "/api/robots/1", "/api/robots/{id}", 405),
        ("GET", "/", "/", 200),
        ("GET", "/page/app.js", "/page/<file>", 200),
        ("GET", "/livez", "/livez", 200),
        ("GET", "/R2-D2", "none", 404),
    ];
    let answers =
        requests.map(|(method, target, ..)| call(&client, method, target, &draft("R2-D2")));
    let lines = lines(&server, "request", requests.len());
    for (((method, target, route, status), answer), line) in
        requests.iter().zip(&answers).zip(&lines)
    {
        assert_eq!(
            (answer.status, &line["status"]),
            (*status, &Value::from(*status)),
            "{target}"
        );
        let method = if *method == "BREW" { "other" } else { method };
        assert_eq!(line["message"], "request");
        assert_eq!(
            (&line["method"], &line["route"]),
            (&method.into(), &(*route).into())
        );
        assert_eq!(line["bytes"], answer.body.len(), "{target}");
        assert_eq!(line["client"], "127.0.0.1");
        assert_eq!(
            line["request_id"].as_str(),
            answer.header("x-request-id"),
            "{target}"
        );
        assert!(line["duration_ms"].as_f64().unwrap() > 0.0, "{line}");
    }
    assert!(!server.log().contains("R2"), "{}", server.log());
}

#[test]
fn request_is_logged_with_id_token_and_address_of_the_client() {
    const TEXT: &str = "robots_for_the_test";
    let token = robot_core::http::AccessToken::of(TEXT, robot_core::http::Permission::Write);
    let token = token.named("ci".parse().unwrap()).to_string();
    let tokens = ("ROCKET_API_TOKENS", token.as_str());
    let server = Server::with(&[JSON[0], JSON[1], tokens]);
    let credentials = format!("Bearer {TEXT}");
    let headers = [
        ("Authorization", credentials.as_str()),
        ("X-Request-Id", "of-the-client"),
        ("X-Real-IP", "192.0.2.7"),
    ];
    let answer = send(&server.client(), "GET", "/api/robots", &headers);
    assert_eq!(answer.header("x-request-id"), Some("of-the-client"));
    let answer = send(
        &server.client(),
        "GET",
        "/api/robots",
        &[("X-Request-Id", "a b")],
    );
    assert_eq!(answer.status, 401);
    let [known, unknown] = &lines(&server, "request", 2)[..] else {
        panic!("two lines");
    };
    assert_eq!(known["request_id"], "of-the-client");
    assert_eq!(
        (&known["token"], &known["real_ip"]),
        (&"ci".into(), &"192.0.2.7".into())
    );
    assert_eq!(
        unknown["request_id"].as_str(),
        answer.header("x-request-id")
    );
    assert_eq!(
        (&unknown["token"], &unknown["real_ip"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn client_of_a_dual_stack_socket_is_logged_with_its_own_address() {
    let all = [("ROCKET_ADDRESS", "::"), ("ROCKET_ALLOW_ANONYMOUS", "true")];
    let server = Server::with(&[JSON[0], JSON[1], all[0], all[1]]);
    let loopback = SocketAddr::from(([127, 0, 0, 1], server.address().port()));
    assert_eq!(
        call(&TcpClient::new(loopback), "GET", "/livez", "").status,
        200
    );
    assert_eq!(lines(&server, "request", 1)[0]["client"], "127.0.0.1");
}

#[test]
fn refused_requests_and_connections_are_logged() {
    let one = ("ROCKET_MAX_CONNECTIONS", "1");
    let server = Server::with(&[JSON[0], JSON[1], one]);
    let mut first = server.connect("");
    assert!(ask(&mut first, "GET", "/livez", "").contains(" 200 "));
    let request = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    assert!(read(server.connect(request)).contains(" 503 "));
    drop(first);
    wait_for("the connection has ended", TIMEOUT, || {
        read(server.connect("nonsense\r\n\r\n")).contains(" 400 ")
    });
    let statuses = || -> Vec<Value> {
        let log = server.log();
        let lines = log
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["status"].clone()).collect()
    };
    wait_for("both are logged", TIMEOUT, || {
        statuses().contains(&400.into())
    });
    assert!(statuses().contains(&503.into()), "{}", server.log());
}

#[test]
fn request_whose_response_is_not_read_is_logged_as_aborted() {
    let server = Server::with(&[JSON[0], JSON[1]]);
    server.add_long_list();
    drop(server.connect("GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let lines = lines(&server, "request aborted", 1);
    assert_eq!(lines[0]["route"], "/api/robots");
}

#[test]
fn errors_of_the_store_are_logged_with_the_id_of_the_request() {
    // Nothing listens on this port.
    let url = (
        "DATABASE_URL",
        "postgres://robots:secret@127.0.0.1:1/robots",
    );
    let server = Server::sqlite(&[url, JSON[0]]);
    let answer = server.get("/api/robots/1");
    assert_eq!(answer.status, 503);
    let lines = lines(&server, "the store is unavailable", 1);
    assert_eq!(
        lines[0]["request_id"].as_str(),
        answer.header("x-request-id")
    );
    assert_eq!(lines[0]["level"], "WARN");
    assert!(!server.log().contains("secret"), "{}", server.log());
}

#[test]
fn slow_statements_are_logged_without_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let every = ("ROCKET_SLOW_STATEMENT", "0");
    let server = Server::start(folder.path(), &[JSON[0], every]);
    let added = server.add("R2-D2");
    assert_eq!(added.status, 201);
    lines(&server, "slow statement: INSERT INTO `robots`", 1);
    let (_, log) = server.stop("TERM");
    assert!(!log.contains("R2-D2"), "{log}");

    let server = Server::start(folder.path(), &[JSON[0], ("ROCKET_SLOW_STATEMENT", "1000")]);
    let slow = Injection::into(
        &server,
        &["robots.db-wal"],
        "fdatasync",
        "delay_enter=1500000",
    );
    let added = server.add("C-3PO");
    assert_eq!(added.status, 201);
    drop(slow);
    let lines = lines(&server, "slow statement: COMMIT", 1);
    let duration = lines[0]["duration_ms"].as_f64().unwrap();
    assert!(duration >= 1000.0, "{duration}");
}

#[test]
fn wait_for_the_write_lock_is_a_slow_statement() {
    let folder = tempfile::tempdir().unwrap();
    let limit = ("ROCKET_SLOW_STATEMENT", "200");
    let server = Server::start(folder.path(), &[JSON[0], limit]);
    let mut other = Command::new("sqlite3")
        .arg(folder.path().join("robots.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = other.stdin.take().unwrap();
    writeln!(input, "BEGIN IMMEDIATE; SELECT 'locked';").unwrap();
    let mut output = BufReader::new(other.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let client = server.client();
    let add = thread::spawn(move || call(&client, "POST", "/api/robots", &draft("R2-D2")));
    thread::sleep(Duration::from_secs(1));
    // The transaction ends with the program.
    drop(input);
    other.wait().unwrap();
    assert_eq!(add.join().unwrap().status, 201);
    let lines = lines(&server, "slow statement: BEGIN IMMEDIATE", 1);
    assert!(
        lines[0]["duration_ms"].as_f64().unwrap() >= 200.0,
        "{lines:?}"
    );
}

#[test]
fn text_is_the_default_format_and_warnings_the_default_level() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[IN_MEMORY]);
    server.get("/api/robots");
    assert_eq!(server.stop("TERM").1, "");
    let server = Server::start(
        folder.path(),
        &[IN_MEMORY, ("RUST_LOG", "robot_rocket=info")],
    );
    server.get("/api/robots");
    let (_, log) = server.stop("TERM");
    let line = log.lines().find(|line| line.contains("route=/api/robots "));
    assert!(line.is_some_and(|line| line.contains(" INFO ")), "{log}");
    assert!(!log.contains('\u{1b}'), "colours: {log}");
}

#[test]
fn warnings_are_logged_with_an_empty_or_mistyped_filter() {
    for filter in ["", "wran", "=", "wran,robot_rocket=infos"] {
        let unknown = ("ROCKET_ROBOTS", "1");
        let server = Server::with(&[unknown, ("RUST_LOG", filter)]);
        let (_, log) = server.stop("TERM");
        assert!(
            log.contains(" WARN ") && log.contains("ROCKET_ROBOTS"),
            "{filter}: {log}"
        );
    }
}

#[test]
fn unknown_format_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = fail(folder.path(), &[("ROCKET_LOG_FORMAT", "xml")]);
    let error = output_of_failure(&output);
    assert!(
        error.contains("ROCKET_LOG_FORMAT must be text or json, not 'xml'"),
        "{error}"
    );
}

#[test]
fn failed_start_is_a_json_line() {
    let folder = tempfile::tempdir().unwrap();
    let output = fail(folder.path(), &[JSON[0], ("DATABASE_URL", "nothing:")]);
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
    const BATCHES: usize = 120;
    const BATCH: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let metrics = free_address();
    let setting = ("ROCKET_METRICS_ADDRESS", &*metrics.to_string());
    let mut command = command(folder.path(), &[IN_MEMORY, JSON[0], JSON[1], setting]);
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut greeting = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut greeting).unwrap();
    let (_, address) = greeting.split_once("://").unwrap();
    let (address, _) = address.split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines();
    for _ in 0..BATCHES {
        let requests = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(BATCH);
        stream.write_all(requests.as_bytes()).unwrap();
        let answered = answers.by_ref().map(Result::unwrap);
        assert_eq!(
            answered.filter(|line| line == "alive").take(BATCH).count(),
            BATCH
        );
    }
    let lost = Scrape::of(metrics).value("robots_log_lines_lost_total");
    assert!((1..2_000).contains(&lost), "{lost}");
    server.kill().unwrap();
    server.wait().unwrap();
}
