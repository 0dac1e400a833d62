//! CSV reader: a record is a row, and the first row is the header.

use std::{borrow::Cow, io::Read};

use csv_core::ReadRecordResult;

use super::{
    columns::Columns,
    format::FileFormat,
    input::{Input, RECORD_LIMIT},
    record::{Cell, ENCODING_HINT, ReadError},
    writer::without_apostrophe,
};
use crate::model::Field;

/// The maximum number of columns in a row.
const COLUMN_LIMIT: usize = 256;

/// Reads one row at a time.
pub(super) struct CsvReader {
    reader: csv_core::Reader,
    separator: Separator,
    header: Header,
    /// The number of rows of a sheet so far, in which line breaks do not count; `None` for CSV.
    rows: Option<u64>,
    /// The texts of the header, or `#3` for a third column without one; none before it is read.
    headings: Vec<String>,
    /// The line of the first row, if it is a record that was not read yet.
    first: Option<u64>,
    /// Whether the file begins with a byte order mark, as exports for spreadsheets do.
    has_mark: bool,
    /// The number of fields of the row that was read last, or why it has none.
    count: Result<usize, String>,
    /// The fields of the row, concatenated, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// What separates the fields of a row: a byte, and its name in messages.
type Separator = (u8, &'static str);

/// The separators, the most usual one first.
const SEPARATORS: [Separator; 4] = [
    (b',', "commas"),
    (b';', "semicolons"),
    (b'\t', "tabs"),
    (b'|', "bars"),
];

/// Where the headings of the columns are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Header {
    /// In the first row.
    #[default]
    FirstRow,
    /// Nowhere: the columns are `#1`, `#2` and so on.
    None,
}

impl CsvReader {
    /// A reader of CSV, or of the sheet of a workbook, with this header.
    pub(super) fn new(format: FileFormat, header: Header) -> Self {
        Self {
            rows: (format == FileFormat::Xlsx).then_some(0),
            header,
            reader: csv_core::Reader::new(),
            separator: SEPARATORS[0],
            headings: Vec::new(),
            first: None,
            has_mark: false,
            count: Ok(0),
            bytes: vec![0; RECORD_LIMIT],
            ends: vec![0; COLUMN_LIMIT],
        }
    }

    /// Reads the header, if it was not read yet, and finds the fields of its columns.
    pub(super) fn open<R: Read>(
        &mut self,
        input: &mut Input<R>,
        columns: &mut Columns,
    ) -> Result<(), ReadError> {
        if let Some(line) = self.read_header(input, columns)? {
            let headings: Vec<_> = self.headings().collect();
            let found = columns.read_header(&headings);
            found.map_err(|message| input.malformed(line, message))?;
            if self.first.is_none() {
                input.open(line);
            }
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
        // A sheet is read as CSV with commas.
        let count = self.rows.map_or(SEPARATORS.len(), |_| 1);
        let mut separators = SEPARATORS[..count].to_vec();
        let line = loop {
            input.skip(b"\r\n")?;
            let line = self.line(input);
            read_first_row(input)?;
            let Some(row) = input.record() else {
                return Err(input.malformed(line, too_long()));
            };
            let named = row
                .strip_prefix(b"sep=")
                .or_else(|| row.strip_prefix(b"SEP="));
            match named {
                // Spreadsheets write the separator into the first line.
                Some([separator]) => separators = vec![(*separator, "separators")],
                _ if row.is_empty() || !is_blank(row) => break line,
                _ => {}
            }
        };
        let malformed = |input: &Input<R>, message| Err(input.malformed(line, message));
        let header = input.record().unwrap_or_default();
        if header.is_empty() {
            let names = Field::names(columns.definition.settable());
            let message =
                format!("The input is empty; the first line of CSV must name the columns: {names}");
            return malformed(input, message);
        }
        // The last row may have no line break.
        let header = [header, b"\n"].concat();
        let mut best = 0;
        for separator in separators {
            let headings = match self.parse_header(&header, separator) {
                Ok(headings) => headings,
                Err(message) => return malformed(input, message),
            };
            let known = headings.iter().filter(|heading| columns.knows(heading));
            // A separator that divides the line into fields is better than others.
            let rank = known.count() * COLUMN_LIMIT * 2 + headings.len();
            if rank > best {
                (best, self.headings, self.separator) = (rank, headings, separator);
            }
        }
        if self.headings.is_empty() {
            let message = "The first line has quotes that do not enclose a heading; correct them";
            return malformed(input, message.to_owned());
        }
        let parsed = self.parse_header(&header, self.separator);
        self.has_mark = input.has_mark();
        self.first = (self.header == Header::None && parsed.is_ok()).then_some(line);
        self.count = parsed.map(|headings| headings.len());
        for (number, heading) in (1..).zip(&mut self.headings) {
            if self.first.is_some() || heading.trim().is_empty() {
                *heading = format!("#{number}");
            }
        }
        self.reader = reader(self.separator);
        Ok(Some(line))
    }

    /// The headings of a header with this separator; none if it is not one row then.
    fn parse_header(&mut self, header: &[u8], separator: Separator) -> Result<Vec<String>, String> {
        let (result, read, _, count) =
            reader(separator).read_record(header, &mut self.bytes, &mut self.ends);
        match result {
            ReadRecordResult::InputEmpty => return Err(unclosed_quote()),
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                return Err(too_long());
            }
            ReadRecordResult::Record if header[read..].trim_ascii().is_empty() => {}
            ReadRecordResult::Record | ReadRecordResult::End => return Ok(Vec::new()),
        }
        let texts = (0..count).map(|column| str::from_utf8(self.field(column)));
        let headings: Result<_, _> = texts.map(|text| text.map(str::to_owned)).collect();
        headings.map_err(|_| format!("The header is not UTF-8; {ENCODING_HINT}"))
    }

