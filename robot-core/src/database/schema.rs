//! The table as Diesel sees it, and its rows.

use std::borrow::Cow;

use diesel::prelude::*;
use serde::Serialize;

use super::errors::wrap;
use crate::{
    catalogue::{Error, Summary},
    model::{Entry, Revision, Robot, RobotId, ValidChanges, ValidDraft, fold},
};

diesel::table! {
    robots (id) {
        id -> BigInt,
        name -> Text,
        #[sql_name = "type"]
        robot_type -> Text,
        year -> BigInt,
        /// 1 for a new robot, and greater by one after each change.
        revision -> BigInt,
        /// The folded name; NULL if the row is not in the search index yet.
        search_text -> Nullable<Text>,
        /// The values of other fields, as a JSON object.
        own -> Nullable<Text>,
    }
}

/// A row as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = robots)]
pub(super) struct Row {
    id: i64,
    name: String,
    robot_type: String,
    year: i64,
    revision: i64,
    own: Option<String>,
}

/// A row of a new robot. As JSON it is an object with [`DRAFT_COLUMNS`].
#[derive(Insertable, Serialize)]
#[diesel(table_name = robots, treat_none_as_default_value = false)]
pub(super) struct DraftRow<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    robot_type: &'a str,
    year: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_text: Option<Cow<'a, str>>,
    own: Option<String>,
}

/// The columns of a [`DraftRow`].
#[cfg(feature = "sqlite")]
pub(super) const DRAFT_COLUMNS: [&str; 4] = [
    robots::name::NAME,
    robots::robot_type::NAME,
    robots::year::NAME,
    robots::own::NAME,
];

/// A row of a robot with its id. No column has a default, so that several rows fit into one
/// statement.
#[derive(Insertable, Serialize)]
#[diesel(table_name = robots, treat_none_as_default_value = false)]
pub(super) struct RobotRow<'a> {
    id: i64,
    name: &'a str,
    #[serde(rename = "type")]
    robot_type: &'a str,
    year: i64,
    revision: i64,
    search_text: Option<Cow<'a, str>>,
    own: Option<String>,
}

/// The columns that change.
#[derive(AsChangeset, Serialize)]
#[diesel(table_name = robots)]
pub(super) struct ChangedColumns<'a> {
    name: Option<&'a str>,
    #[serde(rename = "type")]
    robot_type: Option<&'a str>,
    year: Option<i64>,
    search_text: Option<Cow<'a, str>>,
}

impl<'a> DraftRow<'a> {
    pub(super) fn new(draft: &'a ValidDraft, search_text: Option<Cow<'a, str>>) -> Self {
        Self {
            name: draft.name(),
            robot_type: draft.robot_type(),
            year: draft.year(),
            search_text,
            own: draft.own().to_json(),
        }
    }
}

impl<'a> RobotRow<'a> {
    pub(super) fn new(robot: &'a Robot, search_text: Option<Cow<'a, str>>) -> Self {
        Self {
            id: robot.id().get(),
            name: robot.name(),
            robot_type: robot.robot_type(),
            year: robot.year(),
            revision: robot.revision().get(),
            search_text,
            own: robot.own().to_json(),
        }
    }

    /// A row that is deleted in the transaction that inserts it.
    #[cfg(feature = "mysql")]
    pub(super) fn temporary(id: i64, name: &'a str) -> Self {
        Self {
            id,
            name,
            robot_type: "",
            year: 0,
            revision: Revision::FIRST.get(),
            search_text: None,
            own: None,
        }
    }
}

impl<'a> From<&'a ValidChanges> for ChangedColumns<'a> {
    fn from(changes: &'a ValidChanges) -> Self {
        Self {
            name: changes.name(),
            robot_type: changes.robot_type(),
            year: changes.year(),
            search_text: changes.name().map(fold),
        }
    }
}

/// The robot of a row. Checks only what the types require: rows of another program or version stay
/// readable.
pub(super) fn robot(row: Row) -> QueryResult<Robot> {
    let own = row.own.as_deref().map(serde_json::from_str);
    let own = own
        .transpose()
        .map_err(|error| wrap(Error::store(error)))?
        .unwrap_or_default();
    let values = ValidDraft::from_stored(row.name, row.robot_type, row.year, own);
    // No program that keeps the contract writes another one.
    let revision = Revision::new(row.revision).unwrap_or(Revision::FIRST);
    Ok(values.with_id(stored_id(row.id)?).with_revision(revision))
}

/// The entry of a row.
pub(super) fn entry((id, name): (i64, String)) -> QueryResult<Entry> {
    Ok(Entry::new(stored_id(id)?, name))
}

/// The summary of rows with type, year and number.
pub(super) fn summary(rows: impl IntoIterator<Item = (String, i64, i64)>) -> Summary {
    Summary::new(
        rows.into_iter()
            .map(|(robot_type, year, count)| (robot_type, year, count.unsigned_abs())),
    )
}

/// The id that a database assigned.
pub(super) fn assigned(number: i64) -> Result<RobotId, Error> {
    RobotId::new(number).ok_or_else(|| Error::store("the database assigned an id below 1"))
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
        let row = serde_json::to_value(DraftRow::new(&draft, None)).unwrap();
        let members: Vec<_> = row.as_object().unwrap().keys().collect();
        let mut columns = DRAFT_COLUMNS;
        columns.sort_unstable();
        assert_eq!(members, columns);
    }
}
