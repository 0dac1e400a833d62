//! CSV reader: a record is a row, and the first row is the header.

use std::io::Read;

use super::{
    input::{Input, RECORD_LIMIT},
    record::{ParsedDraft, ReadError},
};
use crate::model::{Definition, Draft, Field};

/// The maximum number of columns in a row.
const COLUMN_LIMIT: usize = 256;

/// Reads one row at a time.
pub(super) struct CsvReader {
    reader: csv_core::Reader,
    columns: Columns,
    /// The fields of the row, concatenated, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// The columns of the header; none before it is read.
#[derive(Default)]
struct Columns {
    /// The fields that have a column, and its index.
    indices: Vec<(Field, usize)>,
    count: usize,
}

/// A row; its fields are in the reader.
struct Row {
    line: u64,
    /// The number of fields, or why there are none.
    fields: Result<usize, String>,
}

impl Default for CsvReader {
    fn default() -> Self {
        Self {
            reader: csv_core::Reader::new(),
            columns: Columns::default(),
            bytes: vec![0; RECORD_LIMIT],
            ends: vec![0; COLUMN_LIMIT],
        }
    }
}

impl CsvReader {
    /// The line of the next row, and its draft; `None` at the end.
    pub(super) fn next<R: Read>(
        &mut self,
        input: &mut Input<R>,
        definition: &Definition,
    ) -> Result<Option<(u64, ParsedDraft)>, ReadError> {
        if self.columns.count == 0 {
            self.columns = self.header(input, definition)?;
        }
        let row = self.row(input)?;
        Ok(row.map(|row| (row.line, self.draft(row.fields, definition))))
    }

    /// Reads the header.
    fn header<R: Read>(
        &mut self,
        input: &mut Input<R>,
        definition: &Definition,
    ) -> Result<Columns, ReadError> {
        let Some(row) = self.row(input)? else {
            let names = Field::names(definition.settable());
            return Err(ReadError::malformed(
                1,
                format!("The input is empty; the first line of CSV must name the columns: {names}"),
            ));
        };
        let count = row
            .fields
            .map_err(|message| ReadError::malformed(row.line, message))?;
        let mut indices = Vec::new();
        let mut missing = Vec::new();
        // The store assigns the id, so a column with ids is ignored.
        for field in definition.settable() {
            let name = field.name();
            let mut found = (0..count).filter(|column| self.field(*column) == name.as_bytes());
            match (found.next(), found.next()) {
                (Some(column), None) => indices.push((*field, column)),
                (Some(_), Some(_)) => {
                    return Err(ReadError::malformed(
                        row.line,
                        format!("The header names the column {name} twice; name it once"),
                    ));
                }
                (None, _) if field.is_required() => missing.push(name),
                (None, _) => {}
            }
        }
        if missing.is_empty() {
            input.open(row.line);
            return Ok(Columns { indices, count });
        }
        Err(ReadError::malformed(
            row.line,
            format!(
                "Missing in the header: {}; the first line must name the columns, separated by \
                 commas: {}",
                missing.join(", "),
                Field::names(definition.settable())
            ),
        ))
    }

    /// Reads a row.
    fn row<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<Row>, ReadError> {
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
    fn wrong_field_count(&self, fields: usize, expected: usize) -> String {
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
             put a field with commas, quotes or line breaks into quotes{hint}"
        )
    }

    fn draft(&self, fields: Result<usize, String>, definition: &Definition) -> ParsedDraft {
        let Columns { indices, count } = &self.columns;
        let fields = fields.map_err(|message| vec![message.into()])?;
        if fields != *count {
            return Err(vec![self.wrong_field_count(fields, *count).into()]);
        }
        Draft::read(definition, |field| {
            let Some((_, column)) = indices.iter().find(|(of, _)| *of == field) else {
                return Ok(None);
            };
            match str::from_utf8(self.field(*column)) {
                Ok("") => Ok(None),
                Ok(text) => field
                    .parse_value(text)
                    .map(|value| Some(value.into_owned())),
                Err(_) => Err(format!("{field} is not UTF-8")),
            }
        })
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
