//! The table as Diesel sees it, and its rows.

use diesel::prelude::*;

use crate::{
    error::Error,
    robot::{Draft, Robot, RobotId, RobotType},
    rules::{ValidChanges, ValidDraft},
};

diesel::table! {
    robots (id) {
        id -> BigInt,
        name -> Text,
        #[sql_name = "type"]
        robot_type -> Text,
        year -> BigInt,
    }
}

/// A row as it is read.
#[derive(Queryable)]
pub(super) struct Row {
    id: i64,
    name: String,
    robot_type: String,
    year: i64,
}

/// A row as it is inserted.
#[derive(Insertable)]
#[diesel(table_name = robots)]
pub(super) struct NewRow<'a> {
    name: &'a str,
    robot_type: &'static str,
    year: i64,
}

impl<'a> From<&'a ValidDraft> for NewRow<'a> {
    fn from(draft: &'a ValidDraft) -> Self {
        Self {
            name: draft.name(),
            robot_type: draft.robot_type().as_str(),
            year: draft.year(),
        }
    }
}

/// The columns of a row that are to change.
#[derive(AsChangeset)]
#[diesel(table_name = robots)]
pub(super) struct Columns<'a> {
    name: Option<&'a str>,
    robot_type: Option<&'static str>,
    year: Option<i64>,
}

impl Columns<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.name.is_none() && self.robot_type.is_none() && self.year.is_none()
    }
}

impl<'a> From<&'a ValidChanges> for Columns<'a> {
    fn from(changes: &'a ValidChanges) -> Self {
        Self {
            name: changes.name(),
            robot_type: changes.robot_type().map(RobotType::as_str),
            year: changes.year(),
        }
    }
}

impl TryFrom<Row> for Robot {
    type Error = Error;

    /// Constraints keep the table free of rows that break a rule; should one be there all the
    /// same, it is a failure of the store and not passed on.
    fn try_from(row: Row) -> Result<Self, Error> {
        let number = row.id;
        let id = RobotId::new(number)
            .ok_or_else(|| Error::store(format!("the row {number} has an impossible id")))?;
        ValidDraft::new(Draft::new(row.name, row.robot_type, row.year))
            .map(|draft| draft.with_id(id))
            .map_err(|rejection| Error::store(format!("the row {id} breaks a rule: {rejection}")))
    }
}
