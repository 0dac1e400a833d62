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
            OutputFormat::Table => self.print_table(output)?,
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

    /// Prints the rows in aligned columns. Numbers are right-aligned.
    fn print_table(&self, output: &mut dyn Write) -> io::Result<()> {
        let header = self.columns.iter().map(|column| column.to_uppercase());
        let mut lines = vec![header.collect::<Vec<_>>()];
        lines.extend(self.rows.iter().map(|row| {
            let cells = row.iter().map(|value| printable(&text(value)).into_owned());
            cells.collect()
        }));
        let columns = (0..self.columns.len()).map(|index| {
            let widths = lines.iter().map(|line| line[index].width());
            let is_number = self.rows.iter().any(|row| row[index].is_number());
            (widths.max().unwrap_or_default(), is_number)
        });
        let columns: Vec<_> = columns.collect();
        lines.iter().try_for_each(|line| {
            let cells = line
                .iter()
                .zip(&columns)
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
