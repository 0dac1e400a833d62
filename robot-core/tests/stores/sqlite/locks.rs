//! Locks of other programs, and the queue of writes that wait for them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use diesel::connection::SimpleConnection;
use robot_core::{CatalogueExt, Error, OpenOptions};

use crate::{
    backend::{Backend, Sqlite},
    draft,
};

#[test]
fn write_succeeds_while_another_program_writes_constantly() {
    let database = Sqlite::new();
    let options = OpenOptions {
        timeout: Duration::from_secs(30),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let mut other = database.connect();
    other
        .batch_execute("PRAGMA busy_timeout = 30000; BEGIN IMMEDIATE")
        .unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(20));
                other.batch_execute("COMMIT; BEGIN IMMEDIATE").unwrap();
            }
            other.batch_execute("COMMIT").unwrap();
        });
        let added = catalogue.add(draft("a"));
        is_over.store(true, Ordering::SeqCst);
        added.unwrap();
    });
}

#[test]
fn lock_that_stays_fails_all_queued_writes_together() {
    let database = Sqlite::new();
    let options = OpenOptions {
        timeout: Duration::from_secs(4),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let mut other = database.connect();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let started = Instant::now();
    thread::scope(|scope| {
        for number in 0..400 {
            let catalogue = &catalogue;
            scope.spawn(move || {
                let result = catalogue.add(draft(&number.to_string()));
                assert!(matches!(result, Err(Error::Unavailable(_))), "{result:?}");
            });
        }
    });
    // Two batches, one after the other, would take twice the timeout.
    assert!(
        started.elapsed() < Duration::from_millis(7500),
        "{:?}",
        started.elapsed()
    );
    other.batch_execute("ROLLBACK").unwrap();
    catalogue.add(draft("a")).unwrap();
    assert_eq!(catalogue.list().unwrap().len(), 1);
}

#[test]
fn writes_beyond_the_queue_are_rejected_immediately() {
    const WRITES: usize = 10_000;
    let database = Sqlite::new();
    let options = OpenOptions {
        timeout: Duration::from_secs(60),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let mut other = database.connect();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let (rejected, queued): (Vec<_>, Vec<_>) = (0..WRITES)
        .map(|number| catalogue.start_add(draft(&number.to_string())))
        .partition(|write| format!("{write:?}").starts_with("Ready(Err(Unavailable("));
    // The queue is full, and the writer thread has a batch.
    assert!(rejected.len() >= WRITES - 4096 - 1024, "{}", rejected.len());
    assert!(queued.len() >= 4096, "{}", queued.len());
    other.batch_execute("COMMIT").unwrap();
    let count = queued.len();
    assert!(queued.into_iter().all(|write| write.wait().is_ok()));
    assert_eq!(catalogue.list().unwrap().len(), count);
}
