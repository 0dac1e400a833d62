//! Arguments of `import`, and the options that follow from them.

use std::ffi::OsString;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use robot_core::transfer::{ImportCounts, ImportOptions, OnConflict};

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct ImportArgs {
    /// A file .csv, .json or .ndjson, or any file with --format; - for standard input, which
    /// requires --format
    #[arg(value_name = "FILE|-")]
    pub(super) file: OsString,

    /// If a name exists: fail, skip the record, or replace the other fields of the robot
    #[arg(
        long,
        value_name = "ACTION",
        default_value = "fail",
        value_parser = PossibleValuesParser::new(OnConflict::NAMES)
            .map(|name| OnConflict::of_name(&name).unwrap_or_default()),
        hide_possible_values = true
    )]
    pub(super) on_conflict: OnConflict,

    /// Report what the import would do and store nothing; uses 20 bytes of memory per robot
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Skip records that fail instead of stopping at the first
    #[arg(long)]
    pub(super) keep_going: bool,

    /// Store all records or none, at most 10,000, and report every one that fails
    #[arg(long, conflicts_with = "keep_going")]
    pub(super) atomic: bool,
}

const DETAILS: &str = "\
Examples:
  robot-cli import robots.csv                           Stop at the first record that fails
  robot-cli import robots.csv --dry-run --keep-going    Report all records that would fail
  robot-cli import robots.csv --on-conflict skip        Continue an import that was stopped
  robot-cli import new.json --on-conflict replace       Update existing robots
  robot-cli import fleet.csv --atomic                   Store all records, or none if one fails
  curl -s http://robots.example/x | robot-cli import - --format ndjson

Formats:
  csv     A header line that names the fields in any order; other columns are ignored
  json    An array of objects
  ndjson  One object per line

Each record requires name, type and year. Records that fail are reported on standard error as
FILE:LINE: message, and the exit status is 1.
Ctrl-C stops between two records and reports the last line; a second Ctrl-C terminates at once. With
--atomic, Ctrl-C stores nothing unless all records have been read.";

impl ImportArgs {
    pub(super) fn options(&self) -> ImportOptions {
        ImportOptions {
            on_conflict: self.on_conflict,
            keeps_going: self.keep_going,
            is_dry_run: self.dry_run,
        }
    }

    /// Whether a second run would fail at the robots that this one has added.
    pub(super) fn needs_skip(&self, summary: &ImportCounts) -> bool {
        !self.dry_run && self.on_conflict == OnConflict::Fail && summary.added > 0
    }
}