    /// Whether commas separate the columns.
    pub(super) fn has_commas(&self) -> bool {
        self.separator.0 == SEPARATORS[0].0
    }

    /// The headings.
    pub(super) fn headings(&self) -> impl Iterator<Item = &str> {
        self.headings.iter().map(String::as_str)
    }

    /// Reads a row that is not blank. Returns its line; `None` at the end.
    pub(super) fn next<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<u64>, ReadError> {
        if let Some(line) = self.first.take() {
            return Ok(Some(line));
        }
        loop {
            let line = self.next_row(input)?;
            let is_empty = |column| self.field(column).trim_ascii().is_empty();
            let is_blank = |count: &usize| (0..*count).all(is_empty);
            if line.is_none() || !self.count.as_ref().is_ok_and(is_blank) {
                return Ok(line);
            }
        }
    }

    fn next_row<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<u64>, ReadError> {
        // Blank lines are skipped here, so that the line number is that of the row.
        input.skip(b"\r\n")?;
        let line = self.line(input);
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
            self.count = match result {
                ReadRecordResult::InputEmpty if is_last => Err(unclosed_quote()),
                ReadRecordResult::InputEmpty => continue,
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    // The rest is read to find its end, and discarded.
                    (used, ended, fits) = (0, 0, false);
                    continue;
                }
                ReadRecordResult::Record if fits => Ok(ended),
                ReadRecordResult::Record => Err(too_long()),
                ReadRecordResult::End => return Ok(None),
            };
            return Ok(Some(line));
        }
    }

    /// The headings and texts of the row that was read last, or why it has none.
    pub(super) fn cells(&self) -> Result<Vec<(Cow<'_, str>, Cell<'_>)>, String> {
        let (count, expected) = (self.count.clone()?, self.headings.len());
        let has_more = (expected..count).any(|column| !self.field(column).trim_ascii().is_empty());
        // Cells that are missing at the end have no values, unless a quote has swallowed them.
        if has_more || count < expected && self.breaks(count) > 0 {
            return Err(self.wrong_field_count(count));
        }
        let cells = self.headings.iter().enumerate().map(|(column, heading)| {
            let text = match column {
                _ if column >= count => b"",
                _ if self.has_mark => without_apostrophe(self.field(column)),
                _ => self.field(column),
            };
            (Cow::Borrowed(heading.as_str()), Cell::Text(text))
        });
        Ok(cells.collect())
    }

    /// The line of the next row, or its number in a sheet.
    fn line<R: Read>(&mut self, input: &Input<R>) -> u64 {
        match &mut self.rows {
            None => input.line(),
            Some(rows) => {
                *rows += 1;
                *rows
            }
        }
    }

    /// The number of line breaks in the fields of the row.
    fn breaks(&self, fields: usize) -> usize {
        let end = fields.checked_sub(1).map_or(0, |last| self.ends[last]);
        memchr::memchr_iter(b'\n', &self.bytes[..end]).count()
    }

    /// A field of the row that was read last.
    fn field(&self, column: usize) -> &[u8] {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[column]]
    }

    /// The message for a row with too few or too many fields.
    fn wrong_field_count(&self, fields: usize) -> String {
        let (expected, (_, separators)) = (self.headings.len(), self.separator);
        let hint = match self.breaks(fields) {
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
}

/// Whether a row has nothing but blanks and separators.
fn is_blank(text: &[u8]) -> bool {
    let is_separator = |byte: &u8| SEPARATORS.iter().any(|(separator, _)| separator == byte);
    text.iter()
        .all(|byte| byte.is_ascii_whitespace() || is_separator(byte) || *byte == b'"')
}

fn reader((separator, _): Separator) -> csv_core::Reader {
    let mut reader = csv_core::ReaderBuilder::new().delimiter(separator).build();
    // A parser strips a byte order mark from its first input. That is this blank line, so that rows keep theirs.
    reader.read_record(b"\n", &mut [0], &mut [0]);
    reader
}

/// Reads the first row, which may have line breaks in quotes. A quote opens at the start of a field only.
fn read_first_row<R: Read>(input: &mut Input<R>) -> Result<(), ReadError> {
    let (mut is_quoted, mut may_open) = (false, true);
    let ends_at = |byte| {
        if byte == b'"' && (is_quoted || may_open) {
            is_quoted = !is_quoted;
            // Two quotes in quotes are one of the text.
            may_open = true;
        } else {
            may_open = SEPARATORS.iter().any(|(separator, _)| *separator == byte);
        }
        matches!(byte, b'\n' | b'\r') && !is_quoted
    };
    input.read_record(ends_at).map(drop)
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
