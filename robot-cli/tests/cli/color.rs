//! Tests of output on a terminal: colors and truncated names.

use robot_core::Draft;

use crate::{
    sandbox::{Sandbox, contains},
    terminal::Terminal,
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
    let terminal = || Terminal::new(&sandbox);
    for (terminal, arguments, shown) in [
        (terminal(), "list", COLORED),
        (terminal(), "list --color auto", COLORED),
        (terminal(), "list --color never", PLAIN),
        (terminal().variable("NO_COLOR", "1"), "list", PLAIN),
        (terminal().variable("NO_COLOR", ""), "list", COLORED),
        (terminal().variable("TERM", "dumb"), "list", PLAIN),
        (terminal().variable("CLICOLOR", "0"), "list", PLAIN),
        (
            terminal().variable("NO_COLOR", "1"),
            "--color=always list",
            COLORED,
        ),
    ] {
        let found = terminal.run(arguments, "");
        assert_eq!(found, (shown.to_owned(), Some(0)), "{arguments}");
    }
}

#[test]
fn table_in_pipe_is_colored_only_on_request() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints("list", PLAIN);
    sandbox.prints("list --color=always", COLORED);
    let mut command = sandbox.command(["list"]);
    let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), COLORED);
}

#[test]
fn other_formats_are_never_colored() {
    let sandbox = Sandbox::new();
    sandbox.add([Draft::new("\u{1b}[31mred", "droid", 1)]);
    sandbox.prints(
        "list --color=always --format=csv",
        "id,name,type,year\n1,\u{1b}[31mred,droid,1\n",
    );
    let json = "{\"id\":\"1\",\"name\":\"\\u001b[31mred\",\"type\":\"droid\",\"year\":1}\n";
    let terminal = Terminal::new(&sandbox);
    assert_eq!(terminal.run("list --format ndjson", "").0, json);
}

#[test]
fn errors_on_terminal_begin_in_red() {
    let sandbox = Sandbox::with_no_robots();
    let red = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
    let terminal = Terminal::new(&sandbox);
    for (arguments, message, status) in [
        ("get 1", "No robot has the id 1\n", 1),
        ("get x", "invalid value '", 2),
    ] {
        let (shown, code) = terminal.run(arguments, "");
        assert!(shown.starts_with(&format!("{red}{message}")), "{shown:?}");
        assert_eq!(code, Some(status));
        let (shown, _) = terminal.run(&format!("--color=never {arguments}"), "");
        assert!(shown.starts_with(&format!("error: {message}")), "{shown:?}");
    }
    let error = sandbox.stderr("--color always get x", 2);
    assert!(error.starts_with(red), "{error}");
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
    let terminal = || Terminal::new(&sandbox);
    for (terminal, shown) in [
        (terminal(), whole),
        (terminal().columns(56), whole),
        (terminal().columns(40), cut),
        (terminal().columns(200).variable("COLUMNS", "40"), cut),
        (terminal().columns(40).variable("COLUMNS", "wide"), cut),
        (terminal().columns(40).variable("COLUMNS", "0"), cut),
    ] {
        let (table, status) = terminal.run("list --color never", "");
        assert_eq!((table.as_str(), status), (shown, Some(0)));
    }
    let (narrow, _) = terminal().columns(10).run("list --color=never", "");
    contains(&narrow, &["\n 1  a name …  mechanical  2996\n"]);

    sandbox.prints("list", whole);
    let mut command = sandbox.command(["list"]);
    let output = command.env("COLUMNS", "40").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), whole);
    let (csv, _) = terminal().columns(20).run("list --format=csv", "");
    contains(
        &csv,
        &["1,a name of more than thirty columns,mechanical,2996\n"],
    );
}
