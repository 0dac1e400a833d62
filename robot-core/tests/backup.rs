//! Backups of a catalogue in a file: what is in them, and what is never replaced.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its scene is to fail"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use robot_core::{
    Backup, BackupError, Catalogue, CatalogueExt, Draft, Existing, OpenError, OpenOptions,
    SqliteCatalogue, backup, digest,
};
use tempfile::TempDir;

/// A folder with a catalogue in it.
struct Scene {
    folder: TempDir,
    catalogue: SqliteCatalogue,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = SqliteCatalogue::open(&url(&folder.path().join("robots.db"))).unwrap();
        Self { folder, catalogue }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn add(&self, name: &str) {
        self.catalogue.add(Draft::new(name, "droid", 1977)).unwrap();
    }

    fn backup(&self, name: &str, existing: Existing) -> Result<Backup, BackupError> {
        backup(&url(&self.file("robots.db")), self.file(name), existing)
    }

    /// The files that are neither the catalogue nor beside it.
    fn others(&self) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut others: Vec<_> = names
            .filter(|name| !name.starts_with("robots.db"))
            .collect();
        others.sort();
        others
    }
}

fn url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}

fn open(path: &Path) -> SqliteCatalogue {
    let url = url(path);
    SqliteCatalogue::open_with(&url, &OpenOptions::new().existing()).unwrap()
}

#[test]
fn a_backup_is_a_catalogue_with_the_same_robots_and_its_ids_go_on() {
    let scene = Scene::new();
    for number in 0..300 {
        scene.add(&format!("RX-{number}"));
    }
    let newest = scene.catalogue.find("RX-299").unwrap().unwrap().id();
    scene.catalogue.delete(newest).unwrap();
    let made = scene.backup("copy.db", Existing::Keep).unwrap();
    assert_eq!(made.robots, 299);
    assert_eq!(
        made.bytes,
        fs::metadata(scene.file("copy.db")).unwrap().len()
    );
    assert_eq!(scene.others(), ["copy.db"]);

    let copy = open(&scene.file("copy.db"));
    assert_eq!(digest(&copy).unwrap(), digest(&scene.catalogue).unwrap());
    assert_eq!(copy.last_id().unwrap(), Some(newest));
    let added = copy
        .add(Draft::new("new in the copy", "droid", 1977))
        .unwrap();
    assert!(added.id() > newest);
    // The index of names goes with it, and goes on.
    assert_eq!(copy.search("X-29").unwrap().len(), 10);
    assert_eq!(copy.search("in the cop").unwrap(), [added]);
    assert!(scene.catalogue.search("in the cop").unwrap().is_empty());
}

#[test]
fn what_was_answered_before_the_backup_is_in_it_while_others_write() {
    let scene = Scene::new();
    let answered = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                scene.add(&format!("RX-{number:06}"));
                answered.store(number + 1, Ordering::SeqCst);
            }
        });
        for round in 0..8 {
            while answered.load(Ordering::SeqCst) < 40 * (round + 1) {
                thread::yield_now();
            }
            let before = answered.load(Ordering::SeqCst);
            let name = format!("copy-{round}.db");
            let made = scene.backup(&name, Existing::Keep).unwrap();
            let after = answered.load(Ordering::SeqCst);
            let robots = open(&scene.file(&name)).list().unwrap();
            assert_eq!(robots.len() as u64, made.robots);
            // One may have been stored, and not have been answered yet.
            assert!(
                (before..=after + 1).contains(&robots.len()),
                "{before} {} {after}",
                robots.len()
            );
            // It is of one moment: of robots that come one after the other, none is left out.
            for (number, robot) in robots.iter().enumerate() {
                assert_eq!(robot.name(), format!("RX-{number:06}"));
            }
        }
        is_over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_file_that_is_there_is_replaced_only_where_that_is_wanted() {
    let scene = Scene::new();
    scene.add("R2-D2");
    fs::write(scene.file("copy.db"), "precious").unwrap();
    let outcome = scene.backup("copy.db", Existing::Keep);
    assert!(
        matches!(outcome, Err(BackupError::Exists(_))),
        "{outcome:?}"
    );
    assert_eq!(
        fs::read_to_string(scene.file("copy.db")).unwrap(),
        "precious"
    );

    assert_eq!(
        scene.backup("copy.db", Existing::Replace).unwrap().robots,
        1
    );
    scene.add("C-3PO");
    assert_eq!(
        scene.backup("copy.db", Existing::Replace).unwrap().robots,
        2
    );
    assert_eq!(open(&scene.file("copy.db")).list().unwrap().len(), 2);
}

