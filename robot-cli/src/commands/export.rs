//! `export`: robots to a file or standard output.

use std::{
    ffi::OsString,
    fmt,
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use robot_core::{
    Catalogue, Field, Pages, ParseFieldsError,
    transfer::{self, RobotWriter},
};
use tempfile::NamedTempFile;

use crate::{
    context::Context,
    failure::Failure,
    interrupt::Interrupt,
    place::Place,
    progress::{Progress, robot_count},
};

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// A file .csv, .json or .ndjson, or any file with --format; - for standard output, in NDJSON
    /// by default
    #[arg(value_name = "FILE|-", default_value = "-")]
    file: OsString,

    /// Only robots with this text in their name
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    containing: String,

    /// Fields in this order; an import requires name, type and year
    #[arg(long, value_name = "FIELDS", default_value_t, value_parser = parse_fields)]
    fields: Fields,
}

const EXAMPLES: &str = "\
Examples:
  robot-cli export robots.csv                            Export all robots
  robot-cli export --containing R2 --fields name,year    Print some robots
  robot-cli export | gzip > robots.ndjson.gz

The file is written under a temporary name and renamed when complete. Names are exported byte for
byte: a spreadsheet may interpret a name that begins with = as a formula.";

/// A value of `--fields`.
#[derive(Debug, Clone)]
struct Fields(Vec<Field>);

impl Default for Fields {
    fn default() -> Self {
        Self(Field::ALL.to_vec())
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Field::names(&self.0))
    }
}

fn parse_fields(text: &str) -> Result<Fields, ParseFieldsError> {
    Field::list(text).map(Fields)
}

/// Exports the robots and prints their number.
pub(crate) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let place = Place::new(&args.file);
    let format = place
        .format(context.format)?
        .unwrap_or(transfer::Format::Ndjson);
    let Place::File(path) = &place else {
        // Ctrl-C terminates the process, as with other programs that print.
        let progress = if io::stdout().is_terminal() {
            Progress::hidden()
        } else {
            Progress::new(None, "exporting")
        };
        let export = Export::new(args, format, context.open_existing()?, progress);
        return export
            .write(context.output, &Interrupt::default())
            .map(drop);
    };
    let not_written = |cause| Failure::NotExported {
        file: place.to_string(),
        cause,
    };
    let mut file = Target::new(path).map_err(not_written)?;
    let interrupt = Interrupt::register().map_err(Failure::Signals)?;
    let progress = Progress::new(None, "exporting");
    let export = Export::new(args, format, context.open_existing()?, progress);
    let mut buffer = BufWriter::with_capacity(64 * 1024, file.file());
    let count = export
        .write(&mut buffer, &interrupt)
        .map_err(|failure| match failure {
            Failure::Output(cause) => not_written(cause),
            failure => failure,
        })?;
    drop(buffer);
    if interrupt.is_set() {
        let _ = writeln!(
            io::stderr(),
            "Stopped after {}; '{place}' is unchanged",
            robot_count(count)
        );
        return Err(Failure::Interrupted(interrupt.status()));
    }
    file.persist().map_err(not_written)?;
    writeln!(
        context.output,
        "Exported {} to {place}.",
        robot_count(count)
    )
    .and_then(|()| context.output.flush())
    .map_err(Failure::ChangeNotShown)
}

/// A running export.
struct Export {
    pages: Pages<Arc<dyn Catalogue>>,
    writer: RobotWriter,
    progress: Progress,
}

impl Export {
    fn new(
        args: &ExportArgs,
        format: transfer::Format,
        catalogue: Arc<dyn Catalogue>,
        progress: Progress,
    ) -> Self {
        Self {
            pages: Pages::new(catalogue, args.containing.as_str()),
            writer: RobotWriter::new(format).fields(args.fields.0.clone()),
            progress,
        }
    }

    /// Writes and flushes all robots, or until Ctrl-C, and returns their number.
    fn write(mut self, output: &mut dyn Write, interrupt: &Interrupt) -> Result<u64, Failure> {
        let mut count: u64 = 0;
        for page in self.pages {
            let page = page?;
            self.writer.write(&page, output).map_err(Failure::Output)?;
            count = count.saturating_add(page.len().try_into().unwrap_or(u64::MAX));
            self.progress.update(count, count, "exported");
            if interrupt.is_set() {
                return Ok(count);
            }
        }
        self.writer.finish(output).map_err(Failure::Output)?;
        output.flush().map_err(Failure::Output)?;
        Ok(count)
    }
}

/// The file of an export.
enum Target {
    /// A temporary file in the same directory, and the path to rename it to when it is complete.
    Temporary(NamedTempFile, PathBuf),
    /// A device or a pipe, which is written directly.
    Device(File),
}

impl Target {
    fn new(path: &Path) -> io::Result<Self> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if metadata
            .as_ref()
            .is_some_and(|metadata| !metadata.is_file())
        {
            return Ok(Self::Device(File::options().write(true).open(path)?));
        }
        // Replaces the target of a symbolic link, not the link.
        let path = match metadata {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_owned(),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".robots-").suffix(".part");
        // The usual permissions of new files; the umask applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(directory(&path))?;
        if let Some(metadata) = metadata {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self::Temporary(file, path))
    }

    fn file(&mut self) -> &mut File {
        match self {
            Self::Temporary(file, _) => file.as_file_mut(),
            Self::Device(file) => file,
        }
    }

    /// Syncs the file and renames it into place.
    fn persist(self) -> io::Result<()> {
        let Self::Temporary(file, path) = self else {
            return Ok(());
        };
        file.as_file().sync_all()?;
        file.persist(&path)?;
        // The rename is durable when the directory is synced.
        #[cfg(unix)]
        File::open(directory(&path))?.sync_all()?;
        Ok(())
    }
}

fn directory(file: &Path) -> &Path {
    match file.parent() {
        Some(directory) if directory != Path::new("") => directory,
        _ => Path::new("."),
    }
}
