//! Throughput and latency of the server under the load of [wrk](https://github.com/wg/wrk):
//!
//! ```text
//! cargo bench -p robot-rocket --bench http
//! cargo bench -p robot-rocket --bench http -- --baseline /absolute/path/of/another/robot-rocket
//! cargo bench -p robot-rocket --bench http -- --only get,mix --baseline-env ROCKET_WORKERS=4
//! ```
//!
//! With a baseline, runs alternate between two servers, because absolute figures depend on the
//! machine and on what else it does. As a test, it runs without wrk.
//!
//! With `--store postgres`, each server has a new schema, and only the first one has the extension
//! `pg_trgm`. To compare searches, give the baseline an empty database of its own:
//! `--baseline-env DATABASE_URL=postgres://...`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark fails by panicking"
)]

#[expect(dead_code, reason = "the tests of the server use all of it")]
#[path = "../../tests/support/mod.rs"]
mod support;
mod table;
mod wrk;

use std::{
    env,
    fmt::Write as _,
    num::NonZero,
    path::{Path, PathBuf},
    thread,
};

use clap::Parser;
use tempfile::TempDir;

use support::process::{self, PROGRAM, command_of};
use table::{Results, count};
use wrk::{ROWS, Row};

/// Stores that a server can be measured with.
const STORES: [&str; 3] = ["sqlite", "memory", "postgres"];

/// Number of robots before the first row.
const ROBOTS: u32 = 100_000;

/// Number of robots in one import: over a database server, one of all takes longer than the client waits.
const IMPORTED: usize = 5000;

/// Longest run before those that count. Commits are slower while `SQLite`'s write-ahead log grows.
const WARM_UP_SECONDS: u32 = 2;

