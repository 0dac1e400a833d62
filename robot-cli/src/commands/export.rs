//! `export`: robots to a file or standard output.

use std::{
    ffi::OsString,
    fmt::Display,
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
};

use crate::{
    context::Context,
    failure::Failure,
    fields::Columns,
    interrupt::Interrupt,
    place::Place,
    progress::{Progress, robot_count},
    selection::{OrderArgs, TextFilterArgs},
};
use clap::Args;
use robot_core::{
    Existing, OutputError, OutputFile, Robot, StoreFiles,
    transfer::{self, RobotWriter},
};

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// A file .csv, .json or .ndjson, or any file with --format; - for standard output, in NDJSON
    /// by default
    #[arg(value_name = "FILE|-", default_value = "-")]
    file: OsString,

    #[command(flatten)]
    filter: TextFilterArgs,

    #[command(flatten)]
    order: OrderArgs,

    /// Fields in this order; an import requires name, type and year, unless the definition says
    /// otherwise [default: all but the revision]
    #[arg(long, value_name = "FIELDS")]
    fields: Option<String>,

    /// Write an apostrophe before names that a spreadsheet would interpret as formulas; only for
    /// CSV
    #[arg(long)]
    spreadsheet: bool,
}

const EXAMPLES: &str = include_str!("../help/export.txt");

/// Size of the buffer before a file: larger ones save no more time.
const BUFFER_SIZE: usize = 64 * 1024;

/// Exports the robots and prints their number.
pub(crate) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let place = Place::output(&args.file);
    let format = place
        .format(context.format)?
        .unwrap_or(transfer::Format::Ndjson);
    if args.spreadsheet && format != transfer::Format::Csv {
        return Err(Failure::usage(
            "--spreadsheet is only for CSV; add --format csv",
        ));
    }
    let Place::File(path) = &place else {
        let mut export = Export::new(args, format, context)?;
        if io::stdout().is_terminal() {
            export.progress = Progress::hidden();
        }
        // Ctrl-C terminates the process, as with other programs that print.
        let written = export.write(context.output, &Interrupt::default(), Failure::output);
        return written.map(drop);
    };
    let export = || Export::new(args, format, context);
    let written = if is_special(path) {
        to_special_file(export, path, &place)
    } else {
        to_file(export, path, &place, &context.files())
    };
    let count = robot_count(written?);
    let text = format!("Exported {count} to {place}.\n");
    context.print(&text, Failure::change_not_shown)
}

/// Writes directly to a device or a pipe. Ctrl-C terminates the process, also while it waits for the
/// reader of a pipe.
fn to_special_file(
    export: impl FnOnce() -> Result<Export, Failure>,
    path: &Path,
    place: &Place,
) -> Result<u64, Failure> {
    let failure = |cause| not_exported(place, cause, "the output may be incomplete");
    let file = File::options().write(true).open(path);
    let mut buffer = BufWriter::with_capacity(BUFFER_SIZE, file.map_err(failure)?);
    export()?.write(&mut buffer, &Interrupt::default(), failure)
}

/// Writes a regular file completely or, after Ctrl-C or a failure, not at all.
fn to_file(
    export: impl FnOnce() -> Result<Export, Failure>,
    path: &Path,
    place: &Place,
    catalogue: &StoreFiles,
) -> Result<u64, Failure> {
    // Before the temporary file exists, so that Ctrl-C never leaves it behind.
    let interrupt = Interrupt::register()?;
    let failure = |error| match error {
        OutputError::OfCatalogue => Failure::own_file(format_args!("'{place}'")),
        OutputError::NotSynced(cause) => Failure::new(format_args!(
            "'{place}' is complete, but its folder cannot be synced: {cause}; check the disk, and run \
             the command again"
        )),
        error => not_exported(place, error, "no file was changed"),
    };
    let mut file = OutputFile::create(path, catalogue).map_err(failure)?;
    let mut buffer = BufWriter::with_capacity(BUFFER_SIZE, &mut file);
    let count = export()?.write(&mut buffer, &interrupt, |cause| failure(cause.into()))?;
    drop(buffer);
    if interrupt.is_set() {
        let count = robot_count(count);
        return Err(interrupt.stopped(&format!(" after {count}; '{place}' is unchanged")));
    }
    file.finish(Existing::Replace).map_err(failure)?;
    Ok(count)
}

fn not_exported(place: &Place, cause: impl Display, outcome: &str) -> Failure {
    Failure::new(format_args!(
        "cannot write '{place}': {cause}; {outcome}. Choose another path or free disk space, and run \
         the command again"
    ))
}

/// Whether a path leads to a device, a pipe or a socket.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// A running export.
struct Export {
    pages: Box<dyn Iterator<Item = robot_core::Result<Vec<Robot>>>>,
    writer: RobotWriter,
    progress: Progress,
}

impl Export {
    fn new(
        args: &ExportArgs,
        format: transfer::Format,
        context: &Context<'_>,
    ) -> Result<Self, Failure> {
        let progress = Progress::new(None, "exporting");
        let catalogue = context.open_existing()?;
        let definition = catalogue.definition();
        let columns = Columns::parse(args.fields.as_deref(), &definition)?;
        let pages = args
            .order
            .pages(catalogue, args.filter.filter(&definition)?)?;
        let mut writer = RobotWriter::new(format).fields(columns.fields);
        if args.spreadsheet {
            writer = writer.for_spreadsheets();
        }
        Ok(Self {
            pages: Box::new(pages),
            writer,
            progress,
        })
    }

    /// Writes and flushes all robots, or until Ctrl-C, and returns their number.
    fn write(
        mut self,
        output: &mut dyn Write,
        interrupt: &Interrupt,
        failure: impl Fn(io::Error) -> Failure,
    ) -> Result<u64, Failure> {
        let mut count: u64 = 0;
        for page in self.pages {
            let page = page?;
            self.writer.write(&page, output).map_err(&failure)?;
            count += page.len() as u64;
            self.progress.update(count, "exported");
            if interrupt.is_set() {
                return Ok(count);
            }
        }
        let finished = self.writer.finish(output).and_then(|()| output.flush());
        finished.map_err(failure)?;
        Ok(count)
    }
}
