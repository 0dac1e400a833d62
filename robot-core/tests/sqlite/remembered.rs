//! Robots that were read before are as they are now, whoever has changed them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    thread,
};

use diesel::connection::SimpleConnection;
use robot_core::{Catalogue, CatalogueExt, Draft, Robot, RobotId, ValidDraft, open};

use crate::{beside, url};

fn droid(name: &str, year: i64) -> Draft {
    Draft::new(name, "droid", year)
}

/// Robots of these years in a catalogue, each of which was read often enough to be remembered.
fn remembered(catalogue: &Arc<dyn Catalogue>, years: &[i64]) -> Vec<RobotId> {
    let add = |year: &i64| catalogue.add(droid(&format!("of {year}"), *year)).unwrap();
    let ids: Vec<_> = years.iter().map(add).map(|robot| robot.id()).collect();
    for _ in 0..3 {
        assert_eq!(
            years_of(catalogue, &ids),
            years.iter().copied().map(Some).collect::<Vec<_>>()
        );
    }
    ids
}

/// The years of robots, by both ways to get one.
fn years_of(catalogue: &Arc<dyn Catalogue>, ids: &[RobotId]) -> Vec<Option<i64>> {
    let year = |id: &RobotId| {
        let awaited = Arc::clone(catalogue).begin_get(*id).wait().unwrap();
        assert_eq!(catalogue.get(*id).unwrap(), awaited);
        awaited.as_ref().map(Robot::year)
    };
    ids.iter().map(year).collect()
}

#[test]
fn what_this_program_changes_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let ids = remembered(&catalogue, &[1, 2, 3, 4]);
    catalogue.replace(ids[0], droid("replaced", 10)).unwrap();
    catalogue.delete(ids[1]).unwrap();
    // A change that fails changes nothing.
    assert!(catalogue.replace(ids[2], droid("replaced", 30)).is_err());
    assert_eq!(
        years_of(&catalogue, &ids),
        [Some(10), None, Some(3), Some(4)]
    );
}

#[test]
fn what_another_program_changes_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let ids = remembered(&catalogue, &[1, 2, 3]);
    let mut other = beside(folder.path());
    other
        .batch_execute("UPDATE robots SET year = 10 WHERE year = 1")
        .unwrap();
    assert_eq!(years_of(&catalogue, &ids), [Some(10), Some(2), Some(3)]);
    other
        .batch_execute("DELETE FROM robots WHERE year = 2")
        .unwrap();
    assert_eq!(years_of(&catalogue, &ids), [Some(10), None, Some(3)]);
    // What it takes back is as if it had never been.
    other
        .batch_execute("BEGIN; UPDATE robots SET year = 30 WHERE year = 3; ROLLBACK")
        .unwrap();
    // The log begins anew, and then has as many commits as before.
    other
        .batch_execute(
            "PRAGMA wal_checkpoint(TRUNCATE); UPDATE robots SET year = 31 WHERE year = 3",
        )
        .unwrap();
    assert_eq!(years_of(&catalogue, &ids), [Some(10), None, Some(31)]);
}

#[test]
fn what_both_change_by_turns_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let ids = remembered(&catalogue, &[1, 2]);
    let mut other = beside(folder.path());
    for year in 10..30 {
        catalogue.replace(ids[0], droid("ours", year)).unwrap();
        let update = format!("UPDATE robots SET year = {year} WHERE id = {}", ids[1]);
        other.batch_execute(&update).unwrap();
        assert_eq!(years_of(&catalogue, &ids), [Some(year), Some(year)]);
        let update = format!("UPDATE robots SET year = -1 + year WHERE id = {}", ids[1]);
        other.batch_execute(&update).unwrap();
        catalogue.replace(ids[0], droid("ours", year + 1)).unwrap();
        assert_eq!(years_of(&catalogue, &ids), [Some(year + 1), Some(year - 1)]);
    }
}

/// What becomes of two robots when the first is replaced and then deleted, after another program has
/// done this to the tables.
fn changed_beside(
    alteration: impl Fn(&[RobotId]) -> String,
) -> (Arc<dyn Catalogue>, Vec<RobotId>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let ids = remembered(&catalogue, &[1, 2]);
    // So that the last commit was one of the catalogue's.
    catalogue.replace(ids[0], droid("first", 1)).unwrap();
    beside(folder.path())
        .batch_execute(&alteration(&ids))
        .unwrap();
    assert_eq!(years_of(&catalogue, &ids), [Some(1), Some(2)]);
    (catalogue, ids, folder)
}