/// Measures the server with wrk and prints a Markdown table.
#[derive(Parser)]
struct Arguments {
    /// Server binary to compare with, as an absolute path
    #[arg(long, value_name = "PATH")]
    baseline: Option<PathBuf>,
    /// Environment variable of the measured server
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    env: Vec<(String, String)>,
    /// Environment variable of the baseline, by default the same binary
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    baseline_env: Vec<(String, String)>,
    /// Rows to measure
    #[arg(long, value_name = "ROW", value_delimiter = ',')]
    #[arg(default_values = names(), value_parser = names())]
    only: Vec<String>,
    /// Store of the robots; postgres is the server in `TEST_POSTGRES_URL`
    #[arg(long, default_value = "sqlite", value_parser = STORES)]
    store: String,
    /// Store of the baseline, by default the same
    #[arg(long, value_name = "STORE", value_parser = STORES)]
    baseline_store: Option<String>,
    /// Runs for each row
    #[arg(long, value_name = "COUNT", default_value = "5")]
    rounds: NonZero<u32>,
    /// Length of a run
    #[arg(long, value_name = "SECONDS", default_value = "4")]
    seconds: NonZero<u32>,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn names() -> [&'static str; ROWS.len()] {
    ROWS.map(|row| row.name)
}

fn setting(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn main() {
    let is_passed = |wanted| env::args().any(|argument| argument == wanted);
    // Cargo passes --bench unless it runs benchmarks as tests.
    if is_passed("--bench") && !is_passed("--test") {
        measure(&Arguments::parse());
    } else {
        check();
    }
}

/// Checks everything but the load.
fn check() {
    let results = Results {
        row: ROWS[0],
        measured: Vec::from_iter(wrk::parse("figures\t2000\t1000000\t1500\t2500\t0\n")),
        baseline: Vec::new(),
    };
    let table = table::markdown(&[results]);
    let expected = "\n| `GET` by id, 32 connections | 2,000 | 1.50 ms | 2.50 ms | 0 |";
    assert!(table.ends_with(expected), "{table}");
    Server::start(PROGRAM.as_ref(), "memory", &[], 1000);
}

/// A server and its folder.
struct Server {
    process: process::Server,
    _folder: TempDir,
}

impl Server {
    /// Starts a server over a store with robots, which have the ids from 1 and the names from
    /// `robot-000000`.
    fn start(program: &Path, store: &str, settings: &[(String, String)], robots: u32) -> Self {
        // Not in /tmp, which may be in memory, where syncing costs nothing.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let url = match store {
            "sqlite" => "sqlite://robots.db".to_owned(),
            "memory" => "memory:".to_owned(),
            #[cfg(feature = "postgres")]
            "postgres" => robot_core::conformance::scratch_database("TEST_POSTGRES_URL"),
            _ => panic!("{store} needs --features {store}"),
        };
        let program = program.canonicalize().unwrap();
        let mut command = command_of(&program, folder.path(), &[("DATABASE_URL", &url)]);
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        let launched = process::Server::launch_by(command);
        let process = launched.unwrap_or_else(|output| panic!("{output:?}"));
        let mut imported = String::new();
        for first in (0..robots).step_by(IMPORTED) {
            let mut csv = "name,type,year\n".to_owned();
            for number in (first..robots).take(IMPORTED) {
                writeln!(csv, "robot-{number:06},droid,{}", 1900 + number % 130).unwrap();
            }
            let target = "/api/robots/import?format=csv";
            imported = process.call("POST", target, &csv).text();
        }
        let last = process.get(&format!("/api/robots/{robots}")).text();
        let name = format!("\"robot-{:06}\"", robots - 1);
        assert!(
            last.contains(&name),
            "the import failed: {imported}, {last}"
        );
        Self {
            process,
            _folder: folder,
        }
    }
}

fn measure(arguments: &Arguments) {
    let own = PathBuf::from(PROGRAM);
    let mut servers = vec![Server::start(
        &own,
        &arguments.store,
        &arguments.env,
        ROBOTS,
    )];
    let Arguments {
        baseline,
        baseline_env,
        baseline_store,
        ..
    } = arguments;
    if baseline.is_some() || baseline_store.is_some() || !baseline_env.is_empty() {
        let program = baseline.as_ref().unwrap_or(&own);
        let store = baseline_store.as_ref().unwrap_or(&arguments.store);
        servers.push(Server::start(program, store, baseline_env, ROBOTS));
    }
    let rows = ROWS.into_iter();
    let rows = rows.filter(|row| arguments.only.iter().any(|name| name == row.name));
    let results: Vec<_> = rows.map(|row| compare(row, &servers, arguments)).collect();
    let baseline = baseline_store.as_ref();
    println!(
        "{}{}, {} robots, medians of {} runs of {} s, {} CPUs shared with wrk:\n\n{}",
        arguments.store,
        baseline.map_or_else(String::new, |store| format!(" (baseline: {store})")),
        count(ROBOTS.into()),
        arguments.rounds,
        arguments.seconds,
        thread::available_parallelism().map_or(1, NonZero::get),
        table::markdown(&results)
    );
    let failed: f64 = results.iter().map(Results::failed).sum();
    assert!(failed == 0.0, "{} requests failed", count(failed));
}

/// Measures a row in rounds, in each of which every server has one run.
fn compare(row: Row, servers: &[Server], arguments: &Arguments) -> Results {
    let seconds = arguments.seconds.get();
    let run = |server: &Server, seconds: u32, round: u32| {
        wrk::run(row, server.process.address(), ROBOTS, seconds, round)
    };
    for server in servers {
        run(server, seconds.min(WARM_UP_SECONDS), 0);
    }
    let mut runs = [Vec::new(), Vec::new()];
    for round in 1..=arguments.rounds.get() {
        eprintln!("{}: round {round} of {}", row.name, arguments.rounds);
        let mut order: Vec<_> = servers.iter().zip(&mut runs).collect();
        if round % 2 == 0 {
            order.reverse();
        }
        for (server, runs) in order {
            runs.push(run(server, seconds, round));
        }
    }
    let [measured, baseline] = runs;
    Results {
        row,
        measured,
        baseline,
    }
}
