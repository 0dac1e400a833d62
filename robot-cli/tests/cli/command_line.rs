//! Tests of the help and of usage errors.

use robot_core::{DEFAULT_URL, Field};

use crate::sandbox::{Sandbox, contains};

const COMMANDS: &str = "add list search summary get update delete import export copy migrate backup \
                        restore check fields token completions manual";

#[test]
fn help_lists_commands_options_and_examples() {
    for option in ["--help", "-h"] {
        let help = Sandbox::new().stdout(option);
        for command in COMMANDS.split(' ') {
            contains(&help, &[&format!("\n  {command} ")]);
        }
        let parts = [
            "Usage: robot-cli [OPTIONS] <COMMAND>",
            "--database <URL>",
            "[env: DATABASE_URL]",
            &format!("[default: {DEFAULT_URL}]"),
            "--format <FORMAT>",
            "[default: table, or by the file name]",
            "Examples:\n  robot-cli list ",
            "\n  robot-cli add R2-D2 --type droid --year 1977 ",
            "\nCommands:\n  add ",
            "Exit status:",
            "Stores:\n  sqlite://",
        ];
        contains(&help, &parts);
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
fn help_of_each_command_has_usage_and_example() {
    for command in COMMANDS.split(' ') {
        let help = Sandbox::new().stdout(&format!("{command} --help"));
        let usage = format!("Usage: robot-cli {command} ");
        let example = format!("\n  robot-cli {command}");
        contains(&help, &[&usage, "\nExample", &example]);
        let own = help.find("\nOptions:\n").unwrap();
        assert!(help.find("\nGlobal options:\n").unwrap() > own, "{help}");
        if ["add", "update"].contains(&command) {
            contains(&help, Field::TYPE.choices());
        }
    }
}

#[test]
fn help_hides_value_of_database_url() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(["--help"]);
    command.env("DATABASE_URL", "postgres://robots:secret@host/robots");
    let output = command.output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("secret"));
}

#[test]
fn version_is_that_of_the_package() {
    let version = concat!("robot-cli ", env!("CARGO_PKG_VERSION"), "\n");
    Sandbox::new().prints("--version", version);
    Sandbox::new().prints("-V", version);
}

#[test]
fn usage_errors_have_status_2() {
    let sandbox = Sandbox::new();
    for (arguments, stderr) in [
        ("build", "unrecognized subcommand 'build'"),
        ("lst", "tip: a similar subcommand exists: 'list'"),
        ("add", "<NAME>"),
        ("search", "<TEXT>"),
        ("get", "<ID>"),
        ("get 1 2", "unexpected argument '2' found"),
        (
            "list --format xml",
            "[possible values: table, json, ndjson, csv]",
        ),
        (
            "list --format tabel",
            "tip: a similar value exists: 'table'",
        ),
        (
            "list --fromat=csv",
            "tip: a similar argument exists: '--format'",
        ),
    ] {
        sandbox.is_usage_error(arguments, stderr);
    }
    for year in ["abc", "1977.5", "1e3", "9223372036854775808", "-1e3"] {
        sandbox.is_usage_error(
            &format!("add R2 --type droid --year {year}"),
            &format!(
                "error: invalid value '{year}' for '--year': \
                 year must be an integer from 0 to 9223372036854775807\n"
            ),
        );
    }
    assert!(sandbox.is_empty());
}
