//! `summary`: the numbers of robots by type and decade, or by the values of a field.

use clap::Args;
use robot_core::{Catalogue, CatalogueExt, Field, SummaryGroup};
use serde_json::json;

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    fields::{find, invalid},
    rows::Rows,
    selection::TextFilterArgs,
};

/// Arguments of `summary`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/summary.txt"))]
pub(crate) struct SummaryArgs {
    /// Count by the values of this field (dates: by year)
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,

    /// Count only so many values, the most frequent ones first
    #[arg(long, value_name = "NUMBER", requires = "by")]
    limit: Option<usize>,

    #[command(flatten)]
    filter: TextFilterArgs,
}

/// Prints the summary.
pub(crate) fn run(args: &SummaryArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let catalogue = context.open_existing()?;
    let definition = catalogue.definition();
    let filter = args.filter.filter(&*catalogue)?;
    let format = context.print_format();
    let mut others = None;
    let (mut columns, mut rows): (Vec<_>, Vec<_>) = match &args.by {
        None => {
            let groups = catalogue.summary(&filter)?.groups.into_iter();
            let decade = |decade| match format {
                OutputFormat::Table => json!(format!("{decade}s")),
                _ => json!(decade),
            };
            let row = |group: SummaryGroup| {
                let decade = group.decade.map(decade);
                vec![json!(group.robot_type), json!(decade), json!(group.count)]
            };
            (vec!["type", "decade"], groups.map(row).collect())
        }
        Some(name) => {
            let field = find(name, "fields", definition.settable(), Field::name);
            let field = &field.map_err(|message| invalid("by", name, message))?;
            let counts = match args.limit {
                None => catalogue.value_counts(&filter, field)?,
                Some(limit) => {
                    let frequent = catalogue.frequent_values(&filter, field, limit)?;
                    others = Some(frequent.others);
                    frequent.groups
                }
            };
            let row = |(value, count)| vec![json!(value), json!(count)];
            (vec![name], counts.into_iter().map(row).collect())
        }
    };
    let counts = rows.iter().filter_map(|row| row.last()?.as_u64());
    let (values, robots) = others.unwrap_or_default();
    let count: u64 = counts.sum::<u64>() + robots;
    if format == OutputFormat::Table {
        if values > 0 {
            rows.push(vec![json!("others"), json!(robots)]);
        }
        let mut all = vec![json!(null); columns.len()];
        all[0] = json!("all");
        all.push(json!(count));
        rows.push(all);
    }
    columns.push("count");
    let before = format!("{{\"count\":{count},\"groups\":");
    let members = json!({ "values": values, "count": robots });
    let after = others.map_or_else(|| "}".to_owned(), |_| format!(",\"others\":{members}}}"));
    let printed = Rows { columns, rows }.print(format, [&before, &after], context.output);
    printed.map_err(CliError::output)
}
