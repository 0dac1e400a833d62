//! Tests of the help and of usage errors.

use robot_core::{DEFAULT_URL, Field};

use crate::sandbox::{Sandbox, contains, start, wait};

const COMMANDS: &str = "add list search summary get update delete import export copy migrate backup changes history revert prune \
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
        let mut command = sandbox.command([]);
        command.envs(url.map(|url| ("DATABASE_URL", url)));
        let (stdout, stderr, status) = wait(start(&mut command));
        let beginning = "Manages a catalogue of robots.\n\nEach robot has ";
        contains(&stderr, &[beginning, "\nExamples:\n"]);
        assert_eq!((stdout.as_str(), status), ("", Some(2)));
        assert!(sandbox.files().is_empty());
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
            for choice in Field::TYPE.choices() {
                contains(&help, &[choice]);
            }
        }
    }
}

#[test]
fn help_hides_value_of_database_url() {
    let url = "postgres://robots:secret@host/robots";
    let (stdout, ..) = Sandbox::new().run_with_url("--help", url);
    assert!(!stdout.contains("secret") && stdout.contains("DATABASE_URL"));
}

#[test]
fn version_is_that_of_the_package() {
    let version = concat!("robot-cli ", env!("CARGO_PKG_VERSION"), "\n");
    Sandbox::new().prints("--version", version);
}

#[test]
fn usage_errors_have_status_2() {
    let sandbox = Sandbox::new();
    sandbox.examples(
        r"
        lst -> 2 ! *tip: a similar subcommand exists: 'list'*
        search -> 2 ! *<TEXT>*\nUsage: robot-cli search *
        list --format tabel -> 2 ! *[possible values: table, json, ndjson, csv]*tip: a similar value exists: 'table'*
        add R2 --type droid --year 1e3 -> 2 ! error: invalid value '1e3' for '--year': year must be an integer from 0 to 9223372036854775807\n*
        add R2 --type droid --year 9223372036854775808 -> 2 ! *year must be an integer from 0 to 9223372036854775807*
        add R2 --type droid --year -1e3 -> 2 ! *invalid value '-1e3' for '--year': year must be an integer*",
    );
    assert!(sandbox.files().is_empty());
}
