//! `import`: robots from a file or standard input.

use std::{ffi::OsString, fmt::Write as _, io::Write, sync::Arc};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use indicatif::HumanCount;
use robot_core::{
    Catalogue, Definition, Error, Violation,
    transfer::{
        self, ImportCounts, ImportError, ImportOptions, OnConflict, Outcome, PlanOptions, Position,
    },
};

use crate::{
    columns::ColumnArgs,
    context::Context,
    failure::Failure,
    interrupt::Interrupt,
    place::Place,
    progress::{Progress, counted},
    source::{Prepared, Source},
    terminal,
};

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
    file: OsString,

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
    on_conflict: OnConflict,

    /// Report what the import would do and store nothing; uses 20 bytes of memory per robot
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Import the other records if some fail
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Store all records or none, at most 10,000, and report every one that fails
    #[arg(long, conflicts_with = "keep_going")]
    atomic: bool,

    /// Add records that equal a robot, in a catalogue whose names repeat
    #[arg(long)]
    add_equal: bool,

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

const CONFLICT_HINT: &str = "To skip names that are taken, add --on-conflict skip; to update their robots, --on-conflict replace";

/// Imports the records and prints a summary.
pub(crate) fn run(args: &ImportArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let place = Place::new(&args.file);
    let format = place.format(context.format)?.ok_or_else(|| {
        Failure::usage("the format of standard input is unknown; add --format csv, json or ndjson")
    })?;
    let interrupt = Interrupt::register()?;
    let source = Source {
        args,
        place: &place,
        format,
    };
    let mut import = Import {
        args,
        place: &place,
        progress: None,
        summary: ImportCounts::default(),
        position: Position::Line(0),
        stop: None,
        is_planned: true,
        has_name_conflict: false,
        definition: Arc::clone(Definition::built_in()),
    };
    let prepared = match source.prepare(&interrupt, context)? {
        Ok(prepared) => prepared,
        Err(plan) => {
            import.summary = plan.counts;
            import.definition = plan.definition;
            return import.finish(context.output);
        }
    };
    let Prepared {
        catalogue,
        mut records,
        progress,
        options,
        plan,
    } = prepared;
    import.progress = Some(progress);
    import.definition = catalogue.definition();
    import.is_planned = plan.is_some();
    let record = |outcome| import.record(outcome);
    let is_complete = if args.atomic {
        // A part of the records must not be taken for all: the reader fails if it is interrupted.
        let outcomes = transfer::import_atomically(&*catalogue, &mut records, options);
        outcomes.into_iter().for_each(record);
        import.summary.failed == 0
    } else {
        let records = records.by_ref().take_while(|_| !interrupt.is_set());
        transfer::import(&catalogue, records, options).for_each(record);
        false
    };
    let unknown = records.unknown_columns().join(", ");
    if !unknown.is_empty() {
        terminal::note(&format!("Columns that are left out: {unknown}."));
    }
    let summary = import.summary;
    if let Some(plan) = plan
        && summary.records() == summary.failed + summary.skipped
        && !import.is_unknown()
        && plan.redefinition().is_some()
    {
        terminal::note(if plan.take_back(&*catalogue) {
            "Nothing was stored; the new fields were taken back."
        } else {
            "No robot was stored; the new fields stay, because they cannot be taken back."
        });
    }
    if interrupt.is_set() && !is_complete && !import.is_unknown() {
        return Err(import.interrupted(&interrupt));
    }
    import.finish(context.output)
}

/// State of a running import.
struct Import<'a> {
    args: &'a ImportArgs,
    place: &'a Place,
    progress: Option<Progress>,
    summary: ImportCounts,
    /// The position of the last outcome.
    position: Position,
    /// The error that ended the import before the end of the file, and its place.
    stop: Option<(ImportError, Position)>,
    is_planned: bool,
    /// Whether a record failed because its name is taken.
    has_name_conflict: bool,
    /// The definition with the noun of the robots.
    definition: Arc<Definition>,
}

