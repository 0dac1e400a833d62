//! Statements in SQLite's dialect.

use super::search;
use crate::{
    database::{
        schema::{DraftRow, RobotRow, robots},
        statements::{Contains, Dialect, impl_statements},
    },
    model::{Robot, ValidDraft},
};
use diesel::{
    dsl::sql,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
    sqlite::Sqlite,
};

diesel::table! {
    /// SQLite's table-valued function: a row per element of the array in `json`.
    json_each (id) {
        id -> BigInt,
        value -> Text,
        json -> Text,
    }
}

diesel::define_sql_function! {
    /// The text at a path in a JSON text.
    #[sql_name = "json_extract"]
    fn json_text(json: Text, path: Text) -> Text;
}

diesel::define_sql_function! {
    /// The number at a path in a JSON text.
    #[sql_name = "json_extract"]
    fn json_number(json: Text, path: Text) -> BigInt;
}

impl_statements!(SqliteConnection);

impl Dialect for SqliteConnection {
    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::from(draft))
            .returning(robots::id)
            .get_result(self)
    }

    fn contains<'a>(&mut self, text: &'a str) -> Contains<'a, Sqlite> {
        search::contains(self, text)
    }

    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows: Vec<_> = robots.iter().map(RobotRow::from).collect();
        let insert = diesel::insert_into(robots::table).values(rows);
        insert.execute(self).map(drop)
    }

    fn last_id(&mut self) -> QueryResult<i64> {
        sql::<BigInt>("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'robots'")
            .get_result(self)
    }

    fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        // The row exists only after the first insert.
        sql_query("DELETE FROM sqlite_sequence WHERE name = 'robots'").execute(self)?;
        sql_query("INSERT INTO sqlite_sequence (name, seq) VALUES ('robots', ?)")
            .bind::<BigInt, _>(id)
            .execute(self)
            .map(drop)
    }
}

/// Inserts the robots whose names are free, by one statement, and returns their ids and names. The
/// rows are passed as JSON, so that the statement is the same for any number of them, and is
/// prepared once.
pub(super) fn insert_free<'a>(
    connection: &mut SqliteConnection,
    drafts: impl Iterator<Item = &'a ValidDraft>,
) -> QueryResult<Vec<(i64, String)>> {
    let rows: Vec<_> = drafts
        .map(|draft| (draft.name(), draft.robot_type().as_str(), draft.year()))
        .collect();
    let rows = serde_json::to_string(&rows)
        .map_err(|error| diesel::result::Error::SerializationError(error.into()))?;
    let rows = json_each::table.filter(json_each::json.eq(rows)).select((
        json_text(json_each::value, "$[0]"),
        json_text(json_each::value, "$[1]"),
        json_number(json_each::value, "$[2]"),
    ));
    diesel::insert_or_ignore_into(robots::table)
        .values(rows)
        .into_columns((robots::name, robots::robot_type, robots::year))
        .returning((robots::id, robots::name))
        .get_results(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{CatalogueExt, OpenOptions},
        database::sqlite::{SqliteCatalogue, connection::Purpose, file::DatabaseFile},
        model::Draft,
    };

    #[test]
    fn insert_free_adds_all_free_names_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        let catalogue = SqliteCatalogue::open(&url).unwrap();
        let last = catalogue.add(Draft::new("taken", "droid", 1)).unwrap().id();
        let file = DatabaseFile::from_url(&url, &OpenOptions::new()).unwrap();
        let mut connection = file.connect(Purpose::Write).unwrap();
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
        let rows = insert_free(&mut connection, drafts.iter()).unwrap();
        let names = free.map(str::to_owned);
        assert_eq!(rows, (last.get() + 1..).zip(names).collect::<Vec<_>>());
    }
}
