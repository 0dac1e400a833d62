//! Tests of names with special characters.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use robot_core::Draft;

use crate::sandbox::{Sandbox, contains, start, wait};

#[test]
fn names_are_stored_and_found_unchanged() {
    // A name, and its form in JSON, in CSV and in a table, if they differ.
    for (name, json, csv, table) in [
        ("say \"hi\"", r#"say \"hi\""#, "\"say \"\"hi\"\"\"", ""),
        ("it's", "", "", ""),
        ("one, two", "", "\"one, two\"", ""),
        ("two\r\n", r"two\r\n", "\"two\r\n\"", r"two\r\n"),
        ("🤖👩‍🚀", "", "", ""),
        ("  blanks ", "", "", ""),
        ("\u{1b}[2J\u{7}", r"\u001b[2J\u0007", "", r"\u{1b}[2J\u{7}"),
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
        sandbox.prints(add, &object);
        sandbox.prints(["search", name, "--format=ndjson"], &object);
        sandbox.has(&format!("1,{csv},droid,1\n"));
        let shown = sandbox.stdout("list");
        let (_, row) = shown.split_once('\n').unwrap();
        assert_eq!(row, format!(" 1  {table}  droid     1\n"), "{name:?}");
        sandbox.fails(add, "The robot name must be unique\n");
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
    Sandbox::new().examples(
        r"
        add --type=droid --year=1 --format=csv -- -D2 -> 0 id,name,type,year\n1,-D2,droid,1
        add --type=droid --year=1 --format=csv -- -- -> 0 id,name,type,year\n2,--,droid,1
        search --format=csv -- -D -> 0 id,name,type,year\n1,-D2,droid,1
        update 1 --name=--help --format=csv -> 0 id,name,type,year\n1,--help,droid,1
        add -D3 --type=droid --year=1 -> 2 ! *unexpected argument '-D' found*",
    );
}

#[test]
fn name_that_is_not_utf8_is_usage_error() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("search");
    let (_, stderr, status) = wait(start(command.arg(OsStr::from_bytes(b"\xff"))));
    assert_eq!(status, Some(2));
    contains(&stderr, &["error: invalid UTF-8 was detected"]);
}
