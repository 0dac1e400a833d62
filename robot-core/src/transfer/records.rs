//! Iterator over the records of an input in any format.

use std::{io::Read, sync::Arc};

use serde::de::IgnoredAny;

use super::{
    columns::{Columns, Meaning},
    csv_reader::CsvReader,
    format::Format,
    input::{Input, RECORD_LIMIT, RecordBuffer},
    json_reader::{JsonReader, not_json},
    ndjson_reader,
    position::Position,
    record::{ParsedRecord, ReadError, Record, Values, parse_id},
    survey::Cell,
};
use crate::model::{
    Definition, Field,
    draft_json::{Members, Subject, read_values},
};

/// The records of an input, one at a time, in constant memory.
///
/// An invalid record does not affect the next ones; an error ends the iteration.
///
/// ```
/// use robot_core::{Draft, transfer::{Format, Position, Records}};
///
/// let file = "{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}\n\n{\"year\":\"1977\"}\n";
/// let records: Vec<_> = Records::new(file.as_bytes(), Format::Ndjson).collect::<Result<_, _>>()?;
/// assert_eq!(records[0].values, Ok(Draft::new("R2-D2", "droid", 1977).into()));
/// assert_eq!((records[1].position, records[1].values.is_err()), (Position::Line(3), true));
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub struct Records<R> {
    input: Input<R>,
    record: RecordBuffer,
    reader: Reader,
    columns: Columns,
    /// The number of records so far, and the line on which the last one begins.
    count: u64,
    last_line: u64,
    is_finished: bool,
    /// The error of the header, until it is returned.
    header_error: Option<ReadError>,
}

/// The reader of a format.
enum Reader {
    Csv(Box<CsvReader>),
    Json(JsonReader),
    Ndjson,
}

impl<R: Read> Records<R> {
    /// The records of this input in this format. Nothing is read before the first call of `next`.
    pub fn new(input: R, format: Format) -> Self {
        Self {
            input: Input::new(input),
            record: RecordBuffer::default(),
            reader: match format {
                Format::Csv => Reader::Csv(Box::default()),
                Format::Json => Reader::Json(JsonReader::default()),
                Format::Ndjson => Reader::Ndjson,
            },
            columns: Columns::of(Arc::clone(Definition::built_in())),
            count: 0,
            last_line: 0,
            is_finished: false,
            header_error: None,
        }
    }

