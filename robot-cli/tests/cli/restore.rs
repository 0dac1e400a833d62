//! Tests of `restore`.

use std::{collections::BTreeMap, fs, path::Path};

use robot_core::{CatalogueExt, Draft};

use crate::sandbox::Sandbox;

/// The name of the catalogue, which a replacement requires.
pub(crate) const ROBOTS: &str = "--database=sqlite://robots.db";

/// A sandbox with a backup of three robots, `copy.db`, and a catalogue that has another robot.
fn with_backup() -> Sandbox {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run(&["backup", "copy.db"]).success();
    sandbox.add([Draft::new("Marvin", "droid", 1978)]);
    sandbox
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().display().to_string();
        (name, fs::read(&path).unwrap())
    });
    files.collect()
}

fn list(sandbox: &Sandbox, file: &str) -> String {
    let database = format!("--database=sqlite://{file}");
    sandbox.stdout(&["list", "--format=ndjson", &database])
}

/// Asserts that a restoration fails with this message and changes nothing.
#[track_caller]
fn is_refused(sandbox: &Sandbox, arguments: &[&str], message: &str) {
    let before = files(sandbox.path());
    let error = sandbox.stderr(&[&["restore"], arguments].concat(), 1);
    assert!(
        error.starts_with("error: ") && error.contains(message),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(files(sandbox.path()) == before, "{error}");
}

#[test]
fn backup_is_restored_to_a_new_catalogue() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run(&["delete", "3"]).success();
    let _ = sandbox.run(&["backup", "copy.db"]).success();
    let backup = fs::read(sandbox.path().join("copy.db")).unwrap();
    let printed = sandbox.stdout(&["restore", "copy.db", "--database=sqlite://new.db"]);
    assert!(
        printed.starts_with("Restored 2 robots to 'new.db' ("),
        "{printed}"
    );
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert_eq!(list(&sandbox, "new.db"), list(&sandbox, "robots.db"));
    let added = sandbox.stdout(&[
        "add",
        "Marvin",
        "--type=droid",
        "--year=1978",
        "--format=csv",
        "--database=sqlite://new.db",
    ]);
    assert!(
        added.contains("\n4,Marvin"),
        "an id was assigned again: {added}"
    );
    assert!(fs::read(sandbox.path().join("copy.db")).unwrap() == backup);
}

#[test]
fn existing_catalogue_is_replaced_only_on_request() {
    let sandbox = with_backup();
    let expected = "'./robots.db' exists; name another catalogue with --database, or replace the \
                    catalogue: name it, not its WAL, with --database, and add --replace";
    is_refused(&sandbox, &["copy.db"], expected);
    let before = list(&sandbox, "robots.db");
    let printed = sandbox.stdout(&["restore", "--replace", "copy.db", ROBOTS]);
    let replaced = sandbox.path().join("robots.db.replaced-1");
    let end = format!(
        "The catalogue before is '{}'; delete it when it is no longer needed.\n",
        replaced.display()
    );
    assert!(printed.ends_with(&end), "{printed}");
    assert_eq!(list(&sandbox, "robots.db"), list(&sandbox, "copy.db"));
    assert_eq!(list(&sandbox, "robots.db.replaced-1"), before);
    let json = sandbox.stdout(&["restore", "--replace", "copy.db", ROBOTS, "--format=json"]);
    assert!(json.contains(".replaced-2\",\"robots\":3}"), "{json}");
}

#[test]
fn catalogue_without_a_name_is_not_replaced() {
    let sandbox = with_backup();
    let before = files(sandbox.path());
    let message = "--replace requires the name of the catalogue";
    sandbox.is_usage_error(&["restore", "--replace", "copy.db"], message);
    assert!(files(sandbox.path()) == before);
    let mut command = sandbox.command(["restore", "--replace", "copy.db"]);
    let status = command.env("DATABASE_URL", "sqlite://robots.db").status();
    assert!(status.unwrap().success());
}

#[test]
fn replaced_catalogue_keeps_the_changes_in_its_log() {
    let crashed = with_backup();
    let running = Sandbox::with_three_robots();
    let catalogue = running.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    // What a process that is killed leaves behind.
    for file in ["robots.db", "robots.db-wal"] {
        fs::copy(running.path().join(file), crashed.path().join(file)).unwrap();
    }
    let _ = crashed
        .run(&["restore", "--replace", "copy.db", ROBOTS])
        .success();
    assert!(!crashed.path().join("robots.db-wal").exists());
    assert_eq!(list(&crashed, "robots.db").lines().count(), 3);
    assert_eq!(list(&crashed, "robots.db.replaced-1").lines().count(), 4);
}

#[test]
fn catalogue_in_use_is_not_replaced() {
    let sandbox = with_backup();
    let catalogue = sandbox.open("robots.db");
    let expected = "robots.db' is in use; stop the server and all other programs that use it";
    let error = sandbox.stderr(&["restore", "--replace", "copy.db", ROBOTS], 1);
    assert!(error.contains(expected), "{error}");
    assert_eq!(catalogue.list().unwrap().len(), 4);
    drop(catalogue);
    let _ = sandbox
        .run(&["restore", "--replace", "copy.db", ROBOTS])
        .success();
}

