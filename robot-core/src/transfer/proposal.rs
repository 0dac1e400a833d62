//! Definition that a file needs.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    columns::{Columns, normalized},
    survey::{Column, Survey, ValueKind},
};
use crate::model::{
    Definition, DefinitionDraft, DefinitionError, Field, Member, TITLE_LIMIT, fold, is_reserved,
};

/// The definition that a file needs, and what its columns stand for then.
///
/// ```
/// use robot_core::transfer::{Format, Records};
///
/// let file = "Name;Type;Year;Accession No\nOwl;coin;-450;1920.7\n";
/// let proposal = Records::new(file.as_bytes(), Format::Csv).survey()?.propose(false)?;
/// let names = proposal.definition.settable().iter().map(|field| field.name());
/// assert!(names.eq(["name", "type", "year", "accession_no"]));
/// let changes = proposal.changes.iter().map(|change| (change.field.as_str(), change.reason.as_str()));
/// assert!(changes.eq([
///     ("type", "the file has other types"),
///     ("year", "the least is -450"),
///     ("accession_no", "new"),
/// ]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Proposal {
    /// The definition with all changes.
    pub definition: Definition,
    /// The columns of the file in a catalogue with this definition.
    pub columns: Columns,
    /// The fields that are new or change, in the order of the columns.
    pub changes: Vec<ProposedChange>,
}

/// A change of a field that a file needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProposedChange {
    /// The heading of the column; empty if the file has none.
    pub heading: String,
    /// The name of the field.
    pub field: String,
    /// Why it changes, for people.
    pub reason: String,
}

/// Why no definition fits a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProposalError {
    /// Every robot needs a name.
    #[error("no column stands for the name; map one to it. The columns are: {0}")]
    NoName(String),
    /// The values of a column are of no kind.
    #[error(
        "no field can store the values of '{0}', which are lists, objects, of different types or too long; \
         leave the column out"
    )]
    Unstorable(String),
    /// A field is mapped twice.
    #[error("several columns stand for '{0}'; map one of them, and leave out the others")]
    Repeated(String),
    /// A field cannot be defined.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

/// The lengths of texts that are proposed.
const LENGTHS: [usize; 6] = [255, 500, 1000, 2000, 5000, 10_000];

/// The number of texts up to which they are proposed as choices, if each occurs twice on average.
const FEW: usize = 50;

impl Survey {
    /// Proposes the definition that the file needs: new fields for the columns that the catalogue does not have,
    /// and changes of the built-in fields that the values need. Texts that are few and repeated become choices
    /// if `finds_choices`.
    ///
    /// # Errors
    /// No definition fits the file.
    pub fn propose(&self, finds_choices: bool) -> Result<Proposal, ProposalError> {
        let definition = &self.given.definition;
        let mut plan = Plan {
            survey: self,
            finds_choices,
            draft: DefinitionDraft::from(&**definition),
            columns: self.given.clone(),
            changes: Vec::new(),
        };
        for column in &self.columns {
            match column.field.map(Field::member) {
                Some(Member::Name) => plan.permit_equal_names(column),
                Some(Member::Type) => plan.fit_types(column)?,
                Some(Member::Year) => plan.fit_years(column)?,
                Some(_) => {}
                None => plan.add_unknown(column)?,
            }
        }
        // Records that change robots need no values.
        let mut fields = self.columns.iter().map(|column| column.field);
        if !self.columns.is_empty() && fields.all(|field| field != Some(Field::ID)) {
            for field in definition
                .settable()
                .iter()
                .filter(|field| field.is_required())
            {
                plan.fit_missing(*field)?;
            }
        }
        // The present definition fits even if there is no room for new fields.
        let definition = if plan.changes.is_empty() {
            Definition::clone(definition)
        } else {
            plan.draft.build()?
        };
        Ok(Proposal {
            columns: plan.columns.redefined(definition.clone()),
            definition,
            changes: plan.changes,
        })
    }
}