    /// Reads the fields of this definition, instead of the built-in one.
    #[must_use]
    pub fn defined_by(self, definition: Arc<Definition>) -> Self {
        self.with_columns(Columns::of(definition))
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
    /// use robot_core::transfer::{Format, Records};
    ///
    /// let mut records = Records::new("name,type,year,maker\n".as_bytes(), Format::Csv);
    /// assert!(records.next().is_none());
    /// assert_eq!(records.unknown_columns(), ["maker"]);
    /// ```
    #[must_use]
    pub fn unknown_columns(&self) -> &[String] {
        self.columns.unknown()
    }

    /// Reads the header of CSV, so that its unknown columns are known before the first record. Returns whether
    /// it can be read: an error is returned instead of the first record.
    ///
    /// ```
    /// # use robot_core::transfer::{Format, Records};
    /// let mut records = Records::new("name,type,year,maker\nR2-D2,droid,1977,\n".as_bytes(), Format::Csv);
    /// assert!(records.read_header());
    /// assert_eq!(records.unknown_columns(), ["maker"]);
    /// assert_eq!(records.count(), 1);
    /// ```
    pub fn read_header(&mut self) -> bool {
        if let Reader::Csv(reader) = &mut self.reader {
            self.header_error = reader.open(&mut self.input, &mut self.columns).err();
        }
        self.header_error.is_none()
    }

    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        if let Some(error) = self.header_error.take() {
            return Err(error);
        }
        let Self {
            input,
            record,
            columns,
            ..
        } = self;
        let (line, values) = match &mut self.reader {
            Reader::Csv(reader) => {
                reader.open(input, columns)?;
                match reader.row(input)? {
                    Some(row) => (row.line, reader.values(row, columns.definition())),
                    None => return Ok(None),
                }
            }
            Reader::Json(reader) => match reader.next(input, record)? {
                Some(line) => (line, self.object(line)?),
                None => return Ok(None),
            },
            Reader::Ndjson => match ndjson_reader::next(input, record)? {
                Some(line) => (line, self.object(line)?),
                None => return Ok(None),
            },
        };
        let position = self.advance(line);
        Ok(Some(Record { position, values }))
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The headings of CSV, if it has that format.
    pub(super) fn headings(&mut self) -> Result<Vec<&str>, ReadError> {
        let Reader::Csv(reader) = &mut self.reader else {
            return Ok(Vec::new());
        };
        reader.read_header(&mut self.input, &self.columns)?;
        Ok(reader.named().collect())
    }

    /// Calls a function with each heading and value of the next record, if it is well-formed. Returns whether
    /// it is; `None` at the end.
    pub(super) fn read_cells(
        &mut self,
        call: &mut dyn FnMut(Position, &str, Cell<'_>),
    ) -> Result<Option<bool>, ReadError> {
        let line = match &mut self.reader {
            Reader::Csv(reader) => {
                let Some(row) = reader.row(&mut self.input)? else {
                    return Ok(None);
                };
                let position = Position::Line(row.line);
                let Ok(cells) = reader.cells(row) else {
                    return Ok(Some(false));
                };
                for (heading, text) in cells {
                    call(
                        position,
                        heading,
                        Cell::Text(&String::from_utf8_lossy(text)),
                    );
                }
                return Ok(Some(true));
            }
            Reader::Json(reader) => reader.next(&mut self.input, &mut self.record)?,
            Reader::Ndjson => ndjson_reader::next(&mut self.input, &mut self.record)?,
        };
        let Some(line) = line else {
            return Ok(None);
        };
        let position = self.advance(line);
        let bytes = self.record.bytes().unwrap_or_default();
        let Ok(members) = Members::parse(self.columns.definition(), bytes, Subject::Record) else {
            return Ok(Some(false));
        };
        for (name, json) in members.in_order() {
            call(position, name, Cell::Json(json));
        }
        Ok(Some(true))
    }

    /// Counts a record, which begins on this line, and returns its position.
    fn advance(&mut self, line: u64) -> Position {
        let position = self.locate(line);
        self.count = self.count.saturating_add(1);
        self.last_line = line;
        position
    }

    /// The position of the record after the last one, which begins on this line.
    fn locate(&self, line: u64) -> Position {
        if line > self.last_line.max(self.input.opening_line()) {
            Position::Line(line)
        } else {
            Position::Record(self.count.saturating_add(1))
        }
    }

    /// Parses the record in the buffer. Invalid JSON in a line affects that line only; in an array it
    /// affects all later elements.
    fn object(&mut self, line: u64) -> Result<ParsedRecord, ReadError> {
        let Some(bytes) = self.record.bytes() else {
            let message = format!("The record has more than {RECORD_LIMIT} bytes");
            return Ok(Err(vec![message.into()]));
        };
        let values = values(bytes, &mut self.columns);
        if values.is_err()
            && matches!(self.reader, Reader::Json(_))
            && let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes)
        {
            let further = error.line().saturating_sub(1);
            let further = further.try_into().unwrap_or(u64::MAX);
            return Err(not_json(line.saturating_add(further)));
        }
        Ok(values)
    }
}

/// The values of a JSON object.
fn values(bytes: &[u8], columns: &mut Columns) -> ParsedRecord {
    let members = Members::parse(columns.definition(), bytes, Subject::Record)?;
    let (mut found, mut unknown): (Vec<(Field, &str)>, _) = (Vec::new(), Vec::new());
    for (name, json) in members.in_order() {
        match columns.meaning(name) {
            Meaning::Field(field) if found.iter().any(|(other, _)| *other == field) => {
                return Err(vec![
                    format!("The record has {field} twice; send it once").into(),
                ]);
            }
            Meaning::Field(field) => found.push((field, json)),
            Meaning::Unknown => unknown.push(name),
            Meaning::LeftOut => {}
        }
    }
    if columns.is_strict() && !unknown.is_empty() {
        let messages = columns.messages(&unknown).into_iter();
        return Err(messages.map(Into::into).collect());
    }
    columns.report(&unknown);
    let json = |field: Field| {
        let mut found = found.iter();
        found.find(|(of, _)| *of == field).map(|(_, json)| *json)
    };
    let id = json(Field::ID).filter(|json| *json != "null");
    let id = parse_id(id.unwrap_or_default().trim_matches('"'))?;
    let (draft, removed) = read_values(columns.definition(), json)?;
    Ok(Values { id, draft, removed })
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_finished {
            return None;
        }
        let record = match self.read() {
            Err(error) => match error.position() {
                Position::Line(line) => Some(Err(error.at(self.locate(line)))),
                Position::Record(_) | Position::All => Some(Err(error)),
            },
            record => record.transpose(),
        };
        self.is_finished = !matches!(record, Some(Ok(_)));
        record
    }
}
