//! Opening, tables and locks, as they are the same for every database.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::connection::SimpleConnection;
use robot_core::{
    Catalogue, CatalogueExt, Draft, Error, OpenError, OpenOptions, Preparation, Redefinition, open,
};

use crate::{
    backend::{Backend, database_tests},
    draft, names,
};

database_tests![
    concurrent_opens_of_a_new_database_all_succeed,
    increments_through_two_catalogues_are_all_kept,
    database_of_another_program_is_rejected,
    database_of_a_newer_version_is_rejected,
    incomplete_copy_is_rejected_until_its_end,
    columns_of_other_programs_are_named,
    write_waits_for_a_lock,
    write_blocked_for_the_timeout_is_unavailable,
];

fn concurrent_opens_of_a_new_database_all_succeed<B: Backend>() {
    for _ in 0..3 {
        let database = B::new();
        let url = database.url();
        thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || open(url).unwrap().add(draft(&number.to_string())).unwrap());
            }
        });
        assert_eq!(database.open().list().unwrap().len(), 8);
    }
}

/// Two catalogues on one database are as two servers.
fn increments_through_two_catalogues_are_all_kept<B: Backend>() {
    let database = B::new();
    let catalogues = [database.open(), database.open()];
    let id = catalogues[0].add(Draft::new("a", "droid", 0)).unwrap().id();
    thread::scope(|scope| {
        for catalogue in catalogues.iter().cycle().take(8) {
            let increment = move || {
                let robot = catalogue.get(id).unwrap().unwrap();
                let year = robot.year().map(|year| year + 1);
                let changes = Draft {
                    year,
                    ..Draft::default()
                };
                catalogue.patch_if(id, robot.revision(), changes)
            };
            scope.spawn(move || {
                for _ in 0..25 {
                    while let Err(error) = increment() {
                        assert!(
                            matches!(error, Error::Stale(_) | Error::Unavailable(_)),
                            "{error:?}"
                        );
                    }
                }
            });
        }
    });
    for catalogue in catalogues {
        assert_eq!(catalogue.get(id).unwrap().unwrap().year(), Some(200));
    }
}

fn database_of_another_program_is_rejected<B: Backend>() {
    let database = B::new();
    database.execute("CREATE TABLE robots (arms INTEGER)");
    let error = open(database.url()).err().unwrap();
    assert!(matches!(error, OpenError::Foreign(_)), "{error}");
    database.execute("INSERT INTO robots (arms) VALUES (2)");
}

fn database_of_a_newer_version_is_rejected<B: Backend>() {
    let database = B::new();
    drop(database.open());
    database.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101')");
    let error = open(database.url()).err().unwrap();
    assert!(
        matches!(&error, OpenError::TooNew { migration, .. } if migration == "99990101"),
        "{error}"
    );
    let message = error.to_string();
    assert!(message.contains("newer version"), "{message}");
}

fn incomplete_copy_is_rejected_until_its_end<B: Backend>() {
    let database = B::new();
    let options = |preparation| OpenOptions {
        preparation,
        ..OpenOptions::default()
    };
    let begin = options(Preparation::BeginCopy);
    let target = begin.open(database.url()).unwrap();
    target.add(draft("a")).unwrap();
    for options in [OpenOptions::default(), begin] {
        let error = options.open(database.url()).err().unwrap();
        assert!(matches!(error, OpenError::IncompleteCopy(_)), "{error}");
    }
    let end = options(Preparation::EndCopy);
    drop(end.open(database.url()).unwrap());
    assert_eq!(names(&open(database.url()).unwrap(), ""), ["a"]);
    // It has a robot, so that nothing is copied into it.
    drop(begin.open(database.url()).unwrap());
    drop(database.open());
}

fn columns_of_other_programs_are_named<B: Backend>() {
    let database = B::new();
    let catalogue = database.open();
    let json = r#"{"properties":{"a":{"type":"integer","index":true},"b":{"type":"string","unique":true}}}"#;
    catalogue
        .define(Redefinition::new(json.parse().unwrap()))
        .unwrap();
    assert!(catalogue.foreign_columns().unwrap().is_empty());
    database.execute("ALTER TABLE robots ADD COLUMN maker TEXT");
    assert_eq!(catalogue.foreign_columns().unwrap(), ["maker"]);
}

fn write_waits_for_a_lock<B: Backend>() {
    let database = B::new();
    let options = OpenOptions {
        timeout: Duration::from_secs(30),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let robot = catalogue.add(draft("a")).unwrap();
    let mut other = database.connect();
    other.batch_execute(&B::lock(robot.id())).unwrap();
    thread::scope(|scope| {
        let write = scope.spawn(|| catalogue.replace(robot.id(), draft("b")));
        // Long enough for the write to start waiting on all but the slowest machines.
        thread::sleep(Duration::from_millis(100));
        assert!(!write.is_finished());
        // Reads and opening need no lock.
        assert_eq!(names(&catalogue, ""), ["a"]);
        assert_eq!(names(&database.open(), ""), ["a"]);
        other.batch_execute("ROLLBACK").unwrap();
        write.join().unwrap().unwrap();
    });
    assert_eq!(names(&catalogue, ""), ["b"]);
}

fn write_blocked_for_the_timeout_is_unavailable<B: Backend>() {
    let database = B::new();
    let options = OpenOptions {
        timeout: Duration::from_secs(1),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let robot = catalogue.add(draft("a")).unwrap();
    let mut other = database.connect();
    other.batch_execute(&B::lock(robot.id())).unwrap();
    let started = Instant::now();
    let error = catalogue.replace(robot.id(), draft("b")).unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(names(&catalogue, ""), ["a"]);
    other.batch_execute("ROLLBACK").unwrap();
    catalogue.replace(robot.id(), draft("b")).unwrap();
}

#[cfg(feature = "sqlite")]
#[test]
fn unusable_urls_are_rejected_with_a_message() {
    let urls = "ftp://x=ftp = robots.db=robots.db memory:x=memory:x memory=memory SQLITE://x=SQLITE \
                memory://user:secret@host/x=memory://host/x oracle://user:secret@host/x=oracle";
    for (url, scheme) in urls.split(' ').map(|url| url.split_once('=').unwrap()) {
        let expected = format!(
            "no store has URLs that begin with '{scheme}'; this program opens memory:, \
             sqlite://robots.db"
        );
        let message = open(url).err().unwrap().to_string();
        assert!(message.starts_with(&expected), "{message}");
    }
    let urls = "sqlite sqlite: sqlite:robots.db sqlite:/robots.db sqlite:// sqlite:///tmp/";
    for url in urls.split(' ') {
        let message = format!(
            "'{url}' names no database file; \
             write it as sqlite://robots.db or sqlite:///var/lib/robots.db, \
             or memory: to keep robots in memory"
        );
        assert_eq!(open(url).err().unwrap().to_string(), message);
    }
}
