//! The fields that a file needs.

use std::{cmp::Reverse, collections::HashMap};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    columns::{Columns, Meaning, normalized},
    evidence::{Evidence, Guess},
};
use crate::model::{
    Definition, DefinitionDraft, DefinitionError, Field, Format, Member, NULLS, Reading,
    TITLE_LIMIT, fold, is_reserved,
};

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
    /// A field is mapped twice.
    #[error("several columns stand for '{0}'; map one of them, and leave out the others")]
    Repeated(String),
    /// Two columns stand for the same field.
    #[error("{0}")]
    Twice(String),
    /// A kind that does not exist, or is for no column.
    #[error("{0}")]
    Kind(String),
    /// A field cannot be defined.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

/// The lengths of texts that are proposed.
const LENGTHS: [usize; 6] = [255, 500, 1000, 2000, 5000, 10_000];

/// The number of texts up to which they are proposed as choices, if each occurs twice on average, and their length.
const FEW: usize = 12;
const SHORT: usize = 60;

/// The maximum number of own fields of a catalogue.
const FIELD_LIMIT: usize = 64;

/// The keywords of a field, what its values are, and why.
type Property = (Map<String, Value>, Option<Guess>, String);

/// What is known about a file before its fields are chosen.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent properties"
)]
pub(super) struct Survey {
    pub(super) columns: Vec<Evidence>,
    /// The indices of the columns by their headings.
    pub(super) indices: HashMap<String, usize>,
    /// Whether a header names all columns.
    pub(super) has_header: bool,
    /// The number of records.
    pub(super) records: u64,
    /// Whether commas separate the columns.
    pub(super) has_commas: bool,
    /// Whether blanks around headings show that those around values are no part of them.
    pub(super) is_padded: bool,
    /// Whether the catalogue has no robots, so that no robot has a type yet.
    pub(super) is_of_empty_catalogue: bool,
    /// What is wrong if two columns stand for the same field.
    pub(super) repeated: Option<String>,
    pub(super) finds_choices: bool,
}

/// The definition of a file in the making, and what its columns stand for.
pub(super) struct Fields<'a> {
    survey: &'a Survey,
    draft: DefinitionDraft,
    pub(super) columns: Columns,
    pub(super) changes: Vec<ProposedChange>,
    /// Why a column is read as it is, or left out, by the index of the column.
    pub(super) reasons: Vec<String>,
}

impl<'a> Fields<'a> {
    /// The fields of the present definition: how each column is read.
    pub(super) fn present(survey: &'a Survey, columns: Columns) -> Self {
        let mut fields = Self {
            survey,
            draft: DefinitionDraft::from(&*columns.definition),
            reasons: vec![String::new(); survey.columns.len()],
            columns,
            changes: Vec::new(),
        };
        for (index, column) in survey.columns.iter().enumerate() {
            if let Some(field) = column.meaning.field() {
                fields.read(column, field);
            } else if column.meaning == Meaning::Unknown && column.heading.starts_with('#') {
                if column.values == 0 {
                    fields.leave_out(index, "left out: no record has a value");
                } else if column.is_numbering() {
                    fields.leave_out(index, "left out: it numbers the records");
                }
            }
        }
        fields
    }

