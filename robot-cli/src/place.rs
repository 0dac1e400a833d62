//! Where robots come from or go to: a file, or `-` for a standard stream.

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
};

use clap::error::ErrorKind;
use robot_core::transfer;

use crate::{failure::Failure, format::Format, help, printable::printable};

/// A file or a standard stream, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `-`
    Standard,
    File(PathBuf),
}

impl Place {
    pub(crate) fn parse(text: &OsStr) -> Self {
        if text == "-" {
            Self::Standard
        } else {
            Self::File(text.into())
        }
    }

    /// The format that was typed, or else the one that the file's name ends in.
    pub(crate) fn format(
        &self,
        typed: Option<Format>,
    ) -> Result<Option<transfer::Format>, Failure> {
        match (typed, self) {
            (Some(Format::Csv), _) => Ok(Some(transfer::Format::Csv)),
            (Some(Format::Json), _) => Ok(Some(transfer::Format::Json)),
            (Some(Format::Ndjson), _) => Ok(Some(transfer::Format::Ndjson)),
            (Some(Format::Table), _) => Err(wrong_format(
                "a table is for people to read; name --format csv, json or ndjson",
            )),
            (None, Self::Standard) => Ok(None),
            (None, Self::File(path)) => match transfer::Format::of_path(path) {
                Some(format) => Ok(Some(format)),
                None => Err(wrong_format(&format!(
                    "the name of '{self}' does not tell its format; name --format csv, json or \
                     ndjson"
                ))),
            },
        }
    }
}

impl fmt::Display for Place {
    /// As messages name it; nothing in the name of a file acts on the terminal.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => formatter.write_str("-"),
            Self::File(path) => formatter.write_str(&printable(&path.to_string_lossy())),
        }
    }
}

/// The command line is wrong about the format.
pub(crate) fn wrong_format(message: &str) -> Failure {
    help::command()
        .error(ErrorKind::InvalidValue, message)
        .into()
}

/// The folder that a file is in.
pub(crate) fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
