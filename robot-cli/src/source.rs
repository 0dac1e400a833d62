//! Source of an import: the records of a file, and the catalogue that has fields for them.

use std::{
    fs::File,
    io::{self, Read, Seek},
    sync::Arc,
};

use robot_core::{
    Catalogue, Definition, Filter, Redefinition,
    transfer::{Columns, Format, ReadError, Records},
};

use crate::{
    columns::ColumnArgs, commands::ImportArgs, context::Context, failure::Failure,
    interrupt::Interrupt, place::Place, progress::Progress,
};

/// A file whose records are imported.
pub(crate) struct Source<'a> {
    pub(crate) args: &'a ImportArgs,
    pub(crate) place: &'a Place,
    pub(crate) format: Format,
}

/// The end of the message about an interrupt before the first record.
const NOTHING_STORED: &str = "; nothing was stored";

/// An input, and its length if known.
type Input = (Box<dyn Read>, Option<u64>);

/// A catalogue, the records for it, and the progress of reading them.
type Prepared = (Arc<dyn Catalogue>, Records<Box<dyn Read>>, Progress);

impl Source<'_> {
    /// Opens the catalogue, which gets the fields that the file needs, and the records. The catalogue is created
    /// or changed only if the file can be opened, and its columns are stored or left out.
    pub(crate) fn prepare(
        &self,
        interrupt: &Interrupt,
        context: &Context<'_>,
    ) -> Result<Prepared, Failure> {
        let copy = self.copy(interrupt, context)?;
        let open = || -> Result<Input, Failure> {
            let (input, length) = match &copy {
                Some(file) => rewound(file).map_err(|cause| self.place.not_read(&cause))?,
                None => self.place.open(context)?,
            };
            Ok((Box::new(interrupt.reader(input)), length))
        };
        let existing = context.open_present()?;
        let present = existing.as_ref().map(Catalogue::definition);
        let present = present.unwrap_or_else(|| Arc::clone(Definition::built_in()));
        if !self.args.on_conflict().finds_robots(&present) {
            return Err(Failure::new(
                "names are not unique in this catalogue, so they find no robot; use --match id",
            ));
        }
        let is_empty = match &existing {
            // Only a definition depends on it.
            Some(catalogue) => self.args.columns.define && catalogue.count(&Filter::all())? == 0,
            None => true,
        };
        let columns = self.columns(&present, is_empty, open);
        if interrupt.is_set() {
            return Err(interrupt.stopped(NOTHING_STORED));
        }
        let (columns, new) = columns?;
        let (input, length) = open()?;
        let progress = Progress::new(length, "importing");
        let reader: Box<dyn Read> = Box::new(progress.reader(input));
        let mut records = Records::new(reader, self.format).with_columns(columns);
        let header = records.read_header();
        if !self.args.columns.define {
            // The columns of CSV; none of JSON is known yet.
            self.args.columns.check(records.unknown_columns())?;
        }
        if interrupt.is_set() {
            return Err(interrupt.stopped(NOTHING_STORED));
        }
        header.map_err(|error| self.not_readable(error))?;
        let catalogue = match existing {
            Some(catalogue) if !self.args.dry_run || new.is_none() => catalogue,
            _ if self.args.dry_run => context.options.open("memory:")?,
            _ => context.open()?,
        };
        if let Some(new) = new {
            let mut redefinition = Redefinition::new(new);
            if !self.args.dry_run {
                redefinition.expected = Some(present.revision());
            }
            catalogue.define(redefinition)?;
        }
        Ok((catalogue, records, progress))
    }

    /// The columns of the file, and the definition that it needs if that is another one.
    fn columns(
        &self,
        present: &Definition,
        is_empty: bool,
        open: impl Fn() -> Result<Input, Failure>,
    ) -> Result<(Columns, Option<Definition>), Failure> {
        let mut columns = Columns::of(present.clone().into()).matching(self.args.on_conflict());
        if self.args.matched.as_deref() == Some("name") {
            columns = columns.ignore("id");
        }
        let (is_csv, is_defined) = (self.format == Format::Csv, self.args.columns.define);
        // Members of JSON are known only when all records are read.
        let are_checked = !is_defined && (is_csv || self.place.is_regular_file());
        let columns = self.args.columns.choose(columns, present, are_checked)?;
        if are_checked && !is_csv {
            let mut records = Records::new(open()?.0, self.format).with_columns(columns.clone());
            records.by_ref().for_each(drop);
            self.args.columns.check(records.unknown_columns())?;
        }
        if !is_defined {
            return Ok((columns, None));
        }
        let records = Records::new(open()?.0, self.format).with_columns(columns);
        let mut survey = records.survey().map_err(|error| self.not_readable(error))?;
        let unknown = survey
            .fields(&survey.given)
            .filter(|(_, field)| field.is_none());
        ColumnArgs::check_ids(unknown.map(|(heading, _)| heading))?;
        survey.is_of_empty_catalogue = is_empty;
        let (columns, new) = self.args.columns.define(&survey, self.args.dry_run)?;
        if self.args.dry_run && new.is_some() && !is_empty {
            let message = "Nothing was stored; the records can be checked when the fields exist.";
            return Err(Failure::plain(vec![message.to_owned()]));
        }
        Ok((columns, new))
    }

    /// A copy of an input that is read twice, unless it is a regular file.
    fn copy(&self, interrupt: &Interrupt, context: &Context<'_>) -> Result<Option<File>, Failure> {
        if self.place.is_regular_file() || !self.args.columns.define {
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

    /// Why the columns of the file are not known.
    fn not_readable(&self, error: ReadError) -> Failure {
        match error {
            ReadError::Input { cause, .. } => self.place.not_read(&cause),
            error => Failure::new(format_args!(
                "{}: {}: {error}. To say what columns stand for, use --map, --ignore, --match or --define",
                self.place,
                error.position()
            )),
        }
    }
}

/// A file from its beginning.
fn rewound(file: &File) -> io::Result<Input> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    let length = file.metadata()?.len();
    Ok((Box::new(file), Some(length)))
}
