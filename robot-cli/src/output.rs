//! Robots on the output, in the format that the user chose.
//!
//! Robots are printed page by page as they arrive, so that a catalogue of any size needs no
//! more memory than a page.

use std::io::{self, Write};

use robot_core::Robot;

use crate::{arguments::Format, failure::Failure, table::Table, terminal::Screen};

/// A form that robots can be printed in.
trait Layout {
    /// Prints some robots, after those of the pages before.
    fn page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()>;

    /// Prints what comes after the last page.
    fn end(&mut self, output: &mut dyn Write) -> io::Result<()>;
}

/// Prints one robot, and flushes.
pub(crate) fn print_robot(robot: &Robot, format: Format, output: &mut dyn Write) -> io::Result<()> {
    let mut layout = match format {
        // One robot is one object, with no array around it.
        Format::Json => Box::new(JsonLines),
        other => layout(other),
    };
    layout.page(std::slice::from_ref(robot), output)?;
    layout.end(output)?;
    output.flush()
}

/// Prints robots as their pages arrive, and flushes.
pub(crate) fn print_pages(
    pages: impl Iterator<Item = robot_core::Result<Vec<Robot>>>,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut layout = layout(format);
    for page in pages {
        layout.page(&page?, output).map_err(Failure::Output)?;
    }
    layout.end(output).map_err(Failure::Output)?;
    output.flush().map_err(Failure::Output)
}

fn layout(format: Format) -> Box<dyn Layout> {
    match format {
        Format::Table => Box::new(Table::new(Screen::of_standard_output())),
        Format::Json => Box::new(JsonArray::default()),
        Format::Ndjson => Box::new(JsonLines),
        Format::Csv => Box::new(Csv::default()),
    }
}

impl Layout for Table {
    fn page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        self.print(robots, output)
    }

    fn end(&mut self, _output: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// An array of objects, each on a line of its own.
#[derive(Default)]
struct JsonArray {
    begun: bool,
}

impl Layout for JsonArray {
    fn page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        for robot in robots {
            output.write_all(if self.begun { b",\n" } else { b"[\n" })?;
            self.begun = true;
            serde_json::to_writer(&mut *output, robot)?;
        }
        Ok(())
    }

    fn end(&mut self, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(if self.begun { b"\n]\n" } else { b"[]\n" })
    }
}

/// An object a line.
struct JsonLines;

impl Layout for JsonLines {
    fn page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        for robot in robots {
            serde_json::to_writer(&mut *output, robot)?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end(&mut self, _output: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// A header line, which is there without robots, too, and a row for each robot.
#[derive(Default)]
struct Csv {
    begun: bool,
}

impl Csv {
    fn write(&mut self, robots: &[Robot], output: &mut dyn Write) -> csv::Result<()> {
        let mut writer = csv::Writer::from_writer(output);
        if !self.begun {
            self.begun = true;
            writer.write_record(["id", "name", "type", "year"])?;
        }
        for robot in robots {
            writer.write_record([
                robot.id().to_string().as_str(),
                robot.name(),
                robot.robot_type().as_str(),
                robot.year().to_string().as_str(),
            ])?;
        }
        Ok(writer.flush()?)
    }
}

impl Layout for Csv {
    fn page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        self.write(robots, output).map_err(kept_kind)
    }

    fn end(&mut self, output: &mut dyn Write) -> io::Result<()> {
        self.page(&[], output)
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
