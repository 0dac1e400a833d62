//! Every statement about robots that is sent to a database.

use diesel::prelude::*;

#[cfg(feature = "mysql")]
use super::failure::outcome_unknown;
#[cfg(feature = "sqlite")]
use super::schema::{json_each, number_at, text_at};
use super::{
    connection::AnyConnection,
    schema::{Columns, NewRow, Row, robots},
    search,
};
use crate::{
    catalogue::Change,
    pages::PageRequest,
    robot::RobotId,
    rules::{ValidChanges, ValidDraft},
};

diesel::define_sql_function! {
    /// The id of the row that this connection inserted last.
    #[cfg(feature = "mysql")]
    fn last_insert_id() -> BigInt;
}

/// Has the same done on a connection of any backend, by code of the backend's own. Diesel knows
/// such a statement by its type, where otherwise it has to be written out to be recognised.
macro_rules! on_backend {
    ($connection:expr, $backend:ident => $work:expr) => {
        match $connection {
            #[cfg(feature = "sqlite")]
            AnyConnection::Sqlite($backend) => $work,
            #[cfg(feature = "postgres")]
            AnyConnection::Postgres($backend) => $work,
            #[cfg(feature = "mysql")]
            AnyConnection::Mysql($backend) => $work,
        }
    };
}

/// Makes a change, and returns the number of the robot that was added, changed or deleted;
/// `None` where there was none to change or delete.
pub(super) fn apply(connection: &mut AnyConnection, change: &Change) -> QueryResult<Option<i64>> {
    let (id, rows) = match change {
        Change::Insert(draft) => return insert(connection, draft).map(Some),
        Change::Update(id, changes) => (id, update(connection, *id, changes)?),
        Change::Delete(id) => (id, delete(connection, *id)?),
    };
    Ok((rows > 0).then_some(id.get()))
}

/// Inserts robots by one statement, and returns the ids and names of those that it inserted: all
/// whose names are free. It takes less than a statement for each; and one that has the rows as JSON is
/// the same for any number of them, so that it is prepared once.
#[cfg(feature = "sqlite")]
pub(super) fn insert_many<'a>(
    connection: &mut AnyConnection,
    drafts: impl Iterator<Item = &'a ValidDraft>,
) -> QueryResult<Vec<(i64, String)>> {
    let rows: Vec<_> = drafts
        .map(|draft| (draft.name(), draft.robot_type().as_str(), draft.year()))
        .collect();
    let rows = serde_json::to_string(&rows)
        .map_err(|error| diesel::result::Error::SerializationError(error.into()))?;
    let rows = json_each::table.filter(json_each::json.eq(rows)).select((
        text_at(json_each::value, "$[0]"),
        text_at(json_each::value, "$[1]"),
        number_at(json_each::value, "$[2]"),
    ));
    match connection {
        AnyConnection::Sqlite(connection) => diesel::insert_or_ignore_into(robots::table)
            .values(rows)
            .into_columns((robots::name, robots::robot_type, robots::year))
            .returning((robots::id, robots::name))
            .get_results(connection),
        // The others have no use for it.
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        _ => Ok(Vec::new()),
    }
}

/// Inserts a robot and returns its id.
fn insert(connection: &mut AnyConnection, draft: &ValidDraft) -> QueryResult<i64> {
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
fn update(
    connection: &mut AnyConnection,
    id: RobotId,
    changes: &ValidChanges,
) -> QueryResult<usize> {
    let row = robots::table.find(id.get());
    let columns = Columns::from(changes);
    if columns.is_empty() {
        // There is no statement that changes nothing.
        return get(connection, id).map(|row| row.iter().count());
    }
    let update = diesel::update(row).set(columns);
    on_backend!(connection, connection => update.execute(connection))
}

/// Deletes a robot; how many rows there were with the id: 0 or 1.
fn delete(connection: &mut AnyConnection, id: RobotId) -> QueryResult<usize> {
    let deletion = diesel::delete(robots::table.find(id.get()));
    on_backend!(connection, connection => deletion.execute(connection))
}

// An id and a name are of one robot at most, so that no LIMIT is needed. It would cost more than
// the rest of the query: SQLite plans a statement anew whenever its limit is bound.

/// The robot of an id.
pub(super) fn get(connection: &mut AnyConnection, id: RobotId) -> QueryResult<Option<Row>> {
    let robot = robots::table.find(id.get());
    on_backend!(connection, connection => robot.get_result(connection)).optional()
}

/// The robot of a name.
pub(super) fn find(connection: &mut AnyConnection, name: &str) -> QueryResult<Option<Row>> {
    let robot = robots::table.filter(robots::name.eq(name));
    on_backend!(connection, connection => robot.get_result(connection)).optional()
}

/// Reads some columns of a page, in the order of the names.
macro_rules! in_order {
    ($connection:expr, $request:expr, $columns:expr) => {{
        let PageRequest {
            containing, after, ..
        } = $request;
        let page = robots::table
            .select($columns)
            .filter(robots::name.gt(after))
            .order(robots::name.asc())
            .limit(i64::try_from($request.limit).unwrap_or(i64::MAX));
        if containing.is_empty() {
            return on_backend!($connection, connection => page.load(connection));
        }
        match $connection {
            #[cfg(feature = "sqlite")]
            // What the index proposes and what is made of it are of one moment.
            AnyConnection::Sqlite(connection) => connection.transaction(|connection| {
                page.filter(search::in_sqlite(connection, containing))
                    .load(connection)
            }),
            #[cfg(feature = "postgres")]
            AnyConnection::Postgres(connection) => page
                .filter(search::in_postgres(containing))
                .load(connection),
            #[cfg(feature = "mysql")]
            AnyConnection::Mysql(connection) => page
                .filter(search::in_mysql(containing))
                .load(connection),
        }
    }};
}

/// A page of robots.
pub(super) fn page(
    connection: &mut AnyConnection,
    request: PageRequest<'_>,
) -> QueryResult<Vec<Row>> {
    in_order!(connection, request, robots::all_columns)
}

/// A page of entries. The index of the names has all of them, so that no row is looked at.
pub(super) fn entries(
    connection: &mut AnyConnection,
    request: PageRequest<'_>,
) -> QueryResult<Vec<(i64, String)>> {
    in_order!(connection, request, (robots::id, robots::name))
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{
        catalogue::Catalogue,
        database::{
            DatabaseCatalogue,
            connection::{Location, Purpose},
        },
        open::OpenOptions,
        robot::Draft,
    };

    #[test]
    fn one_statement_adds_all_whose_names_are_free_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        let catalogue = DatabaseCatalogue::open(&url).unwrap();
        let last = catalogue.add(Draft::new("taken", "droid", 1)).unwrap().id();
        let location = Location::parse(&url, &OpenOptions::new()).unwrap();
        let mut connection = location.connect(Purpose::Writing).unwrap();
        let free = [
            "b",
            "\"a\"",
            "[1]\\",
            "\u{1}\u{7f}\u{2028}",
            "e\u{301}",
            "a",
        ];
        let drafts: Vec<_> = free
            .iter()
            .chain(&["taken", "b"])
            .map(|name| ValidDraft::new(Draft::new(*name, "virtual", i64::MAX)).unwrap())
            .collect();
        let rows = insert_many(&mut connection, drafts.iter()).unwrap();
        let names = free.map(str::to_owned);
        assert_eq!(rows, (last.get() + 1..).zip(names).collect::<Vec<_>>());
    }
}
