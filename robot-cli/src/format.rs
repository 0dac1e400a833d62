//! Values of `--format`.

use clap::ValueEnum;
use robot_core::transfer;

/// An output format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns; control characters in names are escaped
    #[default]
    Table,
    /// An array of objects; add, get and update print one object
    Json,
    /// One JSON object per line
    Ndjson,
    /// A header line, then one row per robot
    Csv,
}

impl Format {
    /// The format of files, if it is one.
    pub(crate) fn of_files(self) -> Option<transfer::Format> {
        match self {
            Self::Table => None,
            Self::Json => Some(transfer::Format::Json),
            Self::Ndjson => Some(transfer::Format::Ndjson),
            Self::Csv => Some(transfer::Format::Csv),
        }
    }
}
