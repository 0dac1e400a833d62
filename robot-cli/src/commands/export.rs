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
    error::CliError,
    fields::PrintedFields,
    interrupt::Interrupt,
    path_argument::PathArgument,
    progress::{Progress, robot_count},
    selection::{OrderArgs, TextFilterArgs},
};
use clap::Args;
use indicatif::HumanCount;
use robot_core::{
    CatalogueExt, Existing, Field, OutputError, OutputFile, Robot, StoreFiles,
    transfer::{self, RobotWriter},
};

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/export.txt"))]
pub(crate) struct ExportArgs {
    /// A file .csv, .json, .ndjson or .xlsx, or any file with --format; - for standard output, in NDJSON
    /// by default
    #[arg(value_name = "FILE|-", default_value = "-")]
    file: OsString,

    #[command(flatten)]
    filter: TextFilterArgs,

    #[command(flatten)]
    order: OrderArgs,

    /// Fields in this order [default: all]; an import requires name, type and year, unless the
    /// definition of the catalogue says otherwise
    #[arg(long, value_name = "FIELDS")]
    fields: Option<String>,

    /// Write an apostrophe before names that a spreadsheet would interpret as formulas; only for
    /// CSV
    #[arg(long)]
    spreadsheet: bool,

    /// Use the titles of fields as headings of CSV and XLSX
    #[arg(long)]
    titles: bool,
}

/// The value of `--fields` for all fields.
const ALL_FIELDS: &str = "*";

/// Size of the buffer before a file: larger ones save no more time.
const BUFFER_SIZE: usize = 64 * 1024;

/// Exports the robots and prints their number.
pub(crate) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let target = PathArgument::output(&args.file);
    let format = target
        .format(context.format)?
        .unwrap_or(transfer::FileFormat::Ndjson);
    if args.spreadsheet && format != transfer::FileFormat::Csv {
        return Err(CliError::usage(
            "--spreadsheet is only for CSV; add --format csv",
        ));
    }
    let catalogue = context.open_existing()?;
    let definition = catalogue.definition();
    let fields = args.fields.as_deref().unwrap_or(ALL_FIELDS);
    let columns = PrintedFields::parse(Some(fields), &definition)?;
    let filter = args.filter.filter(&*catalogue)?;
    if let Some(maximum) = format.max_robots()
        && catalogue.count(&filter)? > maximum.into()
    {
        return Err(CliError::usage(format_args!(
            "a workbook has at most {maximum} robots; export CSV: --format csv"
        )));
    }
    let order = Field::ID.name();
    let pages = args
        .order
        .pages(catalogue, filter, &columns.fields, order)?;
    let mut writer = RobotWriter::new(format, columns.fields);
    writer.is_for_spreadsheets = args.spreadsheet;
    if args.titles {
        writer = writer.with_titles(&definition);
    }
    let is_shown = target == PathArgument::Standard && io::stdout().is_terminal();
    let export = Export {
        pages: Box::new(pages),
        writer,
        progress: (!is_shown).then(|| Progress::new(None, "exporting")),
    };
    // Ctrl-C terminates the process, as with other programs that print, also while it waits for the reader of a
    // pipe.
    let interrupt = Interrupt::default();
    let count = match &target {
        PathArgument::Standard => {
            let written = export.write(context.output, &interrupt, CliError::output);
            return written.map(drop);
        }
        PathArgument::File(path) if is_special(path) => {
            let failure = |cause| not_exported(&target, cause, "the output may be incomplete");
            let file = File::options().write(true).open(path);
            let mut buffer = BufWriter::with_capacity(BUFFER_SIZE, file.map_err(failure)?);
            export.write(&mut buffer, &interrupt, failure)?
        }
        PathArgument::File(path) => to_file(export, path, &target, &context.files())?,
    };
    let count = context.worded(&robot_count(count));
    let text = format!("Exported {count} to {target}.\n");
    context.print(&text, CliError::change_not_shown)
}

/// Writes a regular file completely or, after Ctrl-C or a failure, not at all.
fn to_file(
    export: Export,
    path: &Path,
    target: &PathArgument,
    catalogue: &StoreFiles,
) -> Result<u64, CliError> {
    // Before the temporary file exists, so that Ctrl-C never leaves it behind.
    let interrupt = Interrupt::register()?;
    let failure = |error| match error {
        OutputError::OfCatalogue => CliError::own_file(format_args!("'{target}'")),
        OutputError::NotSynced(cause) => CliError::new(format_args!(
            "'{target}' is complete, but its folder cannot be synced: {cause}; check the disk, and run \
             the command again"
        )),
        error => not_exported(target, error, "no file was changed"),
    };
    let mut file = OutputFile::create(path, catalogue).map_err(failure)?;
    let mut buffer = BufWriter::with_capacity(BUFFER_SIZE, &mut file);
    let count = export.write(&mut buffer, &interrupt, |cause| failure(cause.into()))?;
    drop(buffer);
    if interrupt.is_set() {
        let count = HumanCount(count);
        return Err(interrupt.stopped(&format!(" after {count} records; '{target}' is unchanged")));
    }
    file.finish(Existing::Replace).map_err(failure)?;
    Ok(count)
}

fn not_exported(target: &PathArgument, cause: impl Display, outcome: &str) -> CliError {
    CliError::new(format_args!(
        "cannot write '{target}': {cause}; {outcome}. Choose another path or free disk space, and run \
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
    /// `None` if the robots are shown themselves.
    progress: Option<Progress>,
}

impl Export {
    /// Writes and flushes all robots, or until Ctrl-C, and returns their number.
    fn write(
        mut self,
        output: &mut dyn Write,
        interrupt: &Interrupt,
        failure: impl Fn(io::Error) -> CliError,
    ) -> Result<u64, CliError> {
        let mut count: u64 = 0;
        for page in self.pages {
            let page = page?;
            self.writer.write(&page, output).map_err(&failure)?;
            count += page.len() as u64;
            if let Some(progress) = &self.progress {
                progress.update(count, "exported");
            }
            if interrupt.is_set() {
                return Ok(count);
            }
        }
        let finished = self.writer.finish(output).and_then(|()| output.flush());
        finished.map_err(failure)?;
        Ok(count)
    }
}
