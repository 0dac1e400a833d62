//! PgBouncer between the server and PostgreSQL. Only a pooler that keeps sessions can be used.

use std::{
    io::Write,
    mem,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    database_server::Folder,
    options::Run,
    process::{Server, fail, output_of_failure},
    workload::{Ledger, Workload},
};

/// A PostgreSQL server with a pooler of each of these modes, and their URLs.
fn poolers<const COUNT: usize>(modes: [&str; COUNT]) -> (Folder, [String; COUNT]) {
    let servers = Folder::new();
    servers.run(&["start", "postgres", "server"]);
    let start = |mode| servers.run(&["pgbouncer", "server", mode, mode]).concat();
    let urls = modes.map(start);
    (servers, urls)
}

fn assert_refused(url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let message = output_of_failure(&fail(folder.path(), &[("DATABASE_URL", url)]));
    let expected = "does not keep sessions; let it pool sessions (PgBouncer: pool_mode = session)";
    assert!(message.contains(expected), "{message}");
}

pub(crate) fn pooler_without_sessions_is_refused(_: &Run) {
    let (_servers, urls) = poolers(["transaction", "statement"]);
    for url in &urls {
        assert_refused(url);
    }
}

/// Other clients use the sessions of the pooler between the statements of the server.
pub(crate) fn busy_pooler_without_sessions_is_refused(_: &Run) {
    let (_servers, [url]) = poolers(["transaction"]);
    let is_over = AtomicBool::new(false);
    // A failed assertion does not end the clients.
    let end = Instant::now() + Duration::from_secs(60);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut psql = Command::new("psql");
                psql.args([&url, "--quiet", "--output=/dev/null"]);
                let mut psql = psql.stdin(Stdio::piped()).spawn().unwrap();
                let mut statements = psql.stdin.take().unwrap();
                while !is_over.load(Ordering::Relaxed) && Instant::now() < end {
                    let transaction = b"BEGIN\\; SELECT pg_sleep(0.001)\\; COMMIT;\n";
                    statements.write_all(transaction).unwrap();
                }
                drop(statements);
                assert!(psql.wait().unwrap().success());
            });
        }
        for _ in 0..5 {
            assert_refused(&url);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

pub(crate) fn pooler_with_sessions_serves_all_calls(run: &Run) {
    let (_servers, [url]) = poolers(["session"]);
    let server = Server::sqlite(&[("DATABASE_URL", &url)]);
    let mut ledger = Ledger::default();
    run.repeat(1, |random| {
        let workload = Workload::start(&server, mem::take(&mut ledger), random);
        workload.wait_until_served();
        workload.assert_calls_succeed(&[0], 300, 0);
        ledger = workload.stop();
        ledger.assert_consistent_with(&server);
    });
}