#[test]
fn log_of_another_catalogue_is_not_replaced() {
    let sandbox = with_backup();
    let catalogue = sandbox.open("robots.db");
    catalogue.add(Draft::new("Robby", "droid", 1956)).unwrap();
    let log = "--database=sqlite://robots.db-wal";
    let expected = "'robots.db-wal': it belongs to the database";
    for arguments in [&["copy.db", log][..], &["--replace", "copy.db", log]] {
        is_refused(&sandbox, arguments, expected);
    }
}

#[test]
fn unreadable_catalogue_is_replaced() {
    let sandbox = with_backup();
    sandbox.write("robots.db", "not a database");
    let _ = sandbox
        .run(&["restore", "--replace", "copy.db", ROBOTS])
        .success();
    assert_eq!(list(&sandbox, "robots.db"), list(&sandbox, "copy.db"));
    assert_eq!(sandbox.read("robots.db.replaced-1"), "not a database");
    // Only a log is left of the catalogue.
    fs::remove_file(sandbox.path().join("robots.db")).unwrap();
    sandbox.write("robots.db-wal", "a log");
    is_refused(&sandbox, &["copy.db"], "robots.db-wal' exists");
    let printed = sandbox.stdout(&["restore", "--replace", "copy.db", ROBOTS]);
    assert!(!printed.contains("The catalogue before"), "{printed}");
    assert_eq!(sandbox.read("robots.db.replaced-2-wal"), "a log");
}

#[test]
fn damaged_backup_is_not_restored() {
    let sandbox = with_backup();
    let backup = fs::read(sandbox.path().join("copy.db")).unwrap();
    sandbox.write("half.db", &backup[..backup.len() / 2]);
    sandbox.write("text.db", "not a database");
    for (file, message) in [
        (
            "half.db",
            "the backup 'half.db' is damaged; choose another one: file: ",
        ),
        ("text.db", "'text.db'"),
        ("missing.db", "'missing.db'"),
        (
            "robots.db",
            "belongs to the catalogue itself; choose another backup",
        ),
    ] {
        is_refused(&sandbox, &["--replace", file, ROBOTS], message);
    }
}

/// As backup programs make that do not store an unchanged file twice.
#[test]
fn hard_linked_backup_is_checked_and_restored() {
    let sandbox = with_backup();
    let file = |name| sandbox.path().join(name);
    fs::hard_link(file("copy.db"), file("link.db")).unwrap();
    let _ = sandbox
        .run(&["check", "--database=sqlite://link.db"])
        .success();
    let _ = sandbox
        .run(&["restore", "--replace", "link.db", ROBOTS])
        .success();
    assert_eq!(list(&sandbox, "robots.db").lines().count(), 3);
    // Other commands could change it.
    let error = sandbox.stderr(&["list", "--database=sqlite://link.db"], 1);
    assert!(
        error.contains("if it is a backup, copy it, and use the copy"),
        "{error}"
    );
}

#[test]
fn backup_with_a_log_is_not_restored() {
    let sandbox = with_backup();
    let expected = "copy.db' may be incomplete, because of its WAL '";
    for log in ["copy.db-wal", "copy.db-journal"] {
        sandbox.write(log, "a change");
        is_refused(&sandbox, &["--replace", "copy.db", ROBOTS], expected);
        // Empty ones remain after another program was killed.
        sandbox.write(log, "");
        let _ = sandbox
            .run(&["restore", "--replace", "copy.db", ROBOTS])
            .success();
        fs::remove_file(sandbox.path().join(log)).unwrap();
    }
    // What the message says: a live database is backed up first.
    let running = Sandbox::with_three_robots();
    let catalogue = running.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    let new = "--database=sqlite://new.db";
    is_refused(
        &running,
        &["robots.db", new],
        "robots.db' may be incomplete",
    );
    let _ = running.run(&["backup", "copy.db"]).success();
    let _ = running.run(&["restore", "copy.db", new]).success();
    assert_eq!(list(&running, "new.db").lines().count(), 4);
}

#[test]
fn backup_that_violates_rules_is_not_restored() {
    let sandbox = with_backup();
    let status = std::process::Command::new("sqlite3")
        .args([
            "copy.db",
            "PRAGMA ignore_check_constraints = ON; UPDATE robots SET year = -1",
        ])
        .current_dir(sandbox.path())
        .status();
    assert!(status.unwrap().success());
    is_refused(
        &sandbox,
        &["--replace", "copy.db", ROBOTS],
        "the backup 'copy.db' is damaged",
    );
}

#[test]
fn backup_is_restored_to_files_only() {
    let sandbox = with_backup();
    for database in ["memory:", "postgres://user:secret@host/robots"] {
        let database = format!("--database={database}");
        let error = sandbox.stderr(&["restore", "copy.db", &database], 1);
        assert!(
            error.contains("robot-cli copy --from sqlite://FILE --to URL"),
            "{error}"
        );
        assert!(!error.contains("secret"), "{error}");
    }
    let folder = "--database=sqlite://missing/robots.db";
    is_refused(
        &sandbox,
        &["copy.db", folder],
        "check that its folder exists",
    );
}
