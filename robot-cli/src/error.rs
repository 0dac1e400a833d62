//! Failures of a command: their messages on standard error and their exit statuses.

use std::{
    fmt::Display,
    io::{self, Write},
    process::ExitCode,
};

use anstyle::{AnsiColor, Style};
use clap::error::ErrorKind;
use robot_core::{Definition, DefinitionConflict, Error, OpenError};

use crate::printable::printable;

/// The style of `error:` in clap's messages.
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum CliError {
    /// A wrong command line, or the help or the version. `main` adds the usage of the command.
    CommandLine(clap::Error),
    Reported(Report),
}

/// What is printed, and the exit status.
#[derive(Debug)]
pub(crate) struct Report {
    /// The messages, without those that have been printed before.
    lines: Vec<String>,
    /// Printed once, after the messages.
    hint: Option<String>,
    status: u8,
}

impl CliError {
    /// A failure with a message: what failed, why, and what to do.
    pub(crate) fn new(message: impl Display) -> Self {
        Self::with_status(1, message)
    }

    pub(crate) fn with_status(status: u8, message: impl Display) -> Self {
        Self::reported(vec![Self::line(message)], None, status)
    }

    /// A message, escaped so that it stays on one line.
    fn line(message: impl Display) -> String {
        format!("{ERROR}error:{ERROR:#} {}", printable(&message.to_string()))
    }

    /// A failure with these lines. They have no prefix, so that scripts can compare them.
    pub(crate) fn plain(lines: Vec<String>) -> Self {
        let lines = lines.into_iter().map(|line| printable(&line).into_owned());
        Self::reported(lines.collect(), None, 1)
    }

    /// A failure whose messages have been printed.
    pub(crate) fn printed(hint: Option<&'static str>, status: u8) -> Self {
        Self::reported(Vec::new(), hint, status)
    }

    fn reported(lines: Vec<String>, hint: Option<&'static str>, status: u8) -> Self {
        Self::Reported(Report {
            lines,
            hint: hint.map(str::to_owned),
            status,
        })
    }

    /// A command rejects its arguments.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::CommandLine(clap::Error::raw(ErrorKind::ValueValidation, message))
    }

    /// No robot has the id, which may be one that is never assigned.
    pub(crate) fn no_robot(id: impl Display) -> Self {
        Self::no_robot_with(format_args!("the id {id}"))
    }

    pub(crate) fn no_robot_with(value: impl Display) -> Self {
        let line = Self::line(format_args!("No robot has {value}"));
        Self::reported(vec![line], Some("List the robots with: robot-cli list"), 1)
    }

    pub(crate) fn own_file(file: impl Display) -> Self {
        Self::new(format_args!(
            "{file} belongs to the catalogue itself; choose another file"
        ))
    }

    /// The output is incomplete.
    pub(crate) fn output(cause: io::Error) -> Self {
        Self::not_printed(
            cause,
            "cannot write the output",
            "the output is incomplete, so free disk space or write to another file, and run the command \
             again",
        )
    }

    /// The change is stored, but its result cannot be printed.
    pub(crate) fn change_not_shown(cause: io::Error) -> Self {
        let what = "the command succeeded, but its result cannot be printed";
        Self::not_printed(cause, what, "check it with: robot-cli list")
    }

    /// A closed pipe is no failure: the reader closed it.
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    fn not_printed(cause: io::Error, what: &str, remedy: &str) -> Self {
        match cause.kind() {
            io::ErrorKind::BrokenPipe => Self::printed(None, 0),
            _ => Self::new(format_args!("{what}: {cause}; {remedy}")),
        }
    }

    /// With what the owner calls the robots.
    pub(crate) fn worded(mut self, definition: &Definition) -> Self {
        if let Self::Reported(report) = &mut self {
            for text in report.lines.iter_mut().chain(&mut report.hint) {
                *text = definition.worded(text);
            }
        }
        self
    }

    /// Success if there are no failures, or else all of them as one, with the greatest status.
    pub(crate) fn combine(failures: impl IntoIterator<Item = Self>) -> Result<(), Self> {
        let all = failures.into_iter().reduce(|all, next| match (all, next) {
            (Self::Reported(mut all), Self::Reported(next)) => {
                all.lines.extend(next.lines);
                all.hint = all.hint.or(next.hint);
                all.status = all.status.max(next.status);
                Self::Reported(all)
            }
            (error @ Self::CommandLine(_), _) | (_, error) => error,
        });
        all.map_or(Ok(()), Err)
    }

    /// Prints the messages and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let report = match self {
            Self::CommandLine(error) => return report_command_line(&error),
            Self::Reported(report) => report,
        };
        // Removes the colors if standard error is not a terminal.
        let mut stderr = anstream::stderr().lock();
        for line in report.lines.iter().chain(&report.hint) {
            let _ = writeln!(stderr, "{line}");
        }
        report.status.into()
    }
}

