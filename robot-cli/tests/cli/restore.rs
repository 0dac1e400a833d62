//! Tests of `restore`.

use std::fs;

use robot_core::{CatalogueExt, Draft};

use crate::sandbox::Sandbox;

/// Replaces the catalogue by a backup. That requires the name of the catalogue.
pub(crate) const REPLACE: &str = "restore --replace copy.db --database=sqlite://robots.db";

/// A sandbox with a backup of three robots, `copy.db`, and a catalogue that has another robot.
fn with_backup() -> Sandbox {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run("backup copy.db").success();
    sandbox.add([Draft::new("Marvin", "droid", 1978)]);
    sandbox
}

fn list(sandbox: &Sandbox, file: &str) -> String {
    sandbox.stdout(&format!("list --format=ndjson --database=sqlite://{file}"))
}

fn count(sandbox: &Sandbox, file: &str) -> usize {
    list(sandbox, file).lines().count()
}

/// Asserts that a command fails with this message and changes nothing.
#[track_caller]
fn is_refused(sandbox: &Sandbox, arguments: &str, message: &str) {
    let before = sandbox.files();
    let error = sandbox.reports(arguments, 1, &["error: ", message]);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(sandbox.files() == before, "{error}");
}

#[test]
fn backup_is_restored_to_a_new_catalogue() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run("delete 3").success();
    let _ = sandbox.run("backup copy.db").success();
    let backup = fs::read(sandbox.path().join("copy.db")).unwrap();
    let printed = sandbox.stdout("restore copy.db --database=sqlite://new.db");
    let beginning = "Restored 2 robots to 'new.db' (";
    assert!(printed.starts_with(beginning), "{printed}");
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert_eq!(list(&sandbox, "new.db"), list(&sandbox, "robots.db"));
    // No id is assigned again.
    sandbox.prints(
        "add Marvin --type=droid --year=1978 --format=csv --database=sqlite://new.db",
        "id,name,type,year\n4,Marvin,droid,1978\n",
    );
    assert!(fs::read(sandbox.path().join("copy.db")).unwrap() == backup);
}

#[test]
fn existing_catalogue_is_replaced_only_on_request() {
    let sandbox = with_backup();
    let expected = "'./robots.db' exists; name another catalogue with --database, or replace the \
                    catalogue: name it, not its WAL, with --database, and add --replace";
    is_refused(&sandbox, "restore copy.db", expected);
    let before = sandbox.files();
    let message = "--replace requires the name of the catalogue";
    sandbox.is_usage_error("restore --replace copy.db", message);
    assert!(sandbox.files() == before);
    let before = list(&sandbox, "robots.db");
    let printed = sandbox.stdout(REPLACE);
    let replaced = sandbox.path().join("robots.db.replaced-1");
    let end = format!(
        "The catalogue before is '{}'; delete it when it is no longer needed.\n",
        replaced.display()
    );
    assert!(printed.ends_with(&end), "{printed}");
    assert_eq!(list(&sandbox, "robots.db"), list(&sandbox, "copy.db"));
    assert_eq!(list(&sandbox, "robots.db.replaced-1"), before);
    let json = sandbox.stdout(&format!("{REPLACE} --format=json"));
    assert!(json.contains(".replaced-2\",\"robots\":3}"), "{json}");
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
    let _ = crashed.run(REPLACE).success();
    assert!(!crashed.path().join("robots.db-wal").exists());
    assert_eq!(count(&crashed, "robots.db"), 3);
    assert_eq!(count(&crashed, "robots.db.replaced-1"), 4);
}

#[test]
fn catalogue_in_use_is_not_replaced() {
    let sandbox = with_backup();
    let catalogue = sandbox.open("robots.db");
    let expected = "robots.db' is in use; stop the server and all other programs that use it";
    sandbox.reports(REPLACE, 1, &[expected]);
    assert_eq!(catalogue.list().unwrap().len(), 4);
    // The log of another catalogue is none.
    let log = "--database=sqlite://robots.db-wal";
    let expected = "'robots.db-wal': it belongs to the database";
    for command in ["restore copy.db", "restore --replace copy.db"] {
        is_refused(&sandbox, &format!("{command} {log}"), expected);
    }
    drop(catalogue);
    let _ = sandbox.run(REPLACE).success();
}

