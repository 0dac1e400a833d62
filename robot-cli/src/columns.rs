//! Columns of a file to import: which fields they stand for, and the fields that they need.

use std::io;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use robot_core::{
    DateOrder, Definition, Field,
    transfer::{ChangedValue, Columns, Header, Plan, ReadOptions},
};
use serde_json::{Value, json};

use crate::{
    context::OutputFormat,
    error::CliError,
    fields::{invalid, settable},
    rows::Rows,
    terminal::ConfirmationArgs,
};

/// Arguments about the columns of a file, or the members of its records.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Columns")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent options"
)]
pub(crate) struct ColumnArgs {
    /// The field that a column stands for; #3 is the third column; may be repeated
    #[arg(long, value_name = PAIR)]
    map: Vec<String>,

    /// Columns to leave out, separated by commas
    #[arg(long, value_name = "COLUMNS")]
    ignore: Vec<String>,

    /// Leave out all columns that are no fields
    #[arg(long)]
    pub(crate) ignore_unknown: bool,

    /// Add the fields that the file needs, and ask before
    #[arg(long, conflicts_with = "ignore_unknown")]
    pub(crate) define: bool,

    /// Make choices of texts that are few and repeated
    #[arg(long, requires = "define")]
    pub(crate) choices: bool,

    #[arg(long, value_name = "COLUMN=KIND", requires = "define")]
    #[arg(help = format!("The kind of a new field: {}; may be repeated", Columns::kinds("or")))]
    kind: Vec<String>,

    /// A text that means no value; may be repeated
    #[arg(long, value_name = "TEXT")]
    null: Vec<String>,

    /// The order of day and month in dates of numbers: dmy or mdy
    #[arg(
        long,
        value_name = "ORDER",
        value_parser = PossibleValuesParser::new(DateOrder::NAMES)
            .try_map(|name| DateOrder::of_name(&name).ok_or("dmy or mdy")),
        hide_possible_values = true
    )]
    dates: Option<DateOrder>,

    /// The first line of CSV is a record; the columns are #1, #2 and so on
    #[arg(long)]
    no_header: bool,

    /// The sheet of a workbook; the first one without it
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,

    /// The encoding of the file, such as windows-1252; UTF-8 and UTF-16 are recognised
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,

    #[command(flatten)]
    pub(crate) confirmation: ConfirmationArgs,
}

/// The value of `--map`.
const PAIR: &str = "COLUMN=FIELD";

impl ColumnArgs {
    /// The columns in a catalogue with this definition. Unknown columns are errors, unless the user leaves them out.
    pub(crate) fn choose(
        &self,
        mut columns: Columns,
        definition: &Definition,
    ) -> Result<Columns, CliError> {
        for pair in &self.map {
            let (heading, field) = split("map", pair, PAIR)?;
            if !self.define {
                settable(field, definition).map_err(|message| invalid("map", pair, message))?;
            }
            columns = columns.map(heading, field);
        }
        for pair in &self.kind {
            let (heading, kind) = split("kind", pair, "COLUMN=KIND")?;
            columns = columns.kind(heading, kind);
        }
        for list in &self.ignore {
            let mut reader = csv::ReaderBuilder::new();
            let reader = reader.has_headers(false).from_reader(list.as_bytes());
            // A row of CSV, so that headings in quotes may have commas.
            for row in reader.into_records().flatten() {
                columns = row.iter().fold(columns, Columns::ignore);
            }
        }
        columns = self
            .null
            .iter()
            .fold(columns, |columns, text| columns.null(text));
        columns = self.dates.into_iter().fold(columns, Columns::dates);
        Ok(if self.ignore_unknown {
            columns
        } else {
            columns.strict()
        })
    }

    /// How the file is read.
    pub(crate) fn reading(&self) -> Result<ReadOptions, CliError> {
        let mut options = ReadOptions::default();
        options.sheet.clone_from(&self.sheet);
        if self.no_header {
            options.header = Header::None;
        }
        match &self.encoding {
            None => Ok(options),
            Some(name) => options
                .encoding(name)
                .map_err(|message| invalid("encoding", name, message)),
        }
    }
}

/// The two parts of an argument.
fn split<'a>(name: &str, pair: &'a str, form: &str) -> Result<(&'a str, &'a str), CliError> {
    pair.rsplit_once('=')
        .ok_or_else(|| invalid(name, pair, format!("write it as {form}")))
}

/// The failure of a file with columns that would not be stored.
pub(crate) fn unknown(headings: &[String]) -> CliError {
    let quoted = headings.iter().map(|heading| {
        if heading.contains([',', ' ', '"']) {
            format!("\"{}\"", heading.replace('"', "\"\""))
        } else {
            heading.clone()
        }
    });
    let list = quoted.collect::<Vec<_>>().join(",");
    let is_id = |heading: &String| heading.eq_ignore_ascii_case(Field::ID.name());
    if headings.iter().all(is_id) {
        return CliError::new(
            "the file has ids; add --match id to change the robots with these ids, --define to keep them in a field, \
             or --ignore id to leave them out",
        );
    }
    CliError::new(format_args!(
        "the file has columns that the catalogue does not have: {}; add them with --define, map them with --map, \
         or leave them out with --ignore '{list}'",
        headings.join(", ")
    ))
}

/// Shows a plan on standard error, because standard output has the result of the import.
pub(crate) fn show(plan: &Plan) {
    let row = |heading: &str, name: &str, reason: &str| {
        let field = plan.definition.field(name);
        let limits = field.map_or_else(String::new, Field::limits);
        [heading, name, &limits, reason]
            .map(|text| json!(text))
            .to_vec()
    };
    let columns = plan.listed.iter().map(|column| {
        let name = column.field.as_deref().unwrap_or_default();
        let changes = plan.changes.iter();
        let changes = changes.filter(|change| change.field == name && !change.heading.is_empty());
        let reasons: Vec<_> = changes.map(|change| change.reason.as_str()).collect();
        match reasons[..] {
            [] => row(&column.heading, name, &column.reason.to_string()),
            _ => row(&column.heading, name, &reasons.join("; ")),
        }
    });
    let others = plan.changes.iter();
    let others = others.filter(|change| change.heading.is_empty());
    let others = others.map(|change| row("", &change.field, &change.reason));
    show_rows(
        &["column", "field", "values", "reason"],
        columns.chain(others),
    );
}

/// Shows the first values of robots that a plan changes.
pub(crate) fn show_values(plan: &Plan) {
    let rows = plan.changed.iter().map(|value| {
        let ChangedValue {
            id, name, field, ..
        } = value;
        let (before, after) = (json!(value.before), json!(value.after));
        vec![json!(id), json!(name), json!(field), before, after]
    });
    show_rows(&["id", "name", "field", "before", "after"], rows);
}

fn show_rows(columns: &[&'static str], rows: impl Iterator<Item = Vec<Value>>) {
    let rows = Rows {
        columns: columns.to_vec(),
        rows: rows.collect(),
    };
    // What cannot be shown is not confirmed either.
    let _ = rows.print(OutputFormat::Table, ["", ""], &mut io::stderr().lock());
}
