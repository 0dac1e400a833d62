//! Printer of robots and other results in the formats of `--format`.
//!
//! Robots are printed page by page, so memory does not depend on the size of the catalogue.

use std::{io, iter};

use robot_core::{Robot, transfer::RobotWriter};
use serde_json::Value;

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    fields::PrintedFields,
    rows::Rows,
    table::Table,
    terminal::{Screen, note},
};

/// The failure of a command whose result cannot be printed.
type NotPrinted = fn(io::Error) -> CliError;

impl Context<'_> {
    /// Prints a text, and flushes.
    pub(crate) fn print(&mut self, text: &str, failure: NotPrinted) -> Result<(), CliError> {
        let written = self.output.write_all(text.as_bytes());
        written.and_then(|()| self.output.flush()).map_err(failure)
    }

    /// Prints one robot, and flushes.
    pub(crate) fn print_robot(
        &mut self,
        robot: Robot,
        columns: &PrintedFields,
        failure: NotPrinted,
    ) -> Result<(), CliError> {
        let format = match self.print_format() {
            // One robot is one object, with no array around it.
            OutputFormat::Json => OutputFormat::Ndjson,
            format => format,
        };
        let pages = iter::once(Ok(vec![robot]));
        self.print_robots(format, pages, columns, failure)
    }

    /// Prints the robots of pages, and flushes. If there are none, the hint replaces a table, on
    /// standard error; the other formats have an empty result.
    pub(crate) fn print_pages(
        &mut self,
        pages: impl Iterator<Item = robot_core::Result<Vec<Robot>>>,
        columns: &PrintedFields,
        hint: Option<&str>,
    ) -> Result<(), CliError> {
        let mut pages = pages.peekable();
        let format = self.print_format();
        if format == OutputFormat::Table && pages.peek().is_none() {
            if let Some(hint) = hint {
                note(hint);
            }
            return Ok(());
        }
        self.print_robots(format, pages, columns, CliError::output)
    }

    fn print_robots(
        &mut self,
        format: OutputFormat,
        pages: impl Iterator<Item = robot_core::Result<Vec<Robot>>>,
        columns: &PrintedFields,
        failure: NotPrinted,
    ) -> Result<(), CliError> {
        let Some(format) = format.of_files() else {
            let mut table = Table::new(Screen::of_standard_output(), columns);
            for page in pages {
                table.print(&page?, self.output).map_err(failure)?;
            }
            return self.output.flush().map_err(failure);
        };
        let mut writer = RobotWriter::new(format, columns.fields.clone());
        for page in pages {
            writer.write(&page?, self.output).map_err(failure)?;
        }
        let finished = writer.finish(self.output);
        finished.and_then(|()| self.output.flush()).map_err(failure)
    }

    /// Prints the result of a command that is not about single robots, and flushes: a text, or its members
    /// as a JSON object or a row of CSV.
    pub(crate) fn print_result(
        &mut self,
        text: &str,
        members: &[(&str, Value)],
        failure: NotPrinted,
    ) -> Result<(), CliError> {
        match self.print_format() {
            OutputFormat::Table => {
                let text = self.worded(text);
                self.print(&format!("{text}\n"), failure)
            }
            OutputFormat::Json | OutputFormat::Ndjson => {
                let object: Value = members.iter().cloned().collect();
                self.print(&format!("{object}\n"), failure)
            }
            OutputFormat::Csv => {
                let (columns, row) = members.iter().cloned().unzip();
                let rows = vec![row];
                let printed =
                    Rows { columns, rows }.print(OutputFormat::Csv, ["", ""], self.output);
                printed.map_err(failure)
            }
        }
    }
}
