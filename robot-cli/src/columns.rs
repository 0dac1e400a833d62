//! Columns of a file to import: which fields they stand for, and the fields that they need.

use std::io;

use clap::{Args, builder::PossibleValuesParser};
use robot_core::{
    Definition, Field,
    transfer::{Columns, OnConflict, Proposal, ProposedChange, Survey},
};
use serde_json::json;

use crate::{
    context::Format,
    failure::Failure,
    fields::{invalid, settable},
    rows::Rows,
    terminal::{self, ConfirmationArgs},
};

/// Arguments about the columns of a file, or the members of its records.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// What finds the robot that a record changes: name, as with --on-conflict replace, or id
    #[arg(
        long = "match",
        value_name = "FIELD",
        value_parser = PossibleValuesParser::new(["name", "id"]),
        hide_possible_values = true,
        conflicts_with = "on_conflict"
    )]
    matched: Option<String>,

    /// The field that a column stands for; may be repeated
    #[arg(long, value_name = PAIR)]
    map: Vec<String>,

    /// Columns to leave out, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
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
    /// What happens to records of robots that exist.
    pub(crate) fn on_conflict(&self, otherwise: OnConflict) -> OnConflict {
        match self.matched.as_deref() {
            Some("id") => OnConflict::MatchId,
            Some(_) => OnConflict::Replace,
            None => otherwise,
        }
    }

    /// The columns in a catalogue with this definition.
    ///
    /// Records with unknown columns fail if they can be read only once.
    pub(crate) fn columns(
        &self,
        definition: &Definition,
        is_read_once: bool,
    ) -> Result<Columns, Failure> {
        let mut columns = Columns::of(definition.clone().into());
        for pair in &self.map {
            let (heading, field) = pair
                .rsplit_once('=')
                .ok_or_else(|| invalid("map", PAIR, pair, format!("write it as {PAIR}")))?;
            if !self.define {
                settable(field, definition)
                    .map_err(|message| invalid("map", PAIR, pair, message))?;
            }
            columns = columns.map(heading, field);
        }
        for heading in &self.ignore {
            columns = columns.ignore(heading);
        }
        if is_read_once && !self.define && !self.ignore_unknown {
            columns = columns.strict();
        }
        Ok(match self.matched.as_deref() {
            Some("id") => columns.with_ids(),
            Some(_) => columns.ignore("id"),
            None => columns,
        })
    }

    /// Refuses a file with columns that would not be stored, unless the user leaves them out.
    pub(crate) fn check(
        &self,
        unknown: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<(), Failure> {
        let unknown = unknown.into_iter();
        let unknown = unknown.map(|heading| heading.as_ref().trim().to_owned());
        let (ids, unknown): (Vec<_>, Vec<_>) =
            unknown.partition(|heading| heading.eq_ignore_ascii_case("id"));
        if !ids.is_empty() {
            return Err(Failure::new(
                "the file has ids; add --match id to change the robots with these ids, --match name \
                 to change the robots with these names, or --ignore id to add robots with new ids",
            ));
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let names = unknown.join(", ");
        if self.ignore_unknown {
            terminal::note(&format!("Columns that are left out: {names}."));
            return Ok(());
        }
        let mut list = unknown.join(",");
        if list
            .contains(|character: char| !character.is_alphanumeric() && !",_-".contains(character))
        {
            list = format!("\"{list}\"");
        }
        Err(Failure::new(format_args!(
            "the file has columns that the catalogue does not have: {names}; add them with --define or \
             \"robot-cli fields add\", map them with --map, or leave them out with --ignore {list}"
        )))
    }

    /// The definition that the file needs, after the user has confirmed it.
    pub(crate) fn define(
        &self,
        survey: &Survey,
        is_dry_run: bool,
    ) -> Result<(Columns, Option<Definition>), Failure> {
        self.check(
            survey
                .unknown()
                .filter(|heading| heading.eq_ignore_ascii_case("id")),
        )?;
        let proposal = survey.propose(self.choices).map_err(Failure::new)?;
        if proposal.changes.is_empty() {
            return Ok((proposal.columns, None));
        }
        show(&proposal);
        if is_dry_run {
            return Ok((proposal.columns, Some(proposal.definition)));
        }
        let action = "changing the fields";
        self.confirmation
            .confirm(action, || Ok(()), "Define these fields?")?;
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
