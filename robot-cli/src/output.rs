//! Printer of robots in the formats of `--format`.
//!
//! Robots are printed page by page, so memory does not depend on the size of the catalogue.

use std::io::{self, Write};

use robot_core::{
    Field, Robot,
    transfer::{self, RobotWriter},
};

use crate::{failure::Failure, format::Format, table::Table, terminal::Screen};

trait Printer {
    fn print_page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()>;

    /// Prints the text after the last page.
    fn finish(&mut self, output: &mut dyn Write) -> io::Result<()>;
}

/// Prints fields of one robot, and flushes.
pub(crate) fn print_robot(
    robot: &Robot,
    fields: Vec<Field>,
    format: Format,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut printer = match format {
        // One robot is one object, with no array around it.
        Format::Json => printer(Format::Ndjson, fields),
        other => printer(other, fields),
    };
    printer.print_page(std::slice::from_ref(robot), output)?;
    printer.finish(output)?;
    output.flush()
}

/// Prints fields of the robots of pages, and flushes. If there are none, the hint replaces a table, on
/// standard error; the other formats have an empty result.
pub(crate) fn print_pages(
    pages: impl Iterator<Item = robot_core::Result<Vec<Robot>>>,
    fields: Vec<Field>,
    format: Format,
    hint: Option<&str>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut pages = pages.peekable();
    if format == Format::Table && pages.peek().is_none() {
        if let Some(hint) = hint {
            let _ = writeln!(io::stderr(), "{hint}");
        }
        return Ok(());
    }
    let mut printer = printer(format, fields);
    for page in pages {
        printer
            .print_page(&page?, output)
            .map_err(Failure::Output)?;
    }
    printer.finish(output).map_err(Failure::Output)?;
    output.flush().map_err(Failure::Output)
}

fn printer(format: Format, fields: Vec<Field>) -> Box<dyn Printer> {
    let format = match format {
        Format::Table => {
            return Box::new(Table::new(Screen::of_standard_output()).fields(fields));
        }
        Format::Json => transfer::Format::Json,
        Format::Ndjson => transfer::Format::Ndjson,
        Format::Csv => transfer::Format::Csv,
    };
    Box::new(RobotWriter::new(format).fields(fields))
}

impl Printer for Table {
    fn print_page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        self.print(robots, output)
    }

    fn finish(&mut self, _output: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

impl Printer for RobotWriter {
    fn print_page(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        self.write(robots, output)
    }

    fn finish(&mut self, output: &mut dyn Write) -> io::Result<()> {
        RobotWriter::finish(self, output)
    }
}
