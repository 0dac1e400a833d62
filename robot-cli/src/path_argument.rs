//! Source of an import or destination of an export: a file, or `-` for a standard stream.

use std::{
    ffi::OsStr,
    fmt,
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use robot_core::transfer;

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    printable::printable,
};

/// A file or a standard stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathArgument {
    /// `-`
    Standard,
    File(PathBuf),
}

impl PathArgument {
    pub(crate) fn new(text: &OsStr) -> Self {
        if text == "-" {
            Self::Standard
        } else {
            Self::File(text.into())
        }
    }

    /// Whether it is a regular file, which can be read again. A standard stream or a pipe cannot.
    pub(crate) fn is_regular_file(&self) -> bool {
        match self {
            Self::Standard => false,
            Self::File(path) => path.is_file(),
        }
    }

    /// The file to read; `None` for standard input.
    pub(crate) fn open(&self, context: &Context<'_>) -> Result<Option<File>, CliError> {
        let Self::File(path) = self else {
            return Ok(None);
        };
        // To read a file of the database would drop the locks that SQLite has on it in this process.
        if context.files().contains(path) {
            return Err(CliError::own_file(format_args!("'{self}'")));
        }
        let file = File::open(path).and_then(|file| {
            let is_folder = file.metadata()?.is_dir();
            let folder = is_folder.then(|| io::ErrorKind::IsADirectory.into());
            folder.map_or(Ok(file), Err)
        });
        file.map(Some).map_err(|cause| self.not_read(&cause))
    }

    /// The input, which can be read once.
    pub(crate) fn reader(&self, context: &Context<'_>) -> Result<Box<dyn Read>, CliError> {
        Ok(match self.open(context)? {
            Some(file) => Box::new(file),
            None => Box::new(io::stdin()),
        })
    }

    pub(crate) fn not_read(&self, cause: &io::Error) -> CliError {
        CliError::new(format_args!(
            "cannot read '{self}': {cause}; check that it is a file that you may read"
        ))
    }

    /// The destination of an export. A file that stands for standard output is not opened: it would
    /// be written from its beginning, over what else is printed to it.
    pub(crate) fn output(text: &OsStr) -> Self {
        match text.to_str() {
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => Self::Standard,
            _ => Self::new(text),
        }
    }

    /// The value of `--format`, or else the format that the extension of the file stands for.
    /// `None` for a standard stream without `--format`.
    pub(crate) fn format(
        &self,
        option: Option<OutputFormat>,
    ) -> Result<Option<transfer::FileFormat>, CliError> {
        match (option, self) {
            (Some(format), _) => match format.of_files() {
                None => Err(CliError::usage(
                    "a table cannot be imported or exported; use --format csv, json or ndjson",
                )),
                format => Ok(format),
            },
            (None, Self::Standard) => Ok(None),
            (None, Self::File(path)) => match transfer::FileFormat::of_path(path) {
                None => Err(CliError::usage(format_args!(
                    "the name of '{self}' does not end in .csv, .json, .ndjson or .xlsx; add --format \
                     csv, json or ndjson"
                ))),
                format => Ok(format),
            },
        }
    }
}

impl fmt::Display for PathArgument {
    /// Escaped for messages on a terminal.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => formatter.write_str("-"),
            Self::File(path) => formatter.write_str(&printable(&path.to_string_lossy())),
        }
    }
}
