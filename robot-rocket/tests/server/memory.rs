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
    wait_for("the server is idle", Duration::from_secs(180), || {
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
