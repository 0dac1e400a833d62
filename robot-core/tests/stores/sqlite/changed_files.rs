//! Database files that are deleted, replaced or truncated while the catalogue is open.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use diesel::connection::SimpleConnection;
use robot_core::{CatalogueExt, Error, Robot};

use crate::{
    backend::{Backend, Sqlite},
    draft, names,
};

#[test]
fn deleted_file_is_not_created_again() {
    let database = Sqlite::new();
    let catalogue = database.open();
    catalogue.add(draft("a")).unwrap();
    for file in ["robots.db", "robots.db-wal", "robots.db-shm"] {
        fs::remove_file(database.folder().join(file)).unwrap();
    }
    // Readers beyond those that have the old file open find none.
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| catalogue.list());
        }
    });
    assert!(!database.file().exists());
}

/// Adds a robot after a change of the files of an open catalogue.
fn add_after(change: impl FnOnce(&Sqlite)) -> (Sqlite, robot_core::Result<Robot>) {
    let database = Sqlite::new();
    let catalogue = database.open();
    // Few enough to be in the log only.
    let long = "x".repeat(200);
    for number in 0..100 {
        catalogue.add(draft(&format!("{number} {long}"))).unwrap();
    }
    change(&database);
    let first = catalogue.add(draft("after"));
    let second = catalogue.add(draft("again"));
    assert_eq!(first.is_ok(), second.is_ok(), "{first:?}, {second:?}");
    (database, first)
}

#[track_caller]
fn assert_fails_with(result: robot_core::Result<Robot>, part: &str) {
    match result {
        Err(Error::Store(cause)) => {
            let cause = cause.to_string();
            assert!(cause.contains("robots.db"), "{cause}");
            assert!(cause.contains(part), "{cause}");
        }
        other => panic!("{other:?}"),
    }
}

/// A program that opens the file by its second name begins another log.
#[cfg(unix)]
#[test]
fn write_fails_while_the_file_has_a_second_name() {
    let database = Sqlite::new();
    let catalogue = database.open();
    catalogue.add(draft("before")).unwrap();
    let link = database.folder().join("link.db");
    fs::hard_link(database.file(), &link).unwrap();
    assert_fails_with(catalogue.add(draft("refused")), "second name");
    assert_eq!(names(&catalogue, ""), ["before"]);
    fs::remove_file(&link).unwrap();
    catalogue.add(draft("after")).unwrap();
    assert_eq!(names(&catalogue, ""), ["after", "before"]);
}

/// SQLite would empty the shared memory that the readers of the old file have mapped, and the next
/// of them would end the process.
#[test]
fn readers_survive_the_replacement_of_the_file() {
    for contents in ["no database at all\n".repeat(1000), String::new()] {
        let database = Sqlite::new();
        let catalogue = database.open();
        let robot = catalogue.add(draft("a")).unwrap();
        assert_eq!(catalogue.list().unwrap(), std::slice::from_ref(&robot));
        let other = database.folder().join("other");
        fs::write(&other, contents).unwrap();
        fs::rename(&other, database.file()).unwrap();
        // More callers than connections, so that new connections are attempted until the timeout.
        thread::scope(|scope| {
            for number in 0..64 {
                let (catalogue, robot) = (&catalogue, &robot);
                scope.spawn(move || {
                    let started = Instant::now();
                    while started.elapsed() < Duration::from_secs(2) {
                        let robots = if number % 2 == 0 {
                            catalogue.list()
                        } else {
                            catalogue
                                .get(robot.id())
                                .map(|robot| robot.into_iter().collect())
                        };
                        match robots {
                            Ok(robots) => assert_eq!(robots, std::slice::from_ref(robot)),
                            Err(Error::Unavailable(_)) => {}
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                });
            }
        });
        let added = catalogue.add(draft("after"));
        assert_fails_with(added, "was deleted, moved or replaced");
    }
}

#[test]
fn file_vacuumed_by_another_program_is_used() {
    let (database, added) = add_after(|database| {
        let path = database.file();
        let mut other = database.connect();
        other
            .batch_execute("DELETE FROM robots WHERE id > 20; PRAGMA wal_checkpoint(TRUNCATE)")
            .unwrap();
        let before = fs::metadata(&path).unwrap().len();
        other
            .batch_execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            .unwrap();
        assert!(fs::metadata(&path).unwrap().len() < before);
    });
    added.unwrap();
    assert_eq!(database.open().list().unwrap().len(), 22);
}

#[test]
fn file_that_was_put_back_is_used() {
    let database = Sqlite::new();
    let catalogue = database.open();
    catalogue.add(draft("before")).unwrap();
    let (path, elsewhere) = (database.file(), database.folder().join("elsewhere"));
    fs::rename(&path, &elsewhere).unwrap();
    assert!(matches!(catalogue.add(draft("lost")), Err(Error::Store(_))));
    fs::rename(&elsewhere, &path).unwrap();
    catalogue.add(draft("after")).unwrap();
    drop(catalogue);
    assert_eq!(names(&database.open(), ""), ["after", "before"]);
}