#[test]
fn the_catalogue_itself_is_never_replaced() {
    let scene = Scene::new();
    scene.add("R2-D2");
    let mut names = vec!["robots.db", "robots.db-wal", "robots.db-shm", "./robots.db"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("robots.db", scene.file("link.db")).unwrap();
        names.push("link.db");
    }
    for name in names {
        let outcome = scene.backup(name, Existing::Replace);
        assert!(
            matches!(outcome, Err(BackupError::Itself(_))),
            "{name}: {outcome:?}"
        );
    }
    scene.add("C-3PO");
    assert_eq!(scene.catalogue.list().unwrap().len(), 2);
}

#[test]
fn a_log_of_another_database_is_not_taken_for_the_backups() {
    let scene = Scene::new();
    scene.add("R2-D2");
    for name in ["copy.db-wal", "copy.db-journal"] {
        fs::write(scene.file(name), "").unwrap();
        for existing in [Existing::Keep, Existing::Replace] {
            match scene.backup("copy.db", existing) {
                Err(BackupError::LogBeside(log)) => assert_eq!(log, scene.file(name)),
                other => panic!("{other:?}"),
            }
        }
        fs::remove_file(scene.file(name)).unwrap();
    }
    assert!(scene.others().is_empty());
}

#[test]
fn a_catalogue_that_is_not_there_is_not_created() {
    let scene = Scene::new();
    let outcome = backup(
        &url(&scene.file("missing.db")),
        scene.file("copy.db"),
        Existing::Keep,
    );
    assert!(
        matches!(outcome, Err(BackupError::Open(OpenError::Missing { .. }))),
        "{outcome:?}"
    );
    let opened = OpenOptions::new()
        .existing()
        .open(&url(&scene.file("missing.db")));
    assert!(matches!(opened, Err(OpenError::Missing { .. })));
    assert!(scene.others().is_empty());
}

#[test]
fn a_folder_that_is_not_there_is_told_with_a_remedy() {
    let scene = Scene::new();
    let words = scene
        .backup("none/copy.db", Existing::Keep)
        .unwrap_err()
        .to_string();
    assert!(words.contains("check that its folder exists"), "{words}");
    assert!(scene.others().is_empty());
}

#[test]
fn a_database_of_another_program_is_refused() {
    let scene = Scene::new();
    let path = scene.file("other.db");
    let mut other = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    other.batch_execute("CREATE TABLE invoices (id)").unwrap();
    let outcome = backup(
        &url(&scene.file("other.db")),
        scene.file("copy.db"),
        Existing::Keep,
    );
    assert!(
        matches!(outcome, Err(BackupError::Open(OpenError::Foreign { .. }))),
        "{outcome:?}"
    );
    assert!(!scene.file("copy.db").exists());
}

#[test]
fn a_damaged_catalogue_makes_no_backup() {
    let scene = Scene::new();
    for number in 0..2000 {
        scene.add(&format!("RX-{number}"));
    }
    let file = scene.file("robots.db");
    let Scene { folder, catalogue } = scene;
    drop(catalogue);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 3 * 4096].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    let copy = folder.path().join("copy.db");
    let outcome = backup(&url(&file), &copy, Existing::Keep);
    assert!(
        matches!(
            outcome,
            Err(BackupError::Failed { .. } | BackupError::Damaged { .. })
        ),
        "{outcome:?}"
    );
    assert!(!copy.exists());
    let names = fs::read_dir(folder.path()).unwrap();
    for name in names.map(|entry| entry.unwrap().file_name()) {
        assert!(!name.to_string_lossy().contains("incomplete"), "{name:?}");
    }
}

#[test]
fn other_stores_are_refused_without_their_passwords() {
    let scene = Scene::new();
    for (url, remedy) in [
        ("postgres://robots:s3cret@127.0.0.1/robots", "pg_dump"),
        ("mysql://robots:s3cret@127.0.0.1/robots", "mariadb-dump"),
        ("memory:", "gone with its program"),
    ] {
        let error = backup(url, scene.file("copy.db"), Existing::Keep).unwrap_err();
        let words = error.to_string();
        match error {
            BackupError::NoFile { .. } => assert!(words.contains(remedy), "{words}"),
            BackupError::Open(OpenError::NotCompiledIn { .. }) => assert_ne!(url, "memory:"),
            other => panic!("{url}: {other:?}"),
        }
        assert!(!words.contains("s3cret"), "{words}");
    }
}
