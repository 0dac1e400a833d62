//! Memory for clients that send much and read nothing.

use std::{fmt::Write, fs, thread, time::Duration};

use crate::{
    Server,
    process::{cpu_time, wait_for},
};

const CONNECTIONS: usize = 64;

/// Four times the documented 100 KiB, which is an average of many more connections: with few, threads and
/// fragmentation weigh more.
const LIMIT_KIB: usize = 400;

/// The resident memory of the server in KiB.
fn resident(server: &Server) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

fn wait_until_idle(server: &Server) {
    let mut before = cpu_time(server);
    wait_for("the server is idle", || {
        thread::sleep(Duration::from_secs(1));
        let now = cpu_time(server);
        let is_idle = now <= before + 1;
        before = now;
        is_idle
    });
}

#[test]
fn silent_readers_use_bounded_memory_per_connection() {
    let settings = [
        ("ROCKET_DATABASE_TIMEOUT", "60"),
        // The page caches of more connections would count as memory of the clients.
        ("ROCKET_DATABASE_CONNECTIONS", "2"),
        ("RUST_LOG", "off"),
    ];
    let server = Server::sqlite(&settings);
    let mut robots = "name,type,year\n".to_owned();
    for number in 0..30_000 {
        writeln!(robots, "robot {number:07},droid,1977").unwrap();
    }
    let imported = server.call("POST", "/api/robots/import?format=csv", &robots);
    assert_eq!(imported.status, 200);
    wait_until_idle(&server);
    let before = resident(&server);
    let lists = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50);
    let large_head = format!(
        "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(120_000)
    );
    let body = format!(
        "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65000\r\n\r\n{}",
        " ".repeat(64_000)
    );
    for request in [lists.clone(), large_head + &lists, body] {
        let connections: Vec<_> = (0..CONNECTIONS).map(|_| server.connect(&request)).collect();
        wait_until_idle(&server);
        let used = resident(&server).saturating_sub(before) / connections.len();
        assert!(used <= LIMIT_KIB, "{used} KiB per connection");
    }
}

#[test]
fn large_robots_use_bounded_memory_per_connection() {
    const CLIENTS: usize = 60;
    const READERS: usize = 4;
    const TEXTS: usize = 6;
    const LENGTH: usize = 9_900;
    // Twice as much as they have, because threads and fragmentation weigh more with few.
    const LARGE_LIMIT_KIB: usize = 640;
    let settings = [
        ("ROCKET_DATABASE_TIMEOUT", "60"),
        ("ROCKET_DATABASE_CONNECTIONS", "2"),
        ("RUST_LOG", "off"),
    ];
    let server = Server::sqlite(&settings);
    let names: Vec<_> = (0..TEXTS).map(|number| format!("text{number}")).collect();
    let fields = names
        .iter()
        .map(|name| format!(r#""{name}":{{"type":"string","maxLength":10000}}"#));
    let fields: Vec<_> = fields.collect();
    let definition = format!(r#"{{"properties":{{{}}}}}"#, fields.join(","));
    assert_eq!(
        server.call("PUT", "/api/definition", &definition).status,
        200
    );
    let text = "x".repeat(LENGTH);
    let mut robots = format!("name,type,year,{}\n", names.join(","));
    for number in 0..1_000 {
        writeln!(
            robots,
            "robot {number:07},droid,1977{}",
            format!(",{text}").repeat(TEXTS)
        )
        .unwrap();
    }
    let imported = server.call("POST", "/api/robots/import?format=csv", &robots);
    assert_eq!(imported.status, 200);
    wait_until_idle(&server);
    let before = resident(&server);
    for path in ["?limit=1000&", "?", "/export?format=json&"] {
        let target = format!("/api/robots{path}fields=name,{}", names.join(","));
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let assert_bounded = |clients| {
            wait_until_idle(&server);
            let used = resident(&server).saturating_sub(before) / CLIENTS;
            assert!(
                used <= LARGE_LIMIT_KIB,
                "{target}: {used} KiB per {clients} client"
            );
        };
        let silent: Vec<_> = (0..CLIENTS).map(|_| server.connect(&request)).collect();
        assert_bounded("silent");
        drop(silent);
        wait_until_idle(&server);
        thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    let read = server.exchange(&request).len();
                    assert!(read > 1_000 * TEXTS * LENGTH, "{target}: {read} bytes");
                });
            }
        });
        assert_bounded("reading");
    }
}
