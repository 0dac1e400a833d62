//! Printer of changes: as rows for people, and as objects of the API for programs.

use std::io::{self, Write};

use robot_core::http::EventView;
use serde_json::Value;

use crate::{context::OutputFormat, error::CliError, rows::RowTable};

/// A printer of changes in parts.
pub(crate) struct EventPrinter<'a> {
    columns: &'a [&'a str],
    /// `None` for programs.
    table: Option<RowTable>,
}

impl<'a> EventPrinter<'a> {
    /// A printer of tables with these columns, or of a JSON object per line.
    pub(crate) fn new(format: OutputFormat, columns: &'a [&'a str]) -> Result<Self, CliError> {
        let table = match format {
            OutputFormat::Table => Some(RowTable::default()),
            OutputFormat::Json | OutputFormat::Ndjson => None,
            OutputFormat::Csv => {
                let message = "changes are no rows of CSV; use --format ndjson or table";
                return Err(CliError::usage(message));
            }
        };
        Ok(Self { columns, table })
    }

    /// Prints changes and, in a table, their rows.
    pub(crate) fn print(
        &mut self,
        events: &[EventView<'_>],
        row: impl FnMut(usize) -> Result<Vec<Value>, CliError>,
        output: &mut dyn Write,
    ) -> Result<(), CliError> {
        let printed = if let Some(table) = &mut self.table {
            let rows = (0..events.len()).map(row).collect::<Result<Vec<_>, _>>()?;
            table.print(self.columns, &rows, output)
        } else {
            events.iter().try_for_each(|event| {
                serde_json::to_writer(&mut *output, event).map_err(io::Error::from)?;
                writeln!(output)
            })
        };
        printed
            .and_then(|()| output.flush())
            .map_err(CliError::output)
    }
}
