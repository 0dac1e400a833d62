//! Source of an import: the records of a file, and the catalogue that has fields for them.

use std::{
    fs::File,
    io::{self, Read, Seek},
    sync::Arc,
};

use robot_core::{
    Catalogue, Definition, Field,
    transfer::{
        Columns, Format, ImportOptions, Plan, PlanError, PlanOptions, ProposalError, ReadError,
        Records,
    },
};

use crate::{
    columns::{show, unknown},
    context::Context,
    failure::Failure,
    fields::invalid,
    import_args::{ImportArgs, messages},
    interrupt::Interrupt,
    place::Place,
    progress::{Progress, counted},
    terminal,
};

/// A file whose records are imported.
pub(crate) struct Source<'a> {
    pub(crate) args: &'a ImportArgs,
    pub(crate) place: &'a Place,
    pub(crate) format: Format,
}

/// The number of failures that are shown if a plan is refused.
const FAILURES: usize = 5;

/// The end of the message about an interrupt before the first record.
const NOTHING_STORED: &str = "; nothing was stored";

/// An input, and its length if known.
type Input = (Box<dyn Read>, Option<u64>);

/// An import that can begin.
pub(crate) struct Prepared {
    pub(crate) catalogue: Arc<dyn Catalogue>,
    pub(crate) records: Records<Box<dyn Read>>,
    pub(crate) progress: Progress,
    pub(crate) options: ImportOptions,
    /// `None` if records are imported one by one as they are read.
    pub(crate) plan: Option<Plan>,
}

