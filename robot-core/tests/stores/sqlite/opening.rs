//! Opening of SQLite files: paths, and files that are not ours.

use std::{fs, thread, time::Duration};

use diesel::connection::SimpleConnection;
use robot_core::{CatalogueExt, Error, OpenError, OpenOptions, open};

use crate::{
    backend::{Backend, Sqlite},
    draft,
};

#[cfg(unix)]
#[test]
fn symbolic_link_to_a_file_is_followed() {
    let (database, target) = (Sqlite::new(), Sqlite::new());
    fs::write(target.file(), "").unwrap();
    std::os::unix::fs::symlink(target.file(), database.file()).unwrap();
    let catalogue = database.open();
    let robot = catalogue.add(draft("a")).unwrap();
    assert_eq!(catalogue.get(robot.id()).unwrap(), Some(robot.clone()));
    assert_eq!(target.open().get(robot.id()).unwrap(), Some(robot));
}

#[test]
fn every_path_names_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ":memory:|file:x?mode=memory|a b|50%25|r#bots?.db|é🤖".split('|') {
        let path = folder.path().join(name);
        open(&format!("sqlite://{}", path.display())).unwrap();
        assert!(path.is_file(), "{name}");
    }
}

#[test]
fn rejected_database_is_not_changed() {
    let migrations =
        "CREATE TABLE __diesel_schema_migrations (version TEXT PRIMARY KEY, run_on TIMESTAMP);
                      INSERT INTO __diesel_schema_migrations (version) VALUES";
    for (sql, is_foreign) in [
        (
            "CREATE TABLE robots (model TEXT); INSERT INTO robots VALUES ('x')",
            true,
        ),
        ("CREATE TABLE notes (text TEXT)", true),
        // Of another program that uses Diesel.
        (&format!("{migrations} ('20200101000000')"), true),
        (
            &format!("{migrations} ('20261125000000'), ('29990101000000')"),
            false,
        ),
    ] {
        let database = Sqlite::new();
        database.execute(sql);
        let before = fs::read(database.file()).unwrap();
        let error = open(database.url()).err().unwrap();
        let is_expected = match error {
            OpenError::Foreign(_) => is_foreign,
            OpenError::TooNew { .. } => !is_foreign,
            _ => false,
        };
        assert!(is_expected, "{error}");
        assert_eq!(fs::read(database.file()).unwrap(), before);
    }
}

#[test]
fn failed_insert_is_reported_and_stores_nothing() {
    let database = Sqlite::new();
    let catalogue = database.open();
    database.execute(
        "CREATE TRIGGER refuse BEFORE INSERT ON robots BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    let result = catalogue.add(draft("a"));
    assert!(matches!(result, Err(Error::Store(_))), "{result:?}");
    assert_eq!(catalogue.list().unwrap(), []);
}

#[test]
fn new_file_that_stays_locked_is_reported_as_busy() {
    let database = Sqlite::new();
    let mut other = database.connect();
    other.batch_execute("BEGIN EXCLUSIVE").unwrap();
    let error = open(database.url()).err().unwrap();
    assert!(matches!(error, OpenError::Busy(_)), "{error}");
    assert!(
        error.to_string().contains("locked by another program"),
        "{error}"
    );
    other.batch_execute("ROLLBACK").unwrap();
    database.open();
}

/// The other program is as one that migrates a large file.
#[test]
fn migration_waits_longer_than_the_timeout_for_a_lock() {
    let database = Sqlite::new();
    let mut other = database.connect();
    other
        .batch_execute("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
        .unwrap();
    let options = OpenOptions {
        timeout: Duration::from_millis(100),
        ..OpenOptions::default()
    };
    thread::scope(|scope| {
        let opened = [(); 2].map(|()| scope.spawn(|| options.open(database.url())));
        thread::sleep(Duration::from_millis(1500));
        assert!(opened.iter().all(|opened| !opened.is_finished()));
        other.batch_execute("ROLLBACK").unwrap();
        for opened in opened {
            assert_eq!(opened.join().unwrap().unwrap().list().unwrap(), []);
        }
    });
}
