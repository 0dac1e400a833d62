//! Tests of the help and of usage errors.

use robot_core::{DEFAULT_URL, Field};

use crate::sandbox::Sandbox;

const COMMANDS: [&str; 17] = [
    "add",
    "list",
    "search",
    "summary",
    "get",
    "update",
    "delete",
    "import",
    "export",
    "copy",
    "migrate",
    "backup",
    "restore",
    "check",
    "token",
    "completions",
    "manual",
];

fn help(arguments: &[&str]) -> String {
    Sandbox::new().stdout(arguments)
}

#[test]
fn help_lists_commands_options_and_examples() {
    for option in ["--help", "-h"] {
        let help = help(&[option]);
        for command in COMMANDS {
            assert!(
                help.contains(&format!("\n  {command} ")),
                "{command}: {help}"
            );
            assert!(
                ["get", "completions"].contains(&command)
                    || help.contains(&format!("robot-cli {command} "))
                    || help.contains(&format!(" {command} ")),
                "{command}: {help}"
            );
        }
        for part in [
            "Usage: robot-cli [OPTIONS] <COMMAND>",
            "--database <URL>",
            "[env: DATABASE_URL]",
            &format!("[default: {DEFAULT_URL}]"),
            "--format <FORMAT>",
            "[default: table, or by the file name]",
            "Examples:\n  robot-cli list ",
            "\n  robot-cli add R2-D2 --type droid --year 1977 ",
            "\nRead:\n  list ",
            "\nChange:\n  add ",
            "\nMove data:\n  import ",
            "\nOther:\n  token ",
            "Exit status:",
            "Stores:\n  sqlite://",
        ] {
            assert!(help.contains(part), "{part}: {help}");
        }
    }
}

#[test]
fn no_arguments_print_help_with_status_2() {
    for url in [None, Some("sqlite://robots.db")] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command([""; 0]);
        command.envs(url.map(|url| ("DATABASE_URL", url)));
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.starts_with("Manages a catalogue of robots.\n\nEach robot has "),
            "{stderr}"
        );
        assert!(stderr.contains("\nExamples:\n"), "{stderr}");
        assert_eq!((output.stdout.len(), output.status.code()), (0, Some(2)));
        assert!(sandbox.is_empty());
    }
}

#[test]
fn misspelled_argument_gets_a_suggestion() {
    let sandbox = Sandbox::new();
    sandbox.is_usage_error("lst", "tip: a similar subcommand exists: 'list'");
    sandbox.is_usage_error(
        "list --fromat=csv",
        "tip: a similar argument exists: '--format'",
    );
}

#[test]
fn help_of_each_command_has_usage_and_example() {
    for command in COMMANDS {
        let help = help(&[command, "--help"]);
        assert!(
            help.contains(&format!("Usage: robot-cli {command} ")),
            "{help}"
        );
        assert!(help.contains("\nExample"), "{help}");
        let own = help.find("\nOptions:\n").unwrap();
        assert!(help.find("\nGlobal options:\n").unwrap() > own, "{help}");
        assert!(help.contains(&format!("\n  robot-cli {command}")), "{help}");
    }
}

#[test]
fn help_of_add_and_update_lists_all_types() {
    for command in ["add", "update"] {
        let help = help(&[command, "--help"]);
        for robot_type in Field::TYPE.choices() {
            assert!(help.contains(*robot_type), "{robot_type}: {help}");
        }
    }
}

#[test]
fn help_hides_value_of_database_url() {
    let sandbox = Sandbox::new();
    let output = sandbox
        .command(["--help"])
        .env("DATABASE_URL", "postgres://robots:secret@host/robots")
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("secret"));
}

#[test]
fn version_is_that_of_the_package() {
    let version = concat!("robot-cli ", env!("CARGO_PKG_VERSION"), "\n");
    Sandbox::new().prints("--version", version);
    Sandbox::new().prints("-V", version);
}

#[test]
fn help_and_usage_errors_create_no_database() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run("--help").success();
    let _ = sandbox.run("get x").code(2);
    assert!(sandbox.is_empty());
}

#[test]
fn usage_errors_have_status_2() {
    let sandbox = Sandbox::new();
    for (arguments, stderr) in [
        (&[][..], "Usage: robot-cli [OPTIONS] <COMMAND>"),
        (&["build"], "unrecognized subcommand 'build'"),
        (&["add"], "<NAME>"),
        (&["add", "R2", "--year", "1"], "--type <TYPE>"),
        (&["add", "R2", "--type", "droid"], "--year <YEAR>"),
        (&["search"], "<TEXT>"),
        (&["get"], "<ID>"),
        (&["get", "1", "2"], "unexpected argument '2' found"),
        (&["delete"], "<ID>..."),
        (
            &["list", "--format", "xml"],
            "[possible values: table, json, ndjson, csv]",
        ),
        (
            &["list", "--colour"],
            "unexpected argument '--colour' found",
        ),
    ] {
        sandbox.is_usage_error(arguments, stderr);
    }
}

#[test]
fn year_outside_64_bits_is_usage_error() {
    let sandbox = Sandbox::new();
    for year in ["", "abc", "1977.5", "1e3", "9223372036854775808", "-1e3"] {
        sandbox.is_usage_error(
            &["add", "R2", "--type", "droid", "--year", year],
            &format!(
                "error: invalid value '{year}' for '--year <YEAR>': \
                 a year is an integer from 0 to 9223372036854775807\n"
            ),
        );
    }
}
