//! `summary`: the numbers of robots by type and decade.

use std::io::{self, Write};

use robot_core::Summary;

use crate::{
    context::{Context, Format},
    failure::Failure,
    selection::TextFilterArgs,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  robot-cli summary
  robot-cli summary --type droid --format csv
  robot-cli summary --containing r2 --ignore-case";

/// Prints the summary.
pub(crate) fn run(filter: &TextFilterArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let summary = context.open_existing()?.summary(&filter.filter())?;
    print(&summary, context.print_format(), context.output).map_err(Failure::output)
}

fn print(summary: &Summary, format: Format, output: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Table => print_table(summary, output)?,
        Format::Json => writeln!(output, "{}", serde_json::to_string(summary)?)?,
        Format::Ndjson => {
            for group in &summary.groups {
                writeln!(output, "{}", serde_json::to_string(group)?)?;
            }
        }
        Format::Csv => {
            writeln!(output, "type,decade,count")?;
            for group in &summary.groups {
                let name = group.robot_type.as_str();
                writeln!(output, "{name},{},{}", group.decade, group.count)?;
            }
        }
    }
    output.flush()
}

fn print_table(summary: &Summary, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{:<10}  {:>8}  {:>10}", "TYPE", "DECADE", "ROBOTS")?;
    for group in &summary.groups {
        let (name, decade) = (group.robot_type.as_str(), format!("{}s", group.decade));
        writeln!(output, "{name:<10}  {decade:>8}  {:>10}", group.count)?;
    }
    writeln!(output, "{:<10}  {:>8}  {:>10}", "all", "", summary.count)
}
