//! `backup`: a copy of the catalogue file.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use clap::Args;
use indicatif::HumanBytes;
use robot_core::{Backup, Existing};
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

/// Interval of the checks for Ctrl-C: the longest delay until it has an effect.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

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
    let (sender, result) = mpsc::channel();
    let (options, url, target) = (
        context.options.clone(),
        context.database.clone(),
        file.clone(),
    );
    // The backup blocks until it is complete, so it runs in a thread of its own.
    thread::spawn(move || sender.send(options.backup(&url, &target, existing)));
    let backup = loop {
        match result.recv_timeout(POLL_INTERVAL) {
            Ok(backup) => break backup?,
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::BackupThread),
            Err(RecvTimeoutError::Timeout) if interrupt.is_set() => {
                drop(progress);
                return Err(interrupted(&file, &interrupt));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    drop(progress);
    print(&backup, &file, context.print_format(), context.output).map_err(Failure::ChangeNotShown)
}

/// Prints that the target is unchanged and how to clean up.
fn interrupted(file: &Path, interrupt: &Interrupt) -> Failure {
    let file = file.display().to_string();
    let file = printable(&file);
    let _ = writeln!(
        io::stderr(),
        "Stopped; '{file}' is unchanged. Delete the files that begin with '{file}.incomplete-'"
    );
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
