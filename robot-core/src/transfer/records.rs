//! Iterator over the records of an input in any format.

use std::io::Read;

use super::{
    csv_reader::CsvReader,
    format::Format,
    input::{Input, RECORD_LIMIT, RecordBuffer},
    json_reader::JsonReader,
    ndjson_reader,
    record::{ReadError, Record},
};
use crate::model::draft_json::{self, DraftJsonError, Messages, Place};

/// The records of an input, one at a time, in constant memory.
///
/// An invalid record does not affect the next ones; an error ends the iteration.
///
/// ```
/// use robot_core::{Draft, transfer::{Format, Records}};
///
/// let file = "{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}\n\n{\"year\":\"1977\"}\n";
/// let records: Vec<_> = Records::new(file.as_bytes(), Format::Ndjson).collect::<Result<_, _>>()?;
/// assert_eq!(records[0].draft, Ok(Draft::new("R2-D2", "droid", 1977)));
/// assert_eq!((records[1].line, records[1].draft.is_err()), (3, true));
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub struct Records<R> {
    input: Input<R>,
    record: RecordBuffer,
    reader: Reader,
    is_finished: bool,
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
            is_finished: false,
        }
    }

    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        let Self { input, record, .. } = self;
        let line = match &mut self.reader {
            Reader::Csv(reader) => return reader.next(input),
            Reader::Json(reader) => reader.next(input, record)?,
            Reader::Ndjson => {
                let line = ndjson_reader::next(input, record);
                line.map_err(|error| ReadError::input(input.line(), error))?
            }
        };
        line.map(|line| self.object(line)).transpose()
    }

    /// Parses the record in the buffer. Invalid JSON in a line affects that line only; in an array it
    /// affects all later elements.
    fn object(&self, line: u64) -> Result<Record, ReadError> {
        let Some(bytes) = self.record.bytes() else {
            let message = format!("The record has more than {RECORD_LIMIT} bytes");
            let draft = Err(vec![message.into()]);
            return Ok(Record { line, draft });
        };
        let draft = match (draft_json::read(bytes), &self.reader) {
            (
                Err(
                    DraftJsonError::NotJson(place)
                    | DraftJsonError::Truncated(place)
                    | DraftJsonError::Trailing(place),
                ),
                Reader::Json(_),
            ) => {
                let further = place.line.saturating_sub(1).try_into().unwrap_or(u64::MAX);
                return Err(ReadError::malformed(
                    line.saturating_add(further),
                    "The JSON is not valid here; nothing after it can be read",
                ));
            }
            (draft, _) => draft.map_err(messages),
        };
        Ok(Record { line, draft })
    }
}

fn messages(error: DraftJsonError) -> Messages {
    error.messages("The record", |Place { column, .. }| {
        format!("column {column}")
    })
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
