//! What a terminal gets and others do not: colours, and names cut to its width.

use robot_core::Draft;

use crate::{sandbox::Sandbox, terminal::Terminal};

const COLOURED: &str = "\
\u{1b}[1mID  NAME      TYPE        YEAR\u{1b}[0m
 2  Bender    \u{1b}[33mmechanical\u{1b}[0m  2996
 3  HAL 9000  \u{1b}[35mvirtual   \u{1b}[0m     0
 1  R2-D2     \u{1b}[36mdroid     \u{1b}[0m  1977
";
const PLAIN: &str = "\
ID  NAME      TYPE        YEAR
 2  Bender    mechanical  2996
 3  HAL 9000  virtual        0
 1  R2-D2     droid       1977
";

#[test]
fn a_table_on_a_terminal_is_coloured_unless_the_user_or_the_environment_says_no() {
    let sandbox = Sandbox::with_three_robots();
    let terminal = || Terminal::new(&sandbox);
    for (terminal, arguments, shown) in [
        (terminal(), "list", COLOURED),
        (terminal(), "list --color auto", COLOURED),
        (terminal(), "list --color never", PLAIN),
        (terminal().variable("NO_COLOR", "1"), "list", PLAIN),
        (terminal().variable("NO_COLOR", ""), "list", COLOURED),
        (terminal().variable("TERM", "dumb"), "list", PLAIN),
        (terminal().variable("CLICOLOR", "0"), "list", PLAIN),
        (
            terminal().variable("NO_COLOR", "1"),
            "--color=always list",
            COLOURED,
        ),
    ] {
        assert_eq!(
            terminal.run(arguments, ""),
            (shown.to_owned(), Some(0)),
            "{arguments}"
        );
    }
}

#[test]
fn what_is_no_terminal_gets_colours_only_where_they_are_asked_for() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(&["list"], PLAIN);
    sandbox.prints(&["list", "--color=always"], COLOURED);
    let output = sandbox
        .command(["list"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), COLOURED);
}

#[test]
fn no_other_format_is_ever_coloured() {
    let sandbox = Sandbox::new();
    sandbox.keep([Draft::new("\u{1b}[31mred", "droid", 1)]);
    sandbox.prints(
        &["list", "--color=always", "--format=csv"],
        "id,name,type,year\n1,\u{1b}[31mred,droid,1\n",
    );
    let json = "{\"id\":\"1\",\"name\":\"\\u001b[31mred\",\"type\":\"droid\",\"year\":1}\n";
    let terminal = Terminal::new(&sandbox);
    assert_eq!(terminal.run("list --format ndjson", "").0, json);
}

#[test]
fn errors_are_marked_in_red_also_those_of_the_parser() {
    let sandbox = Sandbox::new();
    let red = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
    let terminal = Terminal::new(&sandbox);
    for (arguments, message, status) in [
        ("get 1", "No robot has the id 1\n", 1),
        ("get x", "invalid value '", 2),
    ] {
        let (shown, code) = terminal.run(arguments, "");
        assert!(shown.starts_with(&format!("{red}{message}")), "{shown:?}");
        assert_eq!(code, Some(status));
        let (shown, _) = terminal.run(&format!("{arguments} --color=never"), "");
        assert!(shown.starts_with(&format!("error: {message}")), "{shown:?}");
    }
    let output = sandbox
        .command(["get", "x", "--color", "always"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).starts_with(red));
}

#[test]
fn long_names_are_cut_to_the_width_of_the_terminal_and_nowhere_else() {
    let sandbox = Sandbox::new();
    sandbox.keep([
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
    assert!(
        narrow.contains("\n 1  a name …  mechanical  2996\n"),
        "{narrow}"
    );

    sandbox.prints(&["list"], whole);
    let output = sandbox
        .command(["list"])
        .env("COLUMNS", "40")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), whole);
    let (csv, _) = terminal().columns(20).run("list --format=csv", "");
    assert!(
        csv.contains("1,a name of more than thirty columns,mechanical,2996\n"),
        "{csv}"
    );
}
