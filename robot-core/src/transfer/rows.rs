//! CSV: a record is a row, and the first one names the columns.

use std::io::{self, Read};

use super::{
    records::{ReadError, Record},
    source::{RECORD_LIMIT, Source},
};
use crate::model::{
    Draft,
    draft_json::{Messages, no_integer},
};

/// The most columns that a row may have.
const COLUMNS_LIMIT: usize = 256;

/// Rows, one at a time.
pub(super) struct Rows {
    reader: csv_core::Reader,
    columns: Option<Columns>,
    /// The fields of the row, one behind the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Where the columns are.
#[derive(Debug, Clone, Copy)]
struct Columns {
    name: usize,
    robot_type: usize,
    year: usize,
    count: usize,
}

/// A row that was read.
struct Row {
    line: u64,
    /// How many fields it has; `None` where they are too many or too long.
    fields: Option<usize>,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            reader: csv_core::Reader::new(),
            columns: None,
            bytes: vec![0; RECORD_LIMIT],
            ends: vec![0; COLUMNS_LIMIT],
        }
    }
}

impl Rows {
    /// The next row; `None` at the end.
    pub(super) fn next<R: Read>(
        &mut self,
        source: &mut Source<R>,
    ) -> Result<Option<Record>, ReadError> {
        let columns = match self.columns {
            Some(columns) => columns,
            None => self.header(source)?,
        };
        self.columns = Some(columns);
        let row = self.row(source);
        let row = row.map_err(|error| ReadError::input(source.line(), error))?;
        Ok(row.map(|row| Record {
            line: row.line,
            draft: self.draft(&row, columns),
        }))
    }

    /// Reads the row that names the columns.
    fn header<R: Read>(&mut self, source: &mut Source<R>) -> Result<Columns, ReadError> {
        let row = self.row(source);
        let row = row.map_err(|error| ReadError::input(source.line(), error))?;
        let Some(row) = row else {
            return Err(ReadError::malformed(
                1,
                "There is no CSV; its first line must name the columns: name,type,year",
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
                "The header lacks {}; the first line must name the columns, with commas between \
                 them: name,type,year",
                missing.join(", ")
            ),
        ))
    }

    /// Reads a row.
    fn row<R: Read>(&mut self, source: &mut Source<R>) -> io::Result<Option<Row>> {
        // Blank lines belong to no row, so that a row begins on the line that it says.
        source.skip(b"\r\n")?;
        let line = source.line();
        let (mut used, mut ended, mut fits) = (0, 0, true);
        loop {
            let (result, taken, written, fields) = self.reader.read_record(
                source.ahead()?,
                &mut self.bytes[used..],
                &mut self.ends[ended..],
            );
            source.take(taken);
            used += written;
            ended += fields;
            match result {
                csv_core::ReadRecordResult::InputEmpty => {}
                csv_core::ReadRecordResult::OutputFull
                | csv_core::ReadRecordResult::OutputEndsFull => {
                    // The rest is read to find its end, and let go.
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

    /// What is told of the row that was read last where it has too few or too many fields.
    fn other_count(&self, fields: usize, expected: usize) -> String {
        let end = fields.checked_sub(1).map_or(0, |last| self.ends[last]);
        let breaks = memchr::memchr_iter(b'\n', &self.bytes[..end]).count();
        let hint = match breaks {
            0 => String::new(),
            more => format!("; it goes on for {more} more lines, perhaps for want of a quote"),
        };
        format!(
            "The record has a different number of fields ({fields}) than the header ({expected}); \
             put a field with commas, quotes or line breaks into quotes{hint}"
        )
    }

    fn draft(&self, row: &Row, columns: Columns) -> Result<Draft, Messages> {
        let fields = row.fields.ok_or_else(|| vec![too_long().into()])?;
        if fields != columns.count {
            let message = self.other_count(fields, columns.count);
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

    /// The text of a field. An empty one counts as missing, since CSV has no other way to say so.
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
        "The record has more than {RECORD_LIMIT} bytes or {COLUMNS_LIMIT} fields, perhaps for \
         want of a closing quote"
    )
}
