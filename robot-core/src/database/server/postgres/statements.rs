//! Statements in PostgreSQL's dialect.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use diesel::{
    ExpressionMethods, QueryDsl, QueryResult,
    dsl::sql,
    sql_query,
    sql_types::{BigInt, Bool, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use serde::Serialize;

use crate::{
    catalogue::Result,
    database::{
        fragment::{Fragment, Rows, json},
        schema::{ChangedColumns, DraftRow, RobotRow, robots},
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
    fn name_contains(text: &str) -> Fragment<'_> {
        let is_unindexed = Fragment::new("robots.search_text IS NULL");
        let contains = Fragment::new("strpos(robots.name, ")
            .text(text)
            .sql(") > 0");
        may_contain(&fold(text)).or(is_unindexed).and(contains)
    }

    fn search_text_contains<'a>(folded: &'a str, ids: &[i64]) -> Fragment<'a> {
        let contains = Fragment::new("strpos(robots.search_text, ");
        let contains = may_contain(folded).and(contains.text(folded).sql(") > 0"));
        match ids {
            [] => contains,
            _ => contains.or(has_id(ids)),
        }
    }

    async fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let row = |robot| RobotRow::new(robot, Some(fold(robot.name())));
        let rows = json(&robots.iter().map(row).collect::<Vec<_>>())?;
        let insert = Fragment::new(
            "INSERT INTO robots (id, name, type, year, revision, search_text, own) OVERRIDING SYSTEM VALUE
             SELECT * FROM json_to_recordset(",
        );
        let insert = insert.text(rows).sql(
            "::json) AS new (id bigint, name text, type text, year bigint, revision bigint, search_text text,
             own text)",
        );
        Rows::<()>::of(insert).execute(self).await.map(drop)
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
fn may_contain(folded: &str) -> Fragment<'static> {
    let condition = Fragment::new("robots.search_text LIKE ");
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

/// Adds robots to the search index, unless they have other names now.
pub(super) async fn index_all(
    connection: &mut AsyncPgConnection,
    rows: &[(i64, String)],
) -> QueryResult<()> {
    #[derive(Serialize)]
    struct Indexed<'a> {
        id: i64,
        name: &'a str,
        folded: Cow<'a, str>,
    }
    let rows = rows.iter().map(|(id, name)| Indexed {
        id: *id,
        name,
        folded: fold(name),
    });
    let update =
        Fragment::new("UPDATE robots SET search_text = new.folded FROM json_to_recordset(");
    let update = update.text(json(&rows.collect::<Vec<_>>())?).sql(
        "::json) AS new (id bigint, name text, folded text)
         WHERE robots.id = new.id AND robots.name = new.name AND search_text IS NULL",
    );
    Rows::<()>::of(update).execute(connection).await.map(drop)
}

/// Inserts the robots whose names are free, by one statement.
pub(super) async fn insert_all(
    connection: &mut AsyncPgConnection,
    drafts: &[&ValidDraft],
) -> QueryResult<HashMap<String, i64>> {
    let rows = drafts.iter().copied();
    let rows = rows.map(|draft| DraftRow::new(draft, Some(fold(draft.name()))));
    let rows = json(&rows.collect::<Vec<_>>())?;
    let insert = Fragment::new(
        "INSERT INTO robots (name, type, year, search_text, own) SELECT * FROM json_to_recordset(",
    );
    let insert = insert.text(rows).sql(
        "::json) AS new (name text, type text, year bigint, search_text text, own text)
         ON CONFLICT (name) DO NOTHING RETURNING name, id",
    );
    let rows: Vec<(String, i64)> = Rows::<(Text, BigInt)>::of(insert).load(connection).await?;
    Ok(rows.into_iter().collect())
}

/// Changes the robots that exist and whose new names are free, by one statement.
pub(super) async fn update_all(
    connection: &mut AsyncPgConnection,
    updates: &[(RobotId, &ValidChanges)],
) -> QueryResult<HashMap<RobotId, Result<()>>> {
    #[derive(Serialize)]
    struct Update<'a> {
        id: i64,
        #[serde(flatten)]
        columns: ChangedColumns<'a>,
        own: Option<String>,
    }
    let rows = updates.iter().map(|(id, changes)| Update {
        id: id.get(),
        columns: ChangedColumns::from(*changes),
        own: changes.own_patch(),
    });
    let rows = json(&rows.collect::<Vec<_>>())?;
    let (before, after) = AsyncPgConnection::MERGE;
    let update = Fragment::new("WITH new AS (SELECT * FROM json_to_recordset(");
    let update = update.text(rows).sql(format!(
        "::json) AS new (id bigint, name text, type text, year bigint, search_text text, own text)),
         taken AS (SELECT new.id FROM new JOIN robots USING (id)
             JOIN robots AS other ON other.name = new.name AND other.id <> new.id),
         updated AS (UPDATE robots SET name = coalesce(new.name, robots.name),
             type = coalesce(new.type, robots.type), year = coalesce(new.year, robots.year),
             search_text = coalesce(new.search_text, robots.search_text),
             own = CASE WHEN new.own IS NULL THEN robots.own ELSE {before}new.own{after} END,
             revision = robots.revision + 1
             FROM new WHERE robots.id = new.id AND new.id NOT IN (TABLE taken)
             RETURNING robots.id)
         SELECT id, true FROM updated UNION ALL SELECT id, false FROM taken"
    ));
    let rows: Vec<(i64, bool)> = Rows::<(BigInt, Bool)>::of(update).load(connection).await?;
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
