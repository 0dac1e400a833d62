//! The columns of the table, and its rows.

use std::borrow::Cow;

use diesel::{QueryResult, Queryable, result::Error as DieselError};
use serde::Serialize;
use serde_json::Value as Json;

use super::{errors::wrap, fragment::Fragment};
use crate::{
    catalogue::{Count, Error, Receipt},
    model::{
        Definition, Draft, Field, Kind, Revision, Robot, RobotId, Timestamp, ValidChanges,
        ValidDraft, Value, fold, of_json,
    },
};

/// All columns.
pub(super) const COLUMNS: [&str; 12] = [
    "id",
    "name",
    "type",
    "year",
    // The number of the last change of the robot, among all changes of the catalogue.
    "revision",
    // The folded name; NULL if the row is not in the search index yet.
    "search_text",
    // The folded texts of the fields that searches include, which are written with the folded name.
    "own_text",
    // The values of other fields, as a JSON object.
    "own",
    // The revision with which the robot was added.
    "added",
    // When the robot was added, in milliseconds since 1970; NULL if that is not known.
    "created_at",
    // When it was last changed.
    "updated_at",
    // Who has changed it last; NULL for other programs.
    "updated_by",
];

/// The columns of a [`Row`].
pub(super) const ROBOT: &str =
    "robots.id, robots.name, robots.type, robots.year, robots.revision, robots.own";

/// The columns of a robot of which only the name is read.
pub(super) const NAMED: &str = "robots.id, robots.name";

/// A row as it is read.
#[derive(Clone, Queryable)]
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) robot_type: Option<String>,
    pub(super) year: Option<i64>,
    pub(super) revision: i64,
    pub(super) own: Option<String>,
}

impl Row {
    /// The number of bytes of the texts.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.robot_type, &self.own];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        self.name.len() + texts
    }
}

/// What searches compare of own values: the folded texts of the fields that they include, a line each.
pub(super) fn own_text<'a>(
    definition: &Definition,
    value: impl Fn(&Field) -> Option<Value<'a>>,
) -> Option<String> {
    let searched = definition.own().filter(|field| field.is_searched());
    let texts = searched.filter_map(value).map(|value| value.to_string());
    let texts: Vec<_> = texts.map(|text| fold(&text).into_owned()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// A row of a new robot. As JSON it is an object with [`DRAFT_COLUMNS`].
#[derive(Serialize)]
pub(super) struct DraftRow<'a> {
    pub(super) name: &'a str,
    #[serde(rename = "type")]
    pub(super) robot_type: Option<&'a str>,
    pub(super) year: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) search_text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) own_text: Option<Cow<'a, str>>,
    pub(super) own: Option<Cow<'a, str>>,
    pub(super) created_at: Option<i64>,
    pub(super) updated_at: Option<i64>,
    pub(super) updated_by: Option<&'a str>,
}

/// The columns of a [`DraftRow`], without search texts.
pub(super) const DRAFT_COLUMNS: [&str; 7] = [
    "name",
    "type",
    "year",
    "own",
    "created_at",
    "updated_at",
    "updated_by",
];

/// A row of a robot with its id.
#[derive(Serialize)]
pub(super) struct RobotRow<'a> {
    pub(super) id: i64,
    pub(super) revision: i64,
    #[serde(flatten)]
    pub(super) values: DraftRow<'a>,
}

impl<'a> DraftRow<'a> {
    pub(super) fn new(definition: &Definition, draft: &'a ValidDraft) -> Self {
        Self {
            search_text: Some(fold(draft.name())),
            own_text: own_text(definition, |field| draft.value(field)).map(Cow::Owned),
            ..Self::unindexed(definition, draft)
        }
    }

    /// Without what searches compare, which is added later.
    pub(super) fn unindexed(definition: &Definition, draft: &'a ValidDraft) -> Self {
        Self {
            name: draft.name(),
            robot_type: draft.robot_type(),
            year: draft.year(),
            search_text: None,
            own_text: None,
            own: draft.own().to_json(definition).map(Cow::Owned),
            created_at: None,
            updated_at: None,
            updated_by: None,
        }
    }

    /// By this author.
    pub(super) fn by(self, updated_by: Option<&'a str>) -> Self {
        Self { updated_by, ..self }
    }
}

impl<'a> RobotRow<'a> {
    pub(super) fn new(robot: &Robot, values: DraftRow<'a>) -> Self {
        Self {
            id: robot.id().get(),
            revision: robot.revision().get(),
            values,
        }
    }

