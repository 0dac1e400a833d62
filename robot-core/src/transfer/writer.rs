//! Writer of robots as CSV, JSON, NDJSON or XLSX.

use std::io::{self, Write};

use super::{columns::normalized, format::FileFormat, workbook::RobotSheet};
use crate::model::{Definition, Field, Robot, Value, View};

/// Writes robots in a format, in any number of steps.
///
/// [`Records`](super::Records) reads its output: names are not changed, not even names that a
/// spreadsheet would interpret as a formula, unless it [is for spreadsheets](Self::is_for_spreadsheets).
///
/// ```
/// use robot_core::{Draft, RobotId, ValidDraft, Field, transfer::{FileFormat, RobotWriter}};
///
/// let robot = ValidDraft::new(Draft::new("R2-D2, \"Artoo\"", "droid", 1977))?
///     .with_id(RobotId::new(7).ok_or("not positive")?);
/// let mut file = Vec::new();
/// let mut writer = RobotWriter::new(FileFormat::Csv, vec![Field::NAME, Field::YEAR]);
/// writer.write(&[robot], &mut file)?;
/// writer.finish(&mut file)?;
/// assert_eq!(file, b"name,year\n\"R2-D2, \"\"Artoo\"\"\",1977\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RobotWriter {
    /// The format.
    pub(crate) format: FileFormat,
    /// The fields that are written, in this order.
    pub(crate) fields: Vec<Field>,
    /// Makes CSV safe to open in a spreadsheet with the comma as separator: the file begins with a byte order mark,
    /// and a text that a spreadsheet would interpret as a formula gets an apostrophe before it. With another
    /// separator, a spreadsheet splits names: `a;=1+1;b` has a formula then. An import of a file with the mark takes
    /// the apostrophe off again. The other formats are unchanged.
    ///
    /// ```
    /// use robot_core::{Draft, Field, RobotId, ValidDraft, transfer::{FileFormat, RobotWriter}};
    ///
    /// let robot = ValidDraft::new(Draft::new("=1+1", "virtual", 1977))?
    ///     .with_id(RobotId::new(7).ok_or("not positive")?);
    /// let mut file = Vec::new();
    /// let mut writer = RobotWriter::new(FileFormat::Csv, vec![Field::NAME]);
    /// writer.is_for_spreadsheets = true;
    /// writer.write(&[robot], &mut file)?;
    /// assert_eq!(file, "\u{feff}name\n'=1+1\n".as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub is_for_spreadsheets: bool,
    /// Those of the fields, in CSV and in a workbook.
    headings: Vec<String>,
    has_started: bool,
    /// The workbook, if that is the format.
    sheet: Option<RobotSheet>,
}

impl RobotWriter {
    /// Creates a writer of these fields in this format.
    #[must_use]
    pub fn new(format: FileFormat, fields: Vec<Field>) -> Self {
        let headings = fields.iter().map(|field| field.name().to_owned());
        Self {
            format,
            headings: headings.collect(),
            fields,
            is_for_spreadsheets: false,
            has_started: false,
            sheet: None,
        }
    }

    /// Writes the titles of fields as headings of CSV and of a workbook, as far as each stands for one field of a
    /// definition, and is no formula. An import understands them.
    #[must_use]
    pub fn with_titles(mut self, definition: &Definition) -> Self {
        for (heading, field) in self.headings.iter_mut().zip(&self.fields) {
            let title = normalized(field.title());
            let has_title = |other: &&Field| {
                [other.name(), other.title()]
                    .map(normalized)
                    .contains(&title)
            };
            let is_alone = definition.all().iter().filter(has_title).count() == 1;
            if is_alone && !is_formula(&title) {
                field.title().clone_into(heading);
            }
        }
        self
    }

    /// Writes robots.
    ///
    /// # Errors
    /// Writing to the output failed.
    pub fn write(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        match self.format {
            FileFormat::Csv => self.rows(robots, output).map_err(io_error),
            FileFormat::Json | FileFormat::Ndjson => self.objects(robots, output),
            FileFormat::Xlsx => {
                let fields = &self.fields;
                let sheet = match &mut self.sheet {
                    Some(sheet) => sheet,
                    none => none.insert(RobotSheet::new(&self.headings).map_err(io::Error::other)?),
                };
                robots
                    .iter()
                    .try_for_each(|robot| sheet.write(robot, fields))
            }
        }
    }

    /// Writes the end of the file. A file without robots is complete, too.
    ///
    /// # Errors
    /// Writing to the output failed.
    pub fn finish(&mut self, output: &mut dyn Write) -> io::Result<()> {
        match self.format {
            FileFormat::Csv => self.write(&[], output),
            FileFormat::Json => output.write_all(if self.has_started { b"\n]\n" } else { b"[]\n" }),
            FileFormat::Ndjson => Ok(()),
            FileFormat::Xlsx => {
                self.write(&[], output)?;
                self.sheet
                    .take()
                    .map_or(Ok(()), |sheet| sheet.finish(output))
            }
        }
    }

    /// Writes the header once, and a row for each robot.
    fn rows(&mut self, robots: &[Robot], output: &mut dyn Write) -> csv::Result<()> {
        if self.is_for_spreadsheets && !self.has_started {
            output.write_all("\u{feff}".as_bytes())?;
        }
        let mut writer = csv::Writer::from_writer(output);
        if !self.has_started {
            self.has_started = true;
            writer.write_record(&self.headings)?;
        }
        for robot in robots {
            for field in &self.fields {
                match robot.value_of(field) {
                    None => writer.write_field("")?,
                    Some(Value::Text(text)) if self.is_for_spreadsheets && is_formula(&text) => {
                        writer.write_field(format!("'{text}"))?;
                    }
                    Some(Value::Text(text)) => writer.write_field(text.as_ref())?,
                    Some(value) => writer.write_field(value.to_string())?,
                }
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(writer.flush()?)
    }

    /// Writes one object per line, in JSON as elements of an array.
    fn objects(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        let fields = &self.fields;
        let (opening, separator, end) = match self.format {
            FileFormat::Json => ("[\n", ",\n", ""),
            FileFormat::Csv | FileFormat::Ndjson | FileFormat::Xlsx => ("", "", "\n"),
        };
        for robot in robots {
            let before = if self.has_started { separator } else { opening };
            self.has_started = true;
            output.write_all(before.as_bytes())?;
            serde_json::to_writer(&mut *output, &View { robot, fields })?;
            output.write_all(end.as_bytes())?;
        }
        Ok(())
    }
}

/// A text without the apostrophe that makes it safe for spreadsheets.
pub(super) fn without_apostrophe(text: &[u8]) -> &[u8] {
    let escaped = text
        .strip_prefix(b"'")
        .filter(|rest| str::from_utf8(rest).is_ok_and(is_formula));
    escaped.unwrap_or(text)
}

/// Whether a spreadsheet may interpret a text as a formula: the first characters that OWASP lists for
/// "CSV injection", also in full width. Or whether it begins with apostrophes before them, of which an import would
/// take off one.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'')
        .starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// The I/O error within an error of the CSV writer. The library's own conversion drops the kind, which
/// distinguishes a broken pipe from a full disk.
fn io_error(error: csv::Error) -> io::Error {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other(message),
    }
}
