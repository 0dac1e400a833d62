//! What is particular to SQLite: files, their opening, and other programs beside us.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod remembered;
mod shared_commits;
mod touched_files;

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use robot_core::{
    Catalogue, CatalogueExt, Draft, Error, OpenError, OpenOptions, Pending, SqliteCatalogue, open,
};

fn url(folder: &Path) -> String {
    format!("sqlite://{}/robots.db", folder.display())
}

fn draft(name: &str) -> Draft {
    Draft::new(name, "droid", 1977)
}

/// A connection beside the catalogue, as another program would have it.
fn beside(folder: &Path) -> SqliteConnection {
    let path = folder.join("robots.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection
        .batch_execute("PRAGMA busy_timeout = 2000")
        .unwrap();
    connection
}

#[test]
fn what_was_added_is_there_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let robot = open(&url(folder.path()))
        .unwrap()
        .add(draft("R2-D2"))
        .unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    assert_eq!(catalogue.get(robot.id()).unwrap(), Some(robot));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("robots.db");
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, folder.path().join("robots.db")).unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let robot = catalogue.add(draft("a")).unwrap();
    assert_eq!(catalogue.get(robot.id()).unwrap(), Some(robot.clone()));
    let other = open(&url(elsewhere.path())).unwrap();
    assert_eq!(other.get(robot.id()).unwrap(), Some(robot));
}

#[test]
fn ids_do_not_come_back_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(&url(folder.path())).unwrap().add(draft("a")).unwrap();
    open(&url(folder.path()))
        .unwrap()
        .delete(first.id())
        .unwrap();
    let second = open(&url(folder.path())).unwrap().add(draft("a")).unwrap();
    assert_ne!(first.id(), second.id());
}

#[test]
fn many_may_open_one_new_database_at_once() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let url = url(folder.path());
        thread::scope(|scope| {
            for number in 0..8 {
                let url = &url;
                scope.spawn(move || open(url).unwrap().add(draft(&number.to_string())).unwrap());
            }
        });
        assert_eq!(open(&url).unwrap().list().unwrap().len(), 8);
    }
}

#[test]
fn every_path_is_the_path_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        ":memory:",
        "file:x?mode=memory",
        "a b",
        "50%25",
        "r#bots?.db",
        "é🤖",
    ] {
        let path = folder.path().join(name);
        open(&format!("sqlite://{}", path.display())).unwrap();
        assert!(path.is_file(), "{name}");
    }
}

