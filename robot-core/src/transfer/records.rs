//! Iterator over the records of an input in any format.

use std::{borrow::Cow, io::Read, sync::Arc};

use encoding_rs::Encoding;
use serde::de::IgnoredAny;

use super::{
    columns::{Columns, Meaning, twice},
    csv_reader::{CsvReader, Header},
    encoding::Source,
    format::FileFormat,
    input::{Input, RECORD_LIMIT},
    json_reader::{self, JsonReader, not_json},
    position::RecordPosition,
    record::{Cell, ParsedRecord, ReadError, Record, Values},
};
use crate::model::{
    Definition, Draft, Field, Messages, Reading, Revision, RobotId,
    draft_json::{Members, Subject},
};

/// The records of an input, one at a time, in constant memory.
///
/// An invalid record does not affect the next ones; an error ends the iteration.
///
/// ```
/// use robot_core::{Draft, transfer::{FileFormat, RecordPosition, Records}};
///
/// let file = "{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}\n\n{\"year\":\"1977\"}\n";
/// let records: Vec<_> = Records::new(file.as_bytes(), FileFormat::Ndjson).collect::<Result<_, _>>()?;
/// assert_eq!(records[0].values, Ok(Draft::new("R2-D2", "droid", 1977).into()));
/// assert_eq!((records[1].position, records[1].values.is_err()), (RecordPosition::Line(3), true));
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub struct Records<R> {
    input: Input<R>,
    format: FileFormat,
    reader: Reader,
    columns: Columns,
    is_finished: bool,
}

/// How an input is read.
///
/// ```
/// use robot_core::transfer::{FileFormat, ReadOptions, Records};
///
/// let options = ReadOptions::default().encoding("windows-1252")?;
/// let file = b"name,type,year\n\xc9cluse,droid,1\n";
/// let mut records = Records::new(&file[..], FileFormat::Csv).with_options(&options);
/// let record = records.next().ok_or("no record")?.map_err(|error| error.to_string())?;
/// let name = record.values.map(|values| values.draft.name);
/// assert_eq!(name, Ok(Some("\u{c9}cluse".into())));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Where the headings of CSV or of a sheet are.
    pub header: Header,
    /// The name of the sheet of a workbook; the first one if it is `None`.
    pub sheet: Option<String>,
    encoding: Option<&'static Encoding>,
}

impl ReadOptions {
    /// Sets the encoding by its name. Without it, an input is UTF-8, or UTF-16, which is recognised.
    ///
    /// # Errors
    /// No encoding has the name: a message for people.
    pub fn encoding(self, name: &str) -> Result<Self, String> {
        let encoding = Encoding::for_label(name.as_bytes()).ok_or_else(|| {
            format!("'{name}' is not an encoding; some are windows-1252, iso-8859-15, macintosh, shift_jis and utf-16le")
        })?;
        Ok(Self {
            encoding: Some(encoding),
            ..self
        })
    }

    fn source(&self, format: FileFormat) -> Source {
        if format == FileFormat::Xlsx {
            Source::Workbook(self.sheet.clone())
        } else {
            Source::Text(self.encoding)
        }
    }
}

/// The reader of a format.
enum Reader {
    Csv(Box<CsvReader>),
    Json(JsonReader),
    Ndjson,
}

impl Reader {
    /// Reads the next record. Returns the line on which it begins; `None` at the end.
    fn next<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<u64>, ReadError> {
        match self {
            Self::Csv(reader) => reader.next(input),
            Self::Json(reader) => reader.next(input),
            Self::Ndjson => json_reader::next_line(input),
        }
    }

    /// The headings, or names, and the values of the record that was read last.
    fn cells<'a, R: Read>(
        &'a self,
        input: &'a Input<R>,
        definition: &Definition,
    ) -> Result<Vec<(Cow<'a, str>, Cell<'a>)>, Messages> {
        if let Self::Csv(reader) = self {
            return reader.cells().map_err(|message| vec![message.into()]);
        }
        let bytes = input.record().ok_or_else(|| {
            let message = format!("The record has more than {RECORD_LIMIT} bytes");
            vec![message.into()]
        })?;
        let members = Members::parse(definition, bytes, Subject::Record)?;
        let cells = members.0.into_iter();
        Ok(cells.map(|(name, json)| (name, Cell::Json(json))).collect())
    }
}

impl<R: Read> Records<R> {
    /// The records of this input in this format. Nothing is read before the first call of `next`.
    pub fn new(input: R, format: FileFormat) -> Self {
        Self {
            input: Input::new(input, ReadOptions::default().source(format)),
            format,
            reader: match format {
                FileFormat::Csv | FileFormat::Xlsx => {
                    Reader::Csv(Box::new(CsvReader::new(format, Header::FirstRow)))
                }
                FileFormat::Json => Reader::Json(JsonReader::default()),
                FileFormat::Ndjson => Reader::Ndjson,
            },
            columns: Columns::of(Arc::clone(Definition::built_in())),
            is_finished: false,
        }
    }

    /// Reads the input in this way.
    #[must_use]
    pub fn with_options(mut self, options: &ReadOptions) -> Self {
        if let Reader::Csv(reader) = &mut self.reader {
            **reader = CsvReader::new(self.format, options.header);
        }
        self.input.set_source(options.source(self.format));
        self
    }

    /// Reads these columns, instead of those of the built-in definition.
    #[must_use]
    pub fn with_columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// The columns of CSV, and the members of JSON, that were found so far and are not stored: up to 100, in
    /// their order.
    ///
    /// ```
    /// use robot_core::transfer::{FileFormat, Records};
    ///
    /// let mut records = Records::new("name,type,year,maker\n".as_bytes(), FileFormat::Csv);
    /// assert!(records.next().is_none());
    /// assert_eq!(records.unknown_columns(), ["maker"]);
    /// ```
    #[must_use]
    pub fn unknown_columns(&self) -> &[String] {
        &self.columns.unknown
    }

