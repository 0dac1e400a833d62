//! The table as Diesel sees it, and its rows.

use diesel::prelude::*;

use crate::{
    error::Error,
    robot::{Draft, Robot, RobotId},
    rules::ValidDraft,
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

/// A row as it is written: all that a client may set.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = robots)]
pub(super) struct Columns<'a> {
    name: &'a str,
    robot_type: &'static str,
    year: i64,
}

impl<'a> From<&'a ValidDraft> for Columns<'a> {
    fn from(draft: &'a ValidDraft) -> Self {
        Self {
            name: draft.name(),
            robot_type: draft.robot_type().as_str(),
            year: draft.year(),
        }
    }
}

impl TryFrom<Row> for Robot {
    type Error = Error;

    /// Constraints keep the table free of rows that break a rule; should one be there all the
    /// same, it is a failure of the store and not passed on.
    fn try_from(row: Row) -> Result<Self, Error> {
        let id = RobotId::new(row.id).ok_or_else(|| {
            Error::Store(format!("the row {} has an impossible id", row.id).into())
        })?;
        ValidDraft::new(Draft::new(row.name, row.robot_type, row.year))
            .map(|draft| draft.with_id(id))
            .map_err(|rejection| {
                Error::Store(format!("the row {id} breaks a rule: {rejection}").into())
            })
    }
}
