//! Help text of the program and layout of the help of its commands.
//!
//! clap can't list commands in groups, so the list is rendered here.

use std::fmt::Write;

use clap::{ArgMatches, Command, CommandFactory};

use crate::arguments::Arguments;

/// Headings in the list of commands.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Read", &["list", "search", "get", "summary"]),
    ("Change", &["add", "update", "delete", "fields"]),
    (
        "Move data",
        &[
            "import", "export", "copy", "backup", "restore", "check", "migrate",
        ],
    ),
    ("Other", &["token", "completions", "manual", "help"]),
];

/// Layout of the help of a command. The description is in `before_help`.
const COMMAND_HELP: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Sections after the options of the program.
const DETAILS: &str = include_str!("help/program.txt");

/// The command-line parser with all help texts.
pub(crate) fn command() -> Command {
    of_parser(Arguments::command())
}

fn of_parser(parser: Command) -> Command {
    let mut command = with_compact_help(parser).after_help(DETAILS);
    // Adds the command `help`, so that it is in the list.
    command.build();
    let template = format!(
        "{{before-help}}{{usage-heading}} {{usage}}\n\n{}{}\n{{options}}{{after-help}}",
        list_of_commands(&command),
        heading(&command, "Options"),
    );
    command.help_template(template)
}

/// Makes `--help` print one line per option. clap spreads options over several lines if there is
/// a long description, so that moves to the text before the usage.
fn with_compact_help(command: Command) -> Command {
    let description = command.get_long_about().or(command.get_about()).cloned();
    command
        .before_help(description.unwrap_or_default())
        .long_about(None)
        .help_template(COMMAND_HELP)
        .mut_subcommands(with_compact_help)
}

/// Adds the usage of the command that was called to an error.
pub(crate) fn with_usage(error: clap::Error, matches: &ArgMatches) -> clap::Error {
    let mut command = command();
    let called = matches.subcommand_name().unwrap_or_default();
    match command.find_subcommand_mut(called) {
        Some(called) => error.format(called),
        None => error.format(&mut command),
    }
}

/// All commands, one line each, under the heading of their group.
fn list_of_commands(command: &Command) -> String {
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let style = command.get_styles().get_literal();
    let mut list = String::new();
    // Writing to a string cannot fail.
    for (group, names) in GROUPS {
        let _ = writeln!(list, "{}", heading(command, group));
        for name in names {
            let member = command.find_subcommand(name);
            let about = member
                .and_then(Command::get_about)
                .cloned()
                .unwrap_or_default();
            let _ = writeln!(list, "  {style}{name:width$}{style:#}  {about}");
        }
        list.push('\n');
    }
    list
}

fn heading(command: &Command, text: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{style}{text}:{style:#}")
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    #[test]
    fn list_of_commands_has_each_command_once() {
        let command = command();
        let list = anstream::adapter::strip_str(&list_of_commands(&command)).to_string();
        for member in command.get_subcommands() {
            let lines = list.lines();
            let with_it =
                lines.filter(|line| line.split_whitespace().next() == Some(member.get_name()));
            assert_eq!(with_it.count(), 1, "{}: {list}", member.get_name());
        }
    }

    /// Lines with more than 80 columns, last lines of a single word, and examples that are wrapped.
    fn faults_of(command: &mut Command) -> Vec<String> {
        let help = command.render_help().to_string();
        let mut faults = Vec::new();
        for (previous, line) in iter::once("").chain(help.lines()).zip(help.lines()) {
            let is_lonely = !previous.is_empty() && line.split_whitespace().count() == 1;
            if line.chars().count() > 80 || is_lonely {
                faults.push(format!("{}: {previous}\n{line}", command.get_name()));
            }
        }
        let after = command.get_after_help().map(ToString::to_string);
        let examples = after.iter().flat_map(|text| text.lines());
        let wrapped = examples.filter(|line| line.starts_with(' ') && !help.contains(line));
        faults.extend(wrapped.map(str::to_owned));
        faults.extend(command.get_subcommands_mut().flat_map(faults_of));
        faults
    }

    #[test]
    fn help_fits_80_columns_without_lonely_words() {
        let faults = faults_of(&mut of_parser(Arguments::command().term_width(80)));
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn parser_passes_the_debug_assertions_of_clap() {
        command().debug_assert();
    }
}
