//! The query of an import, as a value.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    http::{failure::Failure, route::Call},
    model::{Definition, Field, draft_json::Members, unknown},
    transfer::{Columns, ImportOptions, OnConflict},
};

/// The query of an import.
pub(super) struct Query {
    /// Whether all records are stored, or none.
    pub(super) is_atomic: bool,
    /// Whether the definition that the file needs is returned.
    pub(super) is_proposal: bool,
    pub(super) finds_choices: bool,
    pub(super) options: ImportOptions,
    pub(super) definition: Arc<Definition>,
}

impl Query {
    /// The query of a request, and what the columns of its file stand for.
    pub(super) fn read(call: &Call<'_>) -> Result<(Self, Columns), Failure> {
        let (arguments, definition) = (&call.arguments, &call.definition);
        let on_conflict = arguments.parse("on_conflict", |name| {
            OnConflict::of_name(name).ok_or("on_conflict must be fail, skip or replace")
        })?;
        let matched = arguments.parse("match", |name| match name {
            "name" => Ok(OnConflict::Replace),
            "id" => Ok(OnConflict::MatchId),
            _ => Err("match must be name or id"),
        })?;
        if matched.is_some() && on_conflict.is_some() {
            return Err(Failure::malformed(
                "match and on_conflict exclude each other; give one of them",
            ));
        }
        let on_conflict = matched.or(on_conflict).unwrap_or_default();
        let read = Self {
            definition: Arc::clone(definition),
            is_atomic: arguments.flag("atomic")?,
            is_proposal: arguments.flag("propose")?,
            finds_choices: arguments.flag("choices")?,
            options: ImportOptions {
                on_conflict,
                is_dry_run: arguments.flag("dry_run")?,
                keeps_going: true,
            },
        };
        if !on_conflict.finds_robots(definition) {
            return Err(Failure::malformed(
                "names are not unique in this catalogue, so they find no robot; give match=id",
            ));
        }
        let chosen: Option<BTreeMap<String, Option<String>>> = arguments.parse("columns", |json| {
            let members: Option<Members<'_>> = serde_json::from_str(json).ok();
            if let Some(name) = members.as_ref().and_then(Members::repeated) {
                return Err(format!("columns has '{name}' twice; name it once"));
            }
            serde_json::from_str(json).map_err(|_| {
                "columns must be a JSON object that has the name of a field, or null, for each column"
                    .to_owned()
            })
        })?;
        let chosen = chosen.unwrap_or_default();
        let known = definition.default_fields().iter();
        let known: Vec<_> = known.map(|field| field.name()).collect();
        let mut fields = chosen.values().flatten();
        match fields.find(|field| !known.contains(&field.as_str())) {
            Some(field) if !read.is_proposal => {
                return Err(Failure::malformed(unknown(field, "field", &known)));
            }
            _ => {}
        }

        let mut columns = Columns::of(definition.clone()).matching(on_conflict);
        let is_strict = call.context.is_strict;
        let leaves_out_ids = match on_conflict {
            OnConflict::MatchId => false,
            // With on_conflict=replace, ids might be meant to choose the robots that change.
            OnConflict::Replace => matched.is_some(),
            OnConflict::Fail | OnConflict::Skip => !is_strict,
        };
        if leaves_out_ids {
            columns = columns.ignore(Field::ID.name());
        }
        if is_strict {
            columns = columns.strict();
        }
        for (heading, field) in &chosen {
            columns = match field {
                Some(field) if leaves_out_ids && field == Field::ID.name() => {
                    columns.ignore(heading)
                }
                Some(field) => columns.map(heading, field),
                None => columns.ignore(heading),
            };
        }
        Ok((read, columns))
    }
}
