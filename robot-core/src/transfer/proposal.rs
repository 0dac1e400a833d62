//! Definition that a file needs.

use serde_json::{Map, Value, json};

use super::{
    columns::{Columns, Meaning},
    survey::{Column, Survey, ValueKind},
};
use crate::model::{
    Definition, DefinitionDraft, DefinitionError, Field, Member, fold, is_reserved,
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
/// let changes = proposal.changes.iter().map(|change| (change.field, change.reason.as_str()));
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    #[error("no field can store the values of '{0}', such as {1}; leave the column out")]
    Unstorable(String, String),
    /// A field cannot be defined.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

/// The lengths of texts that are proposed. The first one is the default.
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
        let mut plan = Plan {
            survey: self,
            finds_choices,
            draft: DefinitionDraft::from(self.meanings.definition()),
            columns: self.meanings.clone(),
            changes: Vec::new(),
        };
        for column in &self.columns {
            match self.meanings.meaning(&column.heading) {
                Meaning::Unknown => plan.add(column, None)?,
                Meaning::Field(field) => match field.member() {
                    Member::Name => plan.permit_equal_names(column),
                    Member::Type => plan.fit_types(column)?,
                    Member::Year => plan.fit_years(column)?,
                    _ => {}
                },
                Meaning::LeftOut => {}
            }
        }
        for field in self.meanings.definition().settable() {
            plan.fit_missing(*field)?;
        }
        let definition = plan.draft.build()?;
        Ok(Proposal {
            columns: plan.columns.redefined(definition.clone()),
            definition,
            changes: plan.changes,
        })
    }

    fn column(&self, field: Field) -> Option<&Column> {
        let mut columns = self.columns.iter();
        columns.find(|column| self.meanings.meaning(&column.heading) == Meaning::Field(field))
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
    fn change(&mut self, heading: &str, field: &str, reason: impl Into<String>) {
        let mut changes = self.changes.iter_mut();
        if let Some(change) = changes.find(|change| change.field == field) {
            change.reason = format!("{}; {}", change.reason, reason.into());
            return;
        }
        self.changes.push(ProposedChange {
            heading: heading.to_owned(),
            field: field.to_owned(),
            reason: reason.into(),
        });
    }

    /// Adds a field for a column. The reason says why another field cannot store its values.
    fn add(
        &mut self,
        column: &Column,
        instead: Option<(Field, String)>,
    ) -> Result<(), ProposalError> {
        if let Some((field, _)) = &instead {
            let name = format!("{field}_text");
            let present = self.survey.meanings.definition().field(&name);
            if present.is_some_and(|present| present.kind().is_text()) {
                self.map(column, &name);
                return Ok(());
            }
        }
        let mut property = self.property(column)?;
        let wanted = match &instead {
            Some((field, _)) => format!("{field}_text"),
            None => self
                .columns
                .mapped(&column.heading)
                .map_or_else(|| name(&column.heading), str::to_owned),
        };
        let mut name = wanted.clone();
        for number in 2_u64.. {
            if !self.draft.has(&name) {
                break;
            }
            name = format!("{wanted}_{number}");
        }
        if instead.is_none() && !column.heading.is_empty() && column.heading.chars().count() <= 100
        {
            property.insert("title".into(), column.heading.clone().into());
        }
        *self.draft.property(&name) = property;
        self.map(column, &name);
        let reason = instead.map_or_else(|| "new".to_owned(), |(_, reason)| reason);
        self.change(&column.heading, &name, reason);
        Ok(())
    }

    fn map(&mut self, column: &Column, field: &str) {
        self.columns = self.columns.clone().map(&column.heading, field);
    }

    /// The keywords of the field that can store the values of a column.
    fn property(&self, column: &Column) -> Result<Map<String, Value>, ProposalError> {
        let unstorable = |what| Err(ProposalError::Unstorable(column.heading.clone(), what));
        let property = match column.kinds.first() {
            _ if column.values == 0 => json!({"type": "string"}),
            Some(ValueKind::Integer) => json!({"type": "integer"}),
            Some(ValueKind::Number) => json!({"type": "number"}),
            Some(ValueKind::Boolean) => json!({"type": "boolean"}),
            Some(ValueKind::Date) => json!({"type": "string", "format": "date"}),
            Some(ValueKind::Text) => {
                let few = column.choices.as_ref().filter(|choices| {
                    let is_repeated = choices.len() as u64 <= column.values / 2;
                    self.finds_choices && choices.len() <= FEW && is_repeated
                });
                let mut lengths = LENGTHS.into_iter();
                match (few, lengths.find(|length| column.length <= *length)) {
                    (Some(choices), _) => json!({"enum": choices}),
                    (None, Some(255)) => json!({"type": "string"}),
                    (None, Some(length)) => json!({"type": "string", "maxLength": length}),
                    (None, None) => {
                        return unstorable(format!("one of {} characters", column.length));
                    }
                }
            }
            None => {
                let place = column.misfit.map(|position| position.to_string());
                return unstorable(format!("that of {}", place.unwrap_or_default()));
            }
        };
        Ok(property.as_object().cloned().unwrap_or_default())
    }

    fn permit_equal_names(&mut self, column: &Column) {
        if let Some(name) = &column.repeated
            && self.survey.meanings.definition().has_unique_names()
        {
            self.draft
                .property("name")
                .insert("unique".into(), false.into());
            self.change(
                &column.heading,
                "name",
                format!("names are repeated, such as '{name}'"),
            );
        }
    }

    /// Makes the types of a file choices. They replace the choices of the contract, which are no choice of the
    /// owner.
    fn fit_types(&mut self, column: &Column) -> Result<(), ProposalError> {
        let field = self
            .survey
            .meanings
            .definition()
            .field("type")
            .unwrap_or(Field::TYPE);
        let Some(choices) = &column.choices else {
            let reason = "there are too many types for a list".to_owned();
            return self.add(column, Some((field, reason)));
        };
        let known = field.choices();
        if choices
            .iter()
            .all(|choice| known.contains(&choice.as_str()))
        {
            return Ok(());
        }
        let kept = if known == Field::TYPE.choices() {
            &[]
        } else {
            known
        };
        let new = choices.iter().map(String::as_str);
        let new = new.filter(|choice| !kept.contains(choice));
        let all: Vec<_> = kept.iter().copied().chain(new).collect();
        self.draft
            .property("type")
            .insert("enum".into(), json!(all));
        self.change(&column.heading, "type", "the file has other types");
        Ok(())
    }

    fn fit_years(&mut self, column: &Column) -> Result<(), ProposalError> {
        if let Some((position, text)) = &column.text {
            let reason = format!("'{text}' ({position}) is not a year");
            return self.add(column, Some((Field::YEAR, reason)));
        }
        let year = self.draft.property("year");
        let minimum = year.get("minimum").and_then(Value::as_i64);
        if minimum.is_some_and(|minimum| column.least < minimum) {
            // Years of the same length are permitted, too.
            let digits = column.least.unsigned_abs().to_string().len().try_into();
            let rounded = digits.ok().and_then(|digits| 10_i64.checked_pow(digits));
            match rounded {
                Some(rounded) => year.insert("minimum".into(), (-rounded).into()),
                None => year.remove("minimum"),
            };
            self.change(
                &column.heading,
                "year",
                format!("the least is {}", column.least),
            );
        }
        Ok(())
    }

    /// Makes a field optional if records have no value of it.
    fn fit_missing(&mut self, field: Field) -> Result<(), ProposalError> {
        let column = self.survey.column(field);
        let column = column.filter(|column| {
            let mapped = self.columns.mapped(&column.heading);
            mapped.is_none_or(|name| name == field.name())
        });
        let values = column.map_or(0, |column| column.values);
        if !field.is_required() || values == self.survey.records && column.is_some() {
            return Ok(());
        }
        if field == Field::NAME {
            let headings = self
                .survey
                .columns
                .iter()
                .map(|column| column.heading.as_str());
            return match column {
                // The records without a name fail.
                Some(_) => Ok(()),
                None => Err(ProposalError::NoName(
                    headings.collect::<Vec<_>>().join(", "),
                )),
            };
        }
        self.draft.require(field.name(), false);
        let missing = self.survey.records.saturating_sub(values);
        let heading = column.map_or_else(String::new, |column| column.heading.clone());
        self.change(
            &heading,
            field.name(),
            format!("optional: {missing} records have no value"),
        );
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
