//! CSV reader: a record is a row, and the first row is the header.

use std::io::{self, Read};

use super::{
    input::{Input, RECORD_LIMIT},
    record::{ReadError, Record},
};
use crate::model::{
    Draft,
    draft_json::{Messages, no_integer},
};

/// The maximum number of columns in a row.
const COLUMN_LIMIT: usize = 256;

/// Reads one row at a time.
pub(super) struct CsvReader {
    reader: csv_core::Reader,
    columns: Option<Columns>,
    /// The fields of the row, concatenated, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// The indices of the columns.
#[derive(Debug, Clone, Copy)]
struct Columns {
    name: usize,
    robot_type: usize,
    year: usize,
    count: usize,
}

/// A row; its fields are in the reader.
struct Row {
    line: u64,
    /// The number of fields; `None` if they are too many or too long.
    fields: Option<usize>,
}

impl Default for CsvReader {
    fn default() -> Self {
        Self {
            reader: csv_core::Reader::new(),
            columns: None,
            bytes: vec![0; RECORD_LIMIT],
            ends: vec![0; COLUMN_LIMIT],
        }
    }
}

impl CsvReader {
    /// The next row; `None` at the end.
    pub(super) fn next<R: Read>(
        &mut self,
        input: &mut Input<R>,
    ) -> Result<Option<Record>, ReadError> {
        let columns = match self.columns {
            Some(columns) => columns,
            None => self.header(input)?,
        };
        self.columns = Some(columns);
        let row = self.row(input);
        let row = row.map_err(|error| ReadError::input(input.line(), error))?;
        Ok(row.map(|row| Record {
            line: row.line,
            draft: self.draft(&row, columns),
        }))
    }

    /// Reads the header.
    fn header<R: Read>(&mut self, input: &mut Input<R>) -> Result<Columns, ReadError> {
        let row = self.row(input);
        let row = row.map_err(|error| ReadError::input(input.line(), error))?;
        let Some(row) = row else {
            return Err(ReadError::malformed(
                1,
                "The input is empty; the first line of CSV must name the columns: name,type,year",
            ));
        };
        let count = row
            .fields
            .ok_or_else(|| ReadError::malformed(row.line, too_long()))?;
        let mut missing = Vec::new();
        let mut column = |name: &'static str| {
            let mut found = (0..count).filter(|column| self.field(*column) == name.as_bytes());
            match (found.next(), found.next()) {
                (Some(column), None) => Ok(column),
                (Some(_), Some(_)) => Err(ReadError::malformed(
                    row.line,
                    format!("The header names the column {name} twice; name it once"),
                )),
                (None, _) => {
                    missing.push(name);
                    Ok(0)
                }
            }
        };
        let columns = Columns {
            name: column("name")?,
            robot_type: column("type")?,
            year: column("year")?,
            count,
        };
        if missing.is_empty() {
            return Ok(columns);
        }
        Err(ReadError::malformed(
            row.line,
            format!(
                "Missing in the header: {}; the first line must name the columns, separated by \
                 commas: name,type,year",
                missing.join(", ")
            ),
        ))
    }

    /// Reads a row.
    fn row<R: Read>(&mut self, input: &mut Input<R>) -> io::Result<Option<Row>> {
        // Blank lines are skipped here, so that the line number is that of the row.
        input.skip(b"\r\n")?;
        let line = input.line();
        let (mut used, mut ended, mut fits) = (0, 0, true);
        loop {
            let (result, consumed, written, fields) = self.reader.read_record(
                input.fill()?,
                &mut self.bytes[used..],
                &mut self.ends[ended..],
            );
            input.consume(consumed);
            used += written;
            ended += fields;
            match result {
                csv_core::ReadRecordResult::InputEmpty => {}
                csv_core::ReadRecordResult::OutputFull
                | csv_core::ReadRecordResult::OutputEndsFull => {
                    // The rest is read to find its end, and discarded.
                    (used, ended, fits) = (0, 0, false);
                }
                csv_core::ReadRecordResult::Record => {
                    let fields = fits.then_some(ended);
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

    fn draft(&self, row: &Row, columns: Columns) -> Result<Draft, Messages> {
        let fields = row.fields.ok_or_else(|| vec![too_long().into()])?;
        if fields != columns.count {
            let message = self.wrong_field_count(fields, columns.count);
            return Err(vec![message.into()]);
        }
        let mut messages = Vec::new();
        let robot_type = self.text("type", columns.robot_type, &mut messages);
        let name = self.text("name", columns.name, &mut messages);
        let year = self.text("year", columns.year, &mut messages);
        let year = year.and_then(|text| {
            let year = text.parse();
            year.map_err(|_| messages.push(no_integer("year"))).ok()
        });
        if messages.is_empty() {
            Ok(Draft {
                name,
                robot_type,
                year,
            })
        } else {
            Err(messages)
        }
    }

    /// The text of a field. An empty field counts as missing, because CSV has no null.
    fn text(&self, name: &str, column: usize, messages: &mut Messages) -> Option<String> {
        match str::from_utf8(self.field(column)) {
            Ok("") => None,
            Ok(text) => Some(text.to_owned()),
            Err(_) => {
                messages.push(format!("{name} is not UTF-8").into());
                None
            }
        }
    }
}

fn too_long() -> String {
    format!(
        "The record has more than {RECORD_LIMIT} bytes or {COLUMN_LIMIT} fields, perhaps because \
         a closing quote is missing"
    )
}
