//! Maintenance of the database file by another program, as SQLite allows it.

use std::{
    fs, mem,
    path::{Path, PathBuf},
    thread,
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use fastrand::Rng;

use crate::{
    options::Run,
    process::Server,
    workload::{Ledger, Outcome, Workload},
};

/// Statements of an administrator in the shell of SQLite.
const STATEMENTS: &[&str] = &[
    "PRAGMA wal_checkpoint(PASSIVE)",
    "PRAGMA wal_checkpoint(RESTART)",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "VACUUM",
    "REINDEX",
    "ANALYZE",
    "VACUUM INTO '{copy}'",
];

/// Includes kills of the server during a checkpoint.
pub(crate) fn maintenance_does_not_disturb_the_server(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(3, |random| {
        ledger = maintain(folder.path(), mem::take(&mut ledger), random);
    });
    println!("{}: {ledger}", run.name);
}

fn maintain(folder: &Path, ledger: Ledger, random: &mut Rng) -> Ledger {
    let server = Server::start(folder, &[]);
    let workload = Workload::start(&server, ledger, random);
    let mut shell = Shell::open(folder);
    for _ in 0..random.usize(1..8) {
        workload.wait_for_writes(random.usize(1..20));
        shell.run(STATEMENTS[random.usize(..STATEMENTS.len())]);
    }
    workload.wait_until_served();
    for outcome in [Outcome::Unavailable, Outcome::Failed, Outcome::Unknown] {
        assert_eq!(workload.writes(outcome), 0, "{outcome:?}");
    }
    assert_eq!(workload.failed_reads(), 0);
    workload.allow_server_end();
    let killed = thread::spawn(|| server.stop("KILL"));
    shell.run(STATEMENTS[random.usize(..STATEMENTS.len())]);
    let (_, log) = killed.join().unwrap();
    assert_eq!(log, "");
    drop(shell);
    let mut ledger = workload.join();
    ledger.assert_consistent_with(&Server::start(folder, &[]));
    ledger
}

/// A connection of another program.
struct Shell {
    connection: SqliteConnection,
    copy: PathBuf,
}

impl Shell {
    fn open(folder: &Path) -> Self {
        let path = folder.join("robots.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        connection
            .batch_execute("PRAGMA busy_timeout = 10000")
            .unwrap();
        let copy = folder.join("copy.db");
        Self { connection, copy }
    }

    /// Runs a statement, which may give up waiting for locks.
    fn run(&mut self, statement: &str) {
        let statement = statement.replace("{copy}", &self.copy.display().to_string());
        let done = self.connection.batch_execute(&statement);
        if let Err(error) = done {
            assert_eq!(error.to_string(), "database is locked", "{statement}");
        }
        // Only one of the statements makes a copy.
        let _ = fs::remove_file(&self.copy);
    }
}
