//! Colors and width of standard output and standard error.
//!
//! A terminal has both, a file or pipe neither. `--color`, `NO_COLOR`, `CLICOLOR`,
//! `CLICOLOR_FORCE` and `TERM` affect the colors, `COLUMNS` the width of a terminal.

use std::{
    env,
    io::{self, IsTerminal, Write},
};

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use clap::Args;
use terminal_size::{Height, Width, terminal_size_of};

use crate::{error::CliError, printable::printable};

/// Properties of an output that a table is printed on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Screen {
    pub(crate) is_colored: bool,
    /// In columns; `None` if lines may have any length.
    pub(crate) width: Option<usize>,
}

impl Screen {
    pub(crate) fn of_standard_output() -> Self {
        Self::of(&io::stdout(), terminal_size_of(io::stdout()))
    }

    pub(crate) fn of_standard_error() -> Self {
        Self::of(&io::stderr(), terminal_size_of(io::stderr()))
    }

    fn of(stream: &impl RawStream, size: Option<(Width, Height)>) -> Self {
        Self {
            is_colored: AutoStream::choice(stream) != ColorChoice::Never,
            width: width(stream.is_terminal(), size),
        }
    }
}

/// Arguments of the commands that need confirmation.
#[derive(Debug, Default, Args)]
pub(crate) struct ConfirmationArgs {
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl ConfirmationArgs {
    /// Fails unless an action is confirmed, by `--yes` or on the terminal, after something was shown there.
    pub(crate) fn confirm(
        &self,
        action: &str,
        show: impl FnOnce() -> io::Result<()>,
        question: &str,
    ) -> Result<(), CliError> {
        if self.yes {
            return Ok(());
        }
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(CliError::usage(format_args!(
                "{action} needs confirmation, and there is no terminal; nothing was changed. Add --yes to \
                 confirm"
            )));
        }
        // A terminal that cannot be read counts as a no.
        if show()
            .and_then(|()| is_confirmed(question))
            .unwrap_or(false)
        {
            return Ok(());
        }
        Err(CliError::plain(vec!["Nothing was changed.".to_owned()]))
    }

    /// Fails unless the user accepts on the terminal that records fail, which `--yes` does not.
    pub(crate) fn confirm_failures(&self, question: &str) -> Result<(), CliError> {
        let can_ask = !self.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
        if can_ask && is_confirmed(question).unwrap_or(false) {
            return Ok(());
        }
        Err(CliError::printed(None, 1))
    }
}

/// Asks a question on standard error, because standard output may be redirected.
fn is_confirmed(question: &str) -> io::Result<bool> {
    let mut terminal = io::stderr().lock();
    write!(terminal, "{question} [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Prints a note on standard error.
pub(crate) fn note(text: &str) {
    // A note that cannot be printed changes nothing.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// The width of a terminal. `COLUMNS` takes precedence over the size of the terminal.
fn width(is_terminal: bool, size: Option<(Width, Height)>) -> Option<usize> {
    if !is_terminal {
        return None;
    }
    let columns = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns
        .filter(|columns| *columns > 0)
        .or(size.map(|(Width(columns), _)| usize::from(columns)))
}

/// Applies `--color` to standard output and standard error.
pub(crate) fn set_color(choice: clap::ColorChoice) {
    match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_without_terminal_is_unlimited() {
        assert_eq!(width(false, Some((Width(80), Height(24)))), None);
    }
}