impl Source<'_> {
    /// Plans the import of a file, and opens the catalogue, which gets the fields that the file needs. Nothing is created
    /// or changed before the plan is accepted. The inner error is the plan, if only that is wanted.
    pub(crate) fn prepare(
        &self,
        interrupt: &Interrupt,
        context: &Context<'_>,
    ) -> Result<Result<Prepared, Plan>, Failure> {
        let existing = context.open_present()?;
        let present = existing.as_ref().map(Catalogue::definition);
        let present = present.unwrap_or_else(|| Arc::clone(Definition::built_in()));
        let mut columns = Columns::of(Arc::clone(&present));
        let reading = self.args.columns.reading()?;
        let key = self.key(&present)?;
        if let Some(name) = &self.args.matched {
            columns = columns.matching(name);
        }
        columns = self.args.columns.choose(columns, &present)?;
        if !self.place.is_regular_file() && !self.args.columns.define {
            return self
                .prepare_pipe(existing, columns, key, interrupt, context)
                .map(Ok);
        }
        let copy = self.copy(interrupt, context)?;
        let open = || -> io::Result<Input> {
            match &copy {
                Some(file) => rewound(file),
                None => self.place.open_again(),
            }
        };
        let open_records = || {
            let (input, _) = open()?;
            Ok(Records::new(interrupt.reader(input), self.format).with_options(&reading))
        };
        let options = PlanOptions {
            defines: self.args.columns.define,
            finds_choices: self.args.columns.choices,
            ..self.args.options()
        };
        if copy.is_none() {
            self.place.open(context)?;
        }
        let catalogue = existing
            .clone()
            .map_or_else(|| context.options.open("memory:"), Ok)?;
        let mut failures = Vec::new();
        let plan = Plan::new(&catalogue, open_records, columns, options, &mut |outcome| {
            if self.args.reports_all() || failures.len() < FAILURES {
                failures.extend(messages(self.place, outcome, &present));
            }
        });
        if interrupt.is_set() {
            return Err(interrupt.stopped(NOTHING_STORED));
        }
        let plan = plan.map_err(|error| self.unplanned(error))?;
        if !plan.changes.is_empty() || self.args.dry_run && self.args.columns.define {
            show(&plan);
        }
        self.accept(&plan, &failures)?;
        if self.args.dry_run {
            return Ok(Err(plan));
        }
        let catalogue = existing.map_or_else(|| context.open(), Ok)?;
        if let Some(redefinition) = plan.redefinition() {
            catalogue.define(redefinition)?;
        }
        let (input, length) = open().map_err(|cause| self.place.not_read(&cause))?;
        let progress = Progress::new(length, "importing");
        let reader: Box<dyn Read> = Box::new(progress.reader(interrupt.reader(input)));
        Ok(Ok(Prepared {
            catalogue,
            records: Records::new(reader, self.format)
                .with_options(&reading)
                .with_columns(plan.columns.clone()),
            progress,
            // Records that fail are known and accepted.
            options: ImportOptions {
                keeps_going: true,
                ..plan.options
            },
            plan: Some(plan),
        }))
    }

    /// Prepares the import of records that are read once.
    fn prepare_pipe(
        &self,
        existing: Option<Arc<dyn Catalogue>>,
        columns: Columns,
        key: Option<Field>,
        interrupt: &Interrupt,
        context: &Context<'_>,
    ) -> Result<Prepared, Failure> {
        let options = ImportOptions {
            key,
            is_dry_run: self.args.dry_run,
            ..self.args.pipe_options()
        };
        options
            .check(&columns_definition(existing.as_ref()))
            .map_err(Failure::new)?;
        let (input, length) = self.place.open(context)?;
        let progress = Progress::new(length, "importing");
        let reader: Box<dyn Read> = Box::new(progress.reader(interrupt.reader(input)));
        let mut records = Records::new(reader, self.format)
            .with_options(&self.args.columns.reading()?)
            .with_columns(columns);
        let header = records.read_header();
        if interrupt.is_set() {
            return Err(interrupt.stopped(NOTHING_STORED));
        }
        header.map_err(|error| self.not_readable(error))?;
        let catalogue = match existing {
            Some(catalogue) => catalogue,
            None if self.args.dry_run => context.options.open("memory:")?,
            None => context.open()?,
        };
        Ok(Prepared {
            catalogue,
            records,
            progress,
            options,
            plan: None,
        })
    }

    /// The field that finds robots, unless it is to be defined.
    fn key(&self, definition: &Definition) -> Result<Option<Field>, Failure> {
        let Some(name) = &self.args.matched else {
            return Ok(None);
        };
        match definition.field(name) {
            None if !self.args.columns.define => {
                let mut names: Vec<_> = definition
                    .settable()
                    .iter()
                    .map(|field| field.name())
                    .collect();
                names.insert(0, Field::ID.name());
                let message = format!("the fields are {}", names.join(", "));
                Err(invalid("match", name, message))
            }
            field => Ok(field),
        }
    }

    /// Fails unless the user accepts a plan: its new fields, and records that fail.
    fn accept(&self, plan: &Plan, failures: &[String]) -> Result<(), Failure> {
        let is_refused = plan.counts.failed > 0 && !self.args.keep_going;
        if is_refused || self.args.dry_run {
            for failure in failures {
                terminal::note(failure);
            }
        }
        for column in plan.listed.iter().filter(|_| plan.changes.is_empty()) {
            if column.reason.starts_with("left out: ") {
                terminal::note(&format!("Column {}: {}.", column.heading, column.reason));
            }
        }
        for line in self.advice(plan) {
            terminal::note(&line);
        }
        let (failed, records) = (plan.counts.failed, plan.counts.records());
        let confirmation = &self.args.columns.confirmation;
        if self.args.dry_run {
            Ok(())
        } else if is_refused {
            terminal::note(&format!(
                "{failed} of {records} records fail; nothing was stored. Fix them, or add --keep-going to import the \
                 others."
            ));
            confirmation.confirm_failures(&format!("Import the other {}?", records - failed))
        } else if plan.changes.is_empty() {
            Ok(())
        } else {
            let question = format!(
                "Define these fields, and import {}?",
                counted(&plan.definition, records - failed)
            );
            confirmation.confirm("changing the fields", || Ok(()), &question)
        }
    }

    fn advice(&self, plan: &Plan) -> Vec<String> {
        if self.args.matched.is_some() {
            return Vec::new();
        }
        plan.advice("--match ", "--on-conflict skip", "--add-equal")
    }

    /// A copy of an input that is read twice, unless it is a regular file.
    fn copy(&self, interrupt: &Interrupt, context: &Context<'_>) -> Result<Option<File>, Failure> {
        if self.place.is_regular_file() {
            return Ok(None);
        }
        let mut input = interrupt.reader(self.place.open(context)?.0);
        let copy = tempfile::tempfile().and_then(|mut file| {
            io::copy(&mut input, &mut file)?;
            Ok(file)
        });
        copy.map(Some).map_err(|cause| match cause.kind() {
            _ if interrupt.is_set() => interrupt.stopped(NOTHING_STORED),
            io::ErrorKind::StorageFull => Failure::new(
                "the folder for temporary files is full; set TMPDIR to another one, and run the command again",
            ),
            _ => self.place.not_read(&cause),
        })
    }

    /// Why there is no plan.
    fn unplanned(&self, error: PlanError) -> Failure {
        match error {
            PlanError::Unreadable(error) => self.not_readable(error),
            PlanError::Unknown(headings) => unknown(&headings),
            PlanError::Store(error) => error.into(),
            PlanError::Unfit { error, .. } => match error {
                ProposalError::NoName(_) => Failure::new(format_args!(
                    "{error}. Add --map \"COLUMN=name\"; if the first line is a record, also --no-header"
                )),
                ProposalError::Exported => {
                    Failure::new(format_args!("{error}. Add --match id or --ignore id"))
                }
                ProposalError::Unstorable(_) => {
                    Failure::new(format_args!("{error}. Add --ignore \"COLUMN,COLUMN\""))
                }
                error => Failure::new(error),
            },
            error => Failure::new(error),
        }
    }

    /// Why the columns of the file are not known.
    fn not_readable(&self, error: ReadError) -> Failure {
        match error {
            ReadError::Input { cause, .. } => self.place.not_read(&cause),
            error if self.format != Format::Csv => Failure::new(format_args!(
                "{}: {}: {error}",
                self.place,
                error.position()
            )),
            error => Failure::new(format_args!(
                "{}: {}: {error}. To say what columns stand for, use --map, --ignore, --match or --define",
                self.place,
                error.position()
            )),
        }
    }
}

fn columns_definition(catalogue: Option<&Arc<dyn Catalogue>>) -> Arc<Definition> {
    catalogue.map_or_else(|| Arc::clone(Definition::built_in()), Catalogue::definition)
}

/// A file from its beginning.
fn rewound(file: &File) -> io::Result<Input> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    let length = file.metadata()?.len();
    Ok((Box::new(file), Some(length)))
}