impl From<clap::Error> for CliError {
    fn from(error: clap::Error) -> Self {
        Self::CommandLine(error)
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        match error {
            Error::Rejected(violations) => Self::plain(violations.messages()),
            Error::NotFound(id) => Self::no_robot(id),
            Error::Store(_) => Self::new(format_args!(
                "{}; nothing was changed. Check the database and its disk, and run the command again",
                error.with_cause()
            )),
            Error::PositionGone => Self::new(
                "the cursor is of another catalogue, or changes after it are not kept any more; the cursor of now is \
                 printed by: robot-cli changes",
            ),
            Error::NoSuchVersion { id, revision } => Self::new(format_args!(
                "robot {id} has no version {revision}; its versions are printed by: robot-cli history {id}"
            )),
            Error::NotReverted(_) => Self::new(format_args!(
                "{error}. Nothing was changed: change these robots first, or undo changes of single robots with: \
                 robot-cli revert ID --to REVISION"
            )),
            Error::DefinitionStale => {
                Self::new("the definition was changed meanwhile; run the command again")
            }
            Error::DefinitionConflict {
                conflict: DefinitionConflict::HaveValues | DefinitionConflict::HaveOtherKinds,
                ..
            } => Self::new(format_args!(
                "{error}; to drop the values, add --drop-values"
            )),
            error => Self::new(error.with_cause()),
        }
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Missing(_) => Self::new(format_args!(
                "{error} and the working directory, or create it with: robot-cli add"
            )),
            error => Self::new(error),
        }
    }
}

/// Prints the parser's message, or the help or version.
fn report_command_line(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(cause) if error.exit_code() == 0 => CliError::output(cause).report(),
        _ => u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use robot_core::{Violation, Violations};

    use super::*;

    impl CliError {
        /// The lines without colors.
        pub(crate) fn plain_lines(&self) -> Vec<String> {
            let Self::Reported(report) = self else {
                panic!("{self:?} is about the command line");
            };
            let stripped = report.lines.iter().map(|line| strip_str(line).to_string());
            stripped.collect()
        }
    }

    #[test]
    fn store_error_is_printed_with_its_cause_on_one_line() {
        let store = Error::store("disk I/O error\nat page 7");
        let expected = format!(
            r"error: {store}: disk I/O error\nat page 7; nothing was changed. Check the database and its disk, and run the command again"
        );
        assert_eq!(CliError::from(store).plain_lines(), [expected]);
        let full = Error::disk_full("database or disk is full");
        let expected = "error: The disk of the catalogue is full; free space on it and try again: \
                        database or disk is full";
        assert_eq!(CliError::from(full).plain_lines(), [expected]);
        let unavailable = Error::unavailable("database is locked");
        let expected = format!("error: {unavailable}: database is locked");
        assert_eq!(CliError::from(unavailable).plain_lines(), [expected]);
    }

    #[test]
    fn several_failures_are_printed_without_a_broken_pipe() {
        let broken_pipe = || CliError::change_not_shown(io::ErrorKind::BrokenPipe.into());
        let violations = Violations::from(Violation::NAME_TAKEN);
        let failures = [
            CliError::no_robot(0),
            CliError::from(Error::Rejected(violations)),
            broken_pipe(),
        ];
        let several = CliError::combine(failures).unwrap_err();
        assert_eq!(
            several.plain_lines(),
            [
                "error: No robot has the id 0",
                "The robot name must be unique"
            ]
        );
        assert!(matches!(
            several,
            CliError::Reported(Report { status: 1, .. })
        ));
        assert!(matches!(
            broken_pipe(),
            CliError::Reported(Report { status: 0, .. })
        ));
    }
}
