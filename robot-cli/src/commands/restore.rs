//! `restore`: the catalogue file, as a backup has it.

use std::path::PathBuf;

use clap::{ArgMatches, Args, parser::ValueSource};
use indicatif::HumanBytes;
use robot_core::{BackupError, Existing};

use crate::{
    context::Context,
    error::CliError,
    interrupt::Interrupt,
    printable::printable,
    progress::{Progress, robot_count},
};

/// Arguments of `restore`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/restore.txt"))]
pub(crate) struct RestoreArgs {
    /// The backup
    file: PathBuf,

    /// Replace the catalogue that --database or its environment variable names
    #[arg(long)]
    replace: bool,
}

/// Restores the backup and prints what the catalogue contains.
pub(crate) fn run(
    args: &RestoreArgs,
    matches: &ArgMatches,
    context: &mut Context<'_>,
) -> Result<(), CliError> {
    // The user has to name it: the working directory may be a wrong one.
    if args.replace && matches.value_source("database") == Some(ValueSource::DefaultValue) {
        return Err(CliError::usage(
            "--replace requires the name of the catalogue; for the one in this directory, add \
             --database sqlite://robots.db",
        ));
    }
    let existing = if args.replace {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let interrupt = Interrupt::register()?;
    let progress = Progress::new(None, "restoring");
    let restored =
        context
            .options
            .restore_backup(&args.file, &context.database, existing, |robots| {
                progress.update(robots, "checked");
                interrupt.control_flow()
            });
    drop(progress);
    let restored = restored.map_err(|error| match error {
        BackupError::Cancelled(_) => interrupt.stopped("; no file was changed"),
        BackupError::Exists(file) => CliError::new(format_args!(
            "'{}' exists; name another catalogue with --database, or replace the catalogue: name it, not \
             its WAL, with --database, and add --replace",
            file.display()
        )),
        BackupError::FailedCheck { file, report } => CliError::new(format_args!(
            "the backup '{}' is damaged: {}; choose another one",
            file.display(),
            report.findings.into_iter().flat_map(|(_, findings)| findings).next().unwrap_or_default()
        )),
        BackupError::NoFile { database, .. } => CliError::new(format_args!(
            "a backup is restored to an SQLite file only, and {database} is not one; use: robot-cli copy \
             --from sqlite://FILE --to URL"
        )),
        error => CliError::new(error),
    })?;
    let file = context.database.trim_start_matches("sqlite://").to_owned();
    let replaced = restored.replaced.map(|path| path.display().to_string());
    let kept = replaced.as_deref().map(|replaced| {
        format!(
            "\nThe catalogue before is '{}'; delete it when it is no longer needed.",
            printable(replaced)
        )
    });
    context.read_definition();
    let text = format!(
        "Restored {} to '{}' ({}).{}",
        robot_count(restored.robots),
        printable(&file),
        HumanBytes(restored.bytes),
        kept.unwrap_or_default()
    );
    let members = [
        ("file", file.into()),
        ("robots", restored.robots.into()),
        ("bytes", restored.bytes.into()),
        ("replaced", replaced.into()),
    ];
    context.print_result(&text, &members, CliError::change_not_shown)
}