#[test]
fn urls_that_name_no_store_are_refused_in_words() {
    for (url, scheme) in [
        ("ftp://x", "ftp"),
        ("", ""),
        ("robots.db", "robots.db"),
        ("memory:x", "memory"),
        ("memory", "memory"),
        ("SQLITE://x", "SQLITE"),
        ("oracle://user:secret@host/x", "oracle"),
    ] {
        let expected = format!(
            "'{scheme}' is no store that this program knows; it knows memory:, sqlite://robots.db"
        );
        let message = open(url).err().unwrap().to_string();
        assert!(message.starts_with(&expected), "{message}");
    }
    for url in [
        "sqlite",
        "sqlite:",
        "sqlite:robots.db",
        "sqlite:/robots.db",
        "sqlite://",
        "sqlite:///tmp/",
    ] {
        let message = format!(
            "'{url}' names no database file; \
             write it as sqlite://robots.db or sqlite:///var/lib/robots.db, \
             or memory: to keep robots in memory"
        );
        assert_eq!(open(url).err().unwrap().to_string(), message);
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = open("sqlite:///nonexistent/robots.db").err().unwrap();
    let message = error.to_string();
    assert!(matches!(error, OpenError::Unusable { .. }), "{message}");
    assert!(message.contains("'/nonexistent/robots.db'"), "{message}");
    assert!(
        message.contains("check that its folder exists"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("robots.db");
    let text = "not a database ".repeat(1000);
    fs::write(&path, &text).unwrap();
    let error = open(&url(folder.path())).err().unwrap();
    assert!(matches!(error, OpenError::Unusable { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn the_table_itself_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    open(&url(folder.path())).unwrap().add(draft("a")).unwrap();
    let mut connection = beside(folder.path());
    for values in [
        "('a', 'droid', 1)",
        "('b', 'toaster', 1)",
        "('b', 'droid', -1)",
        "('b', 'droid', 'x')",
        "('b', 'droid', 1.5)",
        "('b', NULL, 1)",
        "('', 'droid', 1)",
        "('b' || char(0), 'droid', 1)",
        "(printf('%256s', 'b'), 'droid', 1)",
        "(x'62', 'droid', 1)",
    ] {
        let insert = format!("INSERT INTO robots (name, type, year) VALUES {values}");
        assert!(connection.batch_execute(&insert).is_err(), "{values}");
    }
    assert_eq!(open(&url(folder.path())).unwrap().list().unwrap().len(), 1);
}

#[test]
fn a_store_that_fails_says_so_and_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = SqliteCatalogue::open(&url(folder.path())).unwrap();
    beside(folder.path())
        .batch_execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON robots BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .unwrap();
    let result = catalogue.add(draft("a"));
    assert!(matches!(result, Err(Error::Store(_))), "{result:?}");
    assert_eq!(catalogue.list().unwrap(), []);
}

/// Asserts that a database is refused, and that not a byte of it was changed.
fn assert_left_alone(folder: &Path) -> OpenError {
    let before = fs::read(folder.join("robots.db")).unwrap();
    let error = open(&url(folder)).err().unwrap();
    assert_eq!(fs::read(folder.join("robots.db")).unwrap(), before);
    error
}

#[test]
fn a_table_of_somebody_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    beside(folder.path())
        .batch_execute("CREATE TABLE robots (model TEXT); INSERT INTO robots VALUES ('x')")
        .unwrap();
    let error = assert_left_alone(folder.path());
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    // Of a table of another name, and of another program that uses Diesel.
    for sql in [
        "DROP TABLE robots; CREATE TABLE notes (text TEXT)",
        "CREATE TABLE __diesel_schema_migrations (version TEXT PRIMARY KEY, run_on TIMESTAMP); \
         INSERT INTO __diesel_schema_migrations (version) VALUES ('20200101000000')",
    ] {
        beside(folder.path()).batch_execute(sql).unwrap();
        let error = assert_left_alone(folder.path());
        assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    }
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&url(folder.path())).unwrap());
    beside(folder.path())
        .batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('29990101000000')")
        .unwrap();
    let error = assert_left_alone(folder.path());
    assert!(matches!(error, OpenError::TooNew { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("29990101000000"), "{message}");
    assert!(message.contains("newer version"), "{message}");
}

#[test]
fn what_was_answered_is_in_the_files_before_they_are_closed() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    catalogue.add(draft("a")).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for file in ["robots.db", "robots.db-wal"] {
        fs::copy(folder.path().join(file), copy.path().join(file)).unwrap();
    }
    let copied = open(&url(copy.path())).unwrap();
    assert_eq!(copied.list().unwrap(), catalogue.list().unwrap());
}

#[test]
fn a_lock_of_another_program_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let mut other = beside(folder.path());
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let adding = scope.spawn(|| catalogue.add(draft("a")));
        thread::sleep(Duration::from_millis(300));
        // Readers need no lock, and neither does opening.
        assert_eq!(catalogue.list().unwrap(), []);
        assert_eq!(open(&url(folder.path())).unwrap().list().unwrap(), []);
        other.batch_execute("COMMIT").unwrap();
        adding.join().unwrap().unwrap();
    });
}

#[test]
fn beside_a_program_that_writes_without_a_pause_a_write_has_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let patient = OpenOptions::new().timeout(Duration::from_secs(10));
    let catalogue = patient.open(&url(folder.path())).unwrap();
    let mut other = beside(folder.path());
    other
        .batch_execute("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE")
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
fn a_lock_that_stays_makes_the_store_unavailable_to_all_within_its_patience() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let mut other = beside(folder.path());
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
    // Two seconds, with some room for a busy machine.
    assert!(
        started.elapsed() < Duration::from_secs(4),
        "{:?}",
        started.elapsed()
    );
    other.batch_execute("ROLLBACK").unwrap();
    catalogue.add(draft("a")).unwrap();
    assert_eq!(catalogue.list().unwrap().len(), 1);
}

#[test]
fn more_writes_than_may_wait_are_refused_at_once() {
    const WRITES: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let patient = OpenOptions::new().timeout(Duration::from_secs(60));
    let catalogue = patient.open(&url(folder.path())).unwrap();
    let mut other = beside(folder.path());
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let (refused, waiting): (Vec<_>, Vec<_>) = (0..WRITES)
        .map(|number| Arc::clone(&catalogue).begin_add(draft(&number.to_string())))
        .partition(|write| matches!(write, Pending::Ready(Err(Error::Unavailable(_)))));
    // The queue is full, and a batch of those before it is with the writer.
    assert!(refused.len() >= WRITES - 4096 - 1024, "{}", refused.len());
    assert!(waiting.len() >= 4096, "{}", waiting.len());
    other.batch_execute("COMMIT").unwrap();
    let count = waiting.len();
    assert!(waiting.into_iter().all(|write| write.wait().is_ok()));
    assert_eq!(catalogue.list().unwrap().len(), count);
}

#[test]
fn a_new_file_that_another_program_keeps_locked_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = beside(folder.path());
    other.batch_execute("BEGIN EXCLUSIVE").unwrap();
    let error = open(&url(folder.path())).err().unwrap();
    assert!(matches!(error, OpenError::Busy { .. }), "{error}");
    assert!(
        error.to_string().contains("locked by another program"),
        "{error}"
    );
    other.batch_execute("ROLLBACK").unwrap();
    open(&url(folder.path())).unwrap();
}
