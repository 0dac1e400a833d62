//! What standard output and standard error are: how wide, and whether colours mean anything.
//!
//! A terminal has a width and colours. A file or another program has neither, unless the user
//! asks for the colours. The environment has a say as in other programs: `NO_COLOR`, `CLICOLOR`,
//! `CLICOLOR_FORCE` and `TERM` for the colours, `COLUMNS` for the width.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
};

use anstream::ColorChoice;
use clap::ValueEnum;
use terminal_size::{Height, Width, terminal_size_of};

/// What a table may count on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Screen {
    pub(crate) is_coloured: bool,
    /// How many columns there are; none where lines may be as long as they like.
    pub(crate) width: Option<usize>,
}

impl Screen {
    pub(crate) fn of_standard_output() -> Self {
        Self {
            is_coloured: anstream::stdout().current_choice() != ColorChoice::Never,
            width: width(io::stdout().is_terminal(), terminal_size_of(io::stdout())),
        }
    }

    pub(crate) fn of_standard_error() -> Self {
        Self {
            is_coloured: anstream::stderr().current_choice() != ColorChoice::Never,
            width: width(io::stderr().is_terminal(), terminal_size_of(io::stderr())),
        }
    }
}

/// The width of a terminal: what the user says outweighs what the terminal says, which may be
/// nothing.
fn width(is_terminal: bool, size: Option<(Width, Height)>) -> Option<usize> {
    if !is_terminal {
        return None;
    }
    let said = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    said.filter(|columns| *columns > 0)
        .or(size.map(|(Width(columns), _)| usize::from(columns)))
}

/// Keeps to what the user says about colours, from here on, for standard output and standard
/// error.
pub(crate) fn choose_colours(choice: clap::ColorChoice) {
    match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
}

/// What a command line that nobody has parsed yet says about colours. The parser needs it for
/// its own messages.
pub(crate) fn colours_of(
    arguments: impl IntoIterator<Item = OsString>,
) -> Option<clap::ColorChoice> {
    let mut arguments = arguments
        .into_iter()
        .take_while(|argument| argument != "--");
    let mut choice = None;
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        if argument == "--color" {
            choice = arguments.next();
        } else if let Some(value) = argument.strip_prefix("--color=") {
            choice = Some(value.into());
        }
    }
    clap::ColorChoice::from_str(choice?.to_str()?, false).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_of_colours_is_found_in_a_command_line() {
        for (arguments, choice) in [
            (&[][..], None),
            (
                &["list", "--color", "never"],
                Some(clap::ColorChoice::Never),
            ),
            (
                &["--color=always", "nonsense"],
                Some(clap::ColorChoice::Always),
            ),
            (&["--color=red"], None),
            (&["list", "--color"], None),
            (&["add", "--", "--color=always"], None),
        ] {
            let arguments = arguments.iter().map(OsString::from);
            assert_eq!(colours_of(arguments), choice);
        }
    }

    #[test]
    fn only_a_terminal_has_a_width() {
        assert_eq!(width(false, Some((Width(80), Height(24)))), None);
    }
}
