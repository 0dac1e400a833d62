//! Visibility: a read sees every change that was committed before it, by any program.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    thread,
};

use robot_core::{Catalogue, CatalogueExt, Draft, Robot, RobotId};

use crate::backend::{Backend, Sqlite};

fn droid(name: &str, year: i64) -> Draft {
    Draft::new(name, "droid", year)
}

/// Adds a robot of each year, and reads it.
fn add_and_read(catalogue: &Arc<dyn Catalogue>, years: &[i64]) -> Vec<RobotId> {
    let add = |year: &i64| catalogue.add(droid(&format!("of {year}"), *year)).unwrap();
    let ids: Vec<_> = years.iter().map(add).map(|robot| robot.id()).collect();
    let expected: Vec<_> = years.iter().copied().map(Some).collect();
    assert_eq!(years_of(catalogue, &ids), expected);
    ids
}

/// The years of robots, by both methods that read one.
fn years_of(catalogue: &Arc<dyn Catalogue>, ids: &[RobotId]) -> Vec<Option<i64>> {
    let year = |id: &RobotId| {
        let started = catalogue.start_get(*id).wait().unwrap();
        assert_eq!(catalogue.get(*id).unwrap(), started);
        started.as_ref().and_then(Robot::year)
    };
    ids.iter().map(year).collect()
}

#[test]
fn committed_changes_of_another_program_are_visible() {
    let database = Sqlite::new();
    let catalogue = database.open();
    let ids = add_and_read(&catalogue, &[1, 2, 3]);
    for (statements, expected) in [
        ("UPDATE robots SET year = 10 WHERE year = 1", "10 2 3"),
        ("DELETE FROM robots WHERE year = 2", "10 - 3"),
        (
            "BEGIN; UPDATE robots SET year = 30 WHERE year = 3; ROLLBACK",
            "10 - 3",
        ),
        // The log is truncated, and then as long as before.
        (
            "PRAGMA wal_checkpoint(TRUNCATE); UPDATE robots SET year = 31 WHERE year = 3",
            "10 - 31",
        ),
    ] {
        database.execute(statements);
        let years = years_of(&catalogue, &ids).into_iter();
        let years = years.map(|year| year.map_or("-".to_owned(), |year| year.to_string()));
        assert_eq!(
            years.collect::<Vec<_>>().join(" "),
            expected,
            "{statements}"
        );
    }
    catalogue.replace(ids[2], droid("own change", 40)).unwrap();
    assert_eq!(years_of(&catalogue, &ids), [Some(10), None, Some(40)]);
}

#[test]
fn read_sees_every_change_acknowledged_before_it() {
    let database = Sqlite::new();
    let catalogues = [database.open(), database.open()];
    let ids = add_and_read(&catalogues[0], &[0, 1]);
    // The last acknowledged year of each robot. Each robot is changed through its own catalogue.
    let acknowledged = [AtomicI64::new(0), AtomicI64::new(1)];
    let is_finished = AtomicBool::new(false);
    thread::scope(|scope| {
        for (index, catalogue) in catalogues.iter().enumerate() {
            let (ids, acknowledged, is_finished) = (&ids, &acknowledged, &is_finished);
            scope.spawn(move || {
                for year in 2..400 {
                    let new = droid(&format!("robot {index}"), year);
                    catalogue.replace(ids[index], new).unwrap();
                    acknowledged[index].store(year, Ordering::SeqCst);
                }
                is_finished.store(true, Ordering::SeqCst);
            });
            for reader in &catalogues {
                scope.spawn(move || {
                    while !is_finished.load(Ordering::SeqCst) {
                        for (id, acknowledged) in ids.iter().zip(acknowledged) {
                            let before = acknowledged.load(Ordering::SeqCst);
                            let robot = reader.start_get(*id).wait().unwrap();
                            let year = robot.unwrap().year().unwrap();
                            assert!(year >= before, "{year} after {before}");
                        }
                    }
                });
            }
        }
    });
}

/// On POSIX systems, a process that closes a file loses all its locks on that file.
#[cfg(target_os = "linux")]
#[test]
fn closing_a_catalogue_keeps_the_locks_of_another() {
    use std::{os::unix::fs::MetadataExt, path::Path};

    let database = Sqlite::new();
    let catalogue = database.open();
    add_and_read(&catalogue, &[1]);
    let shared_memory = fs::metadata(database.folder().join("robots.db-shm")).unwrap();
    let is_shared_memory = |found: fs::Metadata| {
        (found.dev(), found.ino()) == (shared_memory.dev(), shared_memory.ino())
    };
    let locks = || {
        let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
        let details = descriptors
            .filter(|entry| fs::metadata(entry.path()).is_ok_and(is_shared_memory))
            .map(|entry| Path::new("/proc/self/fdinfo").join(entry.file_name()))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect::<String>();
        let lines = details.lines();
        lines.filter(|line| line.starts_with("lock:")).count()
    };
    let before = locks();
    assert_ne!(before, 0);
    let another = database.open();
    add_and_read(&another, &[2]);
    drop(another);
    assert_eq!(locks(), before);
    assert_eq!(catalogue.find("of 1").unwrap().unwrap().year(), Some(1));
}
