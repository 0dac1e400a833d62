//! The query of an import, as a value.

use std::{collections::BTreeMap, sync::Arc};

use serde::de::DeserializeOwned;

use crate::{
    http::{failure::Failure, parameters::Arguments, route::Call},
    model::{DateOrder, Field, draft_json::Members, unknown},
    transfer::{Columns, Header, ImportOptions, OnConflict, PlanOptions, ReadOptions},
};

/// The query of an import.
pub(super) struct Query {
    /// How the body is read.
    pub(super) reading: ReadOptions,
    /// Whether all records are stored, or none.
    pub(super) is_atomic: bool,
    /// Whether the plan is returned, and nothing stored.
    pub(super) is_proposal: bool,
    /// Whether a planned import continues after records that fail, as one that goes record by record does.
    pub(super) keeps_going: bool,
    pub(super) options: PlanOptions,
}

impl Query {
    /// The query of a request, and what the columns of its file stand for.
    pub(super) fn read(call: &Call<'_>, is_proposal: bool) -> Result<(Self, Columns), Failure> {
        let (arguments, definition) = (&call.arguments, &call.definition);
        let on_conflict = arguments.parse("on_conflict", |name| {
            OnConflict::of_name(name).ok_or("on_conflict must be fail, skip or replace")
        })?;
        let is_proposal = arguments.flag("propose")? || is_proposal;
        let defines = arguments.flag("define")? || is_proposal;
        let mut columns = Columns::of(Arc::clone(definition));
        let known = definition.default_fields().iter();
        let known: Vec<_> = known.map(Field::name).collect();
        let matched = arguments.text("match");
        let key = matched.and_then(|name| definition.field(name));
        if let Some(name) = matched {
            if key.is_none() && !defines {
                return Err(Failure::malformed(unknown(name, "field", &known)));
            }
            columns = columns.matching(name);
        }
        let import = ImportOptions {
            key: key.cloned(),
            on_conflict: on_conflict.unwrap_or_default(),
            adds_equal: arguments.flag("add_equal")?,
            is_dry_run: arguments.flag("dry_run")?,
            keeps_going: true,
        };
        if !defines {
            import.check(definition).map_err(Failure::malformed)?;
        }
        let mut reading = ReadOptions::default();
        if arguments.parse("header", str::parse)? == Some(false) {
            reading.header = Header::None;
        }
        reading.sheet = arguments.text("sheet").map(str::to_owned);
        let encoded = arguments.parse("encoding", |name| reading.clone().encoding(name))?;
        let read = Self {
            reading: encoded.unwrap_or(reading),
            is_atomic: arguments.flag("atomic")?,
            is_proposal,
            keeps_going: arguments.flag("keep_going")?,
            options: PlanOptions {
                defines,
                finds_choices: arguments.flag("choices")?,
                import,
            },
        };
        columns = choose(columns, arguments, &known, defines)?;
        let is_strict = call.context.is_strict;
        let leaves_out_ids = match (matched, read.options.import.on_conflict) {
            _ if defines => false,
            (Some(name), _) => name != Field::ID.name(),
            // With on_conflict=replace, ids might be meant to choose the robots that change.
            (None, OnConflict::Replace) => false,
            (None, OnConflict::Fail | OnConflict::Skip) => !is_strict,
        };
        if leaves_out_ids {
            columns = columns.ignore_ids();
        }
        if is_strict {
            columns = columns.strict();
        }
        Ok((read, columns))
    }
}

/// What the query chooses for columns.
fn choose(
    mut columns: Columns,
    arguments: &Arguments,
    known: &[&str],
    defines: bool,
) -> Result<Columns, Failure> {
    let chosen: BTreeMap<String, Option<String>> = object(
        arguments,
        "columns",
        "columns must be a JSON object that has the name of a field, or null, for each column",
    )?;
    for (heading, field) in &chosen {
        columns = match field {
            Some(field) if !defines && !known.contains(&field.as_str()) => {
                return Err(Failure::malformed(unknown(field, "field", known)));
            }
            Some(field) => columns.map(heading, field),
            None => columns.ignore(heading),
        };
    }
    let kinds: BTreeMap<String, String> = object(
        arguments,
        "kinds",
        "kinds must be a JSON object that has a kind, such as \"number\", for each column",
    )?;
    for (heading, kind) in &kinds {
        columns = columns.kind(heading, kind);
    }
    let nulls: Option<Vec<String>> = arguments.parse("nulls", |json| {
        serde_json::from_str(json)
            .map_err(|_| "nulls must be a JSON array of texts, such as [\"NA\"]")
    })?;
    columns = nulls
        .iter()
        .flatten()
        .fold(columns, |columns, text| columns.null(text));
    let dates = arguments.parse("dates", |name| {
        DateOrder::of_name(name).ok_or("dates must be dmy or mdy")
    })?;
    Ok(dates.into_iter().fold(columns, Columns::dates))
}

/// A parameter that is a JSON object, whose members have different names.
fn object<T: DeserializeOwned + Default>(
    arguments: &Arguments,
    name: &'static str,
    message: &'static str,
) -> Result<T, Failure> {
    let object = arguments.parse(name, |json| {
        let members: Option<Members<'_>> = serde_json::from_str(json).ok();
        if let Some(twice) = members.as_ref().and_then(Members::repeated) {
            return Err(format!("{name} has '{twice}' twice; name it once"));
        }
        serde_json::from_str(json).map_err(|_| message.to_owned())
    })?;
    Ok(object.unwrap_or_default())
}
