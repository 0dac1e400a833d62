//! Write-ahead log: its length, and shared memory whose header another process left half written.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use diesel::connection::SimpleConnection;
use robot_core::{CatalogueExt, Error};

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
    assert!(catalogue.get(id).unwrap().is_some());
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
    let ended = Instant::now();
    while length() > LIMIT {
        assert!(ended.elapsed() < Duration::from_secs(60), "{}", length());
        thread::sleep(Duration::from_millis(20));
        number += 1;
        catalogue.add(draft(&format!("after {number}"))).unwrap();
    }
    assert_eq!(catalogue.list().unwrap().len(), number);
}
