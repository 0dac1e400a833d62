//! Tests of `import`.

use std::fs;

use assert_cmd::{Command, assert::Assert};

use crate::sandbox::Sandbox;

const CSV: &str = "name,type,year\nR2-D2,droid,1977\n\"HAL, 9000\",virtual,1968\n";

/// Lines 2 and 4 have two errors each.
const WITH_BAD_LINES: &str = "\
name,type,year\n\
Bender,bending,-1\n\
Marvin,droid,1978\n\
R2-D2,droid,soon,and more\n\
C-3PO,droid,1977\n";

const NAME_TAKEN: &str = "The robot name must be unique";

impl Sandbox {
    fn with_file(name: &str, content: impl AsRef<[u8]>) -> Self {
        let sandbox = Self::new();
        sandbox.write(name, content);
        sandbox
    }

    fn run_with_input(&self, arguments: &[&str], input: &str) -> Assert {
        Command::from_std(self.command(arguments))
            .write_stdin(input)
            .assert()
    }

    #[track_caller]
    fn has(&self, rows: &str) {
        self.prints(
            &["list", "--format=csv"],
            &format!("id,name,type,year\n{rows}"),
        );
    }
}

#[test]
fn import_takes_format_from_file_extension() {
    let object = |name| format!("{{\"name\":\"{name}\",\"type\":\"droid\",\"year\":1}}");
    for (file, content) in [
        (
            "robots.csv",
            "type,year,id,name\ndroid,1,9,a\ndroid,1,8,b\n".to_owned(),
        ),
        (
            "robots.json",
            format!("[{},\n{}]", object("a"), object("b")),
        ),
        (
            "robots.ndjson",
            format!("{}\n\n{}\n", object("a"), object("b")),
        ),
        (
            "robots.JSONL",
            format!("{}\r\n{}", object("a"), object("b")),
        ),
    ] {
        let sandbox = Sandbox::with_file(file, content);
        sandbox.prints(&["import", file], "Added 2 robots.\n");
        sandbox.has("1,a,droid,1\n2,b,droid,1\n");
    }
}

#[test]
fn import_reads_stdin_with_format() {
    let sandbox = Sandbox::new();
    let _ = sandbox
        .run_with_input(&["import", "-", "--format", "csv"], CSV)
        .success()
        .stdout("Added 2 robots.\n")
        .stderr("");
    sandbox.has("2,\"HAL, 9000\",virtual,1968\n1,R2-D2,droid,1977\n");
}

#[test]
fn format_takes_precedence_over_extension() {
    let sandbox = Sandbox::with_file("robots.json", CSV);
    sandbox.prints(
        &["import", "robots.json", "--format=csv"],
        "Added 2 robots.\n",
    );
}

#[test]
fn unknown_format_or_field_is_usage_error() {
    let sandbox = Sandbox::with_file("robots", CSV);
    for (arguments, stderr) in [
        (
            &["import", "robots"][..],
            "add --format csv, json or ndjson",
        ),
        (&["import", "-"], "the format of standard input is unknown"),
        (
            &["import", "robots", "--format=table"],
            "a table cannot be imported",
        ),
        (&["export", "robots"], "add --format csv, json or ndjson"),
        (&["export", "--format=table"], "a table cannot be imported"),
        (&["export", "--fields=name,colour"], "'colour'"),
        (
            &["import", "robots", "--on-conflict=merge"],
            "[possible values: fail, skip, replace]",
        ),
    ] {
        sandbox.is_usage_error(arguments, stderr);
    }
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn unreadable_file_creates_no_catalogue() {
    let sandbox = Sandbox::new();
    sandbox.fails(
        &["import", "robots.csv"],
        "error: cannot read 'robots.csv': No such file or directory (os error 2); check that it \
         is a file that you may read\n",
    );
    fs::create_dir(sandbox.path().join("directory.csv")).unwrap();
    sandbox.fails(
        &["import", "directory.csv"],
        "error: cannot read 'directory.csv': is a directory; check that it is a file that you may \
         read\n",
    );
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn import_stops_at_first_failed_line() {
    let sandbox = Sandbox::with_file("robots.csv", format!("{CSV}x,toaster,-1\ny,droid,1\n"));
    let _ = sandbox
        .run(&["import", "robots.csv"])
        .code(1)
        .stdout("Added 2 robots, failed 1.\n")
        .stderr(
            "robots.csv:4: Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             robots.csv:4: The year cannot be less than zero\n\
             error: stopped at line 4; later lines were not stored. Fix line 4 and run the command \
             again with --on-conflict skip, or with --keep-going to skip all records that fail\n",
        );
    sandbox.has("2,\"HAL, 9000\",virtual,1968\n1,R2-D2,droid,1977\n");
}

#[test]
fn import_with_keep_going_reports_each_failed_line() {
    let sandbox = Sandbox::with_file("robots.csv", WITH_BAD_LINES);
    let assert = sandbox
        .run(&["import", "robots.csv", "--keep-going"])
        .code(1)
        .stdout("Added 2 robots, failed 2.\n");
    let stderr = String::from_utf8_lossy(&assert.get_output().stderr);
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "robots.csv:2: Value of field 'type' must be part of list: droid, mechanical, virtual",
            "robots.csv:2: The year cannot be less than zero",
        ]
    );
    assert!(lines[2].starts_with("robots.csv:4: "), "{stderr}");
    assert_eq!(lines.len(), 3, "{stderr}");
    sandbox.has("2,C-3PO,droid,1977\n1,Marvin,droid,1978\n");
}

