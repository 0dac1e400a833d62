//! Files that are imported: what is stored of them, what is told, and the exit status.

use std::fs;

use assert_cmd::{Command, assert::Assert};

use crate::sandbox::Sandbox;

const CSV: &str = "name,type,year\nR2-D2,droid,1977\n\"HAL, 9000\",virtual,1968\n";

/// The second line and the fourth are wrong, each in two ways.
const WITH_BAD_LINES: &str = "\
name,type,year\n\
Bender,bending,-1\n\
Marvin,droid,1978\n\
R2-D2,droid,soon,and more\n\
C-3PO,droid,1977\n";

const ADDED_TWICE: &str = "The robot name must be unique";

impl Sandbox {
    fn with_file(name: &str, content: impl AsRef<[u8]>) -> Self {
        let sandbox = Self::new();
        sandbox.put(name, content);
        sandbox
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content).unwrap();
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
fn a_file_is_read_in_the_format_that_its_name_ends_in() {
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
fn standard_input_is_read_in_the_format_that_is_named() {
    let sandbox = Sandbox::new();
    let _ = sandbox
        .run_with_input(&["import", "-", "--format", "csv"], CSV)
        .success()
        .stdout("Added 2 robots.\n")
        .stderr("");
    sandbox.has("2,\"HAL, 9000\",virtual,1968\n1,R2-D2,droid,1977\n");
}

#[test]
fn the_format_that_is_named_outweighs_the_ending() {
    let sandbox = Sandbox::with_file("robots.json", CSV);
    sandbox.prints(
        &["import", "robots.json", "--format=csv"],
        "Added 2 robots.\n",
    );
}

#[test]
fn a_format_that_nobody_can_tell_is_a_wrong_command_line() {
    let sandbox = Sandbox::with_file("robots", CSV);
    for (arguments, said) in [
        (
            &["import", "robots"][..],
            "name --format csv, json or ndjson",
        ),
        (&["import", "-"], "standard input does not tell its format"),
        (
            &["import", "robots", "--format=table"],
            "a table is for people",
        ),
        (&["export", "robots"], "name --format csv, json or ndjson"),
        (&["export", "--format=table"], "a table is for people"),
        (
            &["export", "--fields=name,colour"],
            "'colour', which is no field",
        ),
        (
            &["import", "robots", "--on-conflict=merge"],
            "[possible values: fail, skip, replace]",
        ),
    ] {
        sandbox.is_a_wrong_command_line(arguments, said);
    }
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn a_file_that_cannot_be_read_makes_no_catalogue() {
    let sandbox = Sandbox::new();
    sandbox.fails(
        &["import", "robots.csv"],
        "error: 'robots.csv' cannot be read: No such file or directory (os error 2); name a file \
         that is there and that you may read\n",
    );
    fs::create_dir(sandbox.path().join("folder.csv")).unwrap();
    sandbox.fails(
        &["import", "folder.csv"],
        "error: 'folder.csv' cannot be read: is a directory; name a file that is there and that \
         you may read\n",
    );
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn an_import_ends_at_the_first_line_that_fails() {
    let sandbox = Sandbox::with_file("robots.csv", format!("{CSV}x,toaster,-1\ny,droid,1\n"));
    let _ = sandbox
        .run(&["import", "robots.csv"])
        .code(1)
        .stdout("Added 2 robots, failed 1.\n")
        .stderr(
            "robots.csv:4: Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             robots.csv:4: The year cannot be less than zero\n\
             error: stopped at line 4; nothing behind it was stored. Mend it and run the command \
             again with --on-conflict skip, or with --keep-going to leave out what fails\n",
        );
    sandbox.has("2,\"HAL, 9000\",virtual,1968\n1,R2-D2,droid,1977\n");
}

#[test]
fn an_import_that_keeps_going_names_each_line_that_fails() {
    let sandbox = Sandbox::with_file("robots.csv", WITH_BAD_LINES);
    let _ = sandbox
        .run(&["import", "robots.csv", "--keep-going"])
        .code(1)
        .stdout("Added 2 robots, failed 2.\n")
        .stderr(
            "robots.csv:2: Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             robots.csv:2: The year cannot be less than zero\n\
             robots.csv:4: The record has a different number of fields (4) than the header (3); put \
             a field with commas, quotes or line breaks into quotes\n",
        );
    sandbox.has("2,C-3PO,droid,1977\n1,Marvin,droid,1978\n");
}

#[test]
fn names_that_are_taken_fail_or_are_skipped_or_replaced() {
    let file = "{\"name\":\"Bender\",\"type\":\"droid\",\"year\":1}\n{\"name\":\"new\",\"type\":\"droid\",\"year\":2}\n";
    let old = "2,Bender,mechanical,2996\n";
    let rest = "3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n";
    let new = "4,new,droid,2\n";
    for (option, told, status, rows) in [
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
            format!("2,Bender,droid,1\n{rest}{new}"),
        ),
        (
            "--keep-going",
            "Added 1 robot, failed 1.\n",
            1,
            format!("{old}{rest}{new}"),
        ),
    ] {
        let sandbox = Sandbox::with_three_robots();
        sandbox.put("new.ndjson", file);
        let outcome = sandbox.run(&["import", "new.ndjson", option]).code(status);
        let output = outcome.get_output();
        assert_eq!(String::from_utf8_lossy(&output.stdout), told);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            said.starts_with(&format!("new.ndjson:1: {ADDED_TWICE}\n")),
            status == 1,
            "{said}"
        );
        sandbox.has(&rows);
    }
}

#[test]
fn a_dry_run_tells_the_same_and_stores_nothing() {
    let sandbox = Sandbox::with_file("robots.csv", format!("{CSV}R2-D2,droid,1\nx,droid,-1\n"));
    let _ = sandbox
        .run(&["import", "robots.csv", "--dry-run", "--keep-going"])
        .code(1)
        .stdout("Would add 2 robots, fail 2; nothing was stored.\n")
        .stderr(format!(
            "robots.csv:4: {ADDED_TWICE}\nrobots.csv:5: The year cannot be less than zero\n"
        ));
    assert!(!sandbox.path().join("robots.db").exists());
    sandbox.has("");
}

#[test]
fn broken_json_is_told_with_its_line_and_what_was_before_it_is_stored() {
    let file = "[\n{\"name\":\"a\",\"type\":\"droid\",\"year\":1},\n{\"name\" \"b\"}\n]\n";
    let sandbox = Sandbox::with_file("robots.json", file);
    let _ = sandbox
        .run(&["import", "robots.json", "--keep-going"])
        .code(1)
        .stdout("Added 1 robot, failed 1.\n")
        .stderr("robots.json:3: The JSON is not valid here; nothing behind it can be read\n");
    sandbox.has("1,a,droid,1\n");
}

#[test]
fn what_a_file_has_its_client_repeat_does_not_act_on_the_terminal() {
    let sandbox = Sandbox::with_file("a.ndjson", "{\"\\u001b[31m\":1,\"\\u001b[31m\":2}\n");
    let _ = sandbox
        .run(&["import", "a.ndjson", "--keep-going"])
        .code(1)
        .stderr("a.ndjson:1: The record has the member '\\u{1b}[31m' twice; send it once\n");
}
