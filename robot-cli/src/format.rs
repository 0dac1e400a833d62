//! Values of `--format`.

use clap::ValueEnum;

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
