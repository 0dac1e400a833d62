//! `manual`: man pages for the program and each command, generated from the help.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Command};
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use crate::{context::Context, failure::Failure};

/// Arguments of `manual`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManualArgs {
    /// The directory for the pages, created if missing; by default the main page is printed
    directory: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  robot-cli manual | man -l -               Read the main page
  robot-cli manual ~/.local/share/man/man1  Install all pages
  man robot-cli-add                         Read the page of a command";

/// Prints the main page, or writes all pages to the directory.
pub(crate) fn run(
    args: &ManualArgs,
    command: &Command,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let Some(directory) = &args.directory else {
        let page = page(command).map_err(Failure::output)?;
        return context.print(&String::from_utf8_lossy(&page), Failure::output);
    };
    let pages = write_pages(command, directory).map_err(|cause| {
        Failure::new(format_args!(
            "cannot write the manual to '{}': {cause}; choose a directory that you may write to",
            directory.display()
        ))
    })?;
    let first = directory.join("robot-cli.1");
    let first = first.display();
    let text = format!("Wrote {pages} pages; read the first with: man -l {first}\n");
    context.print(&text, Failure::output)
}

/// Writes the pages of a command and its subcommands, and returns their number.
fn write_pages(command: &Command, directory: &Path) -> io::Result<usize> {
    fs::create_dir_all(directory)?;
    let mut pages = 1;
    for subcommand in command.get_subcommands() {
        // `help` has the other commands as subcommands.
        if subcommand.get_name() != "help" {
            pages += write_pages(subcommand, directory)?;
        }
    }
    let name = Man::new(command.clone()).get_filename();
    fs::write(directory.join(name), page(command)?)?;
    Ok(pages)
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    // The description is in `before_help`, see the module `help`.
    let description = command.get_before_help().cloned().unwrap_or_default();
    let mut command = command.clone().long_about(description);
    if command.find_subcommand("help").is_some() {
        // It has no page of its own.
        command = command.mut_subcommand("help", |help| help.hide(true));
    }
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

/// The text after the options as sections. A line with a colon at the end is a heading, indented
/// lines are preformatted, other lines are filled.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut is_preformatted = false;
    for line in text.lines() {
        let is_indented = line.starts_with(' ');
        if is_indented != is_preformatted {
            roff.control(if is_indented { "nf" } else { "fi" }, []);
            is_preformatted = is_indented;
        }
        match line.strip_suffix(':') {
            Some(heading) if !is_indented => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
            }
            _ if line.is_empty() => {
                roff.control("PP", []);
            }
            _ => {
                roff.text([roman(line)]);
            }
        }
    }
    if is_preformatted {
        roff.control("fi", []);
    }
    roff
}
