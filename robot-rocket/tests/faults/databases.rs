//! The database server is frozen and killed under the workload that SQLite bears, too. The
//! single faults are tests of their own, beside those of the stores.

use fastrand::Rng;

use crate::{
    database::{Database, Kind},
    ledger::Ledger,
    options::Run,
    process::Server,
    told::Told,
    workload::Workload,
};

pub(crate) fn postgres_is_frozen_and_killed(run: &Run) {
    is_frozen_and_killed(run, Kind::Postgres);
}

pub(crate) fn mariadb_is_frozen_and_killed(run: &Run) {
    is_frozen_and_killed(run, Kind::Mariadb);
}

/// Each round has a database of its own: what was asked of one while it was frozen it may do
/// much later, so that it is judged when all is over, and nobody goes on from there.
fn is_frozen_and_killed(run: &Run, kind: Kind) {
    run.repeat(1, |random| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        let workload = Workload::start(&server, Ledger::default(), random);
        workload.is_served();
        let mut faults = [freeze, kill];
        random.shuffle(&mut faults);
        for fault in faults {
            workload.writes(random.usize(1..100));
            fault(&database, &workload, random);
            workload.is_served();
        }
        assert_eq!(
            workload.told(Told::Failed),
            0,
            "it was away, and not at fault"
        );
        let mut ledger = workload.end();
        ledger.is_true_of(&server);
        println!("{kind:?}: {ledger}");
    });
}

fn freeze(database: &Database, workload: &Workload, _: &mut Rng) {
    database.freeze();
    workload.failures(3);
    database.signal("CONT");
}

/// Kills the database and starts it again: at once, or when everybody has noticed.
///
/// MariaDB shows a change to others while the commit still waits for the disk.
fn kill(database: &Database, workload: &Workload, random: &mut Rng) {
    database.end("KILL");
    if database.kind == Kind::Mariadb {
        workload.unsynced_is_lost();
    }
    if random.bool() {
        workload.is_refused();
    }
    database.start();
}
