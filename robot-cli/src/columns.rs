//! Columns of a file to import: which fields they stand for, and the fields that they need.

use std::io;

use clap::Args;
use robot_core::{
    Definition, Field,
    transfer::{Columns, Proposal, ProposalError, ProposedChange, Survey},
};
use serde_json::json;

use crate::{
    context::Format,
    failure::Failure,
    fields::{invalid, settable},
    rows::Rows,
    terminal::ConfirmationArgs,
};

/// Arguments about the columns of a file, or the members of its records.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// The field that a column stands for; may be repeated
    #[arg(long, value_name = PAIR)]
    map: Vec<String>,

    /// Columns to leave out, separated by commas
    #[arg(long, value_name = "COLUMNS")]
    ignore: Vec<String>,

    /// Leave out all columns that are no fields
    #[arg(long)]
    ignore_unknown: bool,

    /// Add the fields that the file needs, and ask before
    #[arg(long, conflicts_with = "ignore_unknown")]
    pub(crate) define: bool,

    /// Make choices of texts that are few and repeated
    #[arg(long, requires = "define")]
    choices: bool,

    #[command(flatten)]
    confirmation: ConfirmationArgs,
}

/// The value of `--map`.
const PAIR: &str = "COLUMN=FIELD";

impl ColumnArgs {
    /// The columns in a catalogue with this definition. Unknown columns are errors, unless the user leaves them out
    /// or they are [checked](Self::check) before the import.
    pub(crate) fn choose(
        &self,
        mut columns: Columns,
        definition: &Definition,
        are_checked: bool,
    ) -> Result<Columns, Failure> {
        for pair in &self.map {
            let (heading, field) = pair
                .rsplit_once('=')
                .ok_or_else(|| invalid("map", pair, format!("write it as {PAIR}")))?;
            if !self.define {
                settable(field, definition).map_err(|message| invalid("map", pair, message))?;
            }
            columns = columns.map(heading, field);
        }
        for list in &self.ignore {
            let mut reader = csv::ReaderBuilder::new();
            let reader = reader.has_headers(false).from_reader(list.as_bytes());
            // A row of CSV, so that headings in quotes may have commas.
            for row in reader.into_records().flatten() {
                columns = row.iter().fold(columns, Columns::ignore);
            }
        }
        if !self.ignore_unknown && !are_checked {
            columns = columns.strict();
        }
        Ok(columns)
    }

    /// Refuses a file whose ids would not be used, unless the user leaves them out.
    pub(crate) fn check_ids<'a>(mut unknown: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
        if unknown.any(|heading| heading.eq_ignore_ascii_case("id")) {
            return Err(Failure::new(
                "the file has ids; add --match id to change the robots with these ids, --match name \
                 to change the robots with these names, or --ignore id to add robots with new ids",
            ));
        }
        Ok(())
    }

    /// Refuses a file with columns that would not be stored, unless the user leaves them out.
    pub(crate) fn check(&self, unknown: &[String]) -> Result<(), Failure> {
        Self::check_ids(unknown.iter().map(String::as_str))?;
        if unknown.is_empty() || self.ignore_unknown {
            return Ok(());
        }
        Err(Failure::new(format_args!(
            "the file has columns that the catalogue does not have: {}; add them with --define or \
             \"robot-cli fields add\", map them with --map, or leave them out with --ignore, or all \
             with --ignore-unknown",
            unknown.join(", ")
        )))
    }

    /// The definition that the file needs, after the user has confirmed it.
    pub(crate) fn define(
        &self,
        survey: &Survey,
        is_dry_run: bool,
    ) -> Result<(Columns, Option<Definition>), Failure> {
        let proposal = survey.propose(self.choices).map_err(|error| match error {
            ProposalError::NoName(_) => {
                Failure::new(format_args!("{error}. Add --map \"COLUMN=name\""))
            }
            error => Failure::new(error),
        })?;
        if proposal.changes.is_empty() {
            return Ok((proposal.columns, None));
        }
        show(&proposal);
        if !is_dry_run {
            let question = "Define these fields?";
            let action = "changing the fields";
            self.confirmation.confirm(action, || Ok(()), question)?;
        }
        Ok((proposal.columns, Some(proposal.definition)))
    }
}

/// Shows the changes on standard error, because standard output has the result of the import.
fn show(proposal: &Proposal) {
    let row = |change: &ProposedChange| {
        let field = proposal.definition.field(&change.field);
        let limits = field.map_or_else(String::new, Field::limits);
        [&change.heading, &change.field, &limits, &change.reason]
            .map(|text| json!(text))
            .to_vec()
    };
    let rows = Rows {
        columns: vec!["column", "field", "values", "reason"],
        rows: proposal.changes.iter().map(row).collect(),
    };
    // What cannot be shown is not confirmed either.
    let _ = rows.print(Format::Table, ["", ""], &mut io::stderr().lock());
}