    /// Reads the header of CSV, so that what is wrong with it is known before the first record.
    ///
    /// # Errors
    /// The header cannot be read, or does not name the columns that it must have.
    ///
    /// ```
    /// # use robot_core::transfer::{FileFormat, Records};
    /// let mut records = Records::new("name,type,year,maker\nR2-D2,droid,1977,\n".as_bytes(), FileFormat::Csv);
    /// records.read_header()?;
    /// assert_eq!(records.unknown_columns(), ["maker"]);
    /// assert_eq!(records.count(), 1);
    /// # Ok::<(), robot_core::transfer::ReadError>(())
    /// ```
    pub fn read_header(&mut self) -> Result<(), ReadError> {
        match &mut self.reader {
            Reader::Csv(reader) => reader.open(&mut self.input, &mut self.columns),
            Reader::Json(_) | Reader::Ndjson => Ok(()),
        }
    }

    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        self.read_header()?;
        let Some(line) = self.reader.next(&mut self.input)? else {
            return Ok(None);
        };
        let values = self.values();
        if values.is_err() && matches!(self.reader, Reader::Json(_)) {
            self.check_json(line)?;
        }
        let position = self.input.count(line);
        Ok(Some(Record { position, values }))
    }

    /// The headings of CSV, if it has that format.
    pub(super) fn headings(&mut self) -> Result<Vec<&str>, ReadError> {
        let Reader::Csv(reader) = &mut self.reader else {
            return Ok(Vec::new());
        };
        reader.read_header(&mut self.input, &self.columns)?;
        Ok(reader.headings().collect())
    }

    /// Reads the next record. Returns its position; `None` at the end.
    pub(super) fn next_position(&mut self) -> Result<Option<RecordPosition>, ReadError> {
        let line = self.reader.next(&mut self.input)?;
        Ok(line.map(|line| self.input.count(line)))
    }

    /// The headings, or names, and the values of the record that was read last.
    pub(super) fn cells(&self) -> Result<Vec<(Cow<'_, str>, Cell<'_>)>, Messages> {
        self.reader.cells(&self.input, &self.columns.definition)
    }

    /// Whether commas separate the columns.
    pub(super) fn has_commas(&self) -> bool {
        matches!(&self.reader, Reader::Csv(reader) if reader.has_commas())
    }

    /// The values of the record that was read last.
    fn values(&mut self) -> ParsedRecord {
        let columns = &mut self.columns;
        let definition = Arc::clone(&columns.definition);
        let cells = self.reader.cells(&self.input, &definition)?;
        let headings = cells.iter().map(|(heading, _)| &**heading);
        if headings
            .clone()
            .any(|heading| columns.found(heading).is_none())
        {
            let found = columns.find(&headings.collect::<Vec<_>>());
            found.map_err(|message| vec![message.into()])?;
        }
        let (mut found, mut unknown) =
            (Vec::<(&Field, &str, &Reading, Cell<'_>)>::new(), Vec::new());
        let known: &Columns = columns;
        for (heading, cell) in &cells {
            let column = known
                .found(heading)
                .map(|column| (&column.meaning, &column.reading));
            match column {
                Some((Meaning::Field(field), reading)) => {
                    if let Some((_, other, ..)) = found.iter().find(|(one, ..)| *one == field) {
                        return Err(vec![twice(field, other, heading).into()]);
                    }
                    found.push((field, heading, reading, *cell));
                }
                Some((Meaning::LeftOut, _)) => {}
                // A column without a heading may number the records, or be empty.
                _ if heading.starts_with('#') && cell.is_number_of(self.input.records()) => {}
                _ => unknown.push(&**heading),
            }
        }
        if known.is_strict && !unknown.is_empty() {
            let messages = known.messages(&unknown).into_iter();
            return Err(messages.map(Into::into).collect());
        }
        let cell = |field: &Field| found.iter().find(|(of, ..)| of.is(field));
        let number = |field: &Field| cell(field).and_then(|(.., cell)| cell.number());
        let message = |error: String| -> Messages { vec![error.into()] };
        let id = number(&Field::ID).map(|text| text.parse::<RobotId>());
        let id = id.transpose().map_err(|error| message(error.to_string()))?;
        let revision = number(&Field::REVISION).map(|text| {
            let revision = text.parse().ok().and_then(Revision::new);
            revision.ok_or_else(|| message("revision must be a positive integer".to_owned()))
        });
        let revision = revision.transpose()?;
        let mut removed = Vec::new();
        let draft = Draft::read(&definition, |field| {
            let Some((.., reading, cell)) = cell(field) else {
                return Ok(None);
            };
            let value = cell.value(field, reading)?;
            removed.extend(value.is_none().then(|| field.clone()));
            Ok(value)
        })?;
        for heading in unknown {
            columns.report(heading);
        }
        Ok(Values {
            id,
            revision,
            draft,
            removed,
        })
    }

    /// Fails if the element that was read last is not JSON, which affects all later ones.
    fn check_json(&self, line: u64) -> Result<(), ReadError> {
        let json = self.input.record().unwrap_or(b"null");
        let Err(error) = serde_json::from_slice::<IgnoredAny>(json) else {
            return Ok(());
        };
        let further = error.line().saturating_sub(1) as u64;
        Err(not_json(&self.input, line + further))
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_finished {
            return None;
        }
        let record = self.read().transpose();
        self.is_finished = !matches!(record, Some(Ok(_)));
        record
    }
}
