//! Tests of names with special characters.

use robot_core::Draft;

use crate::sandbox::{Sandbox, contains};

#[test]
fn names_are_stored_and_found_unchanged() {
    let controls = "\u{1b}[2J\u{1b}]0;x\u{7}";
    // A name, and its form in JSON, in CSV and in a table, if they differ.
    for (name, json, csv, table) in [
        (
            "say \"hi\"",
            r#"say \"hi\""#,
            "\"say \"\"hi\"\"\"",
            "say \"hi\"",
        ),
        ("it's", "", "", ""),
        ("one, two", "", "\"one, two\"", ""),
        ("two\r\n", r"two\r\n", "\"two\r\n\"", r"two\r\n"),
        ("🤖👩‍🚀", "", "", ""),
        ("  blanks ", "", "", ""),
        (
            controls,
            r"\u001b[2J\u001b]0;x\u0007",
            "",
            r"\u{1b}[2J\u{1b}]0;x\u{7}",
        ),
        ("tab\there", r"tab\there", "", r"tab\there"),
        ("back\\slash", r"back\\slash", "", ""),
        ("<b>&amp;", "", "", ""),
        ("机器人 e\u{301} É", "", "", ""),
    ] {
        let [json, csv, table] =
            [json, csv, table].map(|form| if form.is_empty() { name } else { form });
        let sandbox = Sandbox::new();
        let object =
            format!("{{\"id\":\"1\",\"name\":\"{json}\",\"type\":\"droid\",\"year\":1}}\n");
        let add = ["add", name, "--type=droid", "--year=1", "--format=json"];
        sandbox.prints(&add, &object);
        sandbox.prints(&["search", name, "--format=ndjson"], &object);
        sandbox.has(&format!("1,{csv},droid,1\n"));
        let shown = sandbox.stdout("list");
        let (header, row) = shown.split_once('\n').unwrap();
        assert!(header.starts_with("ID  NAME  "), "{shown}");
        assert_eq!(row, format!(" 1  {table}  droid     1\n"), "{name:?}");
        sandbox.fails(&add, "The robot name must be unique\n");
    }
}

#[test]
fn columns_are_aligned_by_display_width() {
    let sandbox = Sandbox::new();
    sandbox.add(["e\u{301}", "机器人", "🤖", "a\nb", "plain"].map(|n| Draft::new(n, "droid", 1)));
    sandbox.prints(
        "list",
        "\
ID  NAME    TYPE   YEAR
 4  a\\nb    droid     1
 1  e\u{301}       droid     1
 5  plain   droid     1
 2  机器人  droid     1
 3  🤖      droid     1
",
    );
}

#[test]
fn leading_hyphen_works_after_two_hyphens() {
    let sandbox = Sandbox::new();
    for (id, name) in (1..).zip(["-D2", "--version", "--"]) {
        let add = format!("add --type=droid --year=1 --format=csv -- {name}");
        let row = format!("id,name,type,year\n{id},{name},droid,1\n");
        sandbox.prints(&add, &row);
    }
    sandbox.prints(
        "search --format=csv -- -D",
        "id,name,type,year\n1,-D2,droid,1\n",
    );
    sandbox.prints(
        "update 1 --name=--help --format=csv",
        "id,name,type,year\n1,--help,droid,1\n",
    );
    let message = "unexpected argument '-D' found";
    sandbox.is_usage_error("add -D3 --type=droid --year=1", message);
}

#[cfg(unix)]
#[test]
fn name_that_is_not_utf8_is_usage_error() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let sandbox = Sandbox::new();
    let mut command = sandbox.command([OsStr::new("search"), OsStr::from_bytes(b"\xff")]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    contains(&stderr, &["error: invalid UTF-8 was detected"]);
}
