//! Backups of SQLite files: their contents, and the files that they never replace.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use robot_core::{
    Backup, BackupError, Catalogue, CatalogueExt, Error, Existing, Extent, OpenOptions, backup,
    transfer::digest,
};
use tempfile::TempDir;

use crate::draft;

/// A folder with a catalogue.
struct Fixture {
    folder: TempDir,
    catalogue: Arc<dyn Catalogue>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = robot_core::open(&url(&folder.path().join("robots.db"))).unwrap();
        Self { folder, catalogue }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn add(&self, name: &str) {
        self.catalogue.add(draft(name)).unwrap();
    }

    fn backup(&self, name: &str, existing: Existing) -> Result<Backup, BackupError> {
        backup(&url(&self.file("robots.db")), self.file(name), existing)
    }

    /// The files that do not belong to the catalogue.
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

fn open(path: &Path) -> Arc<dyn Catalogue> {
    let url = url(path);
    let options = OpenOptions {
        must_exist: true,
        ..OpenOptions::default()
    };
    options.open(&url).unwrap()
}

#[test]
fn backup_has_the_same_robots_and_continues_their_ids() {
    let fixture = Fixture::new();
    for number in 0..300 {
        fixture.add(&format!("RX-{number}"));
    }
    let newest = fixture.catalogue.find("RX-299").unwrap().unwrap().id();
    fixture.catalogue.delete(newest).unwrap();
    let made = fixture.backup("copy.db", Existing::Keep).unwrap();
    assert_eq!(made.robots, 299);
    assert_eq!(
        made.bytes,
        fs::metadata(fixture.file("copy.db")).unwrap().len()
    );
    assert_eq!(fixture.others(), ["copy.db"]);

    let copy = open(&fixture.file("copy.db"));
    assert_eq!(digest(&copy).unwrap(), digest(&fixture.catalogue).unwrap());
    assert_eq!(copy.last_id().unwrap(), Some(newest));
    let added = copy.add(draft("new in the copy")).unwrap();
    assert!(added.id() > newest);
    // The copy has a search index, which is maintained.
    assert_eq!(copy.search("X-29").unwrap().len(), 10);
    assert_eq!(copy.search("in the cop").unwrap(), [added]);
    assert!(fixture.catalogue.search("in the cop").unwrap().is_empty());
}

#[test]
fn backup_contains_every_write_acknowledged_before_it() {
    let fixture = Fixture::new();
    let acknowledged = AtomicUsize::new(0);
    let is_finished = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0.. {
                if is_finished.load(Ordering::SeqCst) {
                    return;
                }
                fixture.add(&format!("RX-{number:06}"));
                acknowledged.store(number + 1, Ordering::SeqCst);
            }
        });
        for round in 0..8 {
            while acknowledged.load(Ordering::SeqCst) < 40 * (round + 1) {
                thread::yield_now();
            }
            let before = acknowledged.load(Ordering::SeqCst);
            let name = format!("copy-{round}.db");
            let made = fixture.backup(&name, Existing::Keep).unwrap();
            let after = acknowledged.load(Ordering::SeqCst);
            let robots = open(&fixture.file(&name)).list().unwrap();
            assert_eq!(robots.len() as u64, made.robots);
            // One write may be committed but not acknowledged yet.
            assert!(
                (before..=after + 1).contains(&robots.len()),
                "{before} {} {after}",
                robots.len()
            );
            // It is a snapshot: no robot is missing before another.
            for (number, robot) in robots.iter().enumerate() {
                assert_eq!(robot.name(), format!("RX-{number:06}"));
            }
        }
        is_finished.store(true, Ordering::SeqCst);
    });
}

#[cfg(unix)]
#[test]
fn backup_replaces_the_target_of_a_link_with_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let fixture = Fixture::new();
    fixture.add("R2-D2");
    let old = fixture.file("old.db");
    fs::write(&old, "").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("old.db", fixture.file("copy.db")).unwrap();
    fixture.backup("copy.db", Existing::Replace).unwrap();
    assert_eq!(open(&old).list().unwrap().len(), 1);
    assert_eq!(
        fs::metadata(&old).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(
        fs::symlink_metadata(fixture.file("copy.db"))
            .unwrap()
            .is_symlink()
    );
    let device = fixture.backup("/dev/null", Existing::Replace).unwrap_err();
    assert!(
        device.to_string().contains("not a regular file"),
        "{device}"
    );
}

