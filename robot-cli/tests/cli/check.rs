//! Tests of `check`.

use std::{collections::BTreeMap, fs, process::Command};

use robot_core::{CatalogueExt, Draft};

use crate::sandbox::Sandbox;

const PASSED: &str = "file: ok\nsearch index: ok\nrules: ok\nnames: ok\nlast id: ok\ncount: ok\n\
                      No problems found: 3 robots.\n";

const ERROR: &str = "error: problems were found; restore a backup, or see 'Damaged catalogue' in the \
                     operations document\n";

/// A closed catalogue with 1,000 robots, most of them in the search index.
fn with_index() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.add((0..1000).map(|number| Draft::new(format!("RX-{number:06}"), "droid", 0)));
    sandbox
}

fn files(sandbox: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(sandbox.path()).unwrap();
    let files = entries.map(|entry| {
        let path = entry.unwrap().path();
        (path.display().to_string(), fs::read(&path).unwrap())
    });
    files.collect()
}

/// Runs SQL as another program does.
fn execute(sandbox: &Sandbox, sql: &str) {
    let status = Command::new("sqlite3")
        .args(["-bail", "robots.db", sql])
        .current_dir(sandbox.path())
        .status();
    assert!(status.unwrap().success());
}

/// Standard output with status 3.
#[track_caller]
fn problems(sandbox: &Sandbox) -> String {
    let output = sandbox
        .run("check")
        .code(3)
        .stderr(ERROR)
        .get_output()
        .clone();
    String::from_utf8(output.stdout).unwrap()
}

/// FTS5 replaces some of these characters.
#[test]
fn names_with_noncharacters_pass_the_check() {
    let sandbox = Sandbox::new();
    let parts = [
        "\u{fffe}",
        "\u{ffff}",
        "\u{fffd}",
        "\u{fffd}\u{ffff}",
        "\u{fdd0}",
        "\u{1ffff}",
    ];
    sandbox.add((0..600).map(|number| {
        let part = parts[number % parts.len()];
        Draft::new(format!("ab{part}{number:04}{part}c"), "droid", 0)
    }));
    let output = sandbox.stdout("check");
    assert!(
        output.ends_with("No problems found: 600 robots.\n"),
        "{output}"
    );
}

#[test]
fn check_of_good_catalogue_prints_a_line_per_check() {
    let sandbox = Sandbox::with_three_robots();
    let before = files(&sandbox);
    sandbox.prints("check", PASSED);
    assert!(files(&sandbox) == before);
    let json = sandbox.stdout("check --format=json");
    assert!(json.contains("\"passed\":true,\"robots\":3}"), "{json}");
    let csv = sandbox.stdout("check --format=csv");
    assert!(
        csv.starts_with("check,result,findings\nfile,ok,\n"),
        "{csv}"
    );
    let _ = sandbox.run("backup copy.db").success();
    sandbox.prints("check --database=sqlite://copy.db", PASSED);
}

#[test]
fn check_of_catalogue_in_use_reads_its_log() {
    let sandbox = Sandbox::new();
    let catalogue = sandbox.open("robots.db");
    for name in ["a", "b", "c"] {
        catalogue.add(Draft::new(name, "droid", 1)).unwrap();
    }
    sandbox.prints("check", PASSED);
    catalogue.add(Draft::new("d", "droid", 1)).unwrap();
    assert_eq!(catalogue.list().unwrap().len(), 4);
}

#[test]
fn damaged_search_index_is_rebuilt_before_a_backup() {
    let sandbox = with_index();
    execute(
        &sandbox,
        "UPDATE robots_trigrams_data SET block = zeroblob(length(block)) WHERE id > 10",
    );
    let stdout = problems(&sandbox);
    assert!(
        stdout.starts_with("file: ok\nsearch index: failed: "),
        "{stdout}"
    );
    let error = sandbox.stderr("backup copy.db", 1);
    let expected = "the search index of 'robots.db' is damaged: ";
    assert!(error.contains(expected), "{error}");
    assert!(error.contains("no robot is lost: rebuild it"), "{error}");
    execute(
        &sandbox,
        "BEGIN IMMEDIATE; DELETE FROM robots_unindexed;
         INSERT INTO robots_trigrams (robots_trigrams) VALUES ('rebuild'); COMMIT;",
    );
    let _ = sandbox.run("backup copy.db").success();
}

