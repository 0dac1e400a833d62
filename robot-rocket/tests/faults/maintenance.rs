//! Another program does to the files what SQLite allows it to, all the time: that is no fault.

use std::{
    fs, mem,
    path::{Path, PathBuf},
    thread,
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use fastrand::Rng;

use crate::{ledger::Ledger, options::Run, process::Server, told::Told, workload::Workload};

/// What an administrator does in the shell of SQLite.
const CARE: &[&str] = &[
    "PRAGMA wal_checkpoint(PASSIVE)",
    "PRAGMA wal_checkpoint(RESTART)",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "VACUUM",
    "REINDEX",
    "ANALYZE",
    "VACUUM INTO '{copy}'",
];

/// Servers are killed meanwhile, too: in the middle of a checkpoint, and of a log that begins
/// again.
pub(crate) fn another_program_that_cares_for_the_files_is_in_nobodys_way(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(4, |random| {
        ledger = with_care(folder.path(), mem::take(&mut ledger), random);
    });
    println!("{}: {ledger}", run.name);
}

fn with_care(folder: &Path, ledger: Ledger, random: &mut Rng) -> Ledger {
    let server = Server::start(folder, &[]);
    let workload = Workload::start(&server, ledger, random);
    let mut other = Other::of(folder);
    for _ in 0..random.usize(1..8) {
        workload.writes(random.usize(1..20));
        other.run(CARE[random.usize(..CARE.len())]);
    }
    workload.is_served();
    for told in [Told::Refused, Told::Failed, Told::Unknown] {
        assert_eq!(workload.told(told), 0, "nothing was wrong: {told:?}");
    }
    assert_eq!(workload.failed_reads(), 0, "nothing was wrong");
    workload.server_may_end();
    let killed = thread::spawn(|| server.stop("KILL"));
    other.run(CARE[random.usize(..CARE.len())]);
    let (_, log) = killed.join().unwrap();
    assert_eq!(log, "", "nothing was wrong");
    drop(other);
    let mut ledger = workload.ends_with_the_server();
    ledger.is_true_of(&Server::start(folder, &[]));
    ledger
}

/// A connection of another program.
struct Other {
    connection: SqliteConnection,
    copy: PathBuf,
}

impl Other {
    fn of(folder: &Path) -> Self {
        let path = folder.join("robots.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        connection
            .batch_execute("PRAGMA busy_timeout = 10000")
            .unwrap();
        let copy = folder.join("copy.db");
        Self { connection, copy }
    }

    /// Runs a statement. Where it has to give way to others all the time, that is no fault.
    fn run(&mut self, statement: &str) {
        let statement = statement.replace("{copy}", &self.copy.display().to_string());
        let done = self.connection.batch_execute(&statement);
        if let Err(error) = done {
            assert_eq!(error.to_string(), "database is locked", "{statement}");
        }
        // It may not be there.
        let _ = fs::remove_file(&self.copy);
    }
}
