//! `backup`: a copy of the catalogue file.

use std::path::PathBuf;

use clap::Args;
use indicatif::HumanBytes;
use robot_core::{BackupError, Existing};

use crate::{
    context::Context,
    error::CliError,
    interrupt::Interrupt,
    printable::printable,
    progress::{Progress, robot_count},
};

/// Arguments of `backup`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/backup.txt"))]
pub(crate) struct BackupArgs {
    /// The file to write
    file: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Writes the backup and prints its size.
pub(crate) fn run(args: BackupArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let BackupArgs { file, force } = args;
    let existing = if force {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let interrupt = Interrupt::register()?;
    let progress = Progress::new(None, "backing up");
    let backup = context
        .options
        .backup_while(&context.database, &file, existing, || {
            interrupt.control_flow()
        });
    drop(progress);
    let file = file.display().to_string();
    let backup = backup.map_err(|error| match error {
        BackupError::Cancelled(_) => {
            interrupt.stopped(&format!("; '{}' is unchanged", printable(&file)))
        }
        BackupError::Exists(file) => CliError::new(format_args!(
            "'{}' exists; name another file, or replace it with --force",
            file.display()
        )),
        error => CliError::new(error),
    })?;
    context.read_definition();
    let text = format!(
        "Backed up {} to '{}' ({}).",
        robot_count(backup.robots),
        printable(&file),
        HumanBytes(backup.bytes)
    );
    let members = [
        ("file", file.into()),
        ("robots", backup.robots.into()),
        ("bytes", backup.bytes.into()),
    ];
    context.print_result(&text, &members, CliError::change_not_shown)
}
