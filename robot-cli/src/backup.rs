//! A copy of the catalogue's file.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use indicatif::HumanBytes;
use robot_core::{Backup, Existing, OpenOptions};
use serde_json::json;

use crate::{
    arguments::Format,
    failure::Failure,
    printable::printable,
    progress::{Progress, robots},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  robot-cli backup robots-monday.db                                Copy ./robots.db
  robot-cli backup --force latest.db                               Put it in the place of another
  robot-cli --database sqlite:///var/lib/robots.db backup copy.db  Copy another catalogue

The file gets its name when it is complete and on the disk. One that Ctrl-C broke off is called
FILE.incomplete-… and may be deleted.";

/// Where a backup goes.
#[derive(Debug, Args)]
pub(crate) struct BackingUp {
    /// The file that the copy goes into
    file: PathBuf,

    /// Replace the file, if it is there
    #[arg(long)]
    force: bool,
}

/// Makes a backup, and prints what is in it.
pub(crate) fn run(
    backing_up: &BackingUp,
    database: &str,
    options: &OpenOptions,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let BackingUp { file, force } = backing_up;
    let existing = if *force {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let progress = Progress::of(None);
    let backup = options.backup(database, file, existing)?;
    drop(progress);
    print(&backup, file, format, output).map_err(Failure::ChangeNotShown)
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
            robots(count),
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
