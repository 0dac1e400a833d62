//! `restore`: the catalogue file, as a backup has it.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{ArgMatches, Args, parser::ValueSource};
use indicatif::HumanBytes;
use robot_core::{Existing, RestoreError, RestoredBackup};
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
  robot-cli restore copy.db                                      Create ./robots.db
  robot-cli restore copy.db --database sqlite:///var/lib/r.db    Create another catalogue
  robot-cli restore copy.db --replace --database sqlite://robots.db
                                                                 Replace a catalogue, and keep it
  robot-cli copy --from sqlite://copy.db --to postgres://host/database
                                                                 Restore to a database server";

/// Arguments of `restore`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RestoreArgs {
    /// The backup
    file: PathBuf,

    /// Replace the catalogue that --database or its environment variable names
    #[arg(long)]
    replace: bool,
}

/// Rejects the replacement of a catalogue that the user has not named, such as the one in a wrong
/// directory.
pub(crate) fn require_named_catalogue(
    args: &RestoreArgs,
    matches: &ArgMatches,
) -> Result<(), Failure> {
    let is_named = matches.value_source("database") != Some(ValueSource::DefaultValue);
    if is_named || !args.replace {
        return Ok(());
    }
    Err(Failure::Usage(
        "--replace requires the name of the catalogue; for the one in this directory, add --database \
         sqlite://robots.db"
            .to_owned(),
    ))
}

/// Restores the backup and prints what the catalogue contains.
pub(crate) fn run(args: &RestoreArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let existing = if args.replace {
        Existing::Replace
    } else {
        Existing::Keep
    };
    let interrupt = Interrupt::register().map_err(Failure::Signals)?;
    let progress = Progress::new(None, "restoring");
    let restored =
        context
            .options
            .restore_backup(&args.file, &context.database, existing, |robots| {
                if robots > 0 {
                    progress.update(robots, robots, "checked");
                }
                interrupt.control_flow()
            });
    drop(progress);
    let restored = restored.map_err(|error| match error {
        RestoreError::Cancelled(_) => interrupted(&interrupt),
        error => error.into(),
    })?;
    print(
        &restored,
        &context.database,
        context.print_format(),
        context.output,
    )
    .map_err(Failure::ChangeNotShown)
}

/// Prints that nothing is changed.
fn interrupted(interrupt: &Interrupt) -> Failure {
    let _ = writeln!(io::stderr(), "Stopped; no file was changed");
    Failure::Interrupted(interrupt.status())
}

fn print(
    restored: &RestoredBackup,
    database: &str,
    format: Format,
    output: &mut dyn Write,
) -> io::Result<()> {
    let RestoredBackup {
        robots: count,
        bytes,
        ref replaced,
        ..
    } = *restored;
    let file = database.trim_start_matches("sqlite://");
    let replaced = replaced
        .as_deref()
        .map(Path::display)
        .map(|path| path.to_string());
    match format {
        Format::Table => {
            let (count, size) = (robot_count(count), HumanBytes(bytes));
            writeln!(
                output,
                "Restored {count} to '{}' ({size}).",
                printable(file)
            )?;
            if let Some(replaced) = replaced {
                let replaced = printable(&replaced);
                writeln!(
                    output,
                    "The catalogue before is '{replaced}'; delete it when it is no longer needed."
                )?;
            }
        }
        Format::Json | Format::Ndjson => {
            let object =
                json!({ "file": file, "robots": count, "bytes": bytes, "replaced": replaced });
            writeln!(output, "{object}")?;
        }
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut *output);
            writer.write_record(["file", "robots", "bytes", "replaced"])?;
            let replaced = replaced.unwrap_or_default();
            writer.write_record([file, &count.to_string(), &bytes.to_string(), &replaced])?;
            writer.flush()?;
        }
    }
    output.flush()
}
