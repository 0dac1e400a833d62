//! Failures of a command: their messages on standard error and their exit statuses.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use anstyle::{AnsiColor, Style};
use robot_core::{
    BackupError, CheckOutcome, CheckReport, Error, OpenError, OutputError, RestoreError, RobotId,
    transfer::Position,
};

use crate::{printable::printable, progress::robot_count};

/// The style of `error:` in clap's messages.
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The exit status of `check` if a check failed.
const PROBLEMS_STATUS: u8 = 3;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The parser rejects the command line, or prints the help or the version.
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    /// A command rejects its arguments. `main` turns this into a [`clap::Error`].
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Catalogue(#[from] Error),
    /// Same message as [`Error::NotFound`], for an id that does not fit into one.
    #[error("No robot has the id {0}")]
    NeverAssigned(String),
    #[error(
        "cannot write the output: {0}; the output is incomplete, so free disk space or write to \
         another file, and run the command again"
    )]
    Output(#[source] io::Error),
    #[error(
        "the command succeeded, but its result cannot be printed: {0}; check it with: robot-cli list"
    )]
    ChangeNotShown(#[source] io::Error),
    #[error("cannot create a token, because the system returns no random numbers: {0}; try again")]
    NoRandomness(#[source] io::Error),
    /// The store failed at one of several robots.
    #[error(
        "{}; deleted {} before robot {id}, and none after it. Check the database and its disk \
         before you delete the rest",
        cause.with_cause(),
        robot_count(*deleted)
    )]
    DeletionStopped {
        id: RobotId,
        deleted: u64,
        cause: Error,
    },
    #[error("Nothing was deleted.")]
    NotConfirmed,
    #[error(
        "cannot write the manual to '{}': {cause}; choose a directory that you may write to",
        directory.display()
    )]
    ManualNotWritten {
        directory: PathBuf,
        #[source]
        cause: OutputError,
    },
    #[error("cannot read '{place}': {cause}; check that it is a file that you may read")]
    Input {
        place: String,
        #[source]
        cause: io::Error,
    },
    #[error(
        "cannot write '{file}': {cause}; {}. Free disk space or choose another path, and run the \
         command again",
        if *is_special { "the output may be incomplete" } else { "no file was changed" }
    )]
    NotExported {
        file: String,
        /// Whether it is a device or a pipe, which may have got a part.
        is_special: bool,
        #[source]
        cause: io::Error,
    },
    #[error(
        "'{file}' is complete, but its folder cannot be synced: {cause}; check the disk, and run the \
         command again"
    )]
    ExportNotSynced {
        file: String,
        #[source]
        cause: io::Error,
    },
    #[error("{0} belongs to the catalogue itself; choose another file")]
    OwnFile(String),
    #[error("cannot handle Ctrl-C: {0}; run the command again")]
    Signals(#[source] io::Error),
    /// Some records failed. Their messages have been printed.
    #[error("some records failed")]
    Records {
        /// Whether the option for names that are taken would help.
        has_name_conflict: bool,
    },
    /// An import stopped at a record that failed. The message of the record has been printed.
    #[error("stopped at {position}; later {}s were not {rest}. {remedy}", position.unit())]
    StoppedAt {
        position: Position,
        /// What was not done with the rest of the file.
        rest: &'static str,
        remedy: String,
    },
    /// Stopped by a signal, which stands for this exit status. The command has printed a message.
    #[error("stopped")]
    Interrupted(u8),
    #[error("--from and --to are the same catalogue; choose another one for --to")]
    SameCatalogue,
    #[error("the target is not empty; choose an empty one")]
    TargetNotEmpty,
    #[error("{reason}; the target is incomplete. To start over, {remedy}, and copy again")]
    CopyIncomplete {
        reason: String,
        /// How to remove the robots that were copied.
        remedy: String,
        status: ExitCode,
    },
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// A check failed. Its findings have been printed.
    #[error(
        "problems were found; restore a backup, or see 'Damaged catalogue' in the operations document"
    )]
    ProblemsFound,
    /// Several failures of one command.
    #[error("several failures")]
    Several(Vec<Failure>),
}

impl Failure {
    /// Success if there are no failures, or else all of them as one.
    pub(crate) fn combine(failures: Vec<Self>) -> Result<(), Self> {
        if failures.is_empty() {
            Ok(())
        } else {
            Err(Self::Several(failures))
        }
    }

    /// Whether the only problem is that no robot has the id.
    pub(crate) fn is_missing_robot(&self) -> bool {
        matches!(
            self,
            Self::NeverAssigned(_) | Self::Catalogue(Error::NotFound(_))
        )
    }

