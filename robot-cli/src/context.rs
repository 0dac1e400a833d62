//! Settings and output that all commands share.

use std::{io::Write, sync::Arc};

use clap::ValueEnum;
use robot_core::{Catalogue, OpenError, OpenOptions, StoreFiles, transfer};

/// The global options, and the output.
pub(crate) struct Context<'a> {
    /// The URL of the catalogue.
    pub(crate) database: String,
    pub(crate) options: OpenOptions,
    /// The value of `--format`.
    pub(crate) format: Option<Format>,
    pub(crate) output: &'a mut dyn Write,
}

impl Context<'_> {
    /// Opens the catalogue, and creates it if it does not exist.
    pub(crate) fn open(&self) -> Result<Arc<dyn Catalogue>, OpenError> {
        self.options.open(&self.database)
    }

    /// Opens the catalogue if it exists.
    pub(crate) fn open_existing(&self) -> Result<Arc<dyn Catalogue>, OpenError> {
        self.options.clone().must_exist().open(&self.database)
    }

    /// The files of the catalogue, which no command may write otherwise.
    pub(crate) fn files(&self) -> StoreFiles {
        StoreFiles::of_url(&self.database)
    }

    /// The format to print in.
    pub(crate) fn print_format(&self) -> Format {
        self.format.unwrap_or_default()
    }
}

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
