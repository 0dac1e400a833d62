//! Database server that is frozen, stopped and killed under the workload, and a stop of the
//! robot server under the same load.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::{
    database_server::{DatabaseServer, Kind},
    options::Run,
    process::Server,
    workload::{Ledger, Outcome, Workload},
};

/// A generous limit for a stop: five seconds for requests in progress, and more for their threads.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// Each round has a database of its own: one that was frozen may apply a write much later, so
/// that no ledger can continue from there.
pub(crate) fn every_fault_keeps_acknowledged_writes(run: &Run, kind: Kind) {
    run.repeat(1, |random| {
        let database = DatabaseServer::new(kind);
        let start = || Server::sqlite(&[("DATABASE_URL", &database.url)]);
        let server = start();
        let workload = Workload::start(&server, Ledger::default(), random);
        workload.wait_until_served();
        let mut faults = [freeze, stop, kill];
        random.shuffle(&mut faults);
        for fault in faults {
            workload.wait_for_writes_on(&[0], random.usize(1..100));
            fault(&database, &workload, random);
            workload.wait_until_served();
            workload.assert_calls_succeed(&[0], 100);
        }
        assert_eq!(workload.writes(Outcome::Failed), 0);
        workload.allow_server_end();
        let signalled = Instant::now();
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        assert!(signalled.elapsed() < STOP_LIMIT, "{log}");
        let mut ledger = workload.join();
        ledger.assert_consistent_with(&start());
        println!("{kind:?}: {ledger}");
    });
}

fn freeze(database: &DatabaseServer, workload: &Workload, _: &mut Rng) {
    database.freeze();
    workload.wait_for_failed_writes(3);
    database.resume();
}

fn stop(database: &DatabaseServer, workload: &Workload, _: &mut Rng) {
    database.stop();
    workload.wait_until_failing();
    database.start();
}

/// Restarts the database either immediately, when pooled connections still count as valid, or after
/// every client has failed.
fn kill(database: &DatabaseServer, workload: &Workload, random: &mut Rng) {
    database.kill();
    // MariaDB shows a commit to other sessions while it still waits for the disk.
    if database.kind == Kind::Mariadb {
        workload.lose_unsynced();
    }
    if random.bool() {
        workload.wait_until_failing();
    }
    database.start();
}
