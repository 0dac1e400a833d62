//! New fields for the columns of a file: their names, and their kinds.

use serde_json::{Map, Value, json};

use super::{
    columns::{Columns, Meaning, normalized},
    evidence::{Evidence, Guess},
    heading::spaced,
    survey::Survey,
};
use crate::model::{DefinitionError, Field, Format, fold, is_reserved};

/// Why no definition fits a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProposalError {
    /// Every robot needs a name.
    #[error("no column stands for the name; map one to it. The columns are: {0}")]
    NoName(String),
    /// The values of columns are of no kind.
    #[error(
        "no field can store the values of {0}, which are lists, objects, of different types or too long; \
         leave these columns out"
    )]
    Unstorable(String),
    /// The file comes from a catalogue.
    #[error(
        "the file is an export, with the columns id and revision; match the ids to change their robots, or leave \
         them out to add robots"
    )]
    Exported,
    /// Several columns stand for the same field, or a kind does not exist or is for no column.
    #[error("{0}")]
    Columns(String),
    /// A field cannot be defined.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

/// The lengths of texts that are proposed.
pub(super) const LENGTHS: [usize; 6] = [255, 500, 1000, 2000, 5000, 10_000];

/// The number of texts up to which they are proposed as choices, if each occurs twice on average, and if each occurs a
/// hundred times on average. Their length.
const FEW: usize = 12;
const MORE: usize = 40;
const SHORT: usize = 60;

/// A field that can store the values of a column.
pub(super) struct NewField {
    pub(super) keywords: Map<String, Value>,
    /// What the values are.
    pub(super) guess: Guess,
    /// Why it is of its kind, for people.
    pub(super) reason: String,
}

impl Survey {
    /// The field for a column, which may get this name.
    pub(super) fn new_field(
        &self,
        column: &Evidence,
        columns: &Columns,
        name: &str,
    ) -> Result<NewField, ProposalError> {
        let unstorable = || ProposalError::Unstorable(format!("'{}'", column.heading));
        let chosen = columns.chosen_kind(&column.heading, name);
        let choices = column.choices.as_ref().filter(|choices| {
            let count = choices.len() as u64;
            let is_repeated = count <= column.values / if choices.len() <= FEW { 2 } else { 100 };
            let is_few = choices.len() <= MORE && column.length <= SHORT && is_repeated;
            chosen == Some("choices") || self.finds_choices && is_few
        });
        let (guess, reason) = if let Some(kind) = chosen {
            (kind_of(kind, column)?, "chosen".to_owned())
        } else {
            let guess = column.guess(self.has_commas, columns.reading.dates);
            let guess = guess.ok_or_else(unstorable)?;
            (guess, column.reason(guess, choices.is_some()))
        };
        let mut lengths = LENGTHS.into_iter();
        let length = lengths.find(|length| column.length <= *length);
        let keywords = match (guess, choices) {
            (Guess::Integer, _) => json!({"type": "integer"}),
            (Guess::Number | Guess::DecimalComma, _) => json!({"type": "number"}),
            (Guess::Boolean, _) => json!({"type": "boolean"}),
            (Guess::Format(format, _), _) if format.is_time => {
                json!({"type": "string", "format": format.name})
            }
            (Guess::Format(format, _), _) => {
                let length = length.ok_or_else(unstorable)?;
                json!({"type": "string", "format": format.name, "maxLength": length})
            }
            (Guess::Text, Some(choices)) if chosen.is_none_or(|kind| kind == "choices") => {
                json!({"enum": choices})
            }
            (Guess::Text, _) => {
                json!({"type": "string", "maxLength": length.ok_or_else(unstorable)?, "search": true})
            }
        };
        Ok(NewField {
            keywords: keywords.as_object().cloned().unwrap_or_default(),
            guess,
            reason,
        })
    }
}

impl Evidence {
    /// The name of the field for a column that is none yet.
    pub(super) fn new_name(&self) -> Option<String> {
        match &self.meaning {
            Meaning::New(name) => Some(name.clone()),
            Meaning::Unknown => Some(name_of(&self.heading)),
            Meaning::Field(_) | Meaning::LeftOut => None,
        }
    }
}

/// What values are of a kind that was chosen.
fn kind_of(kind: &str, column: &Evidence) -> Result<Guess, ProposalError> {
    Ok(match kind {
        "text" | "choices" => Guess::Text,
        "integer" => Guess::Integer,
        "number" if !column.can_be(Guess::Number) && column.can_be(Guess::DecimalComma) => {
            Guess::DecimalComma
        }
        "number" => Guess::Number,
        "boolean" => Guess::Boolean,
        _ => {
            let format = Format::NAMED.iter().find(|format| format.name == kind);
            let format = format.ok_or_else(|| {
                let kinds = Columns::kinds("and");
                let message = format!("'{kind}' is not a kind; the kinds are {kinds}");
                ProposalError::Columns(message)
            })?;
            Guess::Format(format, column.order(format))
        }
    })
}

/// The name of a field for a heading: its letters without diacritics and digits, with `_` between words.
fn name_of(heading: &str) -> String {
    if normalized(heading) == Field::ID.name() {
        return "source_id".to_owned();
    }
    let spaced = spaced(heading);
    let folded = fold(&spaced);
    let words = folded.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let mut name = words.join("_");
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.insert_str(0, "field_");
    }
    name.truncate(50);
    let name = name.trim_end_matches('_');
    if is_reserved(name) || Field::built_in(name).is_some() {
        format!("{name}_value")
    } else {
        name.to_owned()
    }
}
