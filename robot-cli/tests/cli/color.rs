//! Tests of output on a terminal: colors and truncated names.

use robot_core::Draft;

use crate::{
    sandbox::{Sandbox, contains, start, wait},
    terminal::run_on_terminal,
};

const COLORED: &str = "\
\u{1b}[1mID\u{1b}[0m  \u{1b}[1mNAME\u{1b}[0m      \u{1b}[1mTYPE\u{1b}[0m        \u{1b}[1mYEAR\u{1b}[0m
 2  Bender    \u{1b}[33mmechanical\u{1b}[0m  2996
 3  HAL 9000  \u{1b}[35mvirtual\u{1b}[0m        0
 1  R2-D2     \u{1b}[36mdroid\u{1b}[0m       1977
";
const PLAIN: &str = "\
ID  NAME      TYPE        YEAR
 2  Bender    mechanical  2996
 3  HAL 9000  virtual        0
 1  R2-D2     droid       1977
";

#[test]
fn table_on_terminal_is_colored_unless_disabled() {
    let sandbox = Sandbox::with_three_robots();
    for (variables, arguments, shown) in [
        ("", "list", COLORED),
        ("", "list --color auto", COLORED),
        ("", "list --color never", PLAIN),
        ("NO_COLOR=1", "list", PLAIN),
        ("NO_COLOR=", "list", COLORED),
        ("TERM=dumb", "list", PLAIN),
        ("CLICOLOR=0", "list", PLAIN),
        ("NO_COLOR=1", "--color=always list", COLORED),
    ] {
        let found = run_on_terminal(&sandbox, (80, variables), arguments, "");
        assert_eq!(found, (shown.to_owned(), Some(0)), "{arguments}");
    }
}

#[test]
fn table_in_pipe_is_colored_only_on_request() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints("list", PLAIN);
    sandbox.prints("list --color=always", COLORED);
    let forced = start(sandbox.command("list").env("CLICOLOR_FORCE", "1"));
    assert_eq!(wait(forced).0, COLORED);
}

#[test]
fn other_formats_are_never_colored() {
    let sandbox = Sandbox::new();
    sandbox.add([Draft::new("\u{1b}[31mred", "droid", 1)]);
    let csv = "id,name,type,year\n1,\u{1b}[31mred,droid,1\n";
    sandbox.prints("list --color=always --format=csv", csv);
    let json = "{\"id\":\"1\",\"name\":\"\\u001b[31mred\",\"type\":\"droid\",\"year\":1}\n";
    let (shown, _) = run_on_terminal(&sandbox, (80, ""), "list --format ndjson", "");
    assert_eq!(shown, json);
}

#[test]
fn errors_on_terminal_begin_in_red() {
    let sandbox = Sandbox::with_no_robots();
    let red = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
    for (arguments, beginning, status) in [
        ("get 1", format!("{red}No robot has the id 1\n"), 1),
        ("get x", format!("{red}invalid value '"), 2),
        ("--color=never get 1", "error: No robot has".to_owned(), 1),
        ("--color=never get x", "error: invalid value".to_owned(), 2),
    ] {
        let (shown, code) = run_on_terminal(&sandbox, (80, ""), arguments, "");
        assert!(shown.starts_with(&beginning), "{shown:?}");
        assert_eq!(code, Some(status));
    }
    sandbox.reports("--color always get x", 2, &[red]);
}

#[test]
fn long_names_are_truncated_only_on_terminal() {
    let sandbox = Sandbox::new();
    sandbox.add([
        Draft::new("a name of more than thirty columns", "mechanical", 2996),
        Draft::new("机器人机器人机器人机器人机器人", "virtual", 0),
        Draft::new("fits", "droid", 1977),
    ]);
    let whole = "\
ID  NAME                                TYPE        YEAR
 1  a name of more than thirty columns  mechanical  2996
 3  fits                                droid       1977
 2  机器人机器人机器人机器人机器人      virtual        0
";
    let cut = "\
ID  NAME                TYPE        YEAR
 1  a name of more th…  mechanical  2996
 3  fits                droid       1977
 2  机器人机器人机器…   virtual        0
";
    for (columns, variables, shown) in [
        (80, "", whole),
        (56, "", whole),
        (40, "", cut),
        (200, "COLUMNS=40", cut),
        (40, "COLUMNS=wide", cut),
        (40, "COLUMNS=0", cut),
    ] {
        let found = run_on_terminal(&sandbox, (columns, variables), "list --color never", "");
        assert_eq!(found, (shown.to_owned(), Some(0)));
    }
    for (columns, arguments, row) in [
        (
            10,
            "list --color=never",
            "\n 1  a name …  mechanical  2996\n",
        ),
        (
            20,
            "list --format=csv",
            "\n1,a name of more than thirty columns,mechanical,2996\n",
        ),
    ] {
        let (shown, _) = run_on_terminal(&sandbox, (columns, ""), arguments, "");
        contains(&shown, &[row]);
    }
    let in_pipe = start(sandbox.command("list").env("COLUMNS", "40"));
    assert_eq!(wait(in_pipe).0, whole);
}
