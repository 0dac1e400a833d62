//! Arguments of `import`, and the messages about its records.

use std::ffi::OsString;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use robot_core::{
    Definition,
    transfer::{ImportOptions, OnConflict, Outcome, PlanOptions, Position},
};

use crate::{columns::ColumnArgs, place::Place};

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
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

const DETAILS: &str = "\
Examples:
  robot-cli import artists.csv --define               Add the fields it needs
  robot-cli import artists.csv --dry-run              Print the plan only
  robot-cli import corrected.csv --match accession    Change robots by a key
  robot-cli import edited.csv --match id              Store an edited export
  robot-cli import list.xlsx --sheet Loans --define   Read a sheet
  robot-cli import robots.csv --keep-going            Leave out what fails
  robot-cli import robots.csv --on-conflict skip      Skip robots that exist
  robot-cli import fleet.csv --atomic                 Store all records or none
  curl -s http://robots.example/x | robot-cli import - --format ndjson

Formats:
  csv     A header line with names or titles of fields, in any order and case;
          commas, semicolons, tabs or bars separate the columns
  xlsx    A sheet of a workbook, with a header row
  json    An array of objects
  ndjson  One object per line

A file is read twice. First a plan is made: what each column stands for, and which records are added, are changed \
or fail. If records fail, nothing is stored without --keep-going. Standard input is imported record by record, \
unless an option needs a plan. Records that fail are reported on standard error as FILE:LINE: message, and the \
exit status is 1. Ctrl-C stops between two records and reports the last line; a second Ctrl-C terminates at once. \
With --atomic, Ctrl-C stores nothing unless all records have been read.";

impl ImportArgs {
    /// The options of a plan, except for those of its columns.
    pub(crate) fn options(&self) -> PlanOptions {
        PlanOptions {
            on_conflict: self.on_conflict,
            adds_equal: self.add_equal,
            keeps_going: self.keep_going,
            ..PlanOptions::default()
        }
    }

    /// The options of an import without a plan.
    pub(crate) fn pipe_options(&self) -> ImportOptions {
        ImportOptions {
            on_conflict: self.on_conflict,
            adds_equal: self.add_equal,
            keeps_going: self.keep_going,
            ..ImportOptions::default()
        }
    }

    /// Whether each record that fails is reported before the import.
    pub(crate) fn reports_all(&self) -> bool {
        self.dry_run || self.atomic
    }
}

/// The messages about a record that fails.
pub(crate) fn messages(place: &Place, outcome: &Outcome, definition: &Definition) -> Vec<String> {
    let Err(error) = &outcome.result else {
        return Vec::new();
    };
    let location = match outcome.position {
        Position::Line(line) => format!("{place}:{line}"),
        position => format!("{place}: {position}"),
    };
    let messages = error.messages().into_iter();
    messages
        .map(|message| format!("{location}: {}", definition.worded(&message)))
        .collect()
}