impl Import<'_> {
    /// Counts an outcome and reports a failure.
    fn record(&mut self, outcome: Outcome) {
        self.summary.count(&outcome);
        self.position = outcome.position;
        if let Some(progress) = &self.progress {
            progress.set_text(self.summary.records(), "imported");
            let messages = messages(self.place, &outcome, &self.definition);
            progress.suspend(|| messages.iter().for_each(|message| terminal::note(message)));
        }
        let Err(error) = outcome.result else {
            return;
        };
        self.has_name_conflict |= match &error {
            ImportError::Store(Error::Rejected(violations)) => {
                violations.iter().eq([&Violation::NAME_TAKEN])
            }
            _ => false,
        };
        if !(self.args.keep_going && error.is_record_error()) {
            self.stop.get_or_insert((error, self.position));
        }
    }

    /// Whether it is unknown if the robots of an atomic import were stored.
    fn is_unknown(&self) -> bool {
        self.args.atomic && matches!(self.stop, Some((ImportError::Store(Error::Unknown(_)), _)))
    }

    /// How a second run continues, without the robots that this one has added.
    fn again(&self) -> String {
        let again = "run the command again";
        let adds_again = self.args.on_conflict == OnConflict::Fail && self.args.matched.is_none();
        if self.args.dry_run || !adds_again || self.summary.added == 0 {
            again.to_owned()
        } else {
            format!("{again} with --on-conflict skip")
        }
    }

    /// Reports how far an interrupted import got, and how to continue.
    fn interrupted(self, interrupt: &Interrupt) -> Failure {
        let (position, again) = (self.position, self.again());
        let sentence = sentence(&self.summary, self.args, &self.definition);
        drop(self.progress);
        interrupt.stopped(&format!(" at {position}. {sentence} To continue, {again}."))
    }

    /// Prints the summary.
    fn finish(self, output: &mut dyn Write) -> Result<(), Failure> {
        let (is_unknown, again) = (self.is_unknown(), self.again());
        drop(self.progress);
        let mut failures = Vec::new();
        if !is_unknown {
            let printed = writeln!(
                output,
                "{}",
                sentence(&self.summary, self.args, &self.definition)
            )
            .and_then(|()| output.flush());
            failures.extend(printed.err().map(Failure::change_not_shown));
        }
        // An atomic import has not stopped at a record.
        if let Some((error, position)) = self.stop.filter(|_| !self.args.atomic) {
            let remedy = if error.is_record_error() {
                format!(
                    "Fix {position} and {again}, or with --keep-going to skip all records that fail"
                )
            } else {
                format!("Fix the cause and {again}")
            };
            failures.push(Failure::new(format_args!(
                "stopped at {position}; later records were not imported. {remedy}"
            )));
        }
        if self.summary.failed > 0 {
            // A plan has given advice before.
            let fails = self.args.on_conflict == OnConflict::Fail
                && self.args.matched.is_none()
                && !self.is_planned;
            let hint = (self.has_name_conflict && fails).then_some(CONFLICT_HINT);
            failures.push(Failure::printed(hint, 1));
        }
        Failure::combine(failures)
    }
}

/// The summary as text: "Added 99,998 robots, skipped 2, failed 1."
fn sentence(summary: &ImportCounts, args: &ImportArgs, definition: &Definition) -> String {
    let others = [
        ("changed", "change", summary.replaced),
        ("left unchanged", "leave unchanged", summary.unchanged),
        ("skipped", "skip", summary.skipped),
        ("failed", "fail", summary.failed),
    ];
    let added = if args.dry_run { "Would add" } else { "Added" };
    let mut sentence = format!("{added} {}", counted(definition, summary.added));
    for (done, planned, count) in others.into_iter().filter(|(.., count)| *count > 0) {
        let verb = if args.dry_run { planned } else { done };
        // Writing to a string cannot fail.
        let _ = write!(sentence, ", {verb} {}", HumanCount(count));
    }
    if args.dry_run || args.atomic && summary.failed > 0 {
        sentence.push_str("; nothing was stored");
    }
    sentence.push('.');
    sentence
}
