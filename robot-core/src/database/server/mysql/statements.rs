//! Statements in MariaDB's and MySQL's dialect.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use diesel::{
    QueryDsl, QueryResult,
    dsl::sql,
    result::{DatabaseErrorKind, Error as DieselError},
    sql_types::BigInt,
};
use diesel_async::{AsyncMysqlConnection, RunQueryDsl};

use crate::{
    catalogue::Error,
    database::{
        errors::wrap,
        fragment::Fragment,
        schema::{DraftRow, RobotRow, robots},
        search_text::has_id,
        server::backend::check_deadline,
        statements::{Dialect, impl_statements},
    },
    model::{Robot, ValidDraft, fold},
};

/// The maximum number of rows that a statement inserts or reads. MariaDB and MySQL allow 65,535 values in a
/// statement, so up to 65 per row.
const ROWS: usize = 1000;

diesel::define_sql_function! {
    /// The id of the row that this connection inserted last.
    fn last_insert_id() -> BigInt;
}

impl_statements!(AsyncMysqlConnection, awaited, for_update);

impl Dialect for AsyncMysqlConnection {
    const MERGE: (&str, &str) = ("nullif(json_merge_patch(coalesce(own, '{}'), ", "), '{}')");

    async fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::new(draft, Some(fold(draft.name()))))
            .execute(self)
            .await?;
        // The row is committed: from here on no error may mean that nothing was stored.
        diesel::select(last_insert_id())
            .get_result(self)
            .await
            .map_err(|error| wrap(Error::unknown(error)))
    }

    /// MariaDB and MySQL have no index for parts of names.
    fn name_contains(text: &str) -> Fragment<'_> {
        Fragment::new("instr(robots.name, ").text(text).sql(") > 0")
    }

    fn search_text_contains<'a>(folded: &'a str, ids: &[i64]) -> Fragment<'a> {
        let contains = Fragment::new("instr(robots.search_text, ");
        let contains = contains.text(folded).sql(") > 0");
        match ids {
            [] => contains,
            _ => contains.or(has_id(ids)),
        }
    }

    async fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows = robots.iter();
        let rows: Vec<_> = rows
            .map(|robot| RobotRow::new(robot, Some(fold(robot.name()))))
            .collect();
        let insert = diesel::insert_into(robots::table).values(rows);
        insert.execute(self).await.map(drop)
    }

    async fn last_id(&mut self) -> QueryResult<i64> {
        sql::<BigInt>(
            "SELECT CAST(auto_increment AS SIGNED) - 1 FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'robots'",
        )
        .get_result(self)
        .await
    }

    /// Inserts a row with the id and deletes it. ALTER TABLE would end the transaction, and could
    /// lower the last id.
    async fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        let random = RandomState::new().hash_one(id);
        let name = format!("\u{10ffff}{random:016x}");
        diesel::insert_into(robots::table)
            .values(RobotRow::temporary(id, &name))
            .execute(self)
            .await?;
        diesel::delete(robots::table.find(id))
            .execute(self)
            .await
            .map(drop)
    }
}

/// Inserts the robots whose names are free, in the transaction of the caller, and returns their ids.
pub(super) async fn insert_all(
    connection: &mut AsyncMysqlConnection,
    drafts: &[&ValidDraft],
    deadline: Instant,
) -> QueryResult<HashMap<String, i64>> {
    let mut inserted = Vec::new();
    for drafts in drafts.chunks(ROWS) {
        check_deadline(deadline)?;
        inserted.extend(insert_free(connection, drafts).await?);
    }
    // After all inserts: the first read fixes the snapshot of the transaction, and a name that another
    // transaction gives up later still belongs to its robot there. A name that is taken fixes it earlier, but
    // only `apply_all` has several chunks, and fails then.
    let mut ids = HashMap::new();
    for drafts in inserted.chunks(ROWS) {
        check_deadline(deadline)?;
        ids.extend(ids_by_name(connection, drafts).await?);
    }
    Ok(ids)
}

/// Inserts the robots whose names are free, and returns them. Without a savepoint: in a cluster, a
/// conflict rolls back the whole transaction.
async fn insert_free<'a>(
    connection: &mut AsyncMysqlConnection,
    drafts: &[&'a ValidDraft],
) -> QueryResult<Vec<&'a ValidDraft>> {
    match insert(connection, drafts).await {
        Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            let taken = ids_by_name(connection, drafts).await?;
            let is_free = |draft: &&ValidDraft| !taken.contains_key(draft.name());
            let free: Vec<_> = drafts.iter().copied().filter(is_free).collect();
            if !free.is_empty() {
                insert(connection, &free).await?;
            }
            Ok(free)
        }
        result => result.map(|()| drafts.to_vec()),
    }
}

async fn insert(connection: &mut AsyncMysqlConnection, drafts: &[&ValidDraft]) -> QueryResult<()> {
    let rows = drafts.iter().copied();
    let rows: Vec<_> = rows
        .map(|draft| DraftRow::new(draft, Some(fold(draft.name()))))
        .collect();
    let insert = diesel::insert_into(robots::table).values(rows);
    insert.execute(connection).await.map(drop)
}

/// The ids of the robots that have the names of these drafts.
async fn ids_by_name(
    connection: &mut AsyncMysqlConnection,
    drafts: &[&ValidDraft],
) -> QueryResult<HashMap<String, i64>> {
    let names: Vec<_> = drafts.iter().map(|draft| draft.name()).collect();
    let found = robots::table.filter(has_name_of(&names));
    let found = found.select((robots::name, robots::id)).load(connection);
    Ok(found.await?.into_iter().collect())
}

/// The condition that the id of a robot is one of these.
pub(super) fn has_id_of(ids: &[i64]) -> Fragment<'static> {
    is_one_of("robots.id IN (", ids, Fragment::number)
}

/// The condition that the name of a robot is one of these.
pub(super) fn has_name_of<'a>(names: &[&'a str]) -> Fragment<'a> {
    is_one_of("robots.name IN (", names, Fragment::text)
}

/// The condition that a value is in a list. The last element is repeated up to a power of two: statements are
/// prepared once for each length.
fn is_one_of<'a, T: Copy>(
    start: &'static str,
    values: &[T],
    append: fn(Fragment<'a>, T) -> Fragment<'a>,
) -> Fragment<'a> {
    let repeated = values.last().into_iter().cycle();
    let padded = values.iter().chain(repeated);
    let padded = padded.take(values.len().next_power_of_two()).enumerate();
    let list = padded.fold(Fragment::new(start), |list, (index, value)| {
        let list = if index > 0 { list.sql(", ") } else { list };
        append(list, *value)
    });
    list.sql(")")
}