    /// Adds the fields that the file needs: new ones for the columns that the catalogue does not have, and changes of the
    /// built-in fields that the values need. Returns their definition.
    pub(super) fn define(&mut self) -> Result<Definition, ProposalError> {
        let survey = self.survey;
        let present = self.columns.definition.clone();
        let has = |name: &str, is_unknown: bool| {
            let mut columns = survey.columns.iter();
            columns.any(|column| {
                normalized(&column.heading) == name
                    && (column.meaning == Meaning::Unknown) == is_unknown
            })
        };
        if has(Field::ID.name(), true) && has(Field::REVISION.name(), false) {
            return Err(ProposalError::Exported);
        }
        self.check_kinds()?;
        self.limit();
        let mut unstorable = Vec::new();
        for (index, column) in survey.columns.iter().enumerate() {
            match column.meaning.field().map(Field::member) {
                Some(Member::Name) => self.permit_equal_names(column),
                Some(Member::Type) => self.fit_types(column)?,
                Some(Member::Year) => self.fit_years(column)?,
                Some(_) => {}
                None if self.is_left_out(column) => {}
                None => match self.add_unknown(index, column) {
                    Err(ProposalError::Unstorable(heading)) => unstorable.push(heading),
                    added => added?,
                },
            }
        }
        if !unstorable.is_empty() {
            return Err(ProposalError::Unstorable(unstorable.join(", ")));
        }
        // Records that change robots need no values.
        let adds = self.columns.key.is_none() || survey.is_of_empty_catalogue;
        if !survey.columns.is_empty() && adds {
            let fields = present.settable().iter();
            for field in fields.filter(|field| field.is_required()) {
                self.fit_missing(*field)?;
            }
        }
        // The present definition fits even if there is no room for new fields.
        if self.changes.is_empty() {
            Ok(Definition::clone(&present))
        } else {
            Ok(self.draft.build()?)
        }
    }

    /// Whether a column is not stored.
    fn is_left_out(&self, column: &Evidence) -> bool {
        column.meaning == Meaning::LeftOut || !self.reasons[self.index(column)].is_empty()
    }

    fn index(&self, column: &Evidence) -> usize {
        let columns = self.survey.columns.iter();
        columns
            .take_while(|other| other.heading != column.heading)
            .count()
    }

    fn leave_out(&mut self, index: usize, reason: &str) {
        let heading = &self.survey.columns[index].heading;
        self.columns.choose(heading, None);
        reason.clone_into(&mut self.reasons[index]);
    }

    /// Leaves out columns that number the records or have no values, and those with the fewest values if there are too
    /// many.
    fn limit(&mut self) {
        let survey = self.survey;
        let mut new = Vec::new();
        for (index, column) in survey.columns.iter().enumerate() {
            let is_mapped = match &column.meaning {
                Meaning::New(name) if self.draft.has(name) => continue,
                Meaning::New(_) => true,
                Meaning::Unknown => false,
                Meaning::Field(_) | Meaning::LeftOut => continue,
            };
            if self.is_left_out(column) {
                continue;
            }
            if !is_mapped && column.values == 0 && column.nulls.is_empty() && survey.records > 0 {
                self.leave_out(index, "left out: no record has a value");
            } else {
                new.push((column.values, index));
            }
        }
        let room = FIELD_LIMIT.saturating_sub(self.columns.definition.own().count());
        let count = new.len();
        new.sort_by_key(|(values, index)| (Reverse(*values), *index));
        let reason = format!(
            "left out: the file needs {count} new fields, and there is room for {room}; these have most values"
        );
        for (_, index) in new.into_iter().skip(room) {
            self.leave_out(index, &reason);
        }
    }

    fn check_kinds(&self) -> Result<(), ProposalError> {
        let is_known = |name: &str| {
            self.survey.columns.iter().any(|column| {
                let field = match &column.meaning {
                    Meaning::New(name) => name.clone(),
                    Meaning::Field(_) | Meaning::LeftOut => return false,
                    Meaning::Unknown => name_of(&column.heading),
                };
                normalized(&column.heading) == normalized(name) || field == name
            })
        };
        match self.columns.kind_without(is_known) {
            Some(name) => Err(ProposalError::Kind(format!(
                "a kind is given for '{name}', which is no column that becomes a new field"
            ))),
            None => Ok(()),
        }
    }

