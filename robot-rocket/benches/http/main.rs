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
//!
//! The stores `standby` and `distant-standby` are private PostgreSQL servers, whose commits wait for a
//! synchronous standby without or with a delay of the network. This measures what the delay costs:
//!
//! ```text
//! cargo bench -p robot-rocket --all-features --bench http -- \
//!     --only post --store distant-standby --baseline-store standby
//! ```

#[path = "../../tests/cluster/relay.rs"]
mod relay;
mod server;
mod standby;
mod table;
mod wrk;

use std::{
    env,
    num::NonZero,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use clap::Parser;

use crate::{
    server::{STORES, Server},
    table::{Results, count},
    wrk::{ROWS, Row},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_robot-rocket");

/// Number of robots before the first row.
const ROBOTS: u32 = 100_000;

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

fn main() -> ExitCode {
    let is_passed = |wanted| env::args().any(|argument| argument == wanted);
    // Cargo passes --bench unless it runs benchmarks as tests.
    let result = if is_passed("--bench") && !is_passed("--test") {
        measure(&Arguments::parse())
    } else {
        check()
    };
    if let Err(message) = result {
        eprintln!("error: {message}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Checks everything but the load.
fn check() -> Result<(), String> {
    let results = Results {
        row: ROWS[0],
        measured: Vec::from_iter(wrk::parse("figures\t2000\t1000000\t1500\t2500\t0\n")),
        baseline: Vec::new(),
    };
    let table = table::markdown(&[results]);
    if !table.ends_with("\n| `GET` by id, 32 connections | 2,000 | 1.50 ms | 2.50 ms | 0 |") {
        return Err(format!("the table is wrong:\n{table}"));
    }
    Server::start(PROGRAM.as_ref(), "memory", &[])?.fill(1000)
}

fn measure(arguments: &Arguments) -> Result<(), String> {
    let own = PathBuf::from(PROGRAM);
    let mut servers = vec![start(&own, &arguments.store, &arguments.env)?];
    let Arguments {
        baseline,
        baseline_env,
        baseline_store,
        ..
    } = arguments;
    if baseline.is_some() || baseline_store.is_some() || !baseline_env.is_empty() {
        let program = baseline.as_ref().unwrap_or(&own);
        let store = baseline_store.as_ref().unwrap_or(&arguments.store);
        servers.push(start(program, store, baseline_env)?);
    }
    let mut results = Vec::new();
    for row in ROWS {
        if arguments.only.iter().any(|name| name == row.name) {
            results.push(compare(row, &servers, arguments)?);
        }
    }
    println!(
        "{}{}, {} robots, medians of {} runs of {} s, {} CPUs shared with wrk:\n\n{}",
        arguments.store,
        baseline_store
            .as_ref()
            .map_or_else(String::new, |store| format!(" (baseline: {store})")),
        count(ROBOTS.into()),
        arguments.rounds,
        arguments.seconds,
        thread::available_parallelism().map_or(1, NonZero::get),
        table::markdown(&results)
    );
    match results.iter().map(Results::failed).sum() {
        0.0 => Ok(()),
        failed => Err(format!("{} requests failed", count(failed))),
    }
}

fn start(program: &Path, store: &str, settings: &[(String, String)]) -> Result<Server, String> {
    let server = Server::start(program, store, settings)?;
    server.fill(ROBOTS)?;
    Ok(server)
}

/// Measures a row in rounds, in each of which every server has one run.
fn compare(row: Row, servers: &[Server], arguments: &Arguments) -> Result<Results, String> {
    let seconds = arguments.seconds.get();
    for server in servers {
        wrk::run(row, server.address, ROBOTS, seconds.min(WARM_UP_SECONDS), 0)?;
    }
    let mut runs = [Vec::new(), Vec::new()];
    for round in 1..=arguments.rounds.get() {
        eprintln!("{}: round {round} of {}", row.name, arguments.rounds);
        let mut order: Vec<_> = servers.iter().zip(&mut runs).collect();
        if round % 2 == 0 {
            order.reverse();
        }
        for (server, runs) in order {
            runs.push(wrk::run(row, server.address, ROBOTS, seconds, round)?);
        }
    }
    let [measured, baseline] = runs;
    Ok(Results {
        row,
        measured,
        baseline,
    })
}
