//! `manual`: man pages for the program and each command, generated from the help.

use std::{fs, path::PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::{context::Context, error::CliError};

/// Arguments of `manual`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/manual.txt"))]
pub(crate) struct ManualArgs {
    /// The directory for the pages, created if missing; by default the main page is printed
    directory: Option<PathBuf>,
}

/// Prints the main page, or writes all pages to the directory.
pub(crate) fn run(
    args: &ManualArgs,
    command: Command,
    context: &mut Context<'_>,
) -> Result<(), CliError> {
    let Some(directory) = &args.directory else {
        let mut page = Vec::new();
        let rendered = Man::new(command).render(&mut page);
        rendered.map_err(CliError::output)?;
        return context.print(&String::from_utf8_lossy(&page), CliError::output);
    };
    let written = fs::create_dir_all(directory);
    let written = written.and_then(|()| clap_mangen::generate_to(command, directory));
    written.map_err(|cause| {
        CliError::new(format_args!(
            "cannot write the manual to '{}': {cause}; choose a directory that you may write to",
            directory.display()
        ))
    })?;
    let first = directory.join("robot-cli.1");
    let first = first.display();
    let text = format!("Wrote the pages; read the first with: man -l {first}\n");
    context.print(&text, CliError::output)
}
