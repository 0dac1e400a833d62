//! The help, and command lines that are wrong.

use robot_core::{DEFAULT_URL, RobotType};

use crate::sandbox::Sandbox;

const COMMANDS: [&str; 11] = [
    "add",
    "list",
    "search",
    "get",
    "update",
    "delete",
    "import",
    "export",
    "token",
    "completions",
    "manual",
];

fn help(arguments: &[&str]) -> String {
    let outcome = Sandbox::new().run(arguments).success().stderr("");
    String::from_utf8(outcome.get_output().stdout.clone()).unwrap()
}

#[test]
fn help_alone_teaches_the_program() {
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
            "[default: table]",
            "Examples:\n  robot-cli add R2-D2 --type droid --year 1977 ",
            "\nRead:\n  list ",
            "\nChange:\n  add ",
            "\nMove data:\n  import ",
            "\nOther:\n  token ",
            "Exit status:",
            "Environment:\n  DATABASE_URL ",
        ] {
            assert!(help.contains(part), "{part}: {help}");
        }
    }
}

#[test]
fn the_program_alone_prints_its_help_wherever_the_catalogue_is() {
    for url in [None, Some("sqlite://robots.db")] {
        let sandbox = Sandbox::new();
        let mut command = sandbox.command([""; 0]);
        command.envs(url.map(|url| ("DATABASE_URL", url)));
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.starts_with("Keeps a catalogue of robots\n\nUsage: robot-cli "),
            "{said}"
        );
        assert!(said.contains("\nExamples:\n"), "{said}");
        assert_eq!((output.stdout.len(), output.status.code()), (0, Some(2)));
        assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
    }
}

#[test]
fn a_mistyped_command_or_option_is_told_with_the_one_that_was_meant() {
    let sandbox = Sandbox::new();
    sandbox.is_a_wrong_command_line(&["lst"], "tip: a similar subcommand exists: 'list'");
    sandbox.is_a_wrong_command_line(
        &["list", "--fromat=csv"],
        "tip: a similar argument exists: '--format'",
    );
}

#[test]
fn every_command_has_its_help_and_an_example() {
    for command in COMMANDS {
        let help = help(&[command, "--help"]);
        assert!(
            help.contains(&format!("Usage: robot-cli {command} ")),
            "{help}"
        );
        assert!(help.contains("\nExample"), "{help}");
        assert!(help.contains(&format!("\n  robot-cli {command}")), "{help}");
    }
}

#[test]
fn the_help_names_every_type_that_there_is() {
    for command in ["add", "update"] {
        let help = help(&[command, "--help"]);
        for robot_type in RobotType::ALL {
            assert!(help.contains(robot_type.as_str()), "{robot_type}: {help}");
        }
    }
}

#[test]
fn the_help_keeps_the_password_in_the_environment_to_itself() {
    let sandbox = Sandbox::new();
    let output = sandbox
        .command(["--help"])
        .env("DATABASE_URL", "postgres://robots:secret@host/robots")
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("secret"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = concat!("robot-cli ", env!("CARGO_PKG_VERSION"), "\n");
    Sandbox::new().prints(&["--version"], version);
    Sandbox::new().prints(&["-V"], version);
}

#[test]
fn help_and_wrong_command_lines_create_no_database() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["--help"]).success();
    let _ = sandbox.run(&["get", "x"]).code(2);
    assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_wrong_command_line_ends_with_status_2() {
    let sandbox = Sandbox::new();
    for (arguments, said) in [
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
        sandbox.is_a_wrong_command_line(arguments, said);
    }
}

#[test]
fn a_year_that_is_no_integer_of_64_bits_is_a_wrong_command_line() {
    let sandbox = Sandbox::new();
    for year in ["", "abc", "1977.5", "1e3", "9223372036854775808", "-1e3"] {
        sandbox.is_a_wrong_command_line(
            &["add", "R2", "--type", "droid", "--year", year],
            &format!(
                "error: invalid value '{year}' for '--year <YEAR>': \
                 a year is an integer from 0 to 9223372036854775807\n"
            ),
        );
    }
}
