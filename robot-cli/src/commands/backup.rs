//! `backup`: a copy of the catalogue file.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use indicatif::HumanBytes;
use robot_core::{Backup, BackupError, Existing};
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    format::Format,
    interrupt::Interrupt,
    printable::printable,
    progress::{Progress, robot_count},
};

const EXAMPLES: &str = "\
Examples:
  robot-cli backup robots-monday.db                                Back up ./robots.db
  robot-cli backup --force latest.db                               Replace an older backup
  robot-cli --database sqlite:///var/lib/robots.db backup copy.db  Back up another catalogue";

/// Arguments of `backup`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    /// The file to write
    file: PathBuf,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Writes the backup and prints its size.
pub(crate) fn run(args: BackupArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let BackupArgs { file, force } = args;
    let existing = if force {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let interrupt = Interrupt::register().map_err(Failure::Signals)?;
    let progress = Progress::new(None, "backing up");
    let backup = context
        .options
        .backup_while(&context.database, &file, existing, || {
            interrupt.control_flow()
        });
    drop(progress);
    let backup = backup.map_err(|error| match error {
        BackupError::Cancelled(_) => interrupted(&file, &interrupt),
        error => error.into(),
    })?;
    print(&backup, &file, context.print_format(), context.output).map_err(Failure::ChangeNotShown)
}

/// Prints that the target is unchanged.
fn interrupted(file: &Path, interrupt: &Interrupt) -> Failure {
    let file = file.display().to_string();
    let _ = writeln!(io::stderr(), "Stopped; '{}' is unchanged", printable(&file));
    Failure::Interrupted(interrupt.status())
}

fn print(backup: &Backup, file: &Path, format: Format, output: &mut dyn Write) -> io::Result<()> {
    let file = file.display().to_string();
    let Backup {
        robots: count,
        bytes,
        ..
    } = *backup;
    match format {
        Format::Table => writeln!(
            output,
            "Backed up {} to '{}' ({}).",
            robot_count(count),
            printable(&file),
            HumanBytes(bytes)
        )?,
        Format::Json | Format::Ndjson => {
            let object = json!({ "file": file, "robots": count, "bytes": bytes });
            writeln!(output, "{object}")?;
        }
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut *output);
            writer.write_record(["file", "robots", "bytes"])?;
            writer.write_record([file, count.to_string(), bytes.to_string()])?;
            writer.flush()?;
        }
    }
    output.flush()
}
