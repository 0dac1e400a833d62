//! The query of an import, as a value.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    http::{
        failure::Failure,
        parameters::{IMPORT, Message, Parameter, parameters},
    },
    model::{Definition, Field, unknown},
    transfer::{Columns, Format, ImportOptions, OnConflict},
};

/// The query of an import.
pub(super) struct Query {
    /// Unless the content type decides.
    pub(super) format: Option<Format>,
    /// Whether all records are stored, or none.
    pub(super) is_atomic: bool,
    /// The parameter that says which robots change.
    chosen_by: Option<&'static str>,
    /// The fields that columns stand for; `None` for a column that is left out.
    columns: BTreeMap<String, Option<String>>,
    /// Whether the definition that the file needs is returned.
    pub(super) is_proposal: bool,
    pub(super) finds_choices: bool,
    pub(super) options: ImportOptions,
}

impl Query {
    pub(super) fn parse(query: &str, definition: &Definition) -> Result<Self, Failure> {
        let mut read = Self {
            format: None,
            is_atomic: false,
            chosen_by: None,
            columns: BTreeMap::new(),
            is_proposal: false,
            finds_choices: false,
            options: ImportOptions {
                keeps_going: true,
                ..ImportOptions::default()
            },
        };
        parameters(query, definition, &IMPORT, |parameter, value| {
            let is_true = value == "true";
            match parameter.name {
                "format" => read.format = Format::of_name(&value),
                "on_conflict" => {
                    read.choose(parameter, OnConflict::of_name(&value).unwrap_or_default())?;
                }
                "match" => {
                    let by_id = value == "id";
                    let on_conflict = if by_id {
                        OnConflict::MatchId
                    } else {
                        OnConflict::Replace
                    };
                    read.choose(parameter, on_conflict)?;
                }
                "columns" => {
                    let columns = serde_json::from_str(&value);
                    read.columns = columns.map_err(|_| {
                        "columns must be a JSON object that has the name of a field, or null, for each column"
                    })?;
                }
                "propose" => read.is_proposal = is_true,
                "choices" => read.finds_choices = is_true,
                "atomic" => read.is_atomic = is_true,
                _ => read.options.is_dry_run = is_true,
            }
            Ok(())
        })?;
        read.check(definition)?;
        Ok(read)
    }

    /// Checks what depends on the definition.
    fn check(&self, definition: &Definition) -> Result<(), Failure> {
        let malformed = |message: String| Err(Failure::Malformed(vec![message.into()]));
        if !self.options.on_conflict.finds_robots(definition) {
            let message =
                "names are not unique in this catalogue, so they find no robot; give match=id";
            return malformed(message.to_owned());
        }
        let known = definition.default_fields().iter();
        let known: Vec<_> = known.map(|field| field.name()).collect();
        let mut fields = self.columns.values().flatten();
        match fields.find(|field| !known.contains(&field.as_str())) {
            Some(field) if !self.is_proposal => malformed(unknown(field, "field", &known)),
            _ => Ok(()),
        }
    }

    fn choose(&mut self, by: Parameter, on_conflict: OnConflict) -> Result<(), Message> {
        if self.chosen_by.replace(by.name).is_some() {
            return Err("match and on_conflict exclude each other; give one of them".into());
        }
        self.options.on_conflict = on_conflict;
        Ok(())
    }

    pub(super) fn columns(&self, definition: Arc<Definition>, is_strict: bool) -> Columns {
        let on_conflict = self.options.on_conflict;
        let mut columns = Columns::of(definition).matching(on_conflict);
        let leaves_out_ids = match on_conflict {
            OnConflict::MatchId => false,
            // With on_conflict=replace, ids might be meant to choose the robots that change.
            OnConflict::Replace => self.chosen_by == Some("match"),
            OnConflict::Fail | OnConflict::Skip => !is_strict,
        };
        if leaves_out_ids {
            columns = columns.ignore(Field::ID.name());
        }
        if is_strict {
            columns = columns.strict();
        }
        let chosen = self.columns.iter();
        chosen.fold(columns, |columns, (heading, field)| match field {
            Some(field) if leaves_out_ids && field == Field::ID.name() => columns.ignore(heading),
            Some(field) => columns.map(heading, field),
            None => columns.ignore(heading),
        })
    }
}
