//! What can go wrong, what it says on standard error, and the exit status that it means.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use anstyle::{AnsiColor, Style};
use robot_core::{BackupError, Error, OpenError};

use crate::{copy::Incomplete, printable::printable};

/// How the parser marks its errors, too.
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Why a run did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line is wrong, or asks for the help or the version. It prints itself.
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Catalogue(#[from] Error),
    /// No store was asked for this id, so none can report it; the words are the core's.
    #[error("No robot has the id {0}")]
    NeverAssigned(String),
    #[error(
        "the output could not be written: {0}; what was printed is incomplete, \
         so make room or print to another place, and run the command again"
    )]
    Output(#[source] io::Error),
    #[error("the change was made, but cannot be shown: {0}; see the robots with 'robot-cli list'")]
    ChangeNotShown(#[source] io::Error),
    #[error("no token was made, because the system gives no random numbers: {0}; try again")]
    NoRandomness(#[source] io::Error),
    /// Who was asked whether to delete robots did not say yes.
    #[error("Nothing was deleted.")]
    NotConsented,
    #[error(
        "the manual could not be written to {}: {cause}; name a folder that you may write to",
        directory.display()
    )]
    ManualNotWritten {
        directory: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("'{place}' cannot be read: {cause}; name a file that is there and that you may read")]
    Input {
        place: String,
        #[source]
        cause: io::Error,
    },
    #[error(
        "'{file}' could not be written: {cause}; what was there before is unchanged, so make room \
         or name another place, and run the command again"
    )]
    NotExported {
        file: String,
        #[source]
        cause: io::Error,
    },
    #[error("the system does not tell of Ctrl-C: {0}; run the command again")]
    Signals(#[source] io::Error),
    /// Records failed, each of which has been told already.
    #[error("some records failed")]
    Records,
    /// An import ended at a record or line that failed, which has been told already.
    #[error(
        "stopped at line {line}; nothing behind it was stored. Mend it and run the command again{how}"
    )]
    StoppedAt { line: u64, how: &'static str },
    /// The user asked for the end, by a signal that comes to this exit status, and has been told
    /// how far the command got.
    #[error("stopped")]
    Interrupted(u8),
    #[error("a bug broke the command down; nothing is known of what it did")]
    BrokeDown,
    #[error("both URLs are of the same catalogue; name another one to copy to")]
    SameCatalogue,
    #[error("the target has robots already; name an empty one")]
    TargetNotEmpty,
    #[error(transparent)]
    Copy(#[from] Incomplete),
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// One command failed in several ways, each of which is told.
    #[error("several failures")]
    Several(Vec<Failure>),
}

impl Failure {
    /// Success where there is no failure, or else all of them as one.
    pub(crate) fn all(failures: Vec<Self>) -> Result<(), Self> {
        if failures.is_empty() {
            Ok(())
        } else {
            Err(Self::Several(failures))
        }
    }

    /// Whether it is only that no robot has an id.
    pub(crate) fn is_missing_robot(&self) -> bool {
        matches!(
            self,
            Self::NeverAssigned(_) | Self::Catalogue(Error::NotFound(_))
        )
    }

    /// Tells the user, and returns the status to exit with.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::CommandLine(error) => report_command_line(&error),
            Self::Interrupted(status) => ExitCode::from(status),
            failure if failure.is_broken_pipe() => ExitCode::SUCCESS,
            failure => {
                // Colours that standard error does not have are taken out on the way.
                let mut said = anstream::stderr().lock();
                for line in failure
                    .lines()
                    .iter()
                    .map(String::as_str)
                    .chain(failure.advice())
                {
                    // Where standard error is gone, there is nobody left to tell.
                    let _ = writeln!(said, "{line}");
                }
                failure.status()
            }
        }
    }

    fn status(&self) -> ExitCode {
        match self {
            Self::Copy(incomplete) => incomplete.status(),
            _ => ExitCode::FAILURE,
        }
    }

    /// Whether it is only that the reader of the output has seen enough and gone.
    fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output(error) | Self::ChangeNotShown(error) => {
                error.kind() == io::ErrorKind::BrokenPipe
            }
            Self::Several(failures) => failures.iter().all(Self::is_broken_pipe),
            _ => false,
        }
    }

    /// The lines that tell of it: the messages of broken rules to the letter, so that a
    /// script can rely on them, and a marked line for everything else.
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
            Self::Catalogue(error @ Error::Store(_)) => vec![marked(&format!(
                "{}; nothing was changed; see to the database and its disk, and run the command \
                 again",
                in_full(error)
            ))],
            Self::Catalogue(error) => vec![marked(&in_full(error))],
            Self::Backup(BackupError::Exists(file)) => vec![marked(&format!(
                "'{}' exists; name another file, or replace it with --force",
                file.display()
            ))],
            Self::NotConsented => vec![self.to_string()],
            Self::Records | Self::Interrupted(_) => Vec::new(),
            failure => vec![marked(&failure.to_string())],
        }
    }

    /// What to do next, where the lines do not say it: once, however many there are.
    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Several(failures) => failures.iter().find_map(Self::advice),
            failure if failure.is_missing_robot() => {
                Some("See which robots there are with: robot-cli list")
            }
            _ => None,
        }
    }
}

/// An error with the store's own words. They are kept out of its text, because servers show that
/// to strangers. Who runs this program may see them and needs them.
pub(crate) fn in_full(error: &Error) -> String {
    match error {
        Error::Unavailable(cause) | Error::Store(cause) | Error::Unknown(cause) => {
            format!("{error}: {cause}")
        }
        error => error.to_string(),
    }
}

/// A line of its own, whatever a URL or a driver put into the message.
fn marked(message: &str) -> String {
    format!("{ERROR}error:{ERROR:#} {}", printable(message))
}

/// Prints what the parser has to say. Help that cannot be written is a failure, too.
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

    /// The lines, as they are where there are no colours.
    fn plain(failure: &Failure) -> Vec<String> {
        let lines = failure.lines();
        let stripped = lines.iter().map(|line| strip_str(line).to_string());
        stripped.collect()
    }

    #[test]
    fn the_words_of_the_store_are_shown_once_and_on_the_same_line() {
        assert_eq!(
            plain(&Failure::from(Error::store("disk I/O error\nat page 7"))),
            [
                r"error: The store failed: disk I/O error\nat page 7; nothing was changed; see to the database and its disk, and run the command again"
            ]
        );
        assert_eq!(
            plain(&Failure::from(Error::unavailable("database is locked"))),
            [
                "error: The catalogue is busy or cannot be reached; try again in a moment: \
                 database is locked"
            ]
        );
    }

    #[test]
    fn several_failures_are_told_one_after_the_other_but_for_a_broken_pipe() {
        let broken_pipe = || Failure::ChangeNotShown(io::ErrorKind::BrokenPipe.into());
        let violations = Violations::from(Violation::NameTaken);
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
