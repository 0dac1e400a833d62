//! Statements in PostgreSQL's dialect.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use diesel::{
    PgConnection,
    connection::SimpleConnection,
    dsl::sql,
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_query,
    sql_types::{Array, BigInt, Bool, Nullable, Text},
};

use crate::{
    catalogue::Result,
    database::{
        schema::{DraftRow, RobotRow, robots},
        search_text::has_id,
        statements::{Condition, Dialect, impl_statements},
        trigrams::trigrams,
    },
    model::{Robot, RobotId, ValidChanges, ValidDraft, Violation, fold},
};

/// The sequence that ids come from.
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn strpos(whole: Text, part: Text) -> Integer;
}

impl_statements!(PgConnection, limit);

impl Dialect for PgConnection {
    const MERGE: (&str, &str) = (
        "nullif(jsonb_strip_nulls(coalesce(robots.own, '{}')::jsonb || ",
        "::jsonb)::text, '{}')",
    );

    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::new(draft, Some(fold(draft.name()))))
            .returning(robots::id)
            .get_result(self)
    }

    /// A name that contains a text also contains it folded.
    fn name_contains(text: &str) -> Condition<'_, Pg> {
        let is_candidate = may_contain(&fold(text)).or(robots::search_text.is_null());
        Box::new(is_candidate.and(strpos(robots::name, text).gt(0)))
    }

    fn search_text_contains<'a>(folded: &'a str, ids: &[i64]) -> Condition<'a, Pg> {
        let contains = strpos(robots::search_text.assume_not_null(), folded).gt(0);
        let contains = may_contain(folded).and(contains);
        match ids {
            [] => Box::new(contains),
            _ => Box::new(contains.or(has_id(ids))),
        }
    }

    /// COPY accepts given ids. An INSERT would need OVERRIDING SYSTEM VALUE, which Diesel does not
    /// support.
    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows = robots.iter();
        let rows: Vec<_> = rows
            .map(|robot| RobotRow::new(robot, Some(fold(robot.name()))))
            .collect();
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

/// The condition that a search text may contain a folded text.
///
/// PostgreSQL's planner decides whether to use the index: it estimates from the pattern how many search texts
/// match. Diesel does not prepare hand-written SQL, so that each pattern gets a plan of its own.
fn may_contain(folded: &str) -> Condition<'static, Pg> {
    let condition = sql::<Bool>("robots.search_text LIKE ");
    Box::new(condition.bind::<Text, _>(pattern(folded)))
}

/// A LIKE pattern for the search texts that may contain a folded text.
///
/// If the text has a long word, each character that is no part of a word becomes a placeholder: for words
/// whose beginning or end it knows, PostgreSQL also looks those up, which many names have. The planner
/// estimates from the pattern how many names have the whole text.
fn pattern(folded: &str) -> String {
    let mut words = folded.split(|character: char| !character.is_alphanumeric());
    let has_long_word = words.any(|word| !trigrams(word).is_empty());
    let mut pattern = String::from("%");
    for character in folded.chars() {
        match character {
            _ if has_long_word && !character.is_alphanumeric() => pattern.push('_'),
            '%' | '_' | '\\' => pattern.extend(['\\', character]),
            _ => pattern.push(character),
        }
    }
    pattern + "%"
}

/// Inserts the robots whose names are free, by one statement.
pub(super) fn insert_all(
    connection: &mut PgConnection,
    drafts: &[&ValidDraft],
) -> QueryResult<HashMap<String, i64>> {
    let rows: Vec<(i64, String)> = InsertAll {
        names: drafts.iter().map(|draft| draft.name()).collect(),
        types: drafts.iter().map(|draft| draft.robot_type()).collect(),
        years: drafts.iter().map(|draft| draft.year()).collect(),
        search_texts: drafts.iter().map(|draft| fold(draft.name())).collect(),
        own: drafts.iter().map(|draft| draft.own().to_json()).collect(),
    }
    .get_results(connection)?;
    Ok(rows.into_iter().map(|(id, name)| (name, id)).collect())
}

