//! Write-ahead log: its length, and shared memory whose header another process left half written.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use diesel::{RunQueryDsl, connection::SimpleConnection, dsl::sql, sql_types::Text};
use robot_core::{Catalogue, CatalogueExt, Draft, Error, Robot, RobotId};

use crate::{
    backend::{Backend, Sqlite},
    draft,
};

/// The length to which the log is shortened.
const LIMIT: u64 = 16 << 20;

/// Writes other bytes into the second copy of the header, as a process does that is killed before it
/// writes the first copy. Another process does it: this one would lose its locks.
fn interrupt_header(database: &Sqlite) {
    let path = database.folder().join("robots.db-shm");
    let mut dd = Command::new("dd")
        .args(["bs=1", "seek=80", "conv=notrunc", "status=none"])
        .arg(format!("of={}", path.display()))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    dd.stdin.take().unwrap().write_all(&[0x55; 8]).unwrap();
    assert!(dd.wait().unwrap().success());
}

/// The year of a robot, by each way of reading, on several connections at once.
fn years(catalogue: &Arc<dyn Catalogue>, id: RobotId) -> Vec<i64> {
    let read = || {
        let started = catalogue.start_get(id).wait().unwrap();
        let pooled = catalogue.get(id).unwrap();
        [started, pooled].map(|robot| robot.as_ref().map_or(-1, Robot::year))
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
        let years = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        years.collect()
    })
}

fn assert_years(catalogue: &Arc<dyn Catalogue>, id: RobotId, year: i64) {
    let years = years(catalogue, id);
    assert!(years.iter().all(|found| *found == year), "{years:?}");
}

/// SQLite takes the page caches of connections for current after this.
#[test]
fn header_rebuilt_over_an_empty_log_is_never_stale() {
    let database = Sqlite::new();
    let id = database.open().add(draft("a")).unwrap().id();
    let catalogue = database.open();
    let rejected = catalogue.add(draft("a"));
    assert!(matches!(rejected, Err(Error::Rejected(_))), "{rejected:?}");
    assert_years(&catalogue, id, draft("a").year.unwrap());
    for year in 3000..3004 {
        database.execute(&format!(
            "UPDATE robots SET year = {year}; PRAGMA wal_checkpoint(TRUNCATE)"
        ));
        interrupt_header(&database);
        assert_years(&catalogue, id, year);
    }
    catalogue.add(Draft::new("b", "droid", 1)).unwrap();
    assert_years(&catalogue, id, 3003);
    let mut other = database.connect();
    let findings = sql::<Text>("PRAGMA integrity_check").load::<String>(&mut other);
    assert_eq!(findings.unwrap(), ["ok"]);
}

/// SQLite waits for about 10 seconds until it reports `SQLITE_PROTOCOL`.
#[test]
fn header_of_a_stopped_process_is_unavailable() {
    let database = Sqlite::new();
    let catalogue = database.open();
    let id = catalogue.add(draft("a")).unwrap().id();
    catalogue.get(id).unwrap();
    let mut stopped = database.connect();
    stopped.batch_execute("BEGIN IMMEDIATE").unwrap();
    interrupt_header(&database);
    let read = catalogue.get(id);
    assert!(matches!(read, Err(Error::Unavailable(_))), "{read:?}");
    stopped.batch_execute("ROLLBACK").unwrap();
    assert_years(&catalogue, id, draft("a").year.unwrap());
    catalogue.add(draft("b")).unwrap();
}

/// If the checkpoint of the last connection fails, the next process reads the log again from its
/// beginning. While others use the log, they would not.
#[test]
fn only_the_last_connection_checkpoints_as_it_closes() {
    let database = Sqlite::new();
    let state = || {
        let modified = fs::metadata(database.file()).unwrap().modified();
        let log = database.folder().join("robots.db-wal");
        (modified.unwrap(), log.exists())
    };
    let catalogue = database.open();
    let mut other = database.connect();
    other.batch_execute("SELECT count(*) FROM robots").unwrap();
    let before = state();
    catalogue.add(draft("a")).unwrap();
    // Times of files may be counted in steps of some milliseconds.
    thread::sleep(Duration::from_millis(50));
    drop(catalogue);
    assert_eq!(state(), before);
    drop(other);
    assert!(!state().1);
    let catalogue = database.open();
    catalogue.add(draft("b")).unwrap();
    drop(catalogue);
    assert!(!state().1);
    assert_eq!(database.open().list().unwrap().len(), 2);
}

#[test]
fn log_is_shortened_when_a_long_reader_ends() {
    let database = Sqlite::new();
    let catalogue = database.open();
    let mut reader = database.connect();
    reader
        .batch_execute("BEGIN; SELECT count(*) FROM robots")
        .unwrap();
    let length = || {
        fs::metadata(database.folder().join("robots.db-wal"))
            .unwrap()
            .len()
    };
    let started = Instant::now();
    let mut number = 0;
    while length() <= 2 * LIMIT {
        let mut writes = Vec::new();
        for _ in 0..1000 {
            number += 1;
            let name = format!("{:x} {}", number * 7919 % 1_000_003, "x".repeat(240));
            writes.push(catalogue.start_add(draft(&name)));
        }
        assert!(writes.into_iter().all(|write| write.wait().is_ok()));
        assert!(started.elapsed() < Duration::from_secs(120));
    }
    reader.batch_execute("COMMIT").unwrap();
    // Nothing more is written.
    let ended = Instant::now();
    while length() > LIMIT {
        assert!(ended.elapsed() < Duration::from_secs(60), "{}", length());
        thread::sleep(Duration::from_millis(20));
    }
    catalogue.add(draft("after")).unwrap();
    assert_eq!(catalogue.list().unwrap().len(), number + 1);
}