#[test]
fn check_finds_missing_entries_of_the_search_index() {
    let sandbox = with_index();
    execute(
        &sandbox,
        "INSERT INTO robots_trigrams (robots_trigrams) VALUES ('delete-all')",
    );
    let stdout = problems(&sandbox);
    assert!(stdout.contains("\nsearch index: failed: "), "{stdout}");
    assert!(
        stdout.contains(" entries are missing\nrules: ok\n"),
        "{stdout}"
    );
    assert!(
        stdout.ends_with("Failed checks: 1; 1,000 robots.\n"),
        "{stdout}"
    );
}

#[test]
fn check_accepts_index_entries_of_replaced_names() {
    let sandbox = with_index();
    execute(
        &sandbox,
        "REPLACE INTO robots (id, name, type, year) VALUES (7, 'other', 'droid', 1)",
    );
    let stdout = sandbox.stdout("check");
    assert!(stdout.contains("search index: ok\n"), "{stdout}");
}

#[test]
fn check_finds_a_last_id_that_is_too_low() {
    let sandbox = Sandbox::with_three_robots();
    execute(
        &sandbox,
        "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'robots'",
    );
    let stdout = problems(&sandbox);
    let line = "\nlast id: failed: a robot has the id 3, but new ids begin after 1\n";
    assert!(stdout.contains(line), "{stdout}");
}

#[test]
fn check_finds_robots_that_violate_rules() {
    let sandbox = Sandbox::with_three_robots();
    execute(
        &sandbox,
        "PRAGMA ignore_check_constraints = ON; UPDATE robots SET year = -1 WHERE id = 2",
    );
    let stdout = problems(&sandbox);
    let line = "\nrules: failed: robot 2: The year cannot be less than zero\n";
    assert!(stdout.contains(line), "{stdout}");
    execute(
        &sandbox,
        "PRAGMA ignore_check_constraints = ON; UPDATE robots SET name = '' WHERE id = 1",
    );
    let stdout = problems(&sandbox);
    let line = "file: failed: the name of robot 1 is empty\n";
    assert!(stdout.contains(line), "{stdout}");
}

#[test]
fn check_finds_damaged_and_truncated_files() {
    let sandbox = with_index();
    let file = sandbox.path().join("robots.db");
    let good = fs::read(&file).unwrap();
    let middle = good.len() / 2;
    let mut damaged = good.clone();
    damaged[middle..middle + 3 * 4096].fill(0xa5);
    for bytes in [&damaged[..], &good[..middle]] {
        fs::write(&file, bytes).unwrap();
        let stdout = problems(&sandbox);
        assert!(stdout.starts_with("file: failed: "), "{stdout}");
        assert!(
            stdout.contains("rules: skipped: the file is damaged\n"),
            "{stdout}"
        );
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
}

#[test]
fn check_of_unusable_file_fails_with_a_remedy() {
    let sandbox = Sandbox::new();
    sandbox.fails("check",
        "error: there is no database 'robots.db'; check its path and the working directory, or create it \
         with: robot-cli add\n",
    );
    fs::create_dir(sandbox.path().join("robots.db")).unwrap();
    let stderr = sandbox.stderr("check", 1);
    assert!(
        stderr.contains("it is a folder; name a file in it"),
        "{stderr}"
    );
    sandbox.write("text.db", "This is not a database. ".repeat(100));
    let stderr = sandbox.stderr("check --database=sqlite://text.db", 1);
    assert!(
        stderr.contains("; check that it is a database of robots; if it is, it is damaged:"),
        "{stderr}"
    );
    sandbox.write("empty.db", "");
    let stderr = sandbox.stderr("check --database=sqlite://empty.db", 1);
    assert!(
        stderr.contains("it is empty; check that it may be read and that it is a database"),
        "{stderr}"
    );
    sandbox.is_usage_error("check --database=memory:", "check a file or a server");
}
