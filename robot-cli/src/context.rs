//! Settings and output that all commands share.

use std::{io::Write, sync::Arc};

use robot_core::{Catalogue, OpenError, OpenOptions, StoreFiles};

use crate::format::Format;

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