    /// With the times and the author of a robot that is restored.
    pub(super) fn restored(robot: &'a Robot, values: DraftRow<'a>) -> Self {
        let audit = robot.audit();
        let milliseconds = |time: Option<Timestamp>| time.map(Timestamp::milliseconds);
        let values = DraftRow {
            created_at: audit.and_then(|audit| milliseconds(audit.created_at)),
            updated_at: audit.and_then(|audit| milliseconds(audit.updated_at)),
            updated_by: audit.and_then(|audit| audit.updated_by.as_deref()),
            ..values
        };
        Self::new(robot, values)
    }
}

/// Appends the assignments of the columns that change to a statement. If what searches compare is not known, they compare
/// the robot until it is added to the search index.
pub(super) fn assign<'a>(
    mut update: Fragment<'a>,
    definition: &Definition,
    changes: &'a ValidChanges,
    by: Option<&'a str>,
) -> Fragment<'a> {
    update = update.sql(", updated_by = ").text_or_null(by);
    let searched = definition.own().filter(|field| field.is_searched());
    let searched: Vec<_> = searched.collect();
    let is_changed = |field: &Field| changes.removes(field) || changes.value(field).is_some();
    let (search_text, own_text) = match changes.name() {
        Some(name) if changes.replaces_own() => {
            let own_text = own_text(definition, |field| changes.value(field));
            (Some(Some(fold(name))), Some(own_text))
        }
        // The name may be that of a robot whose own texts are not indexed yet.
        Some(_) if !searched.is_empty() => (Some(None), Some(None)),
        _ if searched.iter().any(|field| is_changed(field)) => (Some(None), Some(None)),
        name => (name.map(|name| Some(fold(name))), None),
    };
    let robot_type = changes.robot_type().map(Cow::from);
    let texts = [
        ("name", changes.name().map(|name| Some(name.into()))),
        ("type", is_changed(&Field::TYPE).then_some(robot_type)),
        ("search_text", search_text),
        ("own_text", own_text.map(|text| text.map(Cow::from))),
    ];
    for (column, value) in texts {
        if let Some(text) = value {
            update = update.sql(format!(", {column} = ")).text_or_null(text);
        }
    }
    match changes.year() {
        Some(year) => update.sql(", year = ").number(year),
        None if changes.removes(&Field::YEAR) => update.sql(", year = NULL"),
        None => update,
    }
}

/// The robot of a row. Checks only what the types require: rows of another program or version stay
/// readable.
pub(super) fn robot(row: Row) -> QueryResult<Robot> {
    // The columns of other programs may have any JSON.
    let own = row.own.and_then(|json| serde_json::from_str(&json).ok());
    let values = Draft {
        name: Some(row.name.into()),
        robot_type: row.robot_type.map(Into::into),
        year: row.year,
        own: own.unwrap_or_default(),
    };
    // No program that keeps the contract writes another one.
    let revision = Revision::new(row.revision).unwrap_or(Revision::FIRST);
    Ok(Robot::from_stored(stored_id(row.id)?, revision, values))
}

/// The robot of a row of which only the name is read.
#[inline]
pub(super) fn named((id, name): (i64, String)) -> QueryResult<Robot> {
    Ok(Robot::named(stored_id(id)?, name))
}

/// The count of a row: a number, and an array of values as JSON.
pub(super) fn count(by: &[Field], (count, values): (i64, String)) -> QueryResult<Count> {
    let values: Vec<Json> = serde_json::from_str(&values)
        .map_err(|error| DieselError::DeserializationError(error.into()))?;
    let values = by.iter().zip(values).map(|(field, value)| match value {
        Json::String(text) => field.parse_value(&text).ok().map(Value::into_owned),
        Json::Number(number) if *field.kind() == Kind::Boolean => {
            Some(Value::Boolean(number.as_i64() != Some(0)))
        }
        value => of_json(value),
    });
    Ok(Count {
        values: values.collect(),
        count: count.unsigned_abs(),
    })
}

/// The receipt of a row: the id and the revision of a robot.
pub(super) fn receipt((id, revision): (i64, String)) -> QueryResult<Receipt> {
    let id = stored_id(id)?;
    let revision = revision.parse().ok();
    Ok(Receipt { id, revision })
}

fn stored_id(number: i64) -> QueryResult<RobotId> {
    RobotId::new(number).ok_or_else(|| {
        let message = format!("the row with the id {number} is not a robot");
        wrap(Error::store(message))
    })
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests {
    use super::*;
    use crate::model::Draft;

    #[test]
    fn draft_columns_are_those_of_draft_row() {
        let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977)).unwrap();
        let row = DraftRow::unindexed(Definition::built_in(), &draft);
        let row = serde_json::to_value(row).unwrap();
        let members: Vec<_> = row.as_object().unwrap().keys().collect();
        let mut columns = DRAFT_COLUMNS;
        columns.sort_unstable();
        assert_eq!(members, columns);
    }
}
