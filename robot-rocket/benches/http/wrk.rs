//! Runs of wrk.

use std::{net::SocketAddr, num::NonZero, process::Command, thread};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/http/requests.lua");

/// A kind of load, which is a row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Name in the script and on the command line.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) connections: u32,
}

/// Rows in the order of measurement: those that add robots come last.
#[rustfmt::skip]
pub(crate) const ROWS: [Row; 5] = [
    Row { name: "get", title: "`GET` by id", connections: 32 },
    Row { name: "list", title: "list of 1,000 robots", connections: 32 },
    Row { name: "search", title: "search with 10 results", connections: 32 },
    Row { name: "mix", title: "95 % `GET`, 5 % `POST`", connections: 32 },
    Row { name: "post", title: "`POST`", connections: 64 },
];

/// Figures of one run. Times are in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    pub(crate) median: f64,
    pub(crate) p99: f64,
    /// Responses with status 4xx or 5xx, failed connections and timeouts.
    pub(crate) failed: f64,
}

/// Puts a row's load on a server with robots 1 to `robots`.
pub(crate) fn run(row: Row, server: SocketAddr, robots: u32, seconds: u32, seed: u32) -> Figures {
    let threads = thread::available_parallelism().map_or(1, NonZero::get) / 2;
    let output = Command::new("wrk")
        .arg(format!("--threads={}", threads.clamp(1, 8)))
        .arg(format!("--connections={}", row.connections))
        .arg(format!("--duration={seconds}s"))
        .arg(format!("--script={SCRIPT}"))
        .args([&format!("http://{server}"), "--", row.name])
        .args([seed.to_string(), robots.to_string()])
        .output()
        .unwrap_or_else(|error| panic!("cannot run wrk (Debian package wrk): {error}"));
    let printed = String::from_utf8_lossy(&output.stdout);
    parse(&printed).unwrap_or_else(|| panic!("wrk failed: {output:?}"))
}

/// Finds the line that the script prints at the end of a run.
pub(crate) fn parse(printed: &str) -> Option<Figures> {
    let mut lines = printed.lines();
    let line = lines.find_map(|line| line.strip_prefix("figures\t"))?;
    let numbers: Result<Vec<f64>, _> = line.split('\t').map(str::parse).collect();
    let [requests, duration, median, p99, failed] = numbers.ok()?[..] else {
        return None;
    };
    Some(Figures {
        per_second: requests * 1e6 / duration,
        median: median / 1000.0,
        p99: p99 / 1000.0,
        failed,
    })
}
