//! Robots in the formats that they are read in.

use std::io::{self, Write};

use super::format::Format;
use crate::model::{Field, Robot, View};

/// Writes robots in a format, some at a time.
///
/// What it writes, [`Records`](super::Records) reads: names stay as they are, byte for byte. That
/// includes those that a spreadsheet would take for a formula.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidDraft, Field, transfer::{Format, RobotWriter}};
///
/// let robot = ValidDraft::new(Draft::new("R2-D2, \"Artoo\"", "droid", 1977))?
///     .with_id(RobotId::new(7).ok_or("not positive")?);
/// let mut file = Vec::new();
/// let mut writer = RobotWriter::new(Format::Csv).fields(Field::list("name,year")?);
/// writer.write(&[robot], &mut file)?;
/// writer.finish(&mut file)?;
/// assert_eq!(file, b"name,year\n\"R2-D2, \"\"Artoo\"\"\",1977\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RobotWriter {
    format: Format,
    fields: Vec<Field>,
    begun: bool,
}

impl RobotWriter {
    /// A writer of all fields in this format.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self {
            format,
            fields: Field::ALL.to_vec(),
            begun: false,
        }
    }

    /// Only these fields, in this order.
    #[must_use]
    pub fn fields(mut self, fields: Vec<Field>) -> Self {
        self.fields = fields;
        self
    }

    /// Writes some robots, after those before.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn write(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Csv => self.rows(robots, output).map_err(kept_kind),
            Format::Json => self.elements(robots, output),
            Format::Ndjson => self.lines(robots, output),
        }
    }

    /// Writes what comes after the last robot, also where there was none.
    ///
    /// # Errors
    /// The output takes no more.
    pub fn finish(&mut self, output: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Csv => self.write(&[], output),
            Format::Json => output.write_all(if self.begun { b"\n]\n" } else { b"[]\n" }),
            Format::Ndjson => Ok(()),
        }
    }

    /// A header line, which is there without robots, too, and a row for each robot.
    fn rows(&mut self, robots: &[Robot], output: &mut dyn Write) -> csv::Result<()> {
        let mut writer = csv::Writer::from_writer(output);
        if !self.begun {
            self.begun = true;
            writer.write_record(self.fields.iter().map(|field| field.as_str()))?;
        }
        let mut numbers = (itoa::Buffer::new(), itoa::Buffer::new());
        for robot in robots {
            let id = numbers.0.format(robot.id().get());
            let year = numbers.1.format(robot.year());
            for field in &self.fields {
                writer.write_field(match field {
                    Field::Id => id,
                    Field::Name => robot.name(),
                    Field::Type => robot.robot_type().as_str(),
                    Field::Year => year,
                })?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(writer.flush()?)
    }

    /// An array of objects, each on a line of its own.
    fn elements(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        for robot in robots {
            output.write_all(if self.begun { b",\n" } else { b"[\n" })?;
            self.begun = true;
            self.object(robot, output)?;
        }
        Ok(())
    }

    /// An object a line.
    fn lines(&self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        for robot in robots {
            self.object(robot, output)?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }

    fn object(&self, robot: &Robot, output: &mut dyn Write) -> io::Result<()> {
        let fields = &self.fields;
        Ok(serde_json::to_writer(output, &View { robot, fields })?)
    }
}

/// The failure to write behind a failure of the CSV writer. The library's own conversion
/// forgets the kind, by which a broken pipe is told from a full disk.
fn kept_kind(error: csv::Error) -> io::Error {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other(message),
    }
}
