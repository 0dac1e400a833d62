//! Search in SQLite: an FTS5 index of trigrams yields candidates, and the exact comparison decides.
//!
//! Texts without a trigram, or with too many candidates, are compared with every name in order: with
//! many matches a page fills early.

use diesel::{
    SqliteConnection,
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Text},
    sqlite::Sqlite,
};

use crate::database::{schema::robots, statements::Contains, trigrams::trigrams};

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn instr(whole: Text, part: Text) -> Integer;
}

/// The maximum number of candidates that are compared one by one. Above it, reading all names in
/// their order is about as fast, and faster the more candidates there are.
const CANDIDATE_LIMIT: usize = 4096;

/// The condition that a name contains a text.
pub(super) fn contains<'a>(
    connection: &mut SqliteConnection,
    text: &'a str,
) -> Contains<'a, Sqlite> {
    let contains = instr(robots::name, text).gt(0);
    match fts_query(text).and_then(|query| candidates(connection, &query)) {
        Some(ids) => Box::new(robots::id.eq_any(ids).and(contains)),
        None => Box::new(contains),
    }
}

/// The FTS5 query for the trigrams of a text, each quoted; `None` if the text has none.
fn fts_query(text: &str) -> Option<String> {
    let quoted = trigrams(text)
        .into_iter()
        .map(|trigram| format!("\"{}\"", trigram.replace('"', "\"\"")));
    let query = quoted.collect::<Vec<_>>().join(" AND ");
    (!query.is_empty()).then_some(query)
}

/// The ids of robots whose names match the query or are not indexed yet; `None` if there are too
/// many of them, or the index fails.
fn candidates(connection: &mut SqliteConnection, query: &str) -> Option<Vec<i64>> {
    let ids = sql::<BigInt>("SELECT rowid FROM robots_search WHERE robots_search MATCH ")
        .bind::<Text, _>(query)
        .sql(&format!(
            " UNION ALL SELECT id FROM robots_unindexed LIMIT {}",
            CANDIDATE_LIMIT + 1
        ))
        .load::<i64>(connection);
    ids.ok().filter(|ids| ids.len() <= CANDIDATE_LIMIT)
}