/// Changes the robots that exist and whose new names are free, by one statement.
pub(super) fn update_all(
    connection: &mut PgConnection,
    updates: &[(RobotId, &ValidChanges)],
) -> QueryResult<HashMap<RobotId, Result<()>>> {
    let changes = || updates.iter().map(|(_, changes)| changes);
    let rows: Vec<(i64, bool)> = UpdateAll {
        ids: updates.iter().map(|(id, _)| id.get()).collect(),
        names: changes().map(|changes| changes.name()).collect(),
        types: changes().map(|changes| changes.robot_type()).collect(),
        years: changes().map(|changes| changes.year()).collect(),
        search_texts: changes().map(|changes| changes.name().map(fold)).collect(),
        own: changes().map(|changes| changes.own_patch()).collect(),
    }
    .get_results(connection)?;
    let result = |(id, is_updated)| {
        let result = if is_updated {
            Ok(())
        } else {
            Err(Violation::NAME_TAKEN.into())
        };
        Some((RobotId::new(id)?, result))
    };
    Ok(rows.into_iter().filter_map(result).collect())
}

/// Deletes the robots that exist, by one statement.
pub(super) fn delete_all(
    connection: &mut PgConnection,
    ids: &[RobotId],
) -> QueryResult<HashSet<RobotId>> {
    let ids: Vec<_> = ids.iter().map(|id| id.get()).collect();
    let ids: Vec<_> = diesel::delete(robots::table.filter(robots::id.eq_any(ids)))
        .returning(robots::id)
        .get_results(connection)?;
    Ok(ids.into_iter().filter_map(RobotId::new).collect())
}

/// The statement of [`insert_all`]: the same for any number of rows, so that it is prepared once.
struct InsertAll<'a> {
    names: Vec<&'a str>,
    types: Vec<&'a str>,
    years: Vec<i64>,
    search_texts: Vec<Cow<'a, str>>,
    own: Vec<Option<String>>,
}

impl QueryId for InsertAll<'_> {
    type QueryId = InsertAll<'static>;
}

impl Query for InsertAll<'_> {
    type SqlType = (BigInt, Text);
}

impl RunQueryDsl<PgConnection> for InsertAll<'_> {}

impl QueryFragment<Pg> for InsertAll<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.push_sql(
            "INSERT INTO robots (name, type, year, search_text, own) SELECT * FROM unnest(",
        );
        pass.push_bind_param::<Array<Text>, _>(&self.names)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Text>, _>(&self.types)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<BigInt>, _>(&self.years)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Text>, _>(&self.search_texts)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Nullable<Text>>, _>(&self.own)?;
        pass.push_sql(") ON CONFLICT (name) DO NOTHING RETURNING id, name");
        Ok(())
    }
}

/// The statement of [`update_all`]: the same for any number of rows, so that it is prepared once.
struct UpdateAll<'a> {
    ids: Vec<i64>,
    names: Vec<Option<&'a str>>,
    types: Vec<Option<&'a str>>,
    years: Vec<Option<i64>>,
    search_texts: Vec<Option<Cow<'a, str>>>,
    own: Vec<Option<String>>,
}

impl QueryId for UpdateAll<'_> {
    type QueryId = UpdateAll<'static>;
}

impl Query for UpdateAll<'_> {
    type SqlType = (BigInt, Bool);
}

impl RunQueryDsl<PgConnection> for UpdateAll<'_> {}

impl QueryFragment<Pg> for UpdateAll<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.push_sql("WITH new AS (SELECT * FROM unnest(");
        pass.push_bind_param::<Array<BigInt>, _>(&self.ids)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Nullable<Text>>, _>(&self.names)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Nullable<Text>>, _>(&self.types)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Nullable<BigInt>>, _>(&self.years)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Nullable<Text>>, _>(&self.search_texts)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Nullable<Text>>, _>(&self.own)?;
        let (before, after) = PgConnection::MERGE;
        pass.push_sql(&format!(
            ") AS new (id, name, type, year, search_text, own)), \
             taken AS (SELECT new.id FROM new JOIN robots USING (id) \
                 JOIN robots AS other ON other.name = new.name AND other.id <> new.id), \
             updated AS (UPDATE robots SET name = coalesce(new.name, robots.name), \
                 type = coalesce(new.type, robots.type), year = coalesce(new.year, robots.year), \
                 search_text = coalesce(new.search_text, robots.search_text), \
                 own = CASE WHEN new.own IS NULL THEN robots.own ELSE {before}new.own{after} END, \
                 revision = robots.revision + 1 \
                 FROM new WHERE robots.id = new.id AND new.id NOT IN (TABLE taken) \
                 RETURNING robots.id) \
             SELECT id, true FROM updated UNION ALL SELECT id, false FROM taken"
        ));
        Ok(())
    }
}
