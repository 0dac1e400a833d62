//! Source of an import: the records of a file, and the catalogue that has fields for them.

use std::{
    fs::File,
    io::{self, Read, Seek},
    sync::Arc,
};

use robot_core::{
    Catalogue, Definition, Field,
    transfer::{
        ColumnReason, Columns, FileFormat, ImportOptions, Plan, PlanError, PlanOptions,
        ProposalError, ReadError, ReadOptions, Records,
    },
};

use crate::{
    columns::{show, show_values, unknown},
    context::Context,
    error::CliError,
    fields::invalid,
    import_args::{ImportArgs, report},
    interrupt::Interrupt,
    path_argument::PathArgument,
    progress::{Progress, robot_count},
    terminal,
};

/// The number of failures that are shown if a plan is refused.
const FAILURES: usize = 5;

/// The end of the message about an interrupt before the first record.
const NOTHING_STORED: &str = "; nothing was stored";

/// A file whose records are imported: what the arguments say about it. Its plan is made and accepted, then its import
/// begins. Nothing is created or changed before.
pub(crate) struct Source<'a> {
    args: &'a ImportArgs,
    path: &'a PathArgument,
    format: FileFormat,
    interrupt: &'a Interrupt,
    /// `None` if the catalogue does not exist.
    existing: Option<Arc<dyn Catalogue>>,
    definition: Arc<Definition>,
    reading: ReadOptions,
    columns: Columns,
    options: PlanOptions,
    /// What is read twice: the file, or a copy of another input. `None` if records are imported one by one as they are
    /// read.
    file: Option<File>,
}

/// An import that can begin.
pub(crate) struct Prepared {
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) records: Records<Box<dyn Read>>,
    pub(crate) progress: Progress,
    pub(crate) options: ImportOptions,
}

impl<'a> Source<'a> {
    pub(crate) fn new(
        args: &'a ImportArgs,
        path: &'a PathArgument,
        format: FileFormat,
        interrupt: &'a Interrupt,
        context: &Context<'_>,
    ) -> Result<Self, CliError> {
        let existing = context.open_present()?;
        let definition = existing.as_ref().map(Catalogue::definition);
        let definition = definition.unwrap_or_else(|| Arc::clone(Definition::built_in()));
        let mut columns = Columns::of(Arc::clone(&definition));
        if let Some(name) = &args.matched {
            columns = columns.matching(name);
        }
        let mut source = Self {
            reading: args.columns.reading()?,
            options: PlanOptions {
                defines: args.columns.define,
                finds_choices: args.columns.choices,
                import: ImportOptions {
                    key: key(args, &definition)?,
                    on_conflict: args.on_conflict,
                    adds_equal: args.add_equal,
                    keeps_going: args.keep_going,
                    is_dry_run: args.dry_run,
                },
            },
            columns: args.columns.choose(columns, &definition)?,
            args,
            path,
            format,
            interrupt,
            existing,
            definition,
            file: None,
        };
        if path.is_regular_file() {
            source.file = path.open(context)?;
        } else if args.columns.define {
            source.file = Some(source.copy(path.reader(context)?)?);
        }
        Ok(source)
    }

    /// The plan of a file, if the user accepts it, or if nothing else is wanted.
    pub(crate) fn plan(&self, context: &Context<'_>) -> Result<Option<Plan>, CliError> {
        let Some(file) = &self.file else {
            return Ok(None);
        };
        let open = || Ok(self.records(rewound(file)?));
        let catalogue = self.existing.clone();
        let catalogue = catalogue.map_or_else(|| context.options.open("memory:"), Ok)?;
        // These options promise a report of each record that fails.
        let reports_all = self.args.dry_run || self.args.atomic;
        let failures = if reports_all { usize::MAX } else { FAILURES };
        let (columns, options) = (self.columns.clone(), self.options.clone());
        let plan = Plan::new(&catalogue, open, columns, options, failures);
        self.check_interrupt()?;
        let plan = plan.map_err(|error| self.unplanned(error))?;
        if !plan.changes.is_empty() || self.args.dry_run && self.args.columns.define {
            show(&plan);
        }
        if self.args.dry_run && !plan.changed.is_empty() {
            show_values(&plan);
        }
        self.accept(&plan)?;
        Ok(Some(plan))
    }

    /// Opens the catalogue, which gets the fields that the plan has for the file.
    pub(crate) fn begin(
        self,
        plan: Option<&Plan>,
        context: &Context<'_>,
    ) -> Result<Prepared, CliError> {
        let (input, length): (Box<dyn Read>, _) = match &self.file {
            None => (self.path.reader(context)?, None),
            Some(file) => {
                let length = file.metadata().ok().map(|metadata| metadata.len());
                let input = rewound(file).map_err(|cause| self.path.not_read(&cause))?;
                (Box::new(input), length)
            }
        };
        let progress = Progress::new(length, "importing");
        let mut records = self.records(progress.reader(input));
        let (catalogue, options) = if let Some(plan) = plan {
            records = records.with_columns(plan.columns.clone());
            let catalogue = self.existing.map_or_else(|| context.open(), Ok)?;
            if let Some(redefinition) = plan.redefinition() {
                catalogue.define(redefinition)?;
            }
            (catalogue, plan.options.clone())
        } else {
            let options = self.options.import.clone();
            options.check(&self.definition).map_err(CliError::new)?;
            records = records.with_columns(self.columns.clone());
            let header = records.read_header();
            self.check_interrupt()?;
            header.map_err(|error| self.not_readable(error))?;
            let catalogue = match self.existing {
                Some(catalogue) => catalogue,
                None if self.args.dry_run => context.options.open("memory:")?,
                None => context.open()?,
            };
            (catalogue, options)
        };
        Ok(Prepared {
            catalogue,
            records,
            progress,
            options,
        })
    }