#[test]
fn what_a_trigger_of_somebody_changes_is_seen() {
    for name in ["theirs", "robots_search_update"] {
        let (catalogue, ids, _folder) = changed_beside(|ids| {
            format!(
                "DROP TRIGGER robots_search_update;
                 CREATE TRIGGER {name} AFTER UPDATE OF year ON robots WHEN new.id = {} BEGIN
                     UPDATE robots SET year = new.year + 1 WHERE id = {};
                 END",
                ids[0], ids[1]
            )
        });
        for year in [10, 20] {
            catalogue.replace(ids[0], droid("first", year)).unwrap();
            assert_eq!(
                years_of(&catalogue, &ids),
                [Some(year), Some(year + 1)],
                "{name}"
            );
        }
    }
}

#[test]
fn what_goes_with_a_robot_that_is_deleted_is_gone() {
    let (catalogue, ids, _folder) = changed_beside(|ids| {
        format!(
            "ALTER TABLE robots ADD COLUMN parent INTEGER REFERENCES robots (id) ON DELETE CASCADE;
             UPDATE robots SET parent = {} WHERE id = {}",
            ids[0], ids[1]
        )
    });
    catalogue.delete(ids[0]).unwrap();
    assert_eq!(years_of(&catalogue, &ids), [None, None]);
}

#[test]
fn robots_are_not_taken_for_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    let far = 1 << 17;
    let numbers = [1, 1 + far, 1 + 2 * far, 2 + far];
    let ids = numbers.map(|number| RobotId::new(number).unwrap());
    let robots = ids.map(|id| {
        let draft = ValidDraft::new(droid(&id.to_string(), id.get()));
        draft.unwrap().with_id(id)
    });
    catalogue.restore(&robots, None).unwrap();
    for _ in 0..3 {
        assert_eq!(years_of(&catalogue, &ids), numbers.map(Some));
    }
}

#[test]
fn a_read_sees_every_change_that_was_made_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [(); 2].map(|()| open(&url(folder.path())).unwrap());
    let ids = remembered(&one, &[0, 1]);
    // By robot: what was acknowledged last. Each is changed through a catalogue of its own.
    let acknowledged = [AtomicI64::new(0), AtomicI64::new(1)];
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for (index, catalogue) in [&one, &other].into_iter().enumerate() {
            let (ids, acknowledged, is_over) = (&ids, &acknowledged, &is_over);
            scope.spawn(move || {
                for year in 2..400 {
                    let new = droid(&format!("robot {index}"), year);
                    catalogue.replace(ids[index], new).unwrap();
                    acknowledged[index].store(year, Ordering::SeqCst);
                }
                is_over.store(true, Ordering::SeqCst);
            });
            for reader in [&one, &other] {
                scope.spawn(move || {
                    while !is_over.load(Ordering::SeqCst) {
                        for (id, acknowledged) in ids.iter().zip(acknowledged) {
                            let before = acknowledged.load(Ordering::SeqCst);
                            let robot = Arc::clone(reader).begin_get(*id).wait().unwrap();
                            let year = robot.unwrap().year();
                            assert!(year >= before, "{year} after {before}");
                        }
                    }
                });
            }
        }
    });
}

/// On POSIX systems, whoever closes a file loses all locks that the process has on it.
#[cfg(target_os = "linux")]
#[test]
fn a_catalogue_that_is_closed_takes_no_locks_of_another_with_it() {
    use std::{fs, os::unix::fs::MetadataExt, path::Path};

    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    remembered(&catalogue, &[1]);
    let index = fs::metadata(folder.path().join("robots.db-shm")).unwrap();
    // Told by the descriptors that the process has of the file: a list of all locks of the system
    // changes as it is read.
    let is_index = |found: fs::Metadata| (found.dev(), found.ino()) == (index.dev(), index.ino());
    let locks = || {
        let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
        let told = descriptors
            .filter(|entry| fs::metadata(entry.path()).is_ok_and(is_index))
            .map(|entry| Path::new("/proc/self/fdinfo").join(entry.file_name()))
            .map(|path| fs::read_to_string(path).unwrap())
            .collect::<String>();
        told.lines()
            .filter(|line| line.starts_with("lock:"))
            .count()
    };
    let before = locks();
    assert_ne!(before, 0);
    let another = open(&url(folder.path())).unwrap();
    remembered(&another, &[2]);
    drop(another);
    assert_eq!(locks(), before);
    assert_eq!(
        catalogue.find("of 1").unwrap().map(|robot| robot.year()),
        Some(1)
    );
}
