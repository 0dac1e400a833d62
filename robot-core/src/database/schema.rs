//! The table as Diesel sees it, and its rows.

use diesel::prelude::*;

use crate::{
    error::Error,
    robot::{Robot, RobotId, RobotType},
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

/// What SQLite makes of a JSON array: a row of each element, where the text is told by `json`.
#[cfg(feature = "sqlite")]
mod json {
    use diesel::sql_types::Text;

    diesel::table! {
        json_each (id) {
            id -> BigInt,
            value -> Text,
            json -> Text,
        }
    }

    diesel::define_sql_function! {
        /// The text at a place in a JSON text.
        #[sql_name = "json_extract"]
        fn text_at(json: Text, path: Text) -> Text;
    }

    diesel::define_sql_function! {
        /// The number at a place in a JSON text.
        #[sql_name = "json_extract"]
        fn number_at(json: Text, path: Text) -> BigInt;
    }
}
#[cfg(feature = "sqlite")]
pub(super) use json::{json_each, number_at, text_at};

/// A row as it is read.
#[derive(Queryable)]
pub(super) struct Row {
    id: i64,
    name: String,
    robot_type: String,
    year: i64,
}

/// A row as it is inserted. No value of it is left to a default.
#[derive(Insertable)]
#[diesel(table_name = robots, treat_none_as_default_value = false)]
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

/// A row as it is inserted with an id that it has already. No value of it is left to a default, so
/// that several rows are one statement.
#[cfg(any(feature = "sqlite", feature = "mysql"))]
#[derive(Insertable)]
#[diesel(table_name = robots, treat_none_as_default_value = false)]
pub(super) struct KeptRow<'a> {
    id: i64,
    name: &'a str,
    robot_type: &'static str,
    year: i64,
}

#[cfg(feature = "mysql")]
impl<'a> KeptRow<'a> {
    /// A row that nobody gets to see.
    pub(super) fn passing(id: i64, name: &'a str) -> Self {
        Self {
            id,
            name,
            robot_type: RobotType::Virtual.as_str(),
            year: 0,
        }
    }
}

#[cfg(any(feature = "sqlite", feature = "mysql"))]
impl<'a> From<&'a Robot> for KeptRow<'a> {
    fn from(robot: &'a Robot) -> Self {
        Self {
            id: robot.id().get(),
            name: robot.name(),
            robot_type: robot.robot_type().as_str(),
            year: robot.year(),
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

    /// The constraints of the table keep rows out that break a rule, and rules may become
    /// stricter than old rows are; so rows are read as far as the types go.
    fn try_from(row: Row) -> Result<Self, Error> {
        let id = RobotId::new(row.id);
        let robot_type = RobotType::from_name(&row.robot_type);
        match (id, robot_type) {
            (Some(id), Some(robot_type)) => {
                Ok(Self::from_checked(id, row.name, robot_type, row.year))
            }
            _ => Err(Error::store(format!("the row {} holds no robot", row.id))),
        }
    }
}