    /// The records of an input, until Ctrl-C.
    fn records(&self, input: impl Read + 'static) -> Records<Box<dyn Read>> {
        let input: Box<dyn Read> = Box::new(self.interrupt.reader(input));
        Records::new(input, self.format).with_options(&self.reading)
    }

    fn check_interrupt(&self) -> Result<(), CliError> {
        if self.interrupt.is_set() {
            return Err(self.interrupt.stopped(NOTHING_STORED));
        }
        Ok(())
    }

    /// Fails unless the user accepts a plan: its new fields, and records that fail.
    fn accept(&self, plan: &Plan) -> Result<(), CliError> {
        let is_refused = plan.counts.failed > 0 && !self.args.keep_going;
        if is_refused || self.args.dry_run {
            for outcome in &plan.failures {
                report(self.path, outcome, &self.definition);
            }
        }
        for column in plan.listed.iter().filter(|_| plan.changes.is_empty()) {
            if let ColumnReason::Empty | ColumnReason::Numbering | ColumnReason::NoRoom { .. } =
                column.reason
            {
                terminal::note(&format!("Column {}: {}.", column.heading, column.reason));
            }
        }
        if self.args.matched.is_none() {
            let advice = plan.advice("--match ", "--on-conflict skip", "--add-equal");
            for line in advice {
                terminal::note(&line);
            }
        }
        let (failed, records) = (plan.counts.failed, plan.counts.records());
        let confirmation = &self.args.columns.confirmation;
        if self.args.dry_run {
            Ok(())
        } else if is_refused {
            let replaced = if self.args.atomic {
                " instead of --atomic"
            } else {
                ""
            };
            terminal::note(&format!(
                "{failed} of {records} records fail; nothing was stored. Fix them, or add --keep-going{replaced} to import \
                 the others."
            ));
            if self.args.atomic {
                return Err(CliError::printed(None, 1));
            }
            confirmation.confirm_failures(&format!("Import the other {}?", records - failed))
        } else if plan.changes.is_empty() {
            Ok(())
        } else {
            let robots = plan.definition.worded(&robot_count(records - failed));
            let question = format!("Define these fields, and import {robots}?");
            confirmation.confirm("changing the fields", || Ok(()), &question)
        }
    }

    /// A copy of an input that can be read only once.
    fn copy(&self, input: impl Read) -> Result<File, CliError> {
        let mut input = self.interrupt.reader(input);
        let copy = tempfile::tempfile().and_then(|mut file| {
            io::copy(&mut input, &mut file)?;
            Ok(file)
        });
        copy.map_err(|cause| match cause.kind() {
            _ if self.interrupt.is_set() => self.interrupt.stopped(NOTHING_STORED),
            io::ErrorKind::StorageFull => CliError::new(
                "the folder for temporary files is full; set TMPDIR to another one, and run the command again",
            ),
            _ => self.path.not_read(&cause),
        })
    }

    /// Why there is no plan.
    fn unplanned(&self, error: PlanError) -> CliError {
        match error {
            PlanError::Unreadable(error) => self.not_readable(error),
            PlanError::Unknown(headings) => unknown(&headings),
            PlanError::Store(error) => error.into(),
            PlanError::Unfit { error, .. } => match error {
                ProposalError::NoName(_) => CliError::new(format_args!(
                    "{error}. Add --map \"COLUMN=name\"; if the first line is a record, also --no-header"
                )),
                ProposalError::Exported => {
                    CliError::new(format_args!("{error}. Add --match id or --ignore id"))
                }
                ProposalError::Unstorable(_) => {
                    CliError::new(format_args!("{error}. Add --ignore \"COLUMN,COLUMN\""))
                }
                error => CliError::new(error),
            },
            error => CliError::new(error),
        }
    }

    /// Why the columns of the file are not known.
    fn not_readable(&self, error: ReadError) -> CliError {
        match error {
            ReadError::Input { cause, .. } => self.path.not_read(&cause),
            error => {
                let advice = match self.format {
                    FileFormat::Csv => {
                        ". If the first line is a record, add --no-header. To say what columns stand for, use --map, --ignore, \
                         --match or --define"
                    }
                    _ => "",
                };
                let position = error.position();
                CliError::new(format_args!("{}: {position}: {error}{advice}", self.path))
            }
        }
    }
}

/// The field that finds robots, unless it is to be defined.
fn key(args: &ImportArgs, definition: &Definition) -> Result<Option<Field>, CliError> {
    let Some(name) = &args.matched else {
        return Ok(None);
    };
    match definition.field(name) {
        None if !args.columns.define => {
            let names = definition.settable().iter().map(robot_core::Field::name);
            let names: Vec<_> = [Field::ID.name()].into_iter().chain(names).collect();
            let message = format!("the fields are {}", names.join(", "));
            Err(invalid("match", name, message))
        }
        field => Ok(field.cloned()),
    }
}

/// A file from its beginning.
fn rewound(file: &File) -> io::Result<File> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    Ok(file)
}
