//! Backups of SQLite files: their contents, and the files that they never replace.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use robot_core::{
    Backup, BackupError, Catalogue, CatalogueExt, Existing, OpenError, OpenOptions,
    SqliteCatalogue, backup, transfer::digest,
};
use tempfile::TempDir;

use crate::draft;

/// A folder with a catalogue.
struct Fixture {
    folder: TempDir,
    catalogue: SqliteCatalogue,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = SqliteCatalogue::open(&url(&folder.path().join("robots.db"))).unwrap();
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

fn open(path: &Path) -> SqliteCatalogue {
    let url = url(path);
    SqliteCatalogue::open_with(&url, &OpenOptions::new().must_exist()).unwrap()
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

#[test]
fn existing_file_is_replaced_only_if_requested() {
    let fixture = Fixture::new();
    fixture.add("R2-D2");
    fs::write(fixture.file("copy.db"), "precious").unwrap();
    let outcome = fixture.backup("copy.db", Existing::Keep);
    assert!(
        matches!(outcome, Err(BackupError::Exists(_))),
        "{outcome:?}"
    );
    assert_eq!(
        fs::read_to_string(fixture.file("copy.db")).unwrap(),
        "precious"
    );

    assert_eq!(
        fixture.backup("copy.db", Existing::Replace).unwrap().robots,
        1
    );
    fixture.add("C-3PO");
    assert_eq!(
        fixture.backup("copy.db", Existing::Replace).unwrap().robots,
        2
    );
    assert_eq!(open(&fixture.file("copy.db")).list().unwrap().len(), 2);
}

#[test]
fn files_of_the_catalogue_are_never_replaced() {
    let fixture = Fixture::new();
    fixture.add("R2-D2");
    let mut names = vec![
        "robots.db",
        "robots.db-wal",
        "robots.db-shm",
        "robots.db-journal",
        "./robots.db",
    ];
    #[cfg(unix)]
    for (target, link) in [
        ("robots.db", "link.db"),
        ("robots.db-journal", "missing.db"),
        (".", "folder"),
    ] {
        std::os::unix::fs::symlink(target, fixture.file(link)).unwrap();
    }
    #[cfg(unix)]
    {
        fs::hard_link(fixture.file("robots.db-wal"), fixture.file("log.db")).unwrap();
        names.extend(["link.db", "missing.db", "folder/robots.db-wal", "log.db"]);
    }
    for name in names {
        let outcome = fixture.backup(name, Existing::Replace);
        assert!(
            matches!(outcome, Err(BackupError::Itself(_))),
            "{name}: {outcome:?}"
        );
    }
    fixture.add("C-3PO");
    assert_eq!(fixture.catalogue.list().unwrap().len(), 2);
}

#[test]
fn stopped_backup_leaves_no_file() {
    let fixture = Fixture::new();
    fixture.add("R2-D2");
    fs::write(fixture.file("copy.db"), "precious").unwrap();
    let outcome = OpenOptions::new().backup_while(
        &url(&fixture.file("robots.db")),
        fixture.file("copy.db"),
        Existing::Replace,
        || ControlFlow::Break(()),
    );
    assert!(
        matches!(outcome, Err(BackupError::Cancelled(_))),
        "{outcome:?}"
    );
    assert_eq!(fixture.others(), ["copy.db"]);
    let kept = fs::read_to_string(fixture.file("copy.db")).unwrap();
    assert_eq!(kept, "precious");
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

#[test]
fn log_next_to_the_backup_is_rejected() {
    let fixture = Fixture::new();
    fixture.add("R2-D2");
    for name in ["copy.db-wal", "copy.db-journal"] {
        fs::write(fixture.file(name), "").unwrap();
        for existing in [Existing::Keep, Existing::Replace] {
            match fixture.backup("copy.db", existing) {
                Err(BackupError::WalBeside(log)) => assert_eq!(log, fixture.file(name)),
                other => panic!("{other:?}"),
            }
        }
        fs::remove_file(fixture.file(name)).unwrap();
    }
    assert!(fixture.others().is_empty());
}

#[test]
fn backup_does_not_create_a_missing_catalogue() {
    let fixture = Fixture::new();
    let outcome = backup(
        &url(&fixture.file("missing.db")),
        fixture.file("copy.db"),
        Existing::Keep,
    );
    assert!(
        matches!(outcome, Err(BackupError::Open(OpenError::Missing { .. }))),
        "{outcome:?}"
    );
    let opened = OpenOptions::new()
        .must_exist()
        .open(&url(&fixture.file("missing.db")));
    assert!(matches!(opened, Err(OpenError::Missing { .. })));
    assert!(fixture.others().is_empty());
}

#[test]
fn missing_folder_of_the_backup_is_reported() {
    let fixture = Fixture::new();
    let message = fixture
        .backup("none/copy.db", Existing::Keep)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("check that its folder exists"),
        "{message}"
    );
    assert!(fixture.others().is_empty());
}

#[test]
fn backup_of_a_foreign_database_is_rejected() {
    let fixture = Fixture::new();
    let path = fixture.file("other.db");
    let mut other = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    other.batch_execute("CREATE TABLE invoices (id)").unwrap();
    let outcome = backup(
        &url(&fixture.file("other.db")),
        fixture.file("copy.db"),
        Existing::Keep,
    );
    assert!(
        matches!(outcome, Err(BackupError::Open(OpenError::Foreign { .. }))),
        "{outcome:?}"
    );
    assert!(!fixture.file("copy.db").exists());
}

#[test]
fn backup_of_a_damaged_catalogue_fails() {
    let fixture = Fixture::new();
    for number in 0..2000 {
        fixture.add(&format!("RX-{number}"));
    }
    let file = fixture.file("robots.db");
    let Fixture { folder, catalogue } = fixture;
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
fn backup_of_other_stores_is_rejected_without_password() {
    let fixture = Fixture::new();
    for (url, remedy) in [
        ("postgres://robots:s3cret@127.0.0.1/robots", "pg_dump"),
        ("mysql://robots:s3cret@127.0.0.1/robots", "mariadb-dump"),
        ("memory:", "only in the memory of its process"),
    ] {
        let error = backup(url, fixture.file("copy.db"), Existing::Keep).unwrap_err();
        let message = error.to_string();
        match error {
            BackupError::NoFile { .. } => assert!(message.contains(remedy), "{message}"),
            BackupError::Open(OpenError::NotCompiledIn { .. }) => assert_ne!(url, "memory:"),
            other => panic!("{url}: {other:?}"),
        }
        assert!(!message.contains("s3cret"), "{message}");
    }
}
