//! Statements in PostgreSQL's dialect.

use diesel::{
    PgConnection,
    connection::SimpleConnection,
    dsl::sql,
    pg::Pg,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Bool, Text},
};

use crate::{
    database::{
        schema::{DraftRow, RobotRow, robots},
        statements::{Contains, Dialect, impl_statements},
        trigrams::trigrams,
    },
    model::{Robot, ValidDraft},
};

/// The sequence that ids come from.
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn strpos(whole: Text, part: Text) -> Integer;
}

impl_statements!(PgConnection, limit);

impl Dialect for PgConnection {
    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::from(draft))
            .returning(robots::id)
            .get_result(self)
    }

    /// PostgreSQL's planner decides whether to use the index.
    fn contains<'a>(&mut self, text: &'a str) -> Contains<'a, Pg> {
        let contains = strpos(robots::name, text).gt(0);
        if trigrams(text).is_empty() {
            return Box::new(contains);
        }
        // Diesel does not prepare hand-written SQL, so each pattern gets a plan of its own.
        let is_candidate = sql::<Bool>("robots.name LIKE ").bind::<Text, _>(pattern(text));
        Box::new(is_candidate.and(contains))
    }

    /// COPY accepts given ids. An INSERT would need OVERRIDING SYSTEM VALUE, which Diesel does not
    /// support.
    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows: Vec<_> = robots.iter().map(RobotRow::from).collect();
        let copy = diesel::copy_from(robots::table).from_insertable(rows);
        copy.execute(self).map(drop)
    }

    fn last_id(&mut self) -> QueryResult<i64> {
        let query = format!("SELECT coalesce(pg_sequence_last_value({SEQUENCE}), 0)");
        sql::<BigInt>(&query).get_result(self)
    }

    fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        sql_query(format!("SELECT setval({SEQUENCE}, $1)"))
            .bind::<BigInt, _>(id)
            .execute(self)
            .map(drop)
    }

    /// Blocks inserts, so that none is assigned an id between the look at the sequence and its change.
    /// It is the first lock of the transaction: a weaker one before it could cause a deadlock with
    /// another restoration.
    fn lock_ids(&mut self) -> QueryResult<()> {
        self.batch_execute("LOCK TABLE robots IN SHARE ROW EXCLUSIVE MODE")
    }
}

/// A LIKE pattern that matches every name with this text: that of its longest word. PostgreSQL also
/// looks up the beginnings of words, of which short words have many.
fn pattern(text: &str) -> String {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let longest = words.max_by_key(|word| word.chars().count());
    let part = longest.filter(|word| !trigrams(word).is_empty());
    let escaped = part.unwrap_or(text).chars().flat_map(|character| {
        let escape = matches!(character, '%' | '_' | '\\').then_some('\\');
        escape.into_iter().chain([character])
    });
    ["%", &escaped.collect::<String>(), "%"].concat()
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn pattern_is_the_longest_word_or_the_whole_text() {
        for (text, expected) in [
            ("r-r00123", "%r00123%"),
            ("one two3", "%two3%"),
            ("a-b_%\\", "%a-b\\_\\%\\\\%"),
            ("äöü", "%äöü%"),
        ] {
            assert_eq!(pattern(text), expected);
        }
    }
}
