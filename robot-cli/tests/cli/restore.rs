//! Tests of `restore`.

use std::fs;

use robot_core::{CatalogueExt, Draft};

use crate::sandbox::Sandbox;

/// Replaces the catalogue by a backup. That requires the name of the catalogue.
pub(crate) const REPLACE: &str = "restore --replace copy.db --database=sqlite://robots.db";

/// A sandbox with a backup of three robots, `copy.db`, and a catalogue that has another robot.
fn with_backup() -> Sandbox {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("backup copy.db");
    sandbox.add([Draft::new("Marvin", "droid", 1978)]);
    sandbox
}

/// A sandbox whose catalogue is open, so that its log has a fourth robot.
fn running() -> (Sandbox, impl Sized) {
    let sandbox = Sandbox::with_three_robots();
    let catalogue = sandbox.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    (sandbox, catalogue)
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
    sandbox.examples(
        r"
        delete 3 -> 0 *
        backup copy.db -> 0 *",
    );
    let backup = sandbox.files()["copy.db"].clone();
    // No id is assigned again.
    sandbox.examples(
        r"
        restore copy.db --database=sqlite://new.db -> 0 Restored 2 robots to 'new.db' (*).
        list --format=csv --database=sqlite://new.db -> 0 id,name,type,year\n2,Bender,mechanical,2996\n1,R2-D2,droid,1977
        add Marvin --type=droid --year=1978 --format=csv --database=sqlite://new.db -> 0 id,name,type,year\n4,Marvin,droid,1978",
    );
    assert!(sandbox.files()["copy.db"] == backup);
}

#[test]
fn existing_catalogue_is_replaced_only_on_request() {
    let sandbox = with_backup();
    let before = sandbox.files();
    let examples = r"
        restore copy.db -> 1 ! error: './robots.db' exists; name another catalogue with --database, or replace the catalogue: name it, not its WAL, with --database, and add --replace
        restore --replace copy.db -> 2 ! *--replace requires the name of the catalogue*";
    sandbox.examples(examples);
    assert!(sandbox.files() == before);
    let examples = r#"
        REPLACE -> 0 *\nThe catalogue before is '*/robots.db.replaced-1'; delete it when it is no longer needed.
        list --count -> 0 3
        list --count --database=sqlite://robots.db.replaced-1 -> 0 4
        REPLACE --format=json -> 0 *.replaced-2","robots":3}"#;
    sandbox.examples(examples.replace("REPLACE", REPLACE));
    let restore = "restore --replace copy.db";
    let (.., status) = sandbox.run_with_url(restore, "sqlite://robots.db");
    assert_eq!(status, Some(0));
}

#[test]
fn replaced_catalogue_keeps_the_changes_in_its_log() {
    let crashed = with_backup();
    let (running, _catalogue) = running();
    // What a process that is killed leaves behind.
    for file in ["robots.db", "robots.db-wal"] {
        fs::copy(running.path(file), crashed.path(file)).unwrap();
    }
    crashed.stdout(REPLACE);
    assert!(!crashed.path("robots.db-wal").exists());
    assert_eq!(crashed.count("robots.db"), 3);
    assert_eq!(crashed.count("robots.db.replaced-1"), 4);
}

#[test]
fn catalogue_in_use_is_not_replaced() {
    let sandbox = with_backup();
    let catalogue = sandbox.open("robots.db");
    let expected = "robots.db' is in use; stop the server and all other programs that use it";
    sandbox.reports(REPLACE, 1, &[expected]);
    assert_eq!(catalogue.list().unwrap().len(), 4);
    // The log of another catalogue is none.
    let expected = "'robots.db-wal': it belongs to the database";
    for command in ["restore copy.db", "restore --replace copy.db"] {
        let restore = format!("{command} --database=sqlite://robots.db-wal");
        is_refused(&sandbox, &restore, expected);
    }
    drop(catalogue);
    sandbox.stdout(REPLACE);
}

#[test]
fn unreadable_catalogue_is_replaced() {
    let sandbox = with_backup();
    sandbox.write("robots.db", "not a database");
    sandbox.stdout(REPLACE);
    assert_eq!(sandbox.count("robots.db"), 3);
    assert_eq!(sandbox.read("robots.db.replaced-1"), "not a database");
    // Only a log is left of the catalogue.
    fs::remove_file(sandbox.path("robots.db")).unwrap();
    sandbox.write("robots.db-wal", "a log");
    is_refused(&sandbox, "restore copy.db", "robots.db-wal' exists");
    let printed = sandbox.stdout(REPLACE);
    assert!(!printed.contains("The catalogue before"), "{printed}");
    assert_eq!(sandbox.read("robots.db.replaced-2-wal"), "a log");
}

#[test]
fn damaged_backup_is_not_restored() {
    let sandbox = with_backup();
    let backup = sandbox.files()["copy.db"].clone();
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
    sandbox.stdout(&REPLACE.replace("copy.db", "rules.db"));
}

/// As backup programs make that do not store an unchanged file twice.
#[test]
fn hard_linked_backup_is_checked_and_restored() {
    let sandbox = with_backup();
    fs::hard_link(sandbox.path("copy.db"), sandbox.path("link.db")).unwrap();
    sandbox.stdout("check --database=sqlite://link.db");
    sandbox.stdout(&REPLACE.replace("copy.db", "link.db"));
    assert_eq!(sandbox.count("robots.db"), 3);
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
        sandbox.stdout(REPLACE);
        fs::remove_file(sandbox.path(log)).unwrap();
    }
    // What the message says: a live database is backed up first.
    let (running, _catalogue) = running();
    let restore = "restore robots.db --database=sqlite://new.db";
    is_refused(&running, restore, "robots.db' may be incomplete");
    running.stdout("backup copy.db");
    running.stdout(&restore.replace("robots.db", "copy.db"));
    assert_eq!(running.count("new.db"), 4);
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
