//! CSV reader: a record is a row, and the first row is the header.

use std::io::Read;

use super::{
    columns::{Columns, Meaning, normalized},
    input::{Input, RECORD_LIMIT},
    record::{ParsedRecord, ReadError, Values, parse_id},
};
use crate::model::{Definition, Draft, Field, excerpt};

/// The maximum number of columns in a row.
const COLUMN_LIMIT: usize = 256;

/// Reads one row at a time.
pub(super) struct CsvReader {
    reader: csv_core::Reader,
    separator: Separator,
    /// The texts of the header; none before it is read.
    headings: Vec<String>,
    /// The fields that have a column, and its index.
    fields: Vec<(Field, usize)>,
    /// The columns without a heading.
    unnamed: Vec<usize>,
    /// The fields of the row, concatenated, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// What separates the fields of a row: a byte, and its name in messages.
type Separator = (u8, &'static str);

/// The separators, the most usual one first.
const SEPARATORS: [Separator; 3] = [(b',', "commas"), (b';', "semicolons"), (b'\t', "tabs")];

/// A row; its fields are in the reader.
pub(super) struct Row {
    pub(super) line: u64,
    /// The number of fields, or why there are none.
    fields: Result<usize, String>,
}

impl Default for CsvReader {
    fn default() -> Self {
        Self {
            reader: csv_core::Reader::new(),
            separator: SEPARATORS[0],
            headings: Vec::new(),
            fields: Vec::new(),
            unnamed: Vec::new(),
            bytes: vec![0; RECORD_LIMIT],
            ends: vec![0; COLUMN_LIMIT],
        }
    }
}

impl CsvReader {
    /// Reads the header, if it was not read yet, and finds the fields of its columns.
    pub(super) fn open<R: Read>(
        &mut self,
        input: &mut Input<R>,
        columns: &mut Columns,
    ) -> Result<(), ReadError> {
        if let Some(line) = self.read_header(input, columns)? {
            let found = self.find_fields(columns);
            found.map_err(|message| ReadError::malformed(line, message))?;
            input.open(line);
        }
        Ok(())
    }

    /// Reads the header, if it was not read yet. Returns its line.
    pub(super) fn read_header<R: Read>(
        &mut self,
        input: &mut Input<R>,
        columns: &Columns,
    ) -> Result<Option<u64>, ReadError> {
        if !self.headings.is_empty() {
            return Ok(None);
        }
        input.skip(b"\r\n")?;
        let line = input.line();
        let malformed = |message| ReadError::malformed(line, message);
        let header = header_bytes(input)?;
        let mut best = 0;
        for separator in SEPARATORS {
            let headings = self.headings(&header, line, separator)?;
            let known = headings.iter().filter(|heading| {
                let meaning = columns.meaning(heading);
                meaning != Meaning::Unknown || columns.mapped(heading).is_some()
            });
            // A separator that divides the line into fields is better than others.
            let rank = known.count() * COLUMN_LIMIT * 2 + headings.len();
            if rank > best {
                (best, self.headings, self.separator) = (rank, headings, separator);
            }
        }
        if header.is_empty() {
            let names = Field::names(columns.definition().settable());
            return Err(malformed(format!(
                "The input is empty; the first line of CSV must name the columns: {names}"
            )));
        }
        if self.headings.is_empty() {
            let message = "The first line has quotes that do not enclose a heading; correct them";
            return Err(malformed(message.to_owned()));
        }
        self.reader = reader(self.separator);
        Ok(Some(line))
    }

    /// The columns of a header on this line with this separator; none if they are not one row then.
    fn headings(
        &mut self,
        header: &[u8],
        line: u64,
        separator: Separator,
    ) -> Result<Vec<String>, ReadError> {
        self.reader = reader(separator);
        let mut input = Input::new(header);
        let Some(row) = self.row(&mut input)? else {
            return Ok(Vec::new());
        };
        input.skip(b"\r\n")?;
        if !input.fill()?.is_empty() {
            return Ok(Vec::new());
        }
        let malformed = |message| ReadError::malformed(line, message);
        let count = row.fields.map_err(malformed)?;
        let texts = (0..count).map(|column| str::from_utf8(self.field(column)));
        let headings: Result<_, _> = texts.map(|text| text.map(str::to_owned)).collect();
        let not_utf8 = "The header is not UTF-8; save the file as UTF-8";
        headings.map_err(|_| malformed(not_utf8.to_owned()))
    }

    /// The headings.
    pub(super) fn named(&self) -> impl Iterator<Item = &str> {
        let headings = self.headings.iter().map(String::as_str);
        headings.filter(|heading| !heading.trim().is_empty())
    }

    /// Finds the fields of the columns, or returns what is wrong with the header.
    fn find_fields(&mut self, columns: &mut Columns) -> Result<(), String> {
        let mut unknown = Vec::new();
        for (column, heading) in self.headings.iter().enumerate() {
            match columns.meaning(heading) {
                Meaning::Field(field) if self.fields.iter().any(|(other, _)| *other == field) => {
                    return Err(format!(
                        "The header names the column {field} twice; name it once"
                    ));
                }
                Meaning::Field(field) => self.fields.push((field, column)),
                Meaning::Unknown if heading.trim().is_empty() => self.unnamed.push(column),
                Meaning::Unknown => unknown.push(heading.as_str()),
                Meaning::LeftOut => {}
            }
        }
        let found = || self.named().map(excerpt).collect::<Vec<_>>().join(", ");
        if let Some(heading) = columns.unused(&self.named().map(normalized).collect()) {
            return Err(format!(
                "The header has no column '{heading}', but {}",
                found()
            ));
        }
        if columns.is_strict() && !unknown.is_empty() {
            return Err(columns.messages(&unknown).join("; "));
        }
        let names = Field::names(columns.definition().settable());
        if self.fields.is_empty() {
            return Err(format!(
                "The first line names no field, but {}; the fields are {names}",
                found()
            ));
        }
        columns.report(&unknown);
        let definition = columns.definition();
        let missing = definition.settable().iter().filter(|field| {
            let is_missing = self.fields.iter().all(|(other, _)| other != *field);
            is_missing && field.is_required() && !columns.has_ids()
        });
        let missing: Vec<_> = missing.map(|field| field.name()).collect();
        if !missing.is_empty() {
            return Err(format!(
                "Missing in the header: {}; the first line must name the columns, separated by \
                 commas: {names}",
                missing.join(", "),
            ));
        }
        Ok(())
    }

    /// Whether a row has as many fields as the header, or why not.
    fn check(&self, row: Row) -> Result<(), String> {
        let fields = row.fields?;
        if fields != self.headings.len() {
            return Err(self.wrong_field_count(fields));
        }
        if self
            .unnamed
            .iter()
            .any(|column| !self.field(*column).is_empty())
        {
            return Err("The record has a value in a column without a heading".to_owned());
        }
        Ok(())
    }

    /// The headings and texts of a row.
    pub(super) fn cells(&self, row: Row) -> Result<impl Iterator<Item = (&str, &[u8])>, String> {
        self.check(row)?;
        let headings = self.headings.iter().enumerate();
        let headings = headings.filter(|(_, heading)| !heading.trim().is_empty());
        Ok(headings.map(|(column, heading)| (heading.as_str(), self.field(column))))
    }

    /// Reads a row.
    pub(super) fn row<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<Row>, ReadError> {
        // Blank lines are skipped here, so that the line number is that of the row.
        input.skip(b"\r\n")?;
        let line = input.line();
        if input.fill()?.is_empty() {
            return Ok(None);
        }
        let (mut used, mut ended, mut fits) = (0, 0, true);
        loop {
            let bytes = input.fill()?;
            // A line break ends the last row, unless a quote is open.
            let is_last = bytes.is_empty();
            let bytes = if is_last { b"\n" } else { bytes };
            let (result, consumed, written, fields) =
                self.reader
                    .read_record(bytes, &mut self.bytes[used..], &mut self.ends[ended..]);
            if !is_last {
                input.consume(consumed);
            }
            used += written;
            ended += fields;
            match result {
                csv_core::ReadRecordResult::InputEmpty if is_last => {
                    let fields = Err(unclosed_quote());
                    return Ok(Some(Row { line, fields }));
                }
                csv_core::ReadRecordResult::InputEmpty => {}
                csv_core::ReadRecordResult::OutputFull
                | csv_core::ReadRecordResult::OutputEndsFull => {
                    // The rest is read to find its end, and discarded.
                    (used, ended, fits) = (0, 0, false);
                }
                csv_core::ReadRecordResult::Record => {
                    let fields = fits.then_some(ended).ok_or_else(too_long);
                    return Ok(Some(Row { line, fields }));
                }
                csv_core::ReadRecordResult::End => return Ok(None),
            }
        }
    }

    /// A field of the row that was read last.
    fn field(&self, column: usize) -> &[u8] {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[column]]
    }

    /// The message for a row with too few or too many fields.
    fn wrong_field_count(&self, fields: usize) -> String {
        let (expected, (_, separators)) = (self.headings.len(), self.separator);
        let end = fields.checked_sub(1).map_or(0, |last| self.ends[last]);
        let breaks = memchr::memchr_iter(b'\n', &self.bytes[..end]).count();
        let hint = match breaks {
            0 => String::new(),
            more => format!(
                "; it continues for {more} more lines, perhaps because a closing quote is missing"
            ),
        };
        format!(
            "The record has a different number of fields ({fields}) than the header ({expected}); \
             put a field with {separators}, quotes or line breaks into quotes{hint}"
        )
    }

    /// The values of a row.
    pub(super) fn values(&self, row: Row, definition: &Definition) -> ParsedRecord {
        self.check(row).map_err(|message| vec![message.into()])?;
        let text = |field: Field| {
            let (_, column) = self.fields.iter().find(|(of, _)| *of == field)?;
            Some(self.field(*column))
        };
        let id = parse_id(&String::from_utf8_lossy(
            text(Field::ID).unwrap_or_default(),
        ));
        let draft = Draft::read(definition, |field| match text(field).map(str::from_utf8) {
            None | Some(Ok("")) => Ok(None),
            Some(Ok(text)) => field
                .parse_value(text)
                .map(|value| Some(value.into_owned())),
            Some(Err(_)) => Err(format!("{field} is not UTF-8")),
        })?;
        let fields = self.fields.iter().map(|(field, _)| *field);
        Ok(Values {
            id: id?,
            draft,
            removed: fields.filter(|field| text(*field) == Some(b"")).collect(),
        })
    }
}

fn reader((separator, _): Separator) -> csv_core::Reader {
    csv_core::ReaderBuilder::new().delimiter(separator).build()
}

/// Reads the first row, which may have line breaks in quotes. A quote opens at the start of a field only.
fn header_bytes<R: Read>(input: &mut Input<R>) -> Result<Vec<u8>, ReadError> {
    let (mut header, mut is_quoted, mut may_open) = (Vec::new(), false, true);
    loop {
        let line = input.line();
        let bytes = input.fill()?;
        let end = bytes.iter().position(|byte| {
            if *byte == b'"' && (is_quoted || may_open) {
                is_quoted = !is_quoted;
                // Two quotes in quotes are one of the text.
                may_open = true;
            } else {
                may_open = SEPARATORS.iter().any(|(separator, _)| separator == byte);
            }
            matches!(byte, b'\n' | b'\r') && !is_quoted
        });
        let count = end.map_or(bytes.len(), |end| end + 1);
        header.extend_from_slice(&bytes[..count]);
        input.consume(count);
        if header.len() > RECORD_LIMIT {
            return Err(ReadError::malformed(line, too_long()));
        }
        if end.is_some() || count == 0 {
            return Ok(header);
        }
    }
}

fn unclosed_quote() -> String {
    "The record continues to the end of the input, because a closing quote is missing".to_owned()
}

fn too_long() -> String {
    format!(
        "The record has more than {RECORD_LIMIT} bytes or {COLUMN_LIMIT} fields, perhaps because \
         a closing quote is missing"
    )
}
