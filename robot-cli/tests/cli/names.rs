//! Tests of names with special characters.

use robot_core::Draft;

use crate::sandbox::Sandbox;

/// A name, and its form in JSON, in CSV and in a table.
const NAMES: [(&str, &str, &str, &str); 12] = [
    (
        "say \"hi\"",
        r#"say \"hi\""#,
        "\"say \"\"hi\"\"\"",
        "say \"hi\"",
    ),
    ("it's", "it's", "it's", "it's"),
    ("one, two", "one, two", "\"one, two\"", "one, two"),
    ("two\nlines", r"two\nlines", "\"two\nlines\"", r"two\nlines"),
    ("two\r\n", r"two\r\n", "\"two\r\n\"", r"two\r\n"),
    ("🤖👩‍🚀", "🤖👩‍🚀", "🤖👩‍🚀", "🤖👩‍🚀"),
    ("  blanks ", "  blanks ", "  blanks ", "  blanks "),
    (
        "\u{1b}[2J\u{1b}]0;x\u{7}",
        r"\u001b[2J\u001b]0;x\u0007",
        "\u{1b}[2J\u{1b}]0;x\u{7}",
        r"\u{1b}[2J\u{1b}]0;x\u{7}",
    ),
    ("tab\there", r"tab\there", "tab\there", r"tab\there"),
    ("back\\slash", r"back\\slash", "back\\slash", "back\\slash"),
    ("<b>&amp;", "<b>&amp;", "<b>&amp;", "<b>&amp;"),
    (
        "机器人 e\u{301} É",
        "机器人 e\u{301} É",
        "机器人 e\u{301} É",
        "机器人 e\u{301} É",
    ),
];

#[test]
fn names_are_stored_and_found_unchanged() {
    for (name, json, csv, table) in NAMES {
        let sandbox = Sandbox::new();
        let object =
            format!("{{\"id\":\"1\",\"name\":\"{json}\",\"type\":\"droid\",\"year\":1}}\n");
        sandbox.prints(
            &["add", name, "--type=droid", "--year=1", "--format=json"],
            &object,
        );
        sandbox.prints(&["search", name, "--format=ndjson"], &object);
        sandbox.prints(
            "get 1 --format=csv",
            &format!("id,name,type,year\n1,{csv},droid,1\n"),
        );
        let shown = sandbox.stdout("list");
        let (header, row) = shown.split_once('\n').unwrap();
        assert!(header.starts_with("ID  NAME  "), "{shown}");
        assert_eq!(row, format!(" 1  {table}  droid     1\n"), "{name:?}");
        sandbox.fails(
            &["add", name, "--type=droid", "--year=1"],
            "The robot name must be unique\n",
        );
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
    for (id, name) in ["-D2", "--version", "--"].into_iter().enumerate() {
        sandbox.prints(
            &[
                "add",
                "--type=droid",
                "--year=1",
                "--format=csv",
                "--",
                name,
            ],
            &format!("id,name,type,year\n{},{name},droid,1\n", id + 1),
        );
    }
    sandbox.prints(
        "search --format=csv -- -D",
        "id,name,type,year\n1,-D2,droid,1\n",
    );
    sandbox.prints(
        "update 1 --name=--help --format=csv",
        "id,name,type,year\n1,--help,droid,1\n",
    );
    sandbox.is_usage_error(
        "add -D3 --type=droid --year=1",
        "unexpected argument '-D' found",
    );
}

#[cfg(unix)]
#[test]
fn name_that_is_not_utf8_is_usage_error() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let sandbox = Sandbox::new();
    let output = sandbox
        .command([OsStr::new("search"), OsStr::from_bytes(b"\xff")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: invalid UTF-8 was detected"),
        "{stderr}"
    );
}
