//! Printer of changes: as rows for people, and as objects of the API for programs.

use std::io::{self, Write};

use robot_core::{Definition, Event, Robot, http::EventView};
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
        row: impl FnMut(usize) -> Vec<Value>,
        output: &mut dyn Write,
    ) -> Result<(), CliError> {
        let printed = if let Some(table) = &mut self.table {
            let rows: Vec<_> = (0..events.len()).map(row).collect();
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

/// The values that a change has changed, of the fields that the catalogue has now.
pub(crate) fn changed_values(event: &Event, definition: &Definition) -> String {
    let fields = definition.settable().iter().filter_map(|field| {
        let name = field.name();
        let of = |robot: &Option<Robot>| Some(robot.as_ref()?.value(name)?.to_string());
        let (before, now) = (of(&event.before), of(&event.robot));
        let text = |value: &Option<String>| value.as_deref().unwrap_or("none").to_owned();
        let change = match event.before {
            None => format!("{name}={}", text(&now)),
            Some(_) => format!("{name}: {} → {}", text(&before), text(&now)),
        };
        (before != now).then_some(change)
    });
    fields.collect::<Vec<_>>().join(", ")
}