/// A proposal in the making.
struct Plan<'a> {
    survey: &'a Survey,
    finds_choices: bool,
    draft: DefinitionDraft,
    columns: Columns,
    changes: Vec<ProposedChange>,
}

impl Plan<'_> {
    fn report(&mut self, column: Option<&Column>, field: &str, reason: String) {
        let mut changes = self.changes.iter_mut();
        match changes.find(|change| change.field == field) {
            Some(change) => change.reason = format!("{}; {reason}", change.reason),
            None => self.changes.push(ProposedChange {
                heading: column.map_or_else(String::new, |column| column.heading.clone()),
                field: field.to_owned(),
                reason,
            }),
        }
    }

    /// Adds a field for a column.
    fn add(&mut self, column: &Column, wanted: &str, reason: String) -> Result<(), ProposalError> {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while self.draft.has(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        let mut property = self.property(column)?;
        if column.field.is_none() {
            let title: String = column.heading.chars().take(TITLE_LIMIT).collect();
            property.insert("title".into(), title.into());
        }
        *self.draft.property(&name) = property;
        self.columns.choose(&column.heading, Some(name.clone()));
        self.report(Some(column), &name, reason);
        Ok(())
    }

    /// Adds a field for a column that is none yet.
    fn add_unknown(&mut self, column: &Column) -> Result<(), ProposalError> {
        let name = match self.survey.given.mapped(&column.heading) {
            Some(name) if self.draft.has(name) => {
                return Err(ProposalError::Repeated(name.to_owned()));
            }
            Some(name) => name.to_owned(),
            // An import says how ids are used.
            None if normalized(&column.heading) == Field::ID.name() => return Ok(()),
            // Nothing is lost.
            None if column.values == 0 && self.survey.records > 0 => {
                self.columns.choose(&column.heading, None);
                return Ok(());
            }
            None => name(&column.heading),
        };
        let reason = match &column.text_only {
            Some((position, text)) => format!("new; a text because of '{text}' ({position})"),
            None => "new".to_owned(),
        };
        self.add(column, &name, reason)
    }

    /// Stores the values of a column as texts, beside the field that cannot store them.
    fn store_as_text(
        &mut self,
        column: &Column,
        field: Field,
        reason: String,
    ) -> Result<(), ProposalError> {
        if self.survey.given.mapped(&column.heading).is_some() {
            // The user wants this field: other values fail.
            return Ok(());
        }
        let name = format!("{field}_text");
        let present = self.survey.given.definition.field(&name);
        if present.is_some_and(|present| present.kind().is_text()) {
            self.columns.choose(&column.heading, Some(name));
            return Ok(());
        }
        self.add(column, &name, reason)
    }

    /// The keywords of the field that can store the values of a column.
    fn property(&self, column: &Column) -> Result<Map<String, Value>, ProposalError> {
        let unstorable = || ProposalError::Unstorable(column.heading.clone());
        let choices = column.choices.as_ref().filter(|choices| {
            let is_repeated = choices.len() as u64 <= column.values / 2;
            let is_short = column.length <= LENGTHS[0];
            self.finds_choices && choices.len() <= FEW && is_repeated && is_short
        });
        let property = match (column.kinds.first(), choices) {
            _ if column.values == 0 => json!({"type": "string"}),
            (Some(ValueKind::Integer), _) => json!({"type": "integer"}),
            (Some(ValueKind::Number), _) => json!({"type": "number"}),
            (Some(ValueKind::Boolean), _) => json!({"type": "boolean"}),
            (Some(ValueKind::Date), _) => json!({"type": "string", "format": "date"}),
            (Some(ValueKind::Text), Some(choices)) => json!({"enum": choices}),
            (Some(ValueKind::Text), None) => {
                let mut lengths = LENGTHS.into_iter();
                let length = lengths.find(|length| column.length <= *length);
                json!({"type": "string", "maxLength": length.ok_or_else(unstorable)?})
            }
            (None, _) => return Err(unstorable()),
        };
        Ok(property.as_object().cloned().unwrap_or_default())
    }

    fn permit_equal_names(&mut self, column: &Column) {
        let given = &self.survey.given;
        if let Some(name) = &column.repeated
            && given.definition.has_unique_names()
            && !given.on_conflict.matches_names()
        {
            let property = self.draft.property(Field::NAME.name());
            property.insert("unique".into(), false.into());
            let reason = format!("names are repeated, such as '{name}'");
            self.report(Some(column), Field::NAME.name(), reason);
        }
    }

    /// Makes the types of a file choices. They replace those of the contract if no robot has one.
    fn fit_types(&mut self, column: &Column) -> Result<(), ProposalError> {
        if !column.kinds.contains(&ValueKind::Text) {
            let reason = "the types are not texts".to_owned();
            return self.store_as_text(column, Field::TYPE, reason);
        }
        let choices = column.choices.as_ref();
        let Some(choices) = choices.filter(|_| column.length <= LENGTHS[0]) else {
            let reason = "the types are too many or too long for a list".to_owned();
            return self.store_as_text(column, Field::TYPE, reason);
        };
        let known = column.field.map_or(&[][..], |field| field.choices());
        let mut choices: Vec<_> = choices.iter().map(String::as_str).collect();
        if choices.iter().all(|choice| known.contains(choice)) {
            return Ok(());
        }
        let is_free = self.survey.is_of_empty_catalogue && known == Field::TYPE.choices();
        let kept = if is_free { &[] } else { known };
        choices.retain(|choice| !kept.contains(choice));
        let property = self.draft.property(Field::TYPE.name());
        property.insert("enum".into(), json!([kept, &choices].concat()));
        let reason = "the file has other types".to_owned();
        self.report(Some(column), Field::TYPE.name(), reason);
        Ok(())
    }

    fn fit_years(&mut self, column: &Column) -> Result<(), ProposalError> {
        if let Some((position, text)) = &column.text {
            let reason = format!("'{text}' ({position}) is not a year");
            return self.store_as_text(column, Field::YEAR, reason);
        }
        let year = self.draft.property(Field::YEAR.name());
        let minimum = year.get("minimum").and_then(Value::as_i64);
        if let (Some(minimum), Some(least)) = (minimum, column.least)
            && least < minimum
        {
            // Rounded, so that years of the same length are permitted, too.
            let digits = least.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
            let rounded = 10_i64.checked_pow(digits).map_or(i64::MIN, |power| -power);
            let new = if least < 0 { rounded } else { 0 };
            year.insert("minimum".into(), new.into());
            let reason = format!("the least is {least}");
            self.report(Some(column), Field::YEAR.name(), reason);
        }
        Ok(())
    }

    /// Makes a field optional if records have no value of it.
    fn fit_missing(&mut self, field: Field) -> Result<(), ProposalError> {
        let columns = &self.survey.columns;
        let column = columns.iter().find(|column| {
            let mapped = self.columns.mapped(&column.heading);
            column.field == Some(field) && mapped.is_none_or(|name| name == field.name())
        });
        if field == Field::NAME {
            // Records without a name fail.
            let headings = columns.iter().map(|column| column.heading.as_str());
            let no_name = || ProposalError::NoName(headings.collect::<Vec<_>>().join(", "));
            return column.map(drop).ok_or_else(no_name);
        }
        let values = column.map_or(0, |column| column.values);
        let reason = match self.survey.records.saturating_sub(values) {
            0 if column.is_some() => return Ok(()),
            1 => "optional: 1 record has no value".to_owned(),
            missing => format!("optional: {missing} records have no value"),
        };
        self.draft.require(field.name(), false);
        self.report(column, field.name(), reason);
        Ok(())
    }
}

/// The name of a field for a heading: its letters without diacritics and digits, with `_` between words.
fn name(heading: &str) -> String {
    let folded = fold(heading);
    let words = folded.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let mut name = words.join("_");
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.insert_str(0, "field_");
    }
    name.truncate(50);
    let name = name.trim_end_matches('_');
    if is_reserved(name) {
        format!("{name}_value")
    } else {
        name.to_owned()
    }
}
