//! Metrics: that they change, and that they are served.

use std::{
    fs,
    io::Write as _,
    net::{SocketAddr, TcpListener, TcpStream},
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};

use crate::{
    Server, call, draft,
    process::{TIMEOUT, command, connection, exchange, fail, output_of_failure, wait_for},
    scrape::{Scrape, free_address, server},
};

/// Waits until a sample has a value.
#[track_caller]
fn wait_until(address: SocketAddr, sample: &str, is_met: impl Fn(u64) -> bool) {
    wait_for(sample, TIMEOUT, || {
        Scrape::of(address).find(sample).is_some_and(&is_met)
    });
}

#[test]
fn metrics_are_off_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let threads = |server: &Server| -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
        let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm"));
        tasks.filter_map(|task| name(task.unwrap()).ok()).collect()
    };
    let has_metrics = |server: &Server| threads(server).contains(&"robot-metrics\n".to_owned());
    let memory = [("DATABASE_URL", "memory:")];
    assert!(!has_metrics(&Server::start(folder.path(), &memory)));
    let (server, _) = server(folder.path(), &memory);
    assert!(has_metrics(&server));
    // Nothing is on the main address.
    assert_eq!(call(&server.client(), "GET", "/metrics", "").status, 404);
}

#[test]
fn changes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path(), &[]);
    let before = Scrape::of(address);
    for sample in [
        "robots_store_commits_total{result=\"committed\"}",
        "robots_store_commits_total{result=\"failed\"}",
        "robots_store_batch_size_count{queue=\"changes\"}",
        "robots_store_batch_duration_seconds_count{queue=\"changes\"}",
        "robots_store_queue_wait_seconds_count{queue=\"changes\"}",
        "robots_store_queue_length{queue=\"changes\"}",
        "robots_store_connections_busy{queue=\"changes\"}",
        "robots_store_errors_total{error=\"unavailable\"}",
    ] {
        assert_eq!(before.value(sample), 0, "{sample}");
    }
    for name in ["R2-D2", "C-3PO"] {
        assert_eq!(
            call(&server.client(), "POST", "/api/robots", &draft(name)).status,
            201
        );
    }
    let after = Scrape::of(address);
    for sample in [
        "robots_store_commits_total{result=\"committed\"}",
        "robots_store_batch_size_sum{queue=\"changes\"}",
        "robots_store_batch_duration_seconds_count{queue=\"changes\"}",
        "robots_store_queue_wait_seconds_count{queue=\"changes\"}",
        "robots_sqlite_commit_duration_seconds_count",
    ] {
        assert_eq!(after.value(sample), 2, "{sample}");
    }
    wait_until(address, "robots_sqlite_log_bytes", |bytes| bytes > 0);
}

#[test]
fn locked_database_shows_in_errors_and_queue() {
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path(), &[("ROCKET_DATABASE_TIMEOUT", "1")]);
    let file = folder.path().join("robots.db");
    let mut other = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let request = |name: &str| {
        let body = draft(name);
        let length = body.len();
        let head = "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close";
        connection(
            &server,
            &format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}"),
        )
    };
    let first = request("R2-D2");
    let busy = "robots_store_connections_busy{queue=\"changes\"}";
    wait_until(address, busy, |count| count == 1);
    let _second = request("C-3PO");
    let queued = "robots_store_queue_length{queue=\"changes\"}";
    wait_until(address, queued, |count| count == 1);
    let answer = crate::process::read(first);
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    let error = "robots_store_errors_total{error=\"unavailable\"}";
    wait_until(address, error, |count| count >= 1);
    let failed = "robots_store_commits_total{result=\"failed\"}";
    assert!(Scrape::of(address).value(failed) >= 1);
}

#[test]
fn imports_and_checkpoints_are_counted() {
    const ROBOTS: usize = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path(), &[]);
    let import_with = |option: &str, body: &str| {
        let target = format!("/api/robots/import?format=ndjson&on_conflict=skip{option}");
        let answer = call(&server.client(), "POST", &target, body);
        assert_eq!(answer.status, 200, "{}", answer.text());
    };
    let import = |body: &str| import_with("", body);
    import(&(draft("R2-D2") + "\n{}\n"));
    import_with("&atomic=true", &draft("R2-D2"));
    let scrape = Scrape::of(address);
    for (sample, value) in [
        ("robots_import_records_read_total", 3),
        ("robots_import_records_total{outcome=\"added\"}", 1),
        ("robots_import_records_total{outcome=\"skipped\"}", 1),
        ("robots_import_records_total{outcome=\"failed\"}", 1),
        ("robots_imports_running", 0),
    ] {
        assert_eq!(scrape.value(sample), value, "{sample}");
    }
    // An import that has not ended.
    let head = "POST /api/robots/import?format=ndjson HTTP/1.1\r\nHost: localhost";
    let mut running = connection(&server, &format!("{head}\r\nContent-Length: 99999\r\n\r\n"));
    wait_until(address, "robots_imports_running", |count| count == 1);
    let threads = "robots_blocking_threads_busy";
    wait_until(address, threads, |count| count >= 1);
    running.write_all(draft("C-3PO").as_bytes()).unwrap();
    drop(running);
    wait_until(address, "robots_imports_running", |count| count == 0);
    wait_until(address, threads, |count| count == 0);

    import(
        &(0..ROBOTS)
            .map(|number| draft(&number.to_string()) + "\n")
            .collect::<String>(),
    );
    let complete = "robots_sqlite_checkpoints_total{result=\"complete\"}";
    wait_until(address, complete, |count| count >= 1);
    let full = "robots_sqlite_checkpoints_total{result=\"disk_full\"}";
    assert_eq!(Scrape::of(address).value(full), 0);
    let duration = "robots_sqlite_checkpoint_duration_seconds_count";
    assert!(Scrape::of(address).value(duration) >= 1);
}

