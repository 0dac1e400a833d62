//! Statements in PostgreSQL's dialect.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use diesel::{
    ExpressionMethods, QueryDsl, QueryResult,
    dsl::sql,
    pg::Pg,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_query,
    sql_types::{Array, BigInt, Bool, Nullable, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::{
    catalogue::Result,
    database::{
        condition::Condition,
        schema::{DraftRow, robots},
        search_text::has_id,
        statements::{Dialect, impl_statements},
        trigrams::trigrams,
    },
    model::{Robot, RobotId, ValidChanges, ValidDraft, Violation, fold},
};

/// The sequence that ids come from.
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

impl_statements!(AsyncPgConnection, awaited);

impl Dialect for AsyncPgConnection {
    const MERGE: (&str, &str) = (
        "nullif(jsonb_strip_nulls(coalesce(robots.own, '{}')::jsonb || ",
        "::jsonb)::text, '{}')",
    );

    async fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::new(draft, Some(fold(draft.name()))))
            .returning(robots::id)
            .get_result(self)
            .await
    }

    /// A name that contains a text also contains it folded.
    fn name_contains(text: &str) -> Condition<'_> {
        let is_unindexed = Condition::new("robots.search_text IS NULL");
        let contains = Condition::new("strpos(robots.name, ")
            .text(text)
            .sql(") > 0");
        may_contain(&fold(text)).or(is_unindexed).and(contains)
    }

    fn search_text_contains<'a>(folded: &'a str, ids: &[i64]) -> Condition<'a> {
        let contains = Condition::new("strpos(robots.search_text, ");
        let contains = may_contain(folded).and(contains.text(folded).sql(") > 0"));
        match ids {
            [] => contains,
            _ => contains.or(has_id(ids)),
        }
    }

    async fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let insert = InsertAll {
            ids: Some(
                robots
                    .iter()
                    .map(|robot| (robot.id().get(), robot.revision().get()))
                    .unzip(),
            ),
            names: robots.iter().map(Robot::name).collect(),
            types: robots.iter().map(Robot::robot_type).collect(),
            years: robots.iter().map(Robot::year).collect(),
            search_texts: robots.iter().map(|robot| fold(robot.name())).collect(),
            own: robots.iter().map(|robot| robot.own().to_json()).collect(),
        };
        insert.execute(self).await.map(drop)
    }

    async fn last_id(&mut self) -> QueryResult<i64> {
        let query = format!("SELECT coalesce(pg_sequence_last_value({SEQUENCE}), 0)");
        sql::<BigInt>(&query).get_result(self).await
    }

    async fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        let raise = sql_query(format!("SELECT setval({SEQUENCE}, $1)"));
        raise.bind::<BigInt, _>(id).execute(self).await.map(drop)
    }

    /// Blocks inserts, so that none is assigned an id between the look at the sequence and its change.
    /// It is the first lock of the transaction: a weaker one before it could cause a deadlock with
    /// another restoration.
    async fn lock_ids(&mut self) -> QueryResult<()> {
        self.batch_execute("LOCK TABLE robots IN SHARE ROW EXCLUSIVE MODE")
            .await
    }
}

/// The condition that a search text may contain a folded text.
///
/// PostgreSQL's planner decides whether to use the index: it estimates from the pattern how many search texts
/// match, so that each pattern needs a plan of its own.
fn may_contain(folded: &str) -> Condition<'static> {
    let condition = Condition::new("robots.search_text LIKE ");
    condition.text(pattern(folded)).uncached()
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
pub(super) async fn insert_all(
    connection: &mut AsyncPgConnection,
    drafts: &[&ValidDraft],
) -> QueryResult<HashMap<String, i64>> {
    let rows: Vec<(i64, String)> = InsertAll {
        ids: None,
        names: drafts.iter().map(|draft| draft.name()).collect(),
        types: drafts.iter().map(|draft| draft.robot_type()).collect(),
        years: drafts.iter().map(|draft| draft.year()).collect(),
        search_texts: drafts.iter().map(|draft| fold(draft.name())).collect(),
        own: drafts.iter().map(|draft| draft.own().to_json()).collect(),
    }
    .get_results(connection)
    .await?;
    Ok(rows.into_iter().map(|(id, name)| (name, id)).collect())
}

/// Changes the robots that exist and whose new names are free, by one statement.
pub(super) async fn update_all(
    connection: &mut AsyncPgConnection,
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
    .get_results(connection)
    .await?;
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
pub(super) async fn delete_all(
    connection: &mut AsyncPgConnection,
    ids: &[RobotId],
) -> QueryResult<HashSet<RobotId>> {
    let ids: Vec<_> = ids.iter().map(|id| id.get()).collect();
    let ids: Vec<_> = diesel::delete(robots::table.filter(robots::id.eq_any(ids)))
        .returning(robots::id)
        .get_results(connection)
        .await?;
    Ok(ids.into_iter().filter_map(RobotId::new).collect())
}

/// The statement that inserts robots: the same for any number of rows, so that it is prepared once.
struct InsertAll<'a> {
    /// Ids and revisions, if they are given. Otherwise names that are taken are left out.
    ids: Option<(Vec<i64>, Vec<i64>)>,
    names: Vec<&'a str>,
    types: Vec<&'a str>,
    years: Vec<i64>,
    search_texts: Vec<Cow<'a, str>>,
    own: Vec<Option<String>>,
}

impl QueryId for InsertAll<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for InsertAll<'_> {
    type SqlType = (BigInt, Text);
}

impl QueryFragment<Pg> for InsertAll<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.push_sql("INSERT INTO robots (name, type, year, search_text, own");
        if self.ids.is_some() {
            pass.push_sql(", id, revision) OVERRIDING SYSTEM VALUE");
        } else {
            pass.push_sql(")");
        }
        pass.push_sql(" SELECT * FROM unnest(");
        pass.push_bind_param::<Array<Text>, _>(&self.names)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Text>, _>(&self.types)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<BigInt>, _>(&self.years)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Text>, _>(&self.search_texts)?;
        pass.push_sql(", ");
        pass.push_bind_param::<Array<Nullable<Text>>, _>(&self.own)?;
        if let Some((ids, revisions)) = &self.ids {
            pass.push_sql(", ");
            pass.push_bind_param::<Array<BigInt>, _>(ids)?;
            pass.push_sql(", ");
            pass.push_bind_param::<Array<BigInt>, _>(revisions)?;
            pass.push_sql(")");
        } else {
            pass.push_sql(") ON CONFLICT (name) DO NOTHING RETURNING id, name");
        }
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
        let (before, after) = AsyncPgConnection::MERGE;
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
