//! Length of the write-ahead log.

use std::fs;

use diesel::connection::SimpleConnection;
use robot_core::CatalogueExt;

use crate::{
    backend::{Backend, Sqlite},
    draft, wait_for_progress,
};

/// The length to which the log is shortened.
const LIMIT: u64 = 48 << 20;

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
    let mut number = 0;
    while length() <= LIMIT {
        let mut writes = Vec::new();
        for _ in 0..1000 {
            number += 1;
            let name = format!("{:x} {}", number * 7919 % 1_000_003, "x".repeat(240));
            writes.push(catalogue.start_add(draft(&name)));
        }
        assert!(writes.into_iter().all(|write| write.wait().is_ok()));
        assert!(number < 500_000, "{}", length());
    }
    reader.batch_execute("COMMIT").unwrap();
    let add_and_look = || {
        number += 1;
        catalogue.add(draft(&format!("after {number}"))).unwrap();
        length()
    };
    wait_for_progress("a shorter log", add_and_look, |length| *length <= LIMIT);
    assert_eq!(catalogue.list().unwrap().len(), number);
}
