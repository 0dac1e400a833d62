//! Every statement about robots that is sent to a database.

use diesel::{prelude::*, sql_types::Text};

#[cfg(feature = "mysql")]
use super::failure::outcome_unknown;
use super::{
    connection::AnyConnection,
    schema::{Columns, NewRow, Row, robots},
};
use crate::{
    catalogue::PageRequest,
    robot::RobotId,
    rules::{ValidChanges, ValidDraft},
};

diesel::define_sql_function! {
    /// The place of `part` in `whole`, by characters from 1, or 0: exact, without wildcards.
    #[cfg(any(feature = "sqlite", feature = "mysql"))]
    fn instr(whole: Text, part: Text) -> Integer;
}

diesel::define_sql_function! {
    /// What others call `instr`.
    #[cfg(feature = "postgres")]
    fn strpos(whole: Text, part: Text) -> Integer;
}

diesel::define_sql_function! {
    /// The id of the row that this connection inserted last.
    #[cfg(feature = "mysql")]
    fn last_insert_id() -> BigInt;
}

/// Inserts a robot and returns its id.
pub(super) fn insert(connection: &mut AnyConnection, draft: &ValidDraft) -> QueryResult<i64> {
    let insert = diesel::insert_into(robots::table).values(NewRow::from(draft));
    match connection {
        #[cfg(feature = "sqlite")]
        AnyConnection::Sqlite(connection) => insert.returning(robots::id).get_result(connection),
        #[cfg(feature = "postgres")]
        AnyConnection::Postgres(connection) => insert.returning(robots::id).get_result(connection),
        #[cfg(feature = "mysql")]
        AnyConnection::Mysql(connection) => {
            insert.execute(connection)?;
            // From here on nothing may say that the robot was not stored.
            diesel::select(last_insert_id())
                .get_result(connection)
                .map_err(outcome_unknown)
        }
    }
}

/// Changes columns of a robot; how many rows there were with the id: 0 or 1.
pub(super) fn update(
    connection: &mut AnyConnection,
    id: RobotId,
    changes: &ValidChanges,
) -> QueryResult<usize> {
    let row = robots::table.find(id.get());
    let columns = Columns::from(changes);
    if columns.is_empty() {
        // There is no statement that changes nothing.
        let found: Option<i64> = row.select(robots::id).first(connection).optional()?;
        return Ok(found.iter().count());
    }
    diesel::update(row).set(columns).execute(connection)
}

/// Deletes a robot; how many rows there were with the id: 0 or 1.
pub(super) fn delete(connection: &mut AnyConnection, id: RobotId) -> QueryResult<usize> {
    diesel::delete(robots::table.find(id.get())).execute(connection)
}

/// The robot of an id.
pub(super) fn get(connection: &mut AnyConnection, id: RobotId) -> QueryResult<Option<Row>> {
    robots::table.find(id.get()).first(connection).optional()
}

/// The robot of a name.
pub(super) fn find(connection: &mut AnyConnection, name: &str) -> QueryResult<Option<Row>> {
    robots::table
        .filter(robots::name.eq(name))
        .first(connection)
        .optional()
}

/// A page in the order of the names.
pub(super) fn page(
    connection: &mut AnyConnection,
    request: PageRequest<'_>,
) -> QueryResult<Vec<Row>> {
    let page = robots::table
        .filter(robots::name.gt(request.after))
        .order(robots::name.asc())
        .limit(i64::try_from(request.limit).unwrap_or(i64::MAX));
    if request.containing.is_empty() {
        return page.load(connection);
    }
    match connection {
        #[cfg(feature = "sqlite")]
        AnyConnection::Sqlite(connection) => page
            .filter(instr(robots::name, request.containing).gt(0))
            .load(connection),
        #[cfg(feature = "postgres")]
        AnyConnection::Postgres(connection) => page
            .filter(strpos(robots::name, request.containing).gt(0))
            .load(connection),
        #[cfg(feature = "mysql")]
        AnyConnection::Mysql(connection) => page
            .filter(instr(robots::name, request.containing).gt(0))
            .load(connection),
    }
}
