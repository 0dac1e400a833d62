//! `export`: the robots of the catalogue into a file.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use robot_core::{
    Catalogue, Field, OpenError, Pages, ParseFieldsError,
    transfer::{self, RobotWriter},
};
use tempfile::NamedTempFile;

use crate::{
    failure::Failure,
    format::Format,
    interrupt::Interrupt,
    place::{Place, folder},
    progress::{Progress, robots},
};

/// What can be typed behind `export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArguments {
    /// The file, whose name ends in csv, json or ndjson; - for standard output, as NDJSON unless
    /// --format names another
    #[arg(value_name = "FILE|-", default_value = "-")]
    file: OsString,

    /// Only robots that have this text in their name
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    containing: String,

    /// The fields of each robot, in this order; an import needs name, type and year
    #[arg(long, value_name = "FIELDS", default_value = "id,name,type,year", value_parser = fields)]
    fields: Fields,
}

const EXAMPLES: &str = "\
Examples:
  robot-cli export robots.csv                            All robots, for another catalogue or a spreadsheet
  robot-cli export --containing R2 --fields name,year    Some of them, on standard output
  robot-cli export | gzip > robots.ndjson.gz

The file takes the place of one of the same name when it is complete, and not before. Names stay
as they are, byte for byte: a spreadsheet may take one that begins with = for a formula.";

/// Fields in an order.
#[derive(Debug, Clone)]
struct Fields(Vec<Field>);

fn fields(text: &str) -> Result<Fields, ParseFieldsError> {
    Field::list(text).map(Fields)
}

/// Exports robots.
pub(crate) fn run(
    arguments: &ExportArguments,
    format: Option<Format>,
    open: impl FnOnce() -> Result<Arc<dyn Catalogue>, OpenError>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let place = Place::parse(&arguments.file);
    let format = place.format(format)?.unwrap_or(transfer::Format::Ndjson);
    let Place::File(path) = &place else {
        // A Ctrl-C ends this at once, as it ends other programs that print.
        let progress = if io::stdout().is_terminal() {
            Progress::hidden()
        } else {
            Progress::of(None, "exporting")
        };
        let export = Export::new(arguments, format, open()?, progress);
        return export.write(output, &Interrupt::default()).map(drop);
    };
    let not_written = |cause| Failure::NotExported {
        file: place.to_string(),
        cause,
    };
    let mut file = Target::new(path).map_err(not_written)?;
    let interrupt = Interrupt::listen().map_err(Failure::Signals)?;
    let export = Export::new(arguments, format, open()?, Progress::of(None, "exporting"));
    let mut buffer = BufWriter::with_capacity(64 * 1024, file.file());
    let count = export
        .write(&mut buffer, &interrupt)
        .map_err(|failure| match failure {
            Failure::Output(cause) => not_written(cause),
            failure => failure,
        })?;
    drop(buffer);
    if interrupt.is_asked() {
        let _ = writeln!(
            io::stderr(),
            "Stopped after {}; '{place}' is as it was before",
            robots(count)
        );
        return Err(Failure::Interrupted(interrupt.status()));
    }
    file.keep().map_err(not_written)?;
    writeln!(output, "Exported {} to {place}.", robots(count))
        .and_then(|()| output.flush())
        .map_err(Failure::ChangeNotShown)
}

/// An export under way.
struct Export {
    pages: Pages<Arc<dyn Catalogue>>,
    writer: RobotWriter,
    progress: Progress,
}

impl Export {
    fn new(
        arguments: &ExportArguments,
        format: transfer::Format,
        catalogue: Arc<dyn Catalogue>,
        progress: Progress,
    ) -> Self {
        Self {
            pages: Pages::new(catalogue, arguments.containing.as_str()),
            writer: RobotWriter::new(format).fields(arguments.fields.0.clone()),
            progress,
        }
    }

    /// Writes the robots, until the user asks for the end, and flushes. How many there were.
    fn write(mut self, output: &mut dyn Write, interrupt: &Interrupt) -> Result<u64, Failure> {
        let mut count: u64 = 0;
        for page in self.pages {
            let page = page?;
            self.writer.write(&page, output).map_err(Failure::Output)?;
            count = count.saturating_add(page.len().try_into().unwrap_or(u64::MAX));
            self.progress.tell(count, count, "exported");
            if interrupt.is_asked() {
                return Ok(count);
            }
        }
        self.writer.finish(output).map_err(Failure::Output)?;
        output.flush().map_err(Failure::Output)?;
        Ok(count)
    }
}

/// A file that is written beside the one that it is to replace, so that this stays whole until
/// the other is.
enum Target {
    Beside(NamedTempFile, PathBuf),
    /// No file but a device or a pipe, which nothing can take the place of.
    Itself(File),
}

impl Target {
    fn new(path: &Path) -> io::Result<Self> {
        let about = match fs::metadata(path) {
            Ok(about) => Some(about),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if about.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if about.as_ref().is_some_and(|about| !about.is_file()) {
            return Ok(Self::Itself(File::options().write(true).open(path)?));
        }
        // A link stays, and what it leads to is replaced.
        let path = match about {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_owned(),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".robots-").suffix(".part");
        // Who may read the new file is decided as for any other.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder(&path))?;
        if let Some(about) = about {
            file.as_file().set_permissions(about.permissions())?;
        }
        Ok(Self::Beside(file, path))
    }

    fn file(&mut self) -> &mut File {
        match self {
            Self::Beside(file, _) => file.as_file_mut(),
            Self::Itself(file) => file,
        }
    }

    /// Puts the file into its place, when it has reached the disk.
    fn keep(self) -> io::Result<()> {
        let Self::Beside(file, path) = self else {
            return Ok(());
        };
        file.as_file().sync_all()?;
        file.persist(&path)?;
        // The name is in the folder, which has to reach the disk, too.
        #[cfg(unix)]
        File::open(folder(&path))?.sync_all()?;
        Ok(())
    }
}
