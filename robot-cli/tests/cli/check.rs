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
    let parts = "\u{fffe} \u{ffff} \u{fffd} \u{fffd}\u{ffff} \u{fdd0} \u{1ffff}".split(' ');
    sandbox.add(
        (0..600)
            .zip(parts.cycle())
            .map(|(number, part)| Draft::new(format!("ab{part}{number:04}{part}c"), "droid", 0)),
    );
    let passed = ["No problems found: 600 robots.\n"];
    contains(&sandbox.stdout("check"), &passed);
}

#[test]
fn check_of_good_catalogue_prints_a_line_per_check() {
    let sandbox = Sandbox::with_three_robots();
    let before = sandbox.files();
    sandbox.prints("check", PASSED);
    assert!(sandbox.files() == before);
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
fn repair_removes_values_that_belong_to_no_field() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run("fields add maker --type string").success();
    sandbox.execute(
        "robots.db",
        "UPDATE robots SET own = '{\"maker\":\"ACME\",\"old\":7}' WHERE id = 1",
    );
    let found =
        "Without effect, removed by --repair: robot 1: old is not a field of this catalogue\n";
    contains(
        &sandbox.stdout("check"),
        &[found, "No problems found: 3 robots.\n"],
    );
    let _ = sandbox.run("check --repair").success();
    sandbox.prints("check", PASSED);
    contains(&sandbox.stdout("get 1"), &["ACME"]);
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
    const IGNORE: &str = "PRAGMA ignore_check_constraints = ON";
    let three: fn() -> Sandbox = Sandbox::with_three_robots;
    for (sandbox, sql, parts) in [
        (
            with_index as fn() -> Sandbox,
            "INSERT INTO robots_search (robots_search) VALUES ('delete-all')".to_owned(),
            &[
                "file: ok\nsearch index: failed: ",
                " entries are missing\nrules: ok\n",
                "Failed checks: 1; 1,000 robots.\n",
            ][..],
        ),
        (
            three,
            "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'robots'".to_owned(),
            &["\nlast id: failed: a robot has the id 3, but new ids begin after 1\n"],
        ),
        (
            three,
            format!("{IGNORE}; UPDATE robots SET year = -1 WHERE id = 2"),
            &["\nrules: failed: robot 2: The year cannot be less than zero\n"],
        ),
        (
            three,
            format!("{IGNORE}; UPDATE robots SET name = '' WHERE id = 1"),
            &["file: failed: the name of robot 1 is empty\n"],
        ),
    ] {
        let sandbox = sandbox();
        sandbox.execute("robots.db", &sql);
        contains(&problems(&sandbox), parts);
    }
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
    sandbox.execute(
        "robots.db",
        "UPDATE robots_search_data SET block = zeroblob(length(block)) WHERE id > 10",
    );
    contains(&problems(&sandbox), &["file: ok\nsearch index: failed: "]);
    let parts = [
        "the search index of 'robots.db' is damaged: ",
        "no robot is lost: rebuild it",
    ];
    sandbox.reports("backup copy.db", 1, &parts);
    sandbox.execute(
        "robots.db",
        "INSERT INTO robots_search (robots_search) VALUES ('rebuild')",
    );
    let _ = sandbox.run("backup copy.db").success();
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
        let parts = [
            "file: failed: ",
            "Failed checks: 1; the robots were not read.\n",
        ];
        contains(&problems(&sandbox), &parts);
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
}

#[test]
fn check_of_unusable_file_fails_with_a_remedy() {
    let sandbox = Sandbox::new();
    sandbox.fails(
        "check",
        "error: there is no database 'robots.db'; check its path and the working directory, or \
         create it with: robot-cli add\n",
    );
    fs::create_dir(sandbox.path().join("folder.db")).unwrap();
    sandbox.write("text.db", "This is not a database. ".repeat(100));
    sandbox.write("empty.db", "");
    for (file, remedy) in [
        ("folder.db", "it is a folder; name a file in it"),
        (
            "text.db",
            "; check that it is a database of robots; if it is, it is damaged:",
        ),
        (
            "empty.db",
            "it is empty; check that it may be read and that it is a database",
        ),
    ] {
        let check = format!("check --database=sqlite://{file}");
        sandbox.reports(&check, 1, &[remedy]);
    }
}