#[test]
fn unreadable_catalogue_is_replaced() {
    let sandbox = with_backup();
    sandbox.write("robots.db", "not a database");
    let _ = sandbox.run(REPLACE).success();
    assert_eq!(list(&sandbox, "robots.db"), list(&sandbox, "copy.db"));
    assert_eq!(sandbox.read("robots.db.replaced-1"), "not a database");
    // Only a log is left of the catalogue.
    fs::remove_file(sandbox.path().join("robots.db")).unwrap();
    sandbox.write("robots.db-wal", "a log");
    is_refused(&sandbox, "restore copy.db", "robots.db-wal' exists");
    let printed = sandbox.stdout(REPLACE);
    assert!(!printed.contains("The catalogue before"), "{printed}");
    assert_eq!(sandbox.read("robots.db.replaced-2-wal"), "a log");
}

#[test]
fn damaged_backup_is_not_restored() {
    let sandbox = with_backup();
    let backup = fs::read(sandbox.path().join("copy.db")).unwrap();
    sandbox.write("half.db", &backup[..backup.len() / 2]);
    sandbox.write("text.db", "not a database");
    sandbox.write("rules.db", &backup);
    let sql = "PRAGMA ignore_check_constraints = ON; UPDATE robots SET year = -1";
    sandbox.execute("rules.db", sql);
    for (file, message) in [
        ("half.db", "the backup 'half.db' is damaged: "),
        ("text.db", "'text.db'"),
        ("missing.db", "'missing.db'"),
        (
            "robots.db",
            "belongs to the catalogue itself; choose another file",
        ),
    ] {
        is_refused(&sandbox, &REPLACE.replace("copy.db", file), message);
    }
    let _ = sandbox
        .run(&REPLACE.replace("copy.db", "rules.db"))
        .success();
}

/// As backup programs make that do not store an unchanged file twice.
#[test]
fn hard_linked_backup_is_checked_and_restored() {
    let sandbox = with_backup();
    let file = |name| sandbox.path().join(name);
    fs::hard_link(file("copy.db"), file("link.db")).unwrap();
    let _ = sandbox.run("check --database=sqlite://link.db").success();
    let replace = REPLACE.replace("copy.db", "link.db");
    let _ = sandbox.run(&replace).success();
    assert_eq!(count(&sandbox, "robots.db"), 3);
}

#[test]
fn backup_with_a_log_is_not_restored() {
    let sandbox = with_backup();
    let expected = "copy.db' may be incomplete, because of its WAL '";
    for log in ["copy.db-wal", "copy.db-journal"] {
        sandbox.write(log, "a change");
        is_refused(&sandbox, REPLACE, expected);
        // Empty ones remain after another program was killed.
        sandbox.write(log, "");
        let _ = sandbox.run(REPLACE).success();
        fs::remove_file(sandbox.path().join(log)).unwrap();
    }
    // What the message says: a live database is backed up first.
    let running = Sandbox::with_three_robots();
    let catalogue = running.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    let restore = "restore robots.db --database=sqlite://new.db";
    is_refused(&running, restore, "robots.db' may be incomplete");
    let _ = running.run("backup copy.db").success();
    let restore = restore.replace("robots.db", "copy.db");
    let _ = running.run(&restore).success();
    assert_eq!(count(&running, "new.db"), 4);
}

#[test]
fn backup_is_restored_to_files_only() {
    let sandbox = with_backup();
    for database in ["memory:", "postgres://user:secret@host/robots"] {
        let restore = format!("restore copy.db --database={database}");
        let remedy = "use: robot-cli copy --from sqlite://FILE --to URL";
        let error = sandbox.reports(&restore, 1, &[remedy]);
        assert!(!error.contains("secret"), "{error}");
    }
    let restore = "restore copy.db --database=sqlite://missing/robots.db";
    is_refused(&sandbox, restore, "check that its folder exists");
}
