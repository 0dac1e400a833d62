//! Workbooks (XLSX): a sheet is read as CSV, and robots are written to a sheet.

use std::{
    fs::File,
    io::{self, Cursor, Read, Seek, Write},
};

use calamine::{DataRef, Reader, Xlsx};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook, XlsxError};

use crate::model::{Field, Robot, Value};

/// The maximum number of bytes of a workbook. Higher, and it needs more memory.
const SIZE: u64 = 16 * 1024 * 1024;

/// The maximum number of rows of a sheet, without its header. Higher, and more robots are kept until the sheet is whole.
pub(super) const ROWS: u32 = 100_000;

/// The maximum number of columns.
const COLUMNS: u32 = 256;

/// The maximum number of bytes of all parts of a workbook without compression, and of the one with its texts, which is
/// kept in memory. Higher, and a small file that was made for it takes more time and memory.
const UNCOMPRESSED: u64 = 512 * 1024 * 1024;
const TEXTS: u64 = 24 * 1024 * 1024;

/// The greatest integer up to which a number of a workbook has all integers.
const INTEGERS: u64 = 1 << 53;

/// Reads a sheet of a workbook, the first one if none is named, as rows of CSV.
///
/// # Errors
/// The input cannot be read. With the kind `InvalidData`, it is no workbook, or too large: a message for people.
pub(super) fn to_csv(input: &mut impl Read, sheet: Option<&str>) -> io::Result<File> {
    let mut bytes = Vec::new();
    input.take(SIZE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SIZE {
        return Err(invalid(
            "The workbook has more than 16 MiB; save the sheet as CSV",
        ));
    }
    check_size(&bytes)?;
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(not_readable)?;
    let names = workbook.sheet_names();
    let name = match sheet {
        Some(name) if !names.iter().any(|known| known == name) => {
            let names = names.join(", ");
            return Err(invalid(format!(
                "The workbook has no sheet '{name}', but {names}"
            )));
        }
        Some(name) => name.to_owned(),
        None => names.first().cloned().unwrap_or_default(),
    };
    let mut cells = workbook
        .worksheet_cells_reader(&name)
        .map_err(not_readable)?;
    let mut csv = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(tempfile::tempfile()?);
    let (mut row, mut texts) = (0, Vec::new());
    while let Some(cell) = cells.next_cell().map_err(not_readable)? {
        let (next, column) = cell.get_position();
        if next > ROWS || column >= COLUMNS {
            return Err(invalid(format!(
                "The sheet '{name}' has more than {ROWS} rows or {COLUMNS} columns; save it as CSV"
            )));
        }
        while row < next {
            write_row(&mut csv, &mut texts)?;
            row += 1;
        }
        let text = text(cell.get_value());
        texts.resize(texts.len().max(column as usize + 1), String::new());
        texts[column as usize] = text;
    }
    write_row(&mut csv, &mut texts)?;
    let mut file = csv
        .into_inner()
        .map_err(|error| io::Error::other(error.to_string()))?;
    file.rewind()?;
    Ok(file)
}

/// Writes a row, also an empty one, so that their numbers stay.
fn write_row(csv: &mut csv::Writer<File>, texts: &mut Vec<String>) -> io::Result<()> {
    if texts.is_empty() {
        texts.push(String::new());
    }
    csv.write_record(texts.iter()).map_err(io::Error::other)?;
    texts.clear();
    Ok(())
}

/// Checks how much a workbook has without compression. What it says about itself may be wrong.
fn check_size(bytes: &[u8]) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(not_readable)?;
    let mut room = UNCOMPRESSED;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(not_readable)?;
        let name = part.name().map_err(not_readable)?.to_ascii_lowercase();
        let has_texts = name.ends_with("sharedstrings.xml");
        let limit = if has_texts { TEXTS.min(room) } else { room };
        let size = io::copy(&mut part.take(limit + 1), &mut io::sink()).map_err(not_readable)?;
        if size > limit {
            return Err(invalid(
                "The workbook is too large without its compression; save the sheet as CSV",
            ));
        }
        room -= size;
    }
    Ok(())
}

/// The text of a cell, as in CSV.
fn text(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(integer) => integer.to_string(),
        DataRef::Float(number) => {
            Value::number(*number).map_or_else(String::new, |value| value.to_string())
        }
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(boolean) => boolean.to_string(),
        DataRef::DateTime(date) if date.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
            let date = format!("{year:04}-{month:02}-{day:02}");
            match (hour, minute, second) {
                (0, 0, 0) => date,
                _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        DataRef::DateTime(duration) => duration.as_f64().to_string(),
        // As a text, such as `#REF!`, so that it is no value only if the import says so.
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

fn not_readable(cause: impl std::fmt::Display) -> io::Error {
    invalid(format!(
        "The input is not a workbook (XLSX), or it is damaged: {cause}"
    ))
}

/// A workbook with one sheet of robots.
pub(super) struct RobotSheet {
    workbook: Workbook,
    rows: u32,
}

impl RobotSheet {
    /// A sheet whose first row has these headings. Its other rows are in a temporary file.
    pub(super) fn new(headings: &[String]) -> Result<Self, XlsxError> {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name("robots")?;
        for (column, heading) in (0..).zip(headings) {
            sheet.write_string(0, column, heading)?;
        }
        Ok(Self { workbook, rows: 0 })
    }

    /// Adds a robot.
    pub(super) fn write(&mut self, robot: &Robot, fields: &[Field]) -> io::Result<()> {
        self.rows += 1;
        if self.rows > ROWS {
            return Err(invalid(format!(
                "a workbook has at most {ROWS} robots; export CSV"
            )));
        }
        for (column, field) in (0..).zip(fields) {
            if let Some(value) = robot.value_of(field) {
                self.write_value(column, field, &value)
                    .map_err(io::Error::other)?;
            }
        }
        Ok(())
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "greater integers are written as texts"
    )]
    fn write_value(
        &mut self,
        column: u16,
        field: &Field,
        value: &Value<'_>,
    ) -> Result<(), XlsxError> {
        let row = self.rows;
        let sheet = self.workbook.worksheet_from_index(0)?;
        let written = match value {
            Value::Id(id) if id.get().unsigned_abs() <= INTEGERS => {
                sheet.write_number(row, column, id.get() as f64)
            }
            Value::Integer(integer) if integer.unsigned_abs() <= INTEGERS => {
                sheet.write_number(row, column, *integer as f64)
            }
            Value::Number(number) => sheet.write_number(row, column, *number),
            Value::Boolean(boolean) => sheet.write_boolean(row, column, *boolean),
            // Workbooks have no times before 1900.
            Value::Text(text) if field.kind().is_time() && text.as_ref() >= "1900-03-01" => {
                let format = field.kind().time().map_or("", |time| time.cells);
                let format = Format::new().set_num_format(format);
                match ExcelDateTime::parse_from_str(text) {
                    Ok(time) => sheet.write_datetime_with_format(row, column, time, &format),
                    Err(_) => sheet.write_string(row, column, text.as_ref()),
                }
            }
            value => sheet.write_string(row, column, value.to_string()),
        };
        written.map(drop)
    }

    /// Writes the workbook.
    pub(super) fn finish(mut self, output: &mut dyn Write) -> io::Result<()> {
        let bytes = self.workbook.save_to_buffer().map_err(io::Error::other)?;
        output.write_all(&bytes)
    }
}