#[test]
fn connections_and_bytes_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", "memory:"), ("ROCKET_MAX_CONNECTIONS", "2")];
    let (server, address) = server(folder.path(), &settings);
    let connections: Vec<TcpStream> = (0..2).map(|_| connection(&server, "")).collect();
    wait_until(address, "robots_http_connections", |count| count == 2);
    let _rejected = crate::process::read_to_end(&connection(&server, "")).0;
    let scrape = Scrape::of(address);
    for (sample, value) in [
        ("robots_http_connections_limit", 2),
        ("robots_http_connections_accepted_total", 3),
        ("robots_http_connections_rejected_total{limit=\"all\"}", 1),
    ] {
        assert_eq!(scrape.value(sample), value, "{sample}");
    }
    drop(connections);
    wait_until(address, "robots_http_connections", |count| count == 0);
    let before = Scrape::of(address);
    let request = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = exchange(server.address(), request.as_bytes());
    let after = Scrape::of(address);
    let grown = |sample| after.value(sample) - before.value(sample);
    let length = |text: &str| text.len() as u64;
    assert_eq!(grown("robots_http_received_bytes_total"), length(request));
    assert_eq!(grown("robots_http_sent_bytes_total"), length(&answer));
}

#[test]
fn reads_on_other_threads_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    // The only worker does not read.
    let (server, address) = server(folder.path(), &[("ROCKET_WORKERS", "1")]);
    // Checks of the store are counted, too.
    let moved = "robots_sqlite_moved_reads_total";
    wait_until(address, moved, |count| count > 0);
    let before = Scrape::of(address).value(moved);
    assert_eq!(
        call(&server.client(), "GET", "/api/robots/1", "").status,
        200
    );
    assert!(Scrape::of(address).value(moved) > before);
    let waits = "robots_store_pool_wait_seconds_count";
    assert!(Scrape::of(address).value(waits) >= 1);
}

#[test]
fn state_of_the_process_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, address) = server(folder.path(), &[("DATABASE_URL", "memory:")]);
    wait_until(address, "robots_ready", |ready| ready == 1);
    let scrape = Scrape::of(address);
    let version = env!("CARGO_PKG_VERSION");
    let build = format!("\nrobots_build_info{{version=\"{version}\",features=\"sqlite");
    assert!(scrape.0.contains(&build), "{}", scrape.0);
    for sample in [
        "process_start_time_seconds",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_max_fds",
        "process_threads",
    ] {
        assert!(scrape.value(sample) >= 1, "{sample}");
    }
    assert!(scrape.find("process_cpu_seconds_total").is_some());
}

#[test]
fn only_metrics_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, address) = server(folder.path(), &[("DATABASE_URL", "memory:")]);
    for (request, host, status) in [
        ("GET /metrics", "localhost", "200 OK"),
        ("GET /metrics", "10.1.2.3:9100", "200 OK"),
        ("GET /metrics", "robots.example", "421 Misdirected Request"),
        ("GET /metrics?name=x", "localhost", "200 OK"),
        ("HEAD /metrics", "localhost", "200 OK"),
        ("POST /metrics", "localhost", "405 Method Not Allowed"),
        ("ROBOT /metrics", "localhost", "405 Method Not Allowed"),
        ("GET /", "localhost", "404 Not Found"),
        ("GET /api/robots", "localhost", "404 Not Found"),
        ("GET /metrics/", "localhost", "404 Not Found"),
    ] {
        let sent = format!("{request} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let answer = exchange(address, sent.as_bytes());
        let expected = format!("HTTP/1.1 {status}\r\n");
        assert!(answer.starts_with(&expected), "{request}: {answer}");
        assert_eq!(
            answer.contains("\r\nallow: GET, HEAD\r\n"),
            status.starts_with("405")
        );
        let has_text = answer.contains("# TYPE ");
        assert_eq!(has_text, request.starts_with("GET") && status == "200 OK");
    }
}

#[test]
fn silent_clients_delay_metrics_only_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, address) = server(folder.path(), &[("DATABASE_URL", "memory:")]);
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    assert!(!Scrape::of(address).0.is_empty());
    drop(silent);
}

#[test]
fn wrong_address_is_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        "localhost",
        "9100",
        "127.0.0.1",
        "127.0.0.1:high",
        ":9100",
        "",
    ] {
        let setting = [("ROCKET_METRICS_ADDRESS", text)];
        let started = output_of_failure(&fail(folder.path(), &setting));
        let words = "ROCKET_METRICS_ADDRESS must be an address with a port, as in 127.0.0.1:9100";
        assert!(started.contains(words), "{started}");
        let checked = command(folder.path(), &setting).arg("--check").output();
        assert_eq!(output_of_failure(&checked.unwrap()), started);
    }
    let taken = TcpListener::bind(free_address()).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (address, remedy) in [
        (
            address.as_str(),
            "stop the program that uses this port, or choose another",
        ),
        (
            "192.0.2.1:9100",
            "choose another ROCKET_METRICS_ADDRESS: one of this machine",
        ),
    ] {
        let error = output_of_failure(&fail(folder.path(), &[("ROCKET_METRICS_ADDRESS", address)]));
        let words = format!("cannot listen on {address} for metrics: ");
        assert!(error.contains(&words) && error.contains(remedy), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
