//! Printer of changes: as rows for people, and as objects of the API for programs.

use std::io::{self, Write};

use robot_core::http::EventView;
use serde_json::Value;

use crate::{
    context::OutputFormat,
    rows::{RowTable, text},
};

/// The number of changes that are read and printed together.
pub(crate) const PAGE: usize = 1000;

/// A printer of changes in parts.
pub(crate) struct EventPrinter<'a> {
    format: OutputFormat,
    /// Of tables and CSV.
    columns: &'a [&'a str],
    table: RowTable,
    is_first: bool,
}

impl<'a> EventPrinter<'a> {
    pub(crate) fn new(format: OutputFormat, columns: &'a [&'a str]) -> Self {
        let table = RowTable::default();
        Self {
            format,
            columns,
            table,
            is_first: true,
        }
    }

    /// Prints changes and their rows, and flushes.
    pub(crate) fn print(
        &mut self,
        events: Vec<(EventView<'_>, Vec<Value>)>,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        match self.format {
            _ if events.is_empty() => return Ok(()),
            OutputFormat::Table => {
                let rows: Vec<_> = events.into_iter().map(|(_, row)| row).collect();
                self.table.print(self.columns, &rows, output)?;
            }
            OutputFormat::Csv => {
                let mut writer = csv::Writer::from_writer(&mut *output);
                if self.is_first {
                    writer.write_record(self.columns)?;
                }
                for (_, row) in events {
                    writer.write_record(row.iter().map(text))?;
                }
                writer.flush()?;
            }
            OutputFormat::Ndjson => {
                for (event, _) in events {
                    serde_json::to_writer(&mut *output, &event)?;
                    writeln!(output)?;
                }
            }
            OutputFormat::Json => {
                let separators = if self.is_first { "[\n" } else { ",\n" };
                let separators = [separators].into_iter().chain(std::iter::repeat(",\n"));
                for ((event, _), separator) in events.into_iter().zip(separators) {
                    output.write_all(separator.as_bytes())?;
                    serde_json::to_writer(&mut *output, &event)?;
                }
            }
        }
        self.is_first = false;
        output.flush()
    }

    /// Prints the end of an array, and flushes.
    pub(crate) fn finish(self, output: &mut dyn Write) -> io::Result<()> {
        if self.format == OutputFormat::Json {
            let end = if self.is_first { "[]\n" } else { "\n]\n" };
            output.write_all(end.as_bytes())?;
        }
        output.flush()
    }
}
