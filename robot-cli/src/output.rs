//! Printer of robots and other results in the formats of `--format`.
//!
//! Robots are printed page by page, so memory does not depend on the size of the catalogue.

use std::{
    io::{self, Write},
    slice,
};

use robot_core::{Robot, transfer::RobotWriter};
use serde_json::Value;

use crate::{
    context::{Context, Format},
    failure::Failure,
    fields::Columns,
    rows::Rows,
    table::Table,
    terminal::Screen,
};

/// The failure of a command whose result cannot be printed.
type NotPrinted = fn(io::Error) -> Failure;

impl Context<'_> {
    /// Prints a text, and flushes.
    pub(crate) fn print(&mut self, text: &str, failure: NotPrinted) -> Result<(), Failure> {
        let written = self.output.write_all(text.as_bytes());
        written.and_then(|()| self.output.flush()).map_err(failure)
    }

    /// Prints one robot, and flushes.
    pub(crate) fn print_robot(
        &mut self,
        robot: &Robot,
        columns: &Columns,
        failure: NotPrinted,
    ) -> Result<(), Failure> {
        let format = match self.print_format() {
            // One robot is one object, with no array around it.
            Format::Json => Format::Ndjson,
            format => format,
        };
        let mut printer = Printer::new(format, columns);
        let printed = printer.print(slice::from_ref(robot), self.output);
        let finished = printed.and_then(|()| printer.finish(self.output));
        finished.map_err(failure)
    }

    /// Prints the robots of pages, and flushes. If there are none, the hint replaces a table, on
    /// standard error; the other formats have an empty result.
    pub(crate) fn print_pages(
        &mut self,
        pages: impl Iterator<Item = robot_core::Result<Vec<Robot>>>,
        columns: &Columns,
        hint: Option<&str>,
    ) -> Result<(), Failure> {
        let mut pages = pages.peekable();
        if self.print_format() == Format::Table && pages.peek().is_none() {
            if let Some(hint) = hint {
                let _ = writeln!(io::stderr(), "{hint}");
            }
            return Ok(());
        }
        let mut printer = Printer::new(self.print_format(), columns);
        for page in pages {
            printer
                .print(&page?, self.output)
                .map_err(Failure::output)?;
        }
        printer.finish(self.output).map_err(Failure::output)
    }

    /// Prints the result of a command that is not about single robots, and flushes: a text, or its members
    /// as a JSON object or a row of CSV.
    pub(crate) fn print_result(
        &mut self,
        text: &str,
        members: &[(&str, Value)],
        failure: NotPrinted,
    ) -> Result<(), Failure> {
        match self.print_format() {
            Format::Table => {
                let text = self.worded(text);
                self.print(&format!("{text}\n"), failure)
            }
            Format::Json | Format::Ndjson => {
                let object: Value = members.iter().cloned().collect();
                self.print(&format!("{object}\n"), failure)
            }
            Format::Csv => {
                let (columns, row) = members.iter().cloned().unzip();
                let rows = vec![row];
                let printed = Rows { columns, rows }.print(Format::Csv, ["", ""], self.output);
                printed.map_err(failure)
            }
        }
    }
}

/// Prints robots page by page.
enum Printer {
    Table(Table),
    File(Box<RobotWriter>),
}

impl Printer {
    fn new(format: Format, columns: &Columns) -> Self {
        match format.of_files() {
            None => Self::Table(Table::new(Screen::of_standard_output(), columns)),
            Some(format) => {
                let writer = RobotWriter::new(format, columns.fields.clone());
                Self::File(Box::new(writer))
            }
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
