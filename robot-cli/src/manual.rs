//! The manual, for `man`: a page for the program and one for each command, made of the help.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Command, CommandFactory};
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use crate::{arguments::Arguments, failure::Failure};

/// Where the manual goes.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder for the pages, which is made where it is missing; without it, the page of the
    /// program goes to standard output
    directory: Option<PathBuf>,
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  robot-cli manual | man -l -               Read the page of the program
  robot-cli manual ~/.local/share/man/man1  Put all pages where man finds them
  man robot-cli-add                         Read one of them";

/// Prints the page of the program, or writes all pages into a folder.
pub(crate) fn run(manual: &Manual, output: &mut dyn Write) -> Result<(), Failure> {
    // Without the command that prints help, which would have a page for each command once more.
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let Some(directory) = &manual.directory else {
        let page = page(&command).map_err(Failure::Output)?;
        let printed = output.write_all(&page).and_then(|()| output.flush());
        return printed.map_err(Failure::Output);
    };
    let pages = write_pages(&command, directory).map_err(|cause| Failure::ManualNotWritten {
        directory: directory.clone(),
        cause,
    })?;
    writeln!(
        output,
        "Wrote {pages} pages; read the first with: man -l {}",
        directory.join("robot-cli.1").display()
    )
    .and_then(|()| output.flush())
    .map_err(Failure::Output)
}

/// Writes the page of a command, and those of the commands below it: how many there are.
fn write_pages(command: &Command, directory: &Path) -> io::Result<usize> {
    fs::create_dir_all(directory)?;
    let mut pages = 1;
    for below in command.get_subcommands() {
        pages += write_pages(below, directory)?;
    }
    let name = Man::new(command.clone()).get_filename();
    fs::write(directory.join(name), page(command)?)?;
    Ok(pages)
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .source(concat!("robot-cli ", env!("CARGO_PKG_VERSION")))
        .manual("Robot Catalogue");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = command.get_after_help() {
        sections(&text.to_string()).to_writer(&mut page)?;
    }
    Ok(page)
}

/// What stands below the options, in sections of its own: a line that is not indented and ends
/// with a colon begins one. Indented lines stay lines, all else is running text.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut before = Line::Text;
    for line in text.lines() {
        let kind = Line::of(line);
        match (before, kind) {
            (Line::Indented, Line::Indented) => {}
            (_, Line::Indented) => {
                roff.control("nf", []);
            }
            (Line::Indented, _) => {
                roff.control("fi", []);
            }
            _ => {}
        }
        match kind {
            Line::Heading => {
                let heading = line.trim_end_matches(':').to_uppercase();
                roff.control("SH", [heading.as_str()]);
            }
            Line::Blank => {
                roff.control("PP", []);
            }
            Line::Indented | Line::Text => {
                roff.text([roman(line)]);
            }
        }
        before = kind;
    }
    if before == Line::Indented {
        roff.control("fi", []);
    }
    roff
}

/// What a line below the options is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Heading,
    Indented,
    Blank,
    Text,
}

impl Line {
    fn of(line: &str) -> Self {
        if line.is_empty() {
            Self::Blank
        } else if line.starts_with(' ') {
            Self::Indented
        } else if line.ends_with(':') {
            Self::Heading
        } else {
            Self::Text
        }
    }
}
