//! Rows of values that are not robots, in the formats of `--format`.

use std::io::{self, Write};

use anstyle::Style;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::{context::OutputFormat, printable::printable, table::print_row};

/// Rows with the same columns.
pub(crate) struct Rows<'a> {
    pub(crate) columns: Vec<&'a str>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Rows<'_> {
    /// Prints the rows, and flushes. In JSON, the array is between two texts.
    pub(crate) fn print(
        &self,
        format: OutputFormat,
        [before, after]: [&str; 2],
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let objects = self.rows.iter().map(|row| {
            let members = self.columns.iter().zip(row);
            let members = members.map(|(column, value)| format!("\"{column}\":{value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        });
        match format {
            OutputFormat::Table => RowTable::default().print(&self.columns, &self.rows, output)?,
            OutputFormat::Json => {
                let objects: Vec<_> = objects.collect();
                writeln!(output, "{before}[{}]{after}", objects.join(","))?;
            }
            OutputFormat::Ndjson => {
                for object in objects {
                    writeln!(output, "{object}")?;
                }
            }
            OutputFormat::Csv => {
                let mut writer = csv::Writer::from_writer(&mut *output);
                writer.write_record(&self.columns)?;
                for row in &self.rows {
                    writer.write_record(row.iter().map(text))?;
                }
                writer.flush()?;
            }
        }
        output.flush()
    }
}

/// A table that is printed in parts. Numbers are right-aligned.
#[derive(Default)]
pub(crate) struct RowTable {
    /// The display width of each column, and whether it has a number; empty before the first part.
    columns: Vec<(usize, bool)>,
}

impl RowTable {
    /// Prints rows in aligned columns, at least as wide as those before. The header is before the first ones.
    pub(crate) fn print(
        &mut self,
        columns: &[&str],
        rows: &[Vec<Value>],
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        if self.columns.is_empty() {
            let header = columns.iter().map(|column| column.to_uppercase());
            lines.push(header.collect::<Vec<_>>());
            self.columns.resize(columns.len(), (0, false));
        }
        lines.extend(rows.iter().map(|row| {
            let cells = row.iter().map(|value| printable(&text(value)).into_owned());
            cells.collect()
        }));
        for (index, (width, is_number)) in self.columns.iter_mut().enumerate() {
            let widths = lines.iter().map(|line| line[index].width());
            *width = widths.max().unwrap_or_default().max(*width);
            *is_number |= rows.iter().any(|row| row[index].is_number());
        }
        lines.iter().try_for_each(|line| {
            let cells = line
                .iter()
                .zip(&self.columns)
                .map(|(cell, (width, is_number))| (cell.into(), Style::new(), *width, *is_number));
            print_row(cells, output)
        })
    }
}

/// A value as text; none is empty.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}
