//! The help of the program as a whole: its commands in groups, examples, exit status and
//! environment.
//!
//! The parser lists commands one below the other, in a single group. So that list is written
//! here, of what the parser knows about each.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use crate::arguments::Arguments;

/// The commands by what one wants of them. What is in no group is among the others.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Read", &["list", "search", "get"]),
    ("Change", &["add", "update", "delete"]),
    ("Move data", &["import", "export", "copy", "backup"]),
];

/// The heading of the commands that are in none of the groups.
const OTHERS: &str = "Other";

pub(crate) const EXAMPLES: &str = "\
Examples:
  robot-cli add R2-D2 --type droid --year 1977     Add a robot to ./robots.db
  robot-cli list                                   Show all robots, by name
  robot-cli search R2 --format csv > robots.csv    Save those with R2 in the name
  robot-cli get 1 --format json                    Show one robot as a JSON object
  robot-cli update 1 --year 1980                   Change a year and nothing else
  robot-cli delete 1                               Delete a robot
  robot-cli delete --yes 1 2 3                     Delete several without being asked
  robot-cli add --type droid --year 1 -- -name     Add a name that begins with a hyphen
  robot-cli --database sqlite:///tmp/my.db list    Use another database file
  robot-cli backup copy.db                         Copy ./robots.db while others use it
  robot-cli token new write                        Make a token for clients of the server
  robot-cli import robots.csv                      Add all robots of a file
  robot-cli export robots.csv                      Save all robots to a file
  robot-cli manual | man -l -                      Read the manual

Exit status:
    0  it is done
    1  it failed, and the message on standard error says why
    2  the command line is wrong
  130  Ctrl-C stopped it, and the message says how far it got

Environment:
  DATABASE_URL    The catalogue, where --database does not name it
  NO_COLOR        If set, nothing is coloured; --color outweighs it
  CLICOLOR_FORCE  If set, all is coloured, as by --color always
  COLUMNS         How wide tables on a terminal are, instead of as wide as the terminal";

/// The parser, with the help of the program in it.
pub(crate) fn command() -> Command {
    let mut command = Arguments::command();
    // From here on the command that prints help is among the others.
    command.build();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{}\n{{options}}{{after-help}}",
        overview(&command),
        heading(&command, "Options"),
    );
    command.help_template(template)
}

/// All commands, a line each, below the heading of their group.
fn overview(command: &Command) -> String {
    let is_grouped = |name| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut overview = String::new();
    for (group, names) in GROUPS {
        let of_group = names
            .iter()
            .filter_map(|name| command.find_subcommand(name));
        write_group(&mut overview, command, group, &of_group.collect::<Vec<_>>());
    }
    let others = command.get_subcommands();
    let others = others.filter(|other| !is_grouped(other.get_name()) && !other.is_hide_set());
    write_group(&mut overview, command, OTHERS, &others.collect::<Vec<_>>());
    overview
}

fn write_group(overview: &mut String, command: &Command, group: &str, members: &[&Command]) {
    if members.is_empty() {
        return;
    }
    let names = command
        .get_subcommands()
        .map(|member| member.get_name().len());
    let width = names.max().unwrap_or_default();
    let style = command.get_styles().get_literal();
    // Writing to a text does not fail.
    let _ = writeln!(overview, "{}", heading(command, group));
    for member in members {
        let name = member.get_name();
        let about = member.get_about().map(ToString::to_string);
        let about = about.unwrap_or_default();
        let _ = writeln!(overview, "  {style}{name:width$}{style:#}  {about}");
    }
    overview.push('\n');
}

fn heading(command: &Command, text: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{style}{text}:{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_the_overview_once() {
        let command = command();
        let overview = anstream::adapter::strip_str(&overview(&command)).to_string();
        for member in command.get_subcommands() {
            let lines = overview.lines();
            let with_it =
                lines.filter(|line| line.split_whitespace().next() == Some(member.get_name()));
            assert_eq!(with_it.count(), 1, "{}: {overview}", member.get_name());
        }
    }

    #[test]
    fn the_parser_is_sound() {
        command().debug_assert();
    }
}
