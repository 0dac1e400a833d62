//! Printer of robots and other results in the formats of `--format`.
//!
//! Robots are printed page by page, so memory does not depend on the size of the catalogue.

use std::{
    io::{self, Write},
    slice,
};

use robot_core::{Field, Robot, transfer::RobotWriter};
use serde_json::Value;

use crate::{context::Context, failure::Failure, format::Format, table::Table, terminal::Screen};

/// Prints fields of one robot, and flushes.
pub(crate) fn print_robot(
    robot: &Robot,
    fields: Vec<Field>,
    format: Format,
    output: &mut dyn Write,
) -> io::Result<()> {
    // One robot is one object, with no array around it.
    let is_array = format == Format::Json;
    let mut printer = Printer::new(if is_array { Format::Ndjson } else { format }, fields);
    printer.print(slice::from_ref(robot), output)?;
    printer.finish(output)
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
    let mut printer = Printer::new(format, fields);
    for page in pages {
        printer.print(&page?, output).map_err(Failure::output)?;
    }
    printer.finish(output).map_err(Failure::output)
}

/// Prints the result of a command that is not about single robots, and flushes: a text, or its members as a
/// JSON object or a row of CSV.
pub(crate) fn print_result(
    text: &str,
    members: &[(&str, Value)],
    context: &mut Context<'_>,
) -> io::Result<()> {
    let format = context.print_format();
    let output = &mut *context.output;
    match format {
        Format::Table => writeln!(output, "{text}")?,
        Format::Json | Format::Ndjson => {
            let members = members.iter().cloned();
            let members = members.map(|(name, value)| (name.to_owned(), value));
            writeln!(output, "{}", Value::Object(members.collect()))?;
        }
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut *output);
            writer.write_record(members.iter().map(|(name, _)| name))?;
            writer.write_record(members.iter().map(|(_, value)| match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            }))?;
            writer.flush()?;
        }
    }
    output.flush()
}

/// Prints robots page by page.
enum Printer {
    Table(Table),
    File(RobotWriter),
}

impl Printer {
    fn new(format: Format, fields: Vec<Field>) -> Self {
        match format.of_files() {
            None => Self::Table(Table::new(Screen::of_standard_output()).fields(fields)),
            Some(format) => Self::File(RobotWriter::new(format).fields(fields)),
        }
    }

    fn print(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Table(table) => table.print(robots, output),
            Self::File(writer) => writer.write(robots, output),
        }
    }

    /// Prints the text after the last page, and flushes.
    fn finish(&mut self, output: &mut dyn Write) -> io::Result<()> {
        if let Self::File(writer) = self {
            writer.finish(output)?;
        }
        output.flush()
    }
}
