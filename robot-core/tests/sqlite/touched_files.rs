//! Files that somebody deletes, replaces or cuts short while the catalogue is open.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use diesel::connection::SimpleConnection;
use robot_core::{Catalogue, CatalogueExt, Error, Robot, open};

use crate::{beside, draft, url};

#[test]
fn a_file_that_vanishes_is_not_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    catalogue.add(draft("a")).unwrap();
    for file in ["robots.db", "robots.db-wal", "robots.db-shm"] {
        fs::remove_file(folder.path().join(file)).unwrap();
    }
    // Readers beyond those that have the old file open find none.
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| catalogue.list());
        }
    });
    assert!(!folder.path().join("robots.db").exists());
}

/// What became of an addition after something was done to the files of an open catalogue.
fn added_after(harm: impl FnOnce(&Path)) -> (tempfile::TempDir, robot_core::Result<Robot>) {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    // So few that all of it is still in the log.
    let long = "x".repeat(200);
    for number in 0..100 {
        catalogue.add(draft(&format!("{number} {long}"))).unwrap();
    }
    harm(folder.path());
    let added = catalogue.add(draft("after"));
    // It stays so.
    let again = catalogue.add(draft("again"));
    assert_eq!(added.is_ok(), again.is_ok(), "{added:?}, {again:?}");
    (folder, added)
}

fn is_told(added: robot_core::Result<Robot>, words: &str) {
    match added {
        Err(Error::Store(cause)) => {
            let cause = cause.to_string();
            assert!(cause.contains("robots.db"), "{cause}");
            assert!(cause.contains(words), "{cause}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_added_to_a_file_that_was_deleted() {
    for files in [
        &["robots.db"][..],
        &["robots.db-wal"],
        &["robots.db-shm"],
        &["robots.db", "robots.db-wal", "robots.db-shm"],
    ] {
        let (_folder, added) = added_after(|folder| {
            for file in files {
                fs::remove_file(folder.join(file)).unwrap();
            }
        });
        is_told(added, "was deleted, moved or replaced");
    }
}

#[test]
fn nothing_is_added_to_a_file_in_whose_place_there_is_another() {
    let (folder, added) = added_after(|folder| {
        let other = folder.join("other");
        fs::copy(folder.join("robots.db"), &other).unwrap();
        fs::rename(&other, folder.join("robots.db")).unwrap();
    });
    is_told(added, "was deleted, moved or replaced");
    drop(folder);
}

/// SQLite would empty the shared memory that the readers of the old file have mapped, and the next
/// of them would end the process.
#[test]
fn who_reads_a_file_lives_on_when_there_is_another_in_its_place() {
    for contents in ["no database at all\n".repeat(1000), String::new()] {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = open(&url(folder.path())).unwrap();
        let robot = catalogue.add(draft("a")).unwrap();
        assert_eq!(catalogue.list().unwrap(), std::slice::from_ref(&robot));
        let other = folder.path().join("other");
        fs::write(&other, contents).unwrap();
        fs::rename(&other, folder.path().join("robots.db")).unwrap();
        // More at a time than there are connections, so that some more would be made: again and
        // again, for as long as a caller has patience.
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
        is_told(added, "was deleted, moved or replaced");
    }
}

#[test]
fn nothing_is_added_to_a_file_that_was_cut_short() {
    for keep in [0, 4096, 10_000] {
        let (_folder, added) = added_after(|folder| {
            // Of what is in the log nothing would be missing.
            beside(folder)
                .batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")
                .unwrap();
            let path = folder.join("robots.db");
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_len(keep).unwrap();
        });
        is_told(added, "was cut short or damaged");
    }
}

#[test]
fn nothing_is_added_to_a_log_that_was_cut_short() {
    for keep in [0, 50_000] {
        let (_folder, added) = added_after(|folder| {
            let path = folder.join("robots.db-wal");
            let file = fs::File::options().write(true).open(path).unwrap();
            assert!(file.metadata().unwrap().len() > keep);
            file.set_len(keep).unwrap();
        });
        is_told(added, "was cut short or damaged");
    }
}

#[test]
fn a_file_that_another_program_cleared_up_is_written_on() {
    let (folder, added) = added_after(|folder| {
        let path = folder.join("robots.db");
        let mut other = beside(folder);
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
    assert_eq!(open(&url(folder.path())).unwrap().list().unwrap().len(), 22);
}

#[test]
fn a_file_that_was_put_back_is_written_on() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    catalogue.add(draft("before")).unwrap();
    let (path, elsewhere) = (
        folder.path().join("robots.db"),
        folder.path().join("elsewhere"),
    );
    fs::rename(&path, &elsewhere).unwrap();
    assert!(matches!(catalogue.add(draft("lost")), Err(Error::Store(_))));
    fs::rename(&elsewhere, &path).unwrap();
    catalogue.add(draft("after")).unwrap();
    drop(catalogue);
    let names: Vec<_> = open(&url(folder.path()))
        .unwrap()
        .list()
        .unwrap()
        .iter()
        .map(|robot| robot.name().to_owned())
        .collect();
    assert_eq!(names, ["after", "before"]);
}