    fn report(&mut self, column: Option<&Evidence>, field: &str, reason: String) {
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

    /// Sets how a column is read for a field that exists.
    fn read(&mut self, column: &Evidence, field: Field) {
        let guess = column.guess(self.survey.has_commas, self.columns.dates);
        let kind = field.kind();
        let is_text = kind.is_text() && !kind.is_time();
        self.set_reading(column, guess, !is_text);
    }

    fn set_reading(&mut self, column: &Evidence, guess: Option<Guess>, has_nulls: bool) {
        let mut nulls = self.columns.nulls.clone();
        if has_nulls {
            nulls.extend(NULLS.map(str::to_owned));
        }
        let dates = match guess {
            Some(Guess::Format(_, order)) => order.or(self.columns.dates),
            _ => self.columns.dates,
        };
        let reading = Reading {
            nulls,
            has_decimal_comma: guess == Some(Guess::DecimalComma),
            dates,
            trims: self.survey.is_padded,
        };
        self.columns.read(&column.heading, reading);
    }

    /// Adds a field for a column that is none yet.
    fn add_unknown(&mut self, index: usize, column: &Evidence) -> Result<(), ProposalError> {
        let name = match &column.meaning {
            Meaning::New(name) if self.draft.has(name) => {
                return Err(ProposalError::Repeated(name.clone()));
            }
            Meaning::New(name) => name.clone(),
            _ => name_of(&column.heading),
        };
        let reason = self.add(column, &name)?;
        self.reasons[index] = reason;
        Ok(())
    }

    /// Adds a field for a column, and returns the reason of its kind.
    fn add(&mut self, column: &Evidence, wanted: &str) -> Result<String, ProposalError> {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while self.draft.has(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        let (mut property, guess, mut reason) = self.property(column, &name)?;
        if let Some(guess) = guess {
            self.set_reading(column, Some(guess), !guess.is_text());
            if !guess.is_text()
                && let Some((_, null)) = column.nulls.first()
            {
                reason = format!("{reason}; {null} means no value");
            }
        }
        // A new field takes the heading of the built-in field that it replaces.
        if column.meaning.field().is_none() || self.survey.is_of_empty_catalogue {
            let title: String = column.heading.chars().take(TITLE_LIMIT).collect();
            property.insert("title".into(), title.into());
        }
        let is_id = normalized(&column.heading) == Field::ID.name();
        let is_unique = column.repeated.is_none() && column.values == self.survey.records;
        if is_id && is_unique || self.columns.key.as_deref() == Some(&name) {
            property.insert("unique".into(), true.into());
        }
        *self.draft.property(&name) = property;
        self.columns.choose(&column.heading, Some(name.clone()));
        self.report(Some(column), &name, format!("new: {reason}"));
        Ok(reason)
    }

    /// The keywords of the field that can store the values of a column, what the values are, and why.
    fn property(&self, column: &Evidence, name: &str) -> Result<Property, ProposalError> {
        let unstorable = || ProposalError::Unstorable(format!("'{}'", column.heading));
        let mut guess = column.guess(self.survey.has_commas, self.columns.dates);
        let mut reason = guess.map_or_else(String::new, |guess| column.reason(guess));
        let chosen = self.columns.chosen_kind(&column.heading, name);
        if let Some(kind) = chosen {
            guess = Some(kind_of(kind, column)?);
            "chosen".clone_into(&mut reason);
        }
        let choices = column.choices.as_ref().filter(|choices| {
            let is_repeated = choices.len() as u64 <= column.values / 2;
            let is_few = choices.len() <= FEW && column.length <= SHORT && is_repeated;
            chosen == Some("choices") || self.survey.finds_choices && is_few
        });
        let mut lengths = LENGTHS.into_iter();
        let length = lengths.find(|length| column.length <= *length);
        let property = match (guess.ok_or_else(unstorable)?, choices) {
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
        Ok((
            property.as_object().cloned().unwrap_or_default(),
            guess,
            reason,
        ))
    }

    /// Stores the values of a column as texts, beside the field that cannot store them.
    fn store_as_text(
        &mut self,
        column: &Evidence,
        field: Field,
        reason: &str,
    ) -> Result<(), ProposalError> {
        if normalized(&column.heading) != field.name()
            && normalized(&column.heading) != normalized(field.title())
        {
            // The user wants this field: other values fail.
            return Ok(());
        }
        let name = format!("{field}_text");
        let present = self.columns.definition.field(&name);
        if present.is_some_and(|present| present.kind().is_text()) {
            self.columns.choose(&column.heading, Some(name));
            return Ok(());
        }
        self.add(column, &name)?;
        self.report(Some(column), &name, reason.to_owned());
        Ok(())
    }

    fn permit_equal_names(&mut self, column: &Evidence) {
        let index = self.index(column);
        if let Some(twin) = &column.blank_twin {
            self.reasons[index] =
                format!("warning: {twin} differs from another name by blanks at its ends only");
        }
        if let Some(name) = &column.repeated
            && self.columns.definition.has_unique_names()
            && self.columns.key.as_deref() != Some(Field::NAME.name())
        {
            let property = self.draft.property(Field::NAME.name());
            property.insert("unique".into(), false.into());
            let reason = format!("names are repeated, such as '{name}'");
            self.report(Some(column), Field::NAME.name(), reason);
        }
    }

    /// Makes the types of a file choices. They replace those of the contract if no robot has one.
    fn fit_types(&mut self, column: &Evidence) -> Result<(), ProposalError> {
        if !column.can_be(Guess::Text) {
            return self.store_as_text(column, Field::TYPE, "the types are not texts");
        }
        let choices = column.choices.as_ref();
        let Some(choices) = choices.filter(|_| column.length <= LENGTHS[0]) else {
            return self.store_as_text(
                column,
                Field::TYPE,
                "the types are too many or too long for a list",
            );
        };
        let field = column.meaning.field();
        let known = field.map_or(&[][..], |field| field.choices());
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

    fn fit_years(&mut self, column: &Evidence) -> Result<(), ProposalError> {
        if let Some(sample) = &column.not_integer {
            return self.store_as_text(column, Field::YEAR, &format!("{sample} is not a year"));
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

    /// Makes a field optional if records have no value of it. A built-in field without a column is left out if no robot
    /// has a value of it either.
    fn fit_missing(&mut self, field: Field) -> Result<(), ProposalError> {
        let columns = &self.survey.columns;
        let column = columns
            .iter()
            .find(|column| column.meaning.field() == Some(field));
        let has_moved = |column: &&Evidence| {
            let moved = format!("{field}_text");
            self.changes
                .iter()
                .any(|change| change.field == moved && change.heading == column.heading)
        };
        let column = column.filter(|column| !has_moved(column));
        if field == Field::NAME {
            // Records without a name fail.
            let headings = columns.iter().map(|column| column.heading.as_str());
            let no_name = || ProposalError::NoName(headings.collect::<Vec<_>>().join(", "));
            return column.map(drop).ok_or_else(no_name);
        }
        if column.is_none() && !field.is_own() && self.survey.is_of_empty_catalogue {
            self.draft.remove(field.name());
            let reason = "left out: no record has a value".to_owned();
            self.report(None, field.name(), reason);
            return Ok(());
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
        _ => match Format::NAMED.iter().find(|format| format.name == kind) {
            Some(format) => Guess::Format(format, column.order(format)),
            None => {
                let kinds = Columns::kinds("and");
                let message = format!("'{kind}' is not a kind; the kinds are {kinds}");
                return Err(ProposalError::Kind(message));
            }
        },
    })
}

/// The name of a field for a heading: its letters without diacritics and digits, with `_` between words.
fn name_of(heading: &str) -> String {
    if normalized(heading) == Field::ID.name() {
        return "source_id".to_owned();
    }
    let mut spaced = String::with_capacity(heading.len());
    let mut is_lower = false;
    for character in heading.chars() {
        // `placeOfBirth` has three words.
        if is_lower && character.is_uppercase() {
            spaced.push(' ');
        }
        is_lower = character.is_lowercase();
        spaced.push(character);
    }
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
