//! Tests of `check`.

use std::fs;

use robot_core::{CatalogueExt, Draft};

use crate::sandbox::{Sandbox, contains};

const PASSED: &str = "file: ok\nsearch index: ok\nrules: ok\nnames: ok\nlast id: ok\n\
                      No problems found: 3 robots.\n";

const ERROR: &str = "error: problems were found; restore a backup, or see 'Damaged catalogue' in the \
                     operations document\n";

/// A closed catalogue with 1,000 robots, most of them in the search index.
fn with_index() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.add((0..1000).map(|number| Draft::new(format!("RX-{number:06}"), "droid", 0)));
    sandbox
}

/// Asserts that the check finds a problem, and prints this, among others.
#[track_caller]
fn finds(sandbox: &Sandbox, parts: &[&str]) {
    let (stdout, stderr, status) = sandbox.run("check");
    assert_eq!((stderr.as_str(), status), (ERROR, Some(3)));
    contains(&stdout, parts);
}

/// FTS5 replaces some of these characters.
#[test]
fn names_with_noncharacters_pass_the_check() {
    let sandbox = Sandbox::new();
    let parts = "\u{fffe} \u{ffff} \u{fffd} \u{fffd}\u{ffff} \u{fdd0} \u{1ffff}".split(' ');
    let names = (0..600).zip(parts.cycle());
    let names = names.map(|(number, part)| format!("ab{part}{number:04}{part}c"));
    sandbox.add(names.map(|name| Draft::new(name, "droid", 0)));
    sandbox.examples(r"check -> 0 *\nNo problems found: 600 robots.");
}

#[test]
fn check_of_good_catalogue_prints_a_line_per_check() {
    let sandbox = Sandbox::with_three_robots();
    let before = sandbox.files();
    sandbox.prints("check", PASSED);
    assert!(sandbox.files() == before);
    sandbox.examples(
        r#"
        check --format=json -> 0 *"passed":true,"robots":3}
        check --format=csv -> 0 check,result,findings\nfile,ok,\n*
        backup copy.db -> 0 *"#,
    );
    sandbox.prints("check --database=sqlite://copy.db", PASSED);
}

#[test]
fn repair_removes_values_that_belong_to_no_field() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("fields add maker --type string");
    let sql = "UPDATE robots SET own = '{\"maker\":\"ACME\",\"old\":7}' WHERE id = 1";
    sandbox.execute("robots.db", sql);
    sandbox.examples(
        r"
        check -> 0 *\nWithout effect, removed by --repair: robot 1: old is not a field of this catalogue\nNo problems found: 3 robots.
        check --repair -> 0 *No problems found: 3 robots. ! *
        get 1 -> 0 *ACME*",
    );
    sandbox.prints("check", PASSED);
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
fn check_names_each_problem() {
    for (sql, problem) in [
        (
            "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'robots'",
            "\nlast id: failed: a robot has the id 3, but new ids begin after 1\n",
        ),
        (
            "PRAGMA ignore_check_constraints = ON; UPDATE robots SET year = -1 WHERE id = 2",
            "\nrules: failed: robot 2: The year cannot be less than zero\n",
        ),
        (
            "PRAGMA ignore_check_constraints = ON; UPDATE robots SET name = '' WHERE id = 1",
            "file: failed: the name of robot 1 is empty\n",
        ),
    ] {
        let sandbox = Sandbox::with_three_robots();
        sandbox.execute("robots.db", sql);
        finds(&sandbox, &[problem]);
    }
    let sandbox = with_index();
    let delete = "INSERT INTO robots_search (robots_search) VALUES ('delete-all')";
    sandbox.execute("robots.db", delete);
    let beginning = "file: ok\nsearch index: failed: ";
    let end = " entries are missing\nrules: ok\n";
    finds(
        &sandbox,
        &[beginning, end, "Failed checks: 1; 1,000 robots.\n"],
    );
}

#[test]
fn check_accepts_index_entries_of_replaced_names() {
    let sandbox = with_index();
    let sql = "REPLACE INTO robots (id, name, type, year) VALUES (7, 'other', 'droid', 1)";
    sandbox.execute("robots.db", sql);
    contains(&sandbox.stdout("check"), &["search index: ok\n"]);
}

#[test]
fn damaged_search_index_is_rebuilt_before_a_backup() {
    let sandbox = with_index();
    let damage = "UPDATE robots_search_data SET block = zeroblob(length(block)) WHERE id > 10";
    sandbox.execute("robots.db", damage);
    finds(&sandbox, &["file: ok\nsearch index: failed: "]);
    let damaged = "the search index of 'robots.db' is damaged: ";
    let parts = [damaged, "no robot is lost: rebuild it"];
    sandbox.reports("backup copy.db", 1, &parts);
    let rebuild = "INSERT INTO robots_search (robots_search) VALUES ('rebuild')";
    sandbox.execute("robots.db", rebuild);
    sandbox.stdout("backup copy.db");
}

#[test]
fn check_finds_damaged_and_truncated_files() {
    let sandbox = with_index();
    let good = sandbox.files()["robots.db"].clone();
    let middle = good.len() / 2;
    let mut damaged = good.clone();
    damaged[middle..middle + 3 * 4096].fill(0xa5);
    for bytes in [&damaged[..], &good[..middle]] {
        sandbox.write("robots.db", bytes);
        let end = "Failed checks: 1; the robots were not read.\n";
        finds(&sandbox, &["file: failed: ", end]);
        assert!(sandbox.files()["robots.db"] == bytes);
    }
}

#[test]
fn check_of_unusable_file_fails_with_a_remedy() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("folder.db")).unwrap();
    sandbox.write("text.db", "This is not a database. ".repeat(100));
    sandbox.write("empty.db", "");
    sandbox.examples(
        r"
        check -> 1 ! error: there is no database 'robots.db'; check its path and the working directory, or create it with: robot-cli add
        check --database=sqlite://folder.db -> 1 ! *it is a folder; name a file in it*
        check --database=sqlite://text.db -> 1 ! *; check that it is a database of robots; if it is, it is damaged:*
        check --database=sqlite://empty.db -> 1 ! *it is empty; check that it may be read and that it is a database*",
    );
}
