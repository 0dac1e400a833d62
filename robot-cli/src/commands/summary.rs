//! `summary`: the numbers of robots by type and decade, or by the values of a field.

use std::io::{self, Write};

use clap::Args;
use robot_core::{Field, SummaryGroup};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::{
    context::{Context, Format},
    failure::Failure,
    fields::{find, invalid},
    printable::printable,
    rows::{Rows, text},
    selection::TextFilterArgs,
};

const EXAMPLES: &str = "\
Examples:
  robot-cli summary
  robot-cli summary --type droid --format csv
  robot-cli summary --containing r2 --ignore-case
  robot-cli summary --by type";

/// Arguments of `summary`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SummaryArgs {
    /// Count by the values of this field: choices, true and false, or the years of dates
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,

    #[command(flatten)]
    filter: TextFilterArgs,
}

/// Prints the summary.
pub(crate) fn run(args: &SummaryArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let catalogue = context.open_existing()?;
    let definition = catalogue.definition();
    let filter = args.filter.filter(&definition)?;
    let groups: (Vec<_>, Vec<_>) = match &args.by {
        None => {
            let groups = catalogue.summary(&filter)?.groups.into_iter();
            let row = |group: SummaryGroup| {
                vec![
                    json!(group.robot_type),
                    json!(group.decade),
                    json!(group.count),
                ]
            };
            (vec!["type", "decade"], groups.map(row).collect())
        }
        Some(name) => {
            let countable: Vec<_> = definition.countable().collect();
            let field = find(name, "fields", &countable, Field::name);
            let field = field.map_err(|message| invalid("by", name, message))?;
            let counts = catalogue.value_counts(&filter, field)?.into_iter();
            let row = |(value, count)| vec![json!(value), json!(count)];
            (vec![field.name()], counts.map(row).collect())
        }
    };
    let printed = print(groups, context.print_format(), context.output);
    printed.map_err(Failure::output)
}

/// Prints groups: their columns and values, of which the last is the number of robots.
fn print(
    (mut columns, rows): (Vec<&str>, Vec<Vec<Value>>),
    format: Format,
    output: &mut dyn Write,
) -> io::Result<()> {
    let counts = rows.iter().filter_map(|row| row.last()?.as_u64());
    let count: u64 = counts.sum();
    if format != Format::Table {
        columns.push("count");
        let before = format!("{{\"count\":{count},\"groups\":");
        return Rows { columns, rows }.print(format, [&before, "}"], output);
    }
    let header = columns.iter().map(|column| column.to_uppercase());
    let mut lines = vec![header.chain(["ROBOTS".to_owned()]).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| {
        let texts = row
            .iter()
            .enumerate()
            .map(|(index, value)| match columns.get(index) {
                Some(&"decade") if !value.is_null() => format!("{value}s"),
                _ => printable(&text(value)).into_owned(),
            });
        texts.collect()
    }));
    let mut all = vec![String::new(); columns.len()];
    "all".clone_into(&mut all[0]);
    lines.push([all, vec![count.to_string()]].concat());
    let widths = lines.iter().map(|line| line[0].width());
    let width = widths.max().unwrap_or_default().max(10);
    for line in lines {
        write!(output, "{}{:2$}", line[0], "", width - line[0].width())?;
        for (text, width) in line[1..].iter().rev().zip([10, 8]).rev() {
            write!(output, "  {text:>width$}")?;
        }
        writeln!(output)?;
    }
    output.flush()
}
