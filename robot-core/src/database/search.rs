//! Searches: what each backend is asked for, and by which way it finds it soon.
//!
//! The index of [`trigrams`](super::trigrams) proposes names, and the exact test of these decides.
//! In SQLite those are looked at as well that it has not taken in yet (see its `search.sql`).
//! What is shorter than three characters is searched for by reading all names, and so is what
//! many names contain: in the order of the names a page of those is soon full.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use diesel::dsl::sql;
#[cfg(feature = "mysql")]
use diesel::mysql::Mysql;
#[cfg(feature = "postgres")]
use diesel::pg::Pg;
#[cfg(feature = "sqlite")]
use diesel::{SqliteConnection, sql_types::BigInt, sqlite::Sqlite};
use diesel::{
    prelude::*,
    sql_types::{Bool, Text},
};

use super::schema::robots;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use super::trigrams::trigrams;

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

/// Of how many names at most that the index proposes each is looked at. Where there are more,
/// reading all names in their order is about as fast, and faster the more there are.
#[cfg(feature = "sqlite")]
const PROPOSAL_LIMIT: usize = 4096;

/// What the names that a search finds have in common.
type Condition<'a, B> = Box<dyn BoxableExpression<robots::table, B, SqlType = Bool> + 'a>;

/// That a name contains a text, in SQLite.
#[cfg(feature = "sqlite")]
pub(super) fn in_sqlite<'a>(
    connection: &mut SqliteConnection,
    containing: &'a str,
) -> Condition<'a, Sqlite> {
    let contains = instr(robots::name, containing).gt(0);
    match proposal(containing).and_then(|proposal| proposed(connection, &proposal)) {
        Some(ids) => Box::new(robots::id.eq_any(ids).and(contains)),
        None => Box::new(contains),
    }
}

/// The names that the index proposes for a text, as FTS5 is asked for them; `None` where the
/// text is too short. Each trigram is quoted, so that none is taken for an operator.
#[cfg(feature = "sqlite")]
fn proposal(containing: &str) -> Option<String> {
    let quoted = trigrams(containing)
        .into_iter()
        .map(|trigram| format!("\"{}\"", trigram.replace('"', "\"\"")));
    let all = quoted.collect::<Vec<_>>().join(" AND ");
    (!all.is_empty()).then_some(all)
}

/// The ids of the robots whose names the index proposes or has not taken in yet; `None` where they
/// are too many to be of use, or the index fails.
#[cfg(feature = "sqlite")]
fn proposed(connection: &mut SqliteConnection, proposal: &str) -> Option<Vec<i64>> {
    let ids = sql::<BigInt>("SELECT rowid FROM robots_search WHERE robots_search MATCH ")
        .bind::<Text, _>(proposal)
        .sql(&format!(
            " UNION ALL SELECT id FROM robots_unindexed LIMIT {}",
            PROPOSAL_LIMIT + 1
        ))
        .load::<i64>(connection);
    ids.ok().filter(|ids| ids.len() <= PROPOSAL_LIMIT)
}

/// That a name contains a text, in PostgreSQL, which decides by itself what the index is worth.
#[cfg(feature = "postgres")]
pub(super) fn in_postgres(containing: &str) -> Condition<'_, Pg> {
    let contains = strpos(robots::name, containing).gt(0);
    if trigrams(containing).is_empty() {
        return Box::new(contains);
    }
    // Diesel keeps no plan of SQL that is written by hand, so each pattern is planned for itself.
    let proposed = sql::<Bool>("robots.name LIKE ").bind::<Text, _>(pattern(containing));
    Box::new(proposed.and(contains))
}

/// The pattern of texts among which are all that contain this one: those with its longest word.
/// PostgreSQL looks for the beginnings of words, too, and those of short ones are many.
#[cfg(feature = "postgres")]
fn pattern(containing: &str) -> String {
    let words = containing.split(|character: char| !character.is_alphanumeric());
    let longest = words.max_by_key(|word| word.chars().count());
    let part = longest.filter(|word| !trigrams(word).is_empty());
    let escaped = part.unwrap_or(containing).chars().flat_map(|character| {
        let escape = matches!(character, '%' | '_' | '\\').then_some('\\');
        escape.into_iter().chain([character])
    });
    ["%", &escaped.collect::<String>(), "%"].concat()
}

/// That a name contains a text, in MariaDB and MySQL, which have no such index.
#[cfg(feature = "mysql")]
pub(super) fn in_mysql(containing: &str) -> Condition<'_, Mysql> {
    Box::new(instr(robots::name, containing).gt(0))
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::pattern;

    #[test]
    fn the_pattern_is_of_the_longest_word_or_of_the_whole() {
        for (containing, expected) in [
            ("r-r00123", "%r00123%"),
            ("one two3", "%two3%"),
            ("a-b_%\\", "%a-b\\_\\%\\\\%"),
            ("äöü", "%äöü%"),
        ] {
            assert_eq!(pattern(containing), expected);
        }
    }
}
