//! Iterator over the records of an input in any format.

use std::{io::Read, sync::Arc};

use serde::de::IgnoredAny;

use super::{
    csv_reader::CsvReader,
    format::Format,
    input::{Input, RECORD_LIMIT, RecordBuffer},
    json_reader::{JsonReader, not_json},
    ndjson_reader,
    position::Position,
    record::{ParsedDraft, ReadError, Record},
};
use crate::model::{
    Definition,
    draft_json::{self, Subject},
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
/// assert_eq!(records[0].draft, Ok(Draft::new("R2-D2", "droid", 1977)));
/// assert_eq!((records[1].position, records[1].draft.is_err()), (Position::Line(3), true));
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub struct Records<R> {
    input: Input<R>,
    record: RecordBuffer,
    reader: Reader,
    definition: Arc<Definition>,
    /// The number of records so far, and the line on which the last one begins.
    count: u64,
    last_line: u64,
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
            definition: Arc::clone(Definition::built_in()),
            count: 0,
            last_line: 0,
            is_finished: false,
        }
    }

    /// Reads the fields of this definition, instead of the built-in one.
    #[must_use]
    pub fn defined_by(mut self, definition: Arc<Definition>) -> Self {
        self.definition = definition;
        self
    }

    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        let Self {
            input,
            record,
            definition,
            ..
        } = self;
        let (line, draft) = match &mut self.reader {
            Reader::Csv(reader) => match reader.next(input, definition)? {
                Some(row) => row,
                None => return Ok(None),
            },
            Reader::Json(reader) => match reader.next(input, record)? {
                Some(line) => (line, self.object(line)?),
                None => return Ok(None),
            },
            Reader::Ndjson => match ndjson_reader::next(input, record)? {
                Some(line) => (line, self.object(line)?),
                None => return Ok(None),
            },
        };
        let position = self.locate(line);
        self.count = self.count.saturating_add(1);
        self.last_line = line;
        Ok(Some(Record { position, draft }))
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
    fn object(&self, line: u64) -> Result<ParsedDraft, ReadError> {
        let Some(bytes) = self.record.bytes() else {
            let message = format!("The record has more than {RECORD_LIMIT} bytes");
            return Ok(Err(vec![message.into()]));
        };
        let draft = draft_json::read(&self.definition, bytes, Subject::Record);
        if draft.is_err()
            && matches!(self.reader, Reader::Json(_))
            && let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes)
        {
            let further = error.line().saturating_sub(1);
            let further = further.try_into().unwrap_or(u64::MAX);
            return Err(not_json(line.saturating_add(further)));
        }
        Ok(draft)
    }
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
