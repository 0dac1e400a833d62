//! Robots on the output, in the format that the user chose.
//!
//! Robots are printed page by page as they arrive, so that a catalogue of any size needs no
//! more memory than a page.

use std::io::{self, Write};

use robot_core::{
    Robot,
    transfer::{self, RobotWriter},
};

use crate::{failure::Failure, format::Format, table::Table, terminal::Screen};

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
        Format::Json => layout(Format::Ndjson),
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
    Box::new(RobotWriter::new(match format {
        Format::Table => return Box::new(Table::new(Screen::of_standard_output())),
        Format::Json => transfer::Format::Json,
        Format::Ndjson => transfer::Format::Ndjson,
        Format::Csv => transfer::Format::Csv,
    }))
}

impl Layout for Table {
    fn page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        self.print(robots, output)
    }

    fn end(&mut self, _output: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

impl Layout for RobotWriter {
    fn page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        self.write(robots, output)
    }

    fn end(&mut self, output: &mut dyn Write) -> io::Result<()> {
        self.finish(output)
    }
}
