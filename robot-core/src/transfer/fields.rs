//! The fields that a file needs.

use std::{borrow::Cow, cmp::Reverse};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    columns::{Columns, Meaning, normalized},
    evidence::{Evidence, Guess},
    heading::title_of,
    new_field::{LENGTHS, NewField, ProposalError},
    survey::{ColumnReason, Survey},
};
use crate::model::{Definition, DefinitionDraft, Field, Member, NULLS, TITLE_LIMIT};

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

/// The maximum number of own fields of a catalogue.
const FIELD_LIMIT: usize = 64;

/// The definition of a file in the making, and what its columns stand for.
pub(super) struct Fields<'a> {
    survey: &'a Survey,
    draft: DefinitionDraft,
    pub(super) columns: Columns,
    pub(super) changes: Vec<ProposedChange>,
    /// Why a column is read as it is, or left out, by the index of the column.
    pub(super) reasons: Vec<ColumnReason>,
}

impl<'a> Fields<'a> {
    /// The fields of the present definition: how each column is read.
    pub(super) fn present(survey: &'a Survey, columns: Columns) -> Self {
        let mut fields = Self {
            survey,
            draft: DefinitionDraft::from(&*columns.definition),
            reasons: vec![ColumnReason::Known; survey.columns.len()],
            columns,
            changes: Vec::new(),
        };
        for column in &survey.columns {
            if let Some(field) = column.meaning.field() {
                let guess = column.guess(survey.has_commas, fields.columns.reading.dates);
                let is_text = field.kind().is_text() && !field.kind().is_time();
                fields.set_reading(column, guess, !is_text);
            } else if column.meaning == Meaning::Unknown && column.heading.starts_with('#') {
                if column.values == 0 {
                    fields.leave_out(column, ColumnReason::Empty);
                } else if column.is_numbering() {
                    fields.leave_out(column, ColumnReason::Numbering);
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
        let has = |name: &str, is_unknown| {
            let mut columns = survey.columns.iter();
            columns.any(|column| {
                let is_new = column.meaning == Meaning::Unknown;
                normalized(&column.heading) == name && is_new == is_unknown
            })
        };
        if has(Field::ID.name(), true) && has(Field::REVISION.name(), false) {
            return Err(ProposalError::Exported);
        }
        self.check_kinds()?;
        self.limit();
        let mut unstorable = Vec::new();
        for column in &survey.columns {
            match column.meaning.field().map(Field::member) {
                Some(Member::Name) => self.permit_equal_names(column),
                Some(Member::Type) => self.fit_types(column)?,
                Some(Member::Year) => self.fit_years(column)?,
                Some(_) => {}
                None if self.is_left_out(column) => {}
                None => match self.add_unknown(column) {
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
                self.fit_missing(field)?;
            }
        }
        // The present definition fits even if there is no room for new fields.
        match self.changes[..] {
            [] => Ok(Definition::clone(&present)),
            _ => Ok(self.draft.build()?),
        }
    }

    /// Whether a column is not stored.
    fn is_left_out(&self, column: &Evidence) -> bool {
        column.meaning == Meaning::LeftOut || self.reasons[column.index()] != ColumnReason::Known
    }

    fn leave_out(&mut self, column: &Evidence, reason: ColumnReason) {
        self.columns.choose(&column.heading, None);
        self.reasons[column.index()] = reason;
    }

    /// Leaves out columns that number the records or have no values, and those with the fewest values if there are too
    /// many.
    fn limit(&mut self) {
        let survey = self.survey;
        let mut new = Vec::new();
        for column in &survey.columns {
            let is_mapped = matches!(column.meaning, Meaning::New(_));
            match column.new_name() {
                Some(name) if is_mapped && self.draft.has(&name) => continue,
                Some(_) if !self.is_left_out(column) => {}
                _ => continue,
            }
            if !is_mapped && column.values == 0 && column.nulls.is_empty() && survey.records > 0 {
                self.leave_out(column, ColumnReason::Empty);
            } else {
                new.push(column);
            }
        }
        let room = FIELD_LIMIT.saturating_sub(self.columns.definition.own().count());
        let columns = new.len();
        new.sort_by_key(|column| Reverse(column.values));
        for column in new.into_iter().skip(room) {
            self.leave_out(column, ColumnReason::NoRoom { columns, room });
        }
    }

    fn check_kinds(&self) -> Result<(), ProposalError> {
        let is_known = |name: &str| {
            self.survey.columns.iter().any(|column| {
                column.new_name().is_some_and(|field| {
                    normalized(&column.heading) == normalized(name) || field == name
                })
            })
        };
        match self.columns.kind_without(is_known) {
            Some(name) => Err(ProposalError::Columns(format!(
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

    /// Sets how a column is read.
    fn set_reading(&mut self, column: &Evidence, guess: Option<Guess>, has_nulls: bool) {
        let mut reading = self.columns.reading.clone();
        if has_nulls {
            reading.nulls.extend(NULLS.map(str::to_owned));
        }
        if let Some(Guess::Format(_, order)) = guess {
            reading.dates = order.or(reading.dates);
        }
        reading.has_decimal_comma = guess == Some(Guess::DecimalComma);
        reading.trims = self.survey.is_padded;
        self.columns.read(&column.heading, reading);
    }

    /// Adds a field for a column that is none yet.
    fn add_unknown(&mut self, column: &Evidence) -> Result<(), ProposalError> {
        let name = column.new_name().unwrap_or_default();
        if self.draft.has(&name) && matches!(column.meaning, Meaning::New(_)) {
            return Err(ProposalError::Columns(format!(
                "several columns stand for '{name}'; map one of them, and leave out the others"
            )));
        }
        self.reasons[column.index()] = ColumnReason::New(self.add(column, &name)?);
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
        let NewField {
            mut keywords,
            guess,
            mut reason,
        } = self.survey.new_field(column, &self.columns, &name)?;
        self.set_reading(column, Some(guess), !guess.is_text());
        if !guess.is_text()
            && let Some((_, null)) = column.nulls.first()
        {
            reason = format!("{reason}; {null} means no value");
        }
        // A new field takes the heading of the built-in field that it replaces.
        if column.meaning.field().is_none() || self.survey.is_of_empty_catalogue {
            let title = title_of(&column.heading).filter(|_| name == wanted);
            let title = title.unwrap_or_else(|| column.heading.clone());
            let title: String = title.chars().take(TITLE_LIMIT).collect();
            keywords.insert("title".into(), title.into());
        }
        let is_id = normalized(&column.heading) == Field::ID.name();
        let is_unique = column.repeated.is_none() && column.values == self.survey.records;
        if is_id && is_unique || self.columns.key.as_deref() == Some(&name) {
            keywords.insert("unique".into(), true.into());
        }
        *self.draft.property(&name) = keywords;
        self.columns.choose(&column.heading, Some(name.clone()));
        self.report(Some(column), &name, format!("new: {reason}"));
        Ok(reason)
    }

    /// Stores the values of a column as texts, beside the field that cannot store them.
    fn store_as_text(
        &mut self,
        column: &Evidence,
        field: &Field,
        reason: &str,
    ) -> Result<(), ProposalError> {
        if self.columns.has_chosen(&column.heading, field) {
            // The user wants this field: other values fail.
            return Ok(());
        }
        let name = format!("{field}_text");
        let present = self.columns.definition.field(&name);
        if present.is_some_and(|present| present.kind().is_text()) {
            self.columns.choose(&column.heading, Some(name));
            return Ok(());
        }
        if self.columns.key.is_some() {
            // The robots that records change have values of the field.
            return Ok(());
        }
        self.add(column, &name)?;
        self.report(Some(column), &name, reason.to_owned());
        Ok(())
    }

    fn permit_equal_names(&mut self, column: &Evidence) {
        if let Some(twin) = &column.blank_twin {
            self.reasons[column.index()] = ColumnReason::BlankTwin(twin.clone());
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
        let (choices, are_texts) = (column.choices.as_ref(), column.can_be(Guess::Text));
        let Some(choices) = choices.filter(|_| are_texts && column.length <= LENGTHS[0]) else {
            let reason = if are_texts {
                "the types are too many or too long for a list"
            } else {
                "the types are not texts"
            };
            return self.store_as_text(column, &Field::TYPE, reason);
        };
        let field = column.meaning.field();
        let known = field.map_or(&[][..], |field| field.choices());
        let mut choices: Vec<_> = choices
            .iter()
            .map(|choice| Cow::from(choice.as_str()))
            .collect();
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
            return self.store_as_text(column, &Field::YEAR, &format!("{sample} is not a year"));
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
    fn fit_missing(&mut self, field: &Field) -> Result<(), ProposalError> {
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
        if field.member() == Member::Name {
            // Records without a name fail.
            let no_name = || ProposalError::NoName(self.survey.headings().join(", "));
            return column.map(drop).ok_or_else(no_name);
        }
        if column.is_none() && !field.is_own() && self.survey.is_of_empty_catalogue {
            self.draft.remove(field.name());
            self.report(None, field.name(), ColumnReason::Empty.to_string());
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
