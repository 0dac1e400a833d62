//! The formats that robots are printed in.

use clap::ValueEnum;

/// How robots are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns for people; control characters in names are shown as escapes
    #[default]
    Table,
    /// An array of objects, or a single object from add, get and update
    Json,
    /// An object a line
    Ndjson,
    /// A header line, then a row for each robot
    Csv,
}
