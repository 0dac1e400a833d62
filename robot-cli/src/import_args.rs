//! Arguments of `import`, and the messages about its records.

use std::ffi::OsString;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use robot_core::{
    Definition,
    transfer::{OnConflict, Outcome, RecordPosition},
};

use crate::{columns::ColumnArgs, path_argument::PathArgument, terminal::note};

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/import.txt"))]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent options"
)]
pub(crate) struct ImportArgs {
    /// A file .csv, .json, .ndjson or .xlsx, or any file with --format; - for standard input, which
    /// requires --format
    #[arg(value_name = "FILE|-")]
    pub(crate) file: OsString,

    /// If the robot exists: fail, skip the record, or replace its values; with --match, replace
    /// them unless this is skip
    #[arg(
        long,
        value_name = "ACTION",
        default_value = "fail",
        value_parser = PossibleValuesParser::new(OnConflict::NAMES)
            .map(|name| OnConflict::of_name(&name).unwrap_or_default()),
        hide_possible_values = true
    )]
    pub(crate) on_conflict: OnConflict,

    /// Report what the import would do and store nothing; uses 20 bytes of memory per robot
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Import the other records if some fail
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Store all records or none, at most 10,000, and report every one that fails
    #[arg(long, conflicts_with = "keep_going")]
    pub(crate) atomic: bool,

    /// Add records that equal a robot, in a catalogue whose names repeat
    #[arg(long)]
    pub(crate) add_equal: bool,

    /// The field that finds the robot that a record changes: id, name or another unique one
    #[arg(long = "match", help_heading = "Columns", value_name = "FIELD")]
    pub(crate) matched: Option<String>,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
}

/// Prints the messages about a record that fails.
pub(crate) fn report(path: &PathArgument, outcome: &Outcome, definition: &Definition) {
    let Err(error) = &outcome.result else {
        return;
    };
    let location = match outcome.position {
        RecordPosition::Line(line) => format!("{path}:{line}"),
        position => format!("{path}: {position}"),
    };
    for message in error.messages() {
        note(&format!("{location}: {}", definition.worded(&message)));
    }
}