    /// Prints the messages and returns the exit status. A closed pipe is no failure: the reader closed
    /// it.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::CommandLine(error) => report_command_line(&error),
            Self::Interrupted(status) => ExitCode::from(status),
            failure if failure.is_broken_pipe() => ExitCode::SUCCESS,
            failure => {
                // Removes the colors if standard error is not a terminal.
                let mut stderr = anstream::stderr().lock();
                let lines = failure.lines();
                for line in lines.iter().map(String::as_str).chain(failure.hint()) {
                    let _ = writeln!(stderr, "{line}");
                }
                failure.status()
            }
        }
    }

    fn status(&self) -> ExitCode {
        match self {
            Self::CopyIncomplete { status, .. } => *status,
            Self::ProblemsFound => ExitCode::from(PROBLEMS_STATUS),
            Self::Several(failures) => failures.last().map_or(ExitCode::FAILURE, Self::status),
            _ => ExitCode::FAILURE,
        }
    }

    fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output(error) | Self::ChangeNotShown(error) => {
                error.kind() == io::ErrorKind::BrokenPipe
            }
            Self::Several(failures) => failures.iter().all(Self::is_broken_pipe),
            _ => false,
        }
    }

    /// The messages, one per line. Those of violated rules have no prefix, so that scripts can
    /// compare them.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Several(failures) => failures
                .iter()
                .filter(|failure| !failure.is_broken_pipe())
                .flat_map(Self::lines)
                .collect(),
            Self::Catalogue(Error::Rejected(violations)) => violations
                .iter()
                .map(|violation| violation.to_string())
                .collect(),
            Self::Catalogue(error @ Error::Store(_)) => vec![error_line(&format!(
                "{}; nothing was changed. Check the database and its disk, and run the command again",
                error.with_cause()
            ))],
            Self::Catalogue(error) => vec![error_line(&error.with_cause())],
            Self::Open(error @ OpenError::Missing { .. }) => vec![error_line(&format!(
                "{error} and the working directory, or create it with: robot-cli add"
            ))],
            Self::Backup(BackupError::Exists(file)) => vec![error_line(&format!(
                "'{}' exists; name another file, or replace it with --force",
                file.display()
            ))],
            Self::Restore(RestoreError::Exists(file)) => vec![error_line(&format!(
                "'{}' exists; name another catalogue with --database, or replace the catalogue: name \
                 it, not its WAL, with --database, and add --replace",
                file.display()
            ))],
            Self::Restore(error @ RestoreError::Damaged { report, .. }) => {
                vec![error_line(&format!("{error}: {}", first_finding(report)))]
            }
            Self::Restore(RestoreError::HasWal { file, wal }) => vec![error_line(&format!(
                "the backup '{0}' may be incomplete, because of its WAL '{1}'; run: robot-cli --database \
                 sqlite://{0} backup NEW, and restore NEW",
                file.display(),
                wal.display()
            ))],
            Self::Restore(RestoreError::NoFile { database }) => vec![error_line(&format!(
                "a backup is restored to an SQLite file only, and {database} is not one; use: \
                 robot-cli copy --from sqlite://FILE --to URL"
            ))],
            Self::NotConfirmed => vec![self.to_string()],
            Self::Records { .. } | Self::Interrupted(_) => Vec::new(),
            failure => vec![error_line(&failure.to_string())],
        }
    }

    /// A hint after the messages, printed once.
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Several(failures) => failures.iter().find_map(Self::hint),
            Self::Records {
                has_name_conflict: true,
            } => Some(
                "To skip names that are taken, add --on-conflict skip; to update their robots, \
                 --on-conflict replace",
            ),
            failure if failure.is_missing_robot() => Some("List the robots with: robot-cli list"),
            _ => None,
        }
    }
}

/// The first finding of a check that failed.
fn first_finding(report: &CheckReport) -> String {
    let findings = report.outcomes.iter().filter_map(|(check, outcome)| {
        let CheckOutcome::Failed(findings) = outcome else {
            return None;
        };
        Some(format!("{}: {}", check.as_str(), findings.first()?))
    });
    findings.take(1).collect()
}

/// `error:` and the message, escaped so that it stays on one line.
fn error_line(message: &str) -> String {
    format!("{ERROR}error:{ERROR:#} {}", printable(message))
}

/// Prints the parser's message, or the help or version.
fn report_command_line(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(cause) if error.exit_code() == 0 => Failure::Output(cause).report(),
        _ => u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use robot_core::{Violation, Violations};

    use super::*;

    /// The lines without colors.
    fn plain(failure: &Failure) -> Vec<String> {
        let lines = failure.lines();
        let stripped = lines.iter().map(|line| strip_str(line).to_string());
        stripped.collect()
    }

    #[test]
    fn store_error_is_printed_with_its_cause_on_one_line() {
        let store = Error::store("disk I/O error\nat page 7");
        let expected = format!(
            r"error: {store}: disk I/O error\nat page 7; nothing was changed. Check the database and its disk, and run the command again"
        );
        assert_eq!(plain(&Failure::from(store)), [expected]);
        let full = Error::disk_full("database or disk is full");
        let expected = "error: The disk of the catalogue is full; free space on it and try again: \
                        database or disk is full";
        assert_eq!(plain(&Failure::from(full)), [expected]);
        let unavailable = Error::unavailable("database is locked");
        let expected = format!("error: {unavailable}: database is locked");
        assert_eq!(plain(&Failure::from(unavailable)), [expected]);
    }

    #[test]
    fn several_failures_are_printed_without_a_broken_pipe() {
        let broken_pipe = || Failure::ChangeNotShown(io::ErrorKind::BrokenPipe.into());
        let violations = Violations::from(Violation::NAME_TAKEN);
        let several = Failure::Several(vec![
            Failure::NeverAssigned("0".to_owned()),
            Failure::from(Error::Rejected(violations)),
            broken_pipe(),
        ]);
        assert!(!several.is_broken_pipe());
        assert_eq!(
            plain(&several),
            [
                "error: No robot has the id 0",
                "The robot name must be unique"
            ]
        );
        assert!(Failure::Several(vec![broken_pipe()]).is_broken_pipe());
    }
}