#[test]
fn atomic_import_reports_each_failed_line_and_stores_nothing() {
    let sandbox = Sandbox::with_file("robots.csv", WITH_BAD_LINES);
    sandbox.write("more.csv", format!("{CSV}R2-D2,droid,1\n"));
    sandbox.add([]);
    let assert = sandbox
        .run(&["import", "robots.csv", "--atomic"])
        .code(1)
        .stdout("Added 0 robots, failed 2; nothing was stored.\n");
    let stderr = String::from_utf8_lossy(&assert.get_output().stderr);
    let lines: Vec<_> = stderr.lines().collect();
    assert!(lines[1].starts_with("robots.csv:2: "), "{stderr}");
    assert!(lines[2].starts_with("robots.csv:4: "), "{stderr}");
    assert_eq!(lines.len(), 3, "{stderr}");
    sandbox.has("");
    let _ = sandbox
        .run(&["import", "more.csv", "--atomic"])
        .code(1)
        .stdout("Added 0 robots, failed 1; nothing was stored.\n")
        .stderr(format!(
            "more.csv:4: {NAME_TAKEN}\nTo skip names that are taken, add --on-conflict skip; to \
             update their robots, --on-conflict replace\n"
        ));
    sandbox.has("");
    sandbox.prints(
        &[
            "import",
            "more.csv",
            "--atomic",
            "--on-conflict=replace",
            "--dry-run",
        ],
        "Would add 2 robots, replace 1; nothing was stored.\n",
    );
    sandbox.has("");
    sandbox.prints(
        &["import", "more.csv", "--atomic", "--on-conflict=replace"],
        "Added 2 robots, replaced 1.\n",
    );
    sandbox.has("2,\"HAL, 9000\",virtual,1968\n1,R2-D2,droid,1\n");
    let _ = sandbox
        .run(&["import", "more.csv", "--atomic", "--keep-going"])
        .code(2);
}

#[test]
fn atomic_import_of_too_many_records_stores_nothing() {
    let lines: Vec<_> = (0..=10_000).map(|n| format!("{n},droid,1\n")).collect();
    let file = format!("name,type,year\n{}", lines.concat());
    let sandbox = Sandbox::with_file("robots.csv", file);
    sandbox.add([]);
    let _ = sandbox
        .run(&["import", "robots.csv", "--atomic"])
        .code(1)
        .stdout("Added 0 robots, failed 1; nothing was stored.\n")
        .stderr(
            "robots.csv:10002: An atomic import has at most 10000 records; divide the file, or \
             import it without 'atomic'\n",
        );
    sandbox.has("");
}

#[test]
fn import_handles_existing_names_as_requested() {
    let file = "{\"name\":\"Bender\",\"type\":\"droid\",\"year\":1}\n{\"name\":\"new\",\"type\":\"droid\",\"year\":2}\n";
    let old = "name,type,year\nBender,mechanical,2996\n";
    let rest = "HAL 9000,virtual,0\nR2-D2,droid,1977\n";
    let new = "new,droid,2\n";
    for (option, summary, status, rows) in [
        (
            "--on-conflict=fail",
            "Added 0 robots, failed 1.\n",
            1,
            format!("{old}{rest}"),
        ),
        (
            "--on-conflict=skip",
            "Added 1 robot, skipped 1.\n",
            0,
            format!("{old}{rest}{new}"),
        ),
        (
            "--on-conflict=replace",
            "Added 1 robot, replaced 1.\n",
            0,
            format!("name,type,year\nBender,droid,1\n{rest}{new}"),
        ),
        (
            "--keep-going",
            "Added 1 robot, failed 1.\n",
            1,
            format!("{old}{rest}{new}"),
        ),
    ] {
        let sandbox = Sandbox::with_three_robots();
        sandbox.write("new.ndjson", file);
        let outcome = sandbox.run(&["import", "new.ndjson", option]).code(status);
        let output = outcome.get_output();
        assert_eq!(String::from_utf8_lossy(&output.stdout), summary);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            stderr.starts_with(&format!("new.ndjson:1: {NAME_TAKEN}\n")),
            status == 1,
            "{stderr}"
        );
        // Without ids: a record that fails may use one up.
        let fields = "--fields=name,type,year";
        sandbox.prints(&["export", "--format=csv", fields], &rows);
        assert!(sandbox.stdout(&["get", "2"]).contains("Bender"));
    }
}

