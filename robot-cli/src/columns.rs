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
        on_conflict: OnConflict,
        is_read_once: bool,
    ) -> Result<Columns, Failure> {
        let columns = Columns::of(definition.clone().into());
        let mut columns = columns.matching(self.on_conflict(on_conflict));
        if self.matched.as_deref() == Some("name") {
            columns = columns.ignore("id");
        }
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
        for list in &self.ignore {
            let mut reader = csv::ReaderBuilder::new();
            let reader = reader.has_headers(false).from_reader(list.as_bytes());
            // A row of CSV, so that headings in quotes may have commas.
            for row in reader.into_records().flatten() {
                columns = row.iter().fold(columns, Columns::ignore);
            }
        }
        if is_read_once && !self.define && !self.ignore_unknown {
            columns = columns.strict();
        }
        Ok(columns)
    }

    /// Fails if records are to be matched by names that are not unique.
    pub(crate) fn check_names(
        &self,
        on_conflict: OnConflict,
        definition: &Definition,
    ) -> Result<(), Failure> {
        let is_by_name = matches!(
            self.on_conflict(on_conflict),
            OnConflict::Skip | OnConflict::Replace
        );
        if is_by_name && !definition.has_unique_names() {
            return Err(Failure::new(
                "names are not unique in this catalogue, so they find no robot; use --match id",
            ));
        }
        Ok(())
    }

    /// Refuses a file whose ids would not be used, unless the user leaves them out.
    fn check_ids<T: AsRef<str>>(unknown: impl IntoIterator<Item = T>) -> Result<(), Failure> {
        let mut unknown = unknown.into_iter();
        if unknown.any(|heading| heading.as_ref().eq_ignore_ascii_case("id")) {
            return Err(Failure::new(
                "the file has ids; add --match id to change the robots with these ids, --match name \
                 to change the robots with these names, or --ignore id to add robots with new ids",
            ));
        }
        Ok(())
    }

    /// Refuses a file with columns that would not be stored, unless the user leaves them out.
    pub(crate) fn check(
        &self,
        unknown: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<(), Failure> {
        let unknown = unknown.into_iter();
        let unknown: Vec<_> = unknown.map(|heading| heading.as_ref().to_owned()).collect();
        Self::check_ids(&unknown)?;
        if unknown.is_empty() || self.ignore_unknown {
            Self::note(&unknown);
            return Ok(());
        }
        Err(Failure::new(format_args!(
            "the file has columns that the catalogue does not have: {}; add them with --define or \
             \"robot-cli fields add\", map them with --map, or leave them out with --ignore {}",
            unknown.join(", "),
            list(&unknown)
        )))
    }

    /// Says which columns were left out.
    pub(crate) fn note(unknown: &[String]) {
        if !unknown.is_empty() {
            terminal::note(&format!(
                "Columns that are left out: {}.",
                unknown.join(", ")
            ));
        }
    }

    /// The definition that the file needs, after the user has confirmed it.
    pub(crate) fn define(
        &self,
        survey: &Survey,
        is_dry_run: bool,
    ) -> Result<(Columns, Option<Definition>), Failure> {
        Self::check_ids(survey.unknown())?;
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

/// The value of `--ignore` for these columns, in quotes if a shell needs them.
fn list(columns: &[String]) -> String {
    let quoted = columns.iter().map(|column| {
        if column.contains([',', '"']) {
            format!("\"{}\"", column.replace('"', "\"\""))
        } else {
            column.clone()
        }
    });
    let list = quoted.collect::<Vec<_>>().join(",");
    let is_plain = |character: char| character.is_alphanumeric() || ",_-".contains(character);
    match (list.chars().all(is_plain), list.contains('"')) {
        (true, _) => list,
        (false, false) => format!("\"{list}\""),
        (false, true) => format!("'{list}'"),
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