#[cfg(unix)]
#[test]
fn backup_of_a_read_only_file_is_writable_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new();
    let read_only = fs::Permissions::from_mode(0o440);
    fs::set_permissions(fixture.file("robots.db"), read_only).unwrap();
    fixture.backup("copy.db", Existing::Keep).unwrap();
    let copied = fs::metadata(fixture.file("copy.db")).unwrap();
    assert_eq!(copied.permissions().mode() & 0o777, 0o640);
}

/// Each failure leaves the files as they were.
#[test]
fn failed_backup_changes_no_file() {
    let fixture = Fixture::new();
    fixture.add("R2-D2");
    let file = |name| fixture.file(name);
    let connect = |name| SqliteConnection::establish(file(name).to_str().unwrap()).unwrap();
    let invoices = "CREATE TABLE invoices (id)";
    connect("foreign.db").batch_execute(invoices).unwrap();
    let half = fs::read(fixture.file("robots.db")).unwrap();
    fs::write(file("half.db"), &half[..half.len() / 2]).unwrap();
    for name in ["old.db", "a.db-wal", "b.db-journal"] {
        fs::write(file(name), "precious").unwrap();
    }
    let before = fixture.others();
    let catalogue = url(&file("robots.db"));
    for (source, name, expected) in [
        (&*catalogue, "old.db", "old.db' exists; choose another file"),
        (
            &catalogue,
            "a.db",
            "a.db-wal' exists, the WAL or journal of",
        ),
        (
            &catalogue,
            "b.db",
            "b.db-journal' exists, the WAL or journal",
        ),
        (&catalogue, "none/x.db", "check that its folder exists"),
        (&url(&file("missing.db")), "x.db", "there is no database"),
        (&url(&file("foreign.db")), "x.db", "foreign.db' "),
        (&url(&file("half.db")), "x.db", "half.db'"),
        ("memory:", "x.db", "only SQLite files are backed up"),
        (
            "postgres://robots:s3cret@127.0.0.1/robots",
            "x.db",
            "postgres",
        ),
        ("mysql://robots:s3cret@127.0.0.1/robots", "x.db", "mysql"),
    ] {
        let error = backup(source, file(name), Existing::Keep).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(expected), "{source}: {message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
    let stop = || ControlFlow::Break(());
    let outcome =
        OpenOptions::default().backup_while(&catalogue, file("old.db"), Existing::Replace, stop);
    assert!(
        matches!(outcome, Err(BackupError::Cancelled(_))),
        "{outcome:?}"
    );
    assert_eq!(fixture.others(), before);
    assert_eq!(fs::read_to_string(file("old.db")).unwrap(), "precious");
    for robots in 1..3 {
        let made = fixture.backup("old.db", Existing::Replace).unwrap();
        assert_eq!(made.robots, robots);
        fixture.add(&robots.to_string());
    }
}

#[test]
fn restored_backup_is_another_catalogue() {
    let fixture = Fixture::new();
    fixture.add("a");
    let before = fixture.catalogue.position().unwrap();
    fixture.backup("backup.db", Existing::Keep).unwrap();
    let (backup, restored) = (fixture.file("backup.db"), url(&fixture.file("other.db")));
    let options = OpenOptions::default();
    let next = |_| ControlFlow::Continue(());
    let result = options.restore_backup(&backup, &restored, Existing::Keep, next);
    assert_eq!(result.unwrap().robots, 1);
    let restored = robot_core::open(&restored).unwrap();
    let changes = restored.changes(&before, Extent::Latest, 10);
    assert!(matches!(changes, Err(Error::PositionGone)), "{changes:?}");
    let history = restored.history(restored.list().unwrap()[0].id(), None, 10);
    assert_eq!(history.unwrap().len(), 1);
}
