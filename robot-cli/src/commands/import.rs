//! `import`: robots from a file or standard input.

use std::{io::Write, sync::Arc};

use indicatif::HumanCount;
use robot_core::{
    Catalogue, Definition, Error, Violation,
    transfer::{self, ImportCounts, ImportError, OnConflict, Outcome, RecordPosition},
};

use crate::{
    context::Context,
    error::CliError,
    import_args::{ImportArgs, report},
    interrupt::Interrupt,
    path_argument::PathArgument,
    progress::{Progress, robot_count},
    source::{Prepared, Source},
    terminal,
    undo::ImportSteps,
};

const CONFLICT_HINT: &str = "To skip names that are taken, add --on-conflict skip; to update their robots, --on-conflict replace";

/// Imports the records and prints a summary.
pub(crate) fn run(args: &ImportArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let path = PathArgument::new(&args.file);
    let format = path.format(context.format)?.ok_or_else(|| {
        CliError::usage("the format of standard input is unknown; add --format csv, json or ndjson")
    })?;
    let interrupt = Interrupt::register()?;
    let source = Source::new(args, &path, format, &interrupt, context)?;
    let plan = source.plan(context)?;
    let mut import = Import {
        args,
        path: &path,
        progress: None,
        summary: ImportCounts::default(),
        position: RecordPosition::Line(0),
        stop: None,
        is_planned: plan.is_some(),
        has_name_conflict: false,
        definition: Arc::clone(Definition::built_in()),
    };
    if let Some(plan) = plan.as_ref().filter(|_| args.dry_run) {
        import.summary = plan.counts;
        import.definition = Arc::clone(&plan.definition);
        return import.finish(context.output);
    }
    let Prepared {
        catalogue,
        mut records,
        progress,
        options,
    } = source.begin(plan.as_ref(), context)?;
    import.progress = Some(progress);
    import.definition = catalogue.definition();
    let mut steps = ImportSteps::new(&*catalogue);
    let record = |outcome| {
        steps.count(&outcome);
        import.record(outcome);
    };
    let is_complete = if args.atomic {
        // A part of the records must not be taken for all: the reader fails if it is interrupted.
        let outcomes = transfer::import_atomically(&*catalogue, &mut records, &options);
        outcomes.into_iter().for_each(record);
        import.summary.failed == 0
    } else {
        let records = records.by_ref().take_while(|_| !interrupt.is_set());
        transfer::import(&catalogue, records, options).for_each(record);
        false
    };
    let changes = steps.finish();
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
        let stopped = import.interrupted(&interrupt);
        context.note_undo(&changes, context.author.as_deref());
        return Err(stopped);
    }
    let finished = import.finish(context.output);
    context.note_undo(&changes, context.author.as_deref());
    finished
}

/// State of a running import.
struct Import<'a> {
    args: &'a ImportArgs,
    path: &'a PathArgument,
    progress: Option<Progress>,
    summary: ImportCounts,
    /// The position of the last outcome.
    position: RecordPosition,
    /// The error that ended the import before the end of the file, and its position.
    stop: Option<(ImportError, RecordPosition)>,
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
            if outcome.result.is_err() {
                progress.suspend(|| report(self.path, &outcome, &self.definition));
            }
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

    /// Whether records fail if their robots exist.
    fn fails_on_conflict(&self) -> bool {
        self.args.on_conflict == OnConflict::Fail && self.args.matched.is_none()
    }

    /// How a second run continues, without the robots that this one has added.
    fn again(&self) -> &'static str {
        if self.args.dry_run || !self.fails_on_conflict() || self.summary.added == 0 {
            "run the command again"
        } else {
            "run the command again with --on-conflict skip"
        }
    }

    /// The summary as text: "Added 99,998 robots, skipped 2, failed 1."
    fn sentence(&self) -> String {
        let ImportCounts {
            replaced,
            unchanged,
            skipped,
            failed,
            ..
        } = self.summary;
        let is_planned = self.args.dry_run;
        let added = if is_planned { "Would add" } else { "Added" };
        let mut counts = vec![format!("{added} {}", robot_count(self.summary.added))];
        for (done, planned, count) in [
            ("changed", "change", replaced),
            ("left unchanged", "leave unchanged", unchanged),
            ("skipped", "skip", skipped),
            ("failed", "fail", failed),
        ] {
            if count > 0 {
                let verb = if is_planned { planned } else { done };
                counts.push(format!("{verb} {}", HumanCount(count)));
            }
        }
        let is_unchanged = is_planned || self.args.atomic && failed > 0;
        let end = if is_unchanged {
            "; nothing was stored."
        } else {
            "."
        };
        let sentence = format!("{}{end}", counts.join(", "));
        self.definition.worded(&sentence)
    }

    /// Reports how far an interrupted import got, and how to continue.
    fn interrupted(self, interrupt: &Interrupt) -> CliError {
        let (position, again) = (self.position, self.again());
        let sentence = self.sentence();
        drop(self.progress);
        interrupt.stopped(&format!(" at {position}. {sentence} To continue, {again}."))
    }

    /// Prints the summary.
    fn finish(self, output: &mut dyn Write) -> Result<(), CliError> {
        let (is_unknown, again, sentence) = (self.is_unknown(), self.again(), self.sentence());
        let fails_on_conflict = self.fails_on_conflict();
        drop(self.progress);
        let mut failures = Vec::new();
        if !is_unknown {
            let printed = writeln!(output, "{sentence}").and_then(|()| output.flush());
            failures.extend(printed.err().map(CliError::change_not_shown));
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
            failures.push(CliError::new(format_args!(
                "stopped at {position}; later records were not imported. {remedy}"
            )));
        }
        if self.summary.failed > 0 {
            // A plan has given advice before.
            let has_hint = self.has_name_conflict && fails_on_conflict && !self.is_planned;
            failures.push(CliError::printed(has_hint.then_some(CONFLICT_HINT), 1));
        }
        CliError::combine(failures)
    }
}