#[test]
fn taken_name_suggests_on_conflict() {
    let sandbox = Sandbox::with_file("robots.csv", CSV);
    sandbox.prints(&["import", "robots.csv"], "Added 2 robots.\n");
    let _ = sandbox
        .run(&["import", "robots.csv"])
        .code(1)
        .stdout("Added 0 robots, failed 1.\n")
        .stderr(format!(
            "robots.csv:2: {NAME_TAKEN}\n\
             error: stopped at line 2; later lines were not stored. To skip names that are taken, \
             run the command again with --on-conflict skip; to update their robots, with \
             --on-conflict replace\n"
        ));
    let _ = sandbox
        .run(&["import", "robots.csv", "--keep-going"])
        .code(1)
        .stdout("Added 0 robots, failed 2.\n")
        .stderr(format!(
            "robots.csv:2: {NAME_TAKEN}\nrobots.csv:3: {NAME_TAKEN}\n\
             To skip names that are taken, add --on-conflict skip; to update their robots, \
             --on-conflict replace\n"
        ));
}

#[test]
fn records_on_one_line_are_numbered_in_messages() {
    let object = |name, year| format!("{{\"name\":\"{name}\",\"type\":\"droid\",\"year\":{year}}}");
    let file = format!(
        "[{},{},{}]",
        object("a", 1),
        object("b", 2),
        object("c", -3)
    );
    let sandbox = Sandbox::with_file("robots.json", file);
    let _ = sandbox
        .run(&["import", "robots.json"])
        .code(1)
        .stdout("Added 2 robots, failed 1.\n")
        .stderr(
            "robots.json: record 3: The year cannot be less than zero\n\
             error: stopped at record 3; later records were not stored. Fix record 3 and run the \
             command again with --on-conflict skip, or with --keep-going to skip all records that \
             fail\n",
        );
}

#[test]
fn dry_run_reports_the_same_and_stores_nothing() {
    let sandbox = Sandbox::with_file("robots.csv", format!("{CSV}R2-D2,droid,1\nx,droid,-1\n"));
    let _ = sandbox
        .run(&["import", "robots.csv", "--dry-run", "--keep-going"])
        .code(1)
        .stdout("Would add 2 robots, fail 2; nothing was stored.\n")
        .stderr(format!(
            "robots.csv:4: {NAME_TAKEN}\nrobots.csv:5: The year cannot be less than zero\n\
             To skip names that are taken, add --on-conflict skip; to update their robots, \
             --on-conflict replace\n"
        ));
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn invalid_json_keeps_records_before_it() {
    let file = "[\n{\"name\":\"a\",\"type\":\"droid\",\"year\":1},\n{\"name\" \"b\"}\n]\n";
    let sandbox = Sandbox::with_file("robots.json", file);
    let assert = sandbox
        .run(&["import", "robots.json", "--keep-going"])
        .code(1)
        .stdout("Added 1 robot, failed 1.\n");
    let stderr = String::from_utf8_lossy(&assert.get_output().stderr);
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "robots.json:3: The JSON is not valid here; nothing after it can be read",
            "error: stopped at line 3; later lines were not stored. Fix line 3 and run the command \
             again with --on-conflict skip",
        ]
    );
    sandbox.has("1,a,droid,1\n");
}

#[test]
fn control_characters_of_records_are_escaped() {
    let sandbox = Sandbox::with_file("a.ndjson", "{\"\\u001b[31m\":1,\"\\u001b[31m\":2}\n");
    let assert = sandbox.run(&["import", "a.ndjson", "--keep-going"]).code(1);
    let stderr = String::from_utf8_lossy(&assert.get_output().stderr);
    assert!(stderr.starts_with("a.ndjson:1: "), "{stderr}");
    assert!(stderr.contains(r"'\u{1b}[31m'"), "{stderr}");
}
