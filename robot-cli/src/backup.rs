//! A copy of the catalogue's file.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use clap::Args;
use indicatif::HumanBytes;
use robot_core::{Backup, Existing, OpenOptions};
use serde_json::json;

use crate::{
    failure::Failure,
    format::Format,
    interrupt::Interrupt,
    printable::printable,
    progress::{Progress, robots},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  robot-cli backup robots-monday.db                                Copy ./robots.db
  robot-cli backup --force latest.db                               Put it in the place of another
  robot-cli --database sqlite:///var/lib/robots.db backup copy.db  Copy another catalogue

The file gets its name when it is complete and on the disk.";

/// How long it takes at most until a Ctrl-C is noticed.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

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
    let interrupt = Interrupt::listen().map_err(Failure::Signals)?;
    let progress = Progress::of(None, "backing up");
    let (finished, outcome) = mpsc::channel();
    let (options, url, copy) = (options.clone(), database.to_owned(), file.clone());
    // SQLite does not look up before it is done, so that somebody else has to.
    thread::spawn(move || finished.send(options.backup(&url, &copy, existing)));
    let backup = loop {
        match outcome.recv_timeout(BETWEEN_LOOKS) {
            Ok(backup) => break backup?,
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::BrokeDown),
            Err(RecvTimeoutError::Timeout) if interrupt.is_asked() => {
                drop(progress);
                return Err(stopped(file, &interrupt));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    drop(progress);
    print(&backup, file, format, output).map_err(Failure::ChangeNotShown)
}

/// Tells what a backup that was broken off leaves behind.
fn stopped(file: &Path, interrupt: &Interrupt) -> Failure {
    let file = file.display().to_string();
    let file = printable(&file);
    let _ = writeln!(
        io::stderr(),
        "Stopped; '{file}' is as it was before. Delete what begins with '{file}.incomplete-'"
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
