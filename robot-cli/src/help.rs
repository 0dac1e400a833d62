//! Help text of the program and layout of the help of its commands.

use clap::{ArgMatches, Command, CommandFactory};

use crate::arguments::Arguments;

/// Layout of the help of a command. The description is in `before_help`.
const COMMAND_HELP: &str = "{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Sections after the options of the program.
const DETAILS: &str = include_str!("help/program.txt");

/// The command-line parser with all help texts.
pub(crate) fn command() -> Command {
    with_compact_help(Arguments::command()).after_help(DETAILS)
}

/// The program as the manual describes it. `help` has no page of its own.
pub(crate) fn manual() -> Command {
    let command = Arguments::command().after_help(DETAILS);
    command.disable_help_subcommand(true)
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
    // So that the usage has the name of the program.
    command.build();
    let called = matches.subcommand_name().unwrap_or_default();
    match command.find_subcommand_mut(called) {
        Some(called) => error.format(called),
        None => error.format(&mut command),
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

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
        let faults = faults_of(&mut command().term_width(80));
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn parser_passes_the_debug_assertions_of_clap() {
        command().debug_assert();
    }
}
