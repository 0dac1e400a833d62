//! Statements in MariaDB's and MySQL's dialect.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use diesel::{
    MysqlConnection,
    dsl::sql,
    mysql::Mysql,
    prelude::*,
    result::{DatabaseErrorKind, Error as DieselError},
    sql_types::{BigInt, Text},
};

use crate::{
    catalogue::Error,
    database::{
        errors::wrap,
        schema::{DraftRow, RobotRow, robots},
        search_text::has_id,
        server::backend::check_deadline,
        statements::{Condition, Dialect, impl_statements},
    },
    model::{Robot, ValidDraft, fold},
};

/// The maximum number of rows that a statement inserts or reads. MariaDB and MySQL allow 65,535 values in a
/// statement, so up to 65 per row.
const ROWS: usize = 1000;

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn instr(whole: Text, part: Text) -> Integer;
}

diesel::define_sql_function! {
    /// The id of the row that this connection inserted last.
    fn last_insert_id() -> BigInt;
}

impl_statements!(MysqlConnection, limit; for_update);

impl Dialect for MysqlConnection {
    const MERGE: (&str, &str) = ("nullif(json_merge_patch(coalesce(own, '{}'), ", "), '{}')");

    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::new(draft, Some(fold(draft.name()))))
            .execute(self)?;
        // The row is committed: from here on no error may mean that nothing was stored.
        diesel::select(last_insert_id())
            .get_result(self)
            .map_err(|error| wrap(Error::unknown(error)))
    }

    /// MariaDB and MySQL have no index for parts of names.
    fn name_contains(text: &str) -> Condition<'_, Mysql> {
        Box::new(instr(robots::name, text).gt(0))
    }

    fn search_text_contains<'a>(folded: &'a str, ids: &[i64]) -> Condition<'a, Mysql> {
        let contains = instr(robots::search_text.assume_not_null(), folded).gt(0);
        match ids {
            [] => Box::new(contains),
            _ => Box::new(contains.or(has_id(ids))),
        }
    }

    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows = robots.iter();
        let rows: Vec<_> = rows
            .map(|robot| RobotRow::new(robot, Some(fold(robot.name()))))
            .collect();
        let insert = diesel::insert_into(robots::table).values(rows);
        insert.execute(self).map(drop)
    }

    fn last_id(&mut self) -> QueryResult<i64> {
        sql::<BigInt>(
            "SELECT CAST(auto_increment AS SIGNED) - 1 FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'robots'",
        )
        .get_result(self)
    }

    /// Inserts a row with the id and deletes it. ALTER TABLE would end the transaction, and could
    /// lower the last id.
    fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        let random = RandomState::new().hash_one(id);
        let name = format!("\u{10ffff}{random:016x}");
        diesel::insert_into(robots::table)
            .values(RobotRow::temporary(id, &name))
            .execute(self)?;
        diesel::delete(robots::table.find(id))
            .execute(self)
            .map(drop)
    }
}

/// Inserts the robots whose names are free, in the transaction of the caller, and returns their ids.
pub(super) fn insert_all(
    connection: &mut MysqlConnection,
    drafts: &[&ValidDraft],
    deadline: Instant,
) -> QueryResult<HashMap<String, i64>> {
    let mut inserted = Vec::new();
    for drafts in drafts.chunks(ROWS) {
        check_deadline(deadline)?;
        inserted.extend(insert_free(connection, drafts)?);
    }
    // After all inserts: the first read fixes the snapshot of the transaction, and a name that another
    // transaction gives up later still belongs to its robot there. A name that is taken fixes it earlier, but
    // only `apply_all` has several chunks, and fails then.
    let mut ids = HashMap::new();
    for drafts in inserted.chunks(ROWS) {
        check_deadline(deadline)?;
        ids.extend(ids_by_name(connection, drafts)?);
    }
    Ok(ids)
}

/// Inserts the robots whose names are free, and returns them. Without a savepoint: in a cluster, a
/// conflict rolls back the whole transaction.
fn insert_free<'a>(
    connection: &mut MysqlConnection,
    drafts: &[&'a ValidDraft],
) -> QueryResult<Vec<&'a ValidDraft>> {
    match insert(connection, drafts) {
        Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            let taken = ids_by_name(connection, drafts)?;
            let is_free = |draft: &&ValidDraft| !taken.contains_key(draft.name());
            let free: Vec<_> = drafts.iter().copied().filter(is_free).collect();
            if !free.is_empty() {
                insert(connection, &free)?;
            }
            Ok(free)
        }
        result => result.map(|()| drafts.to_vec()),
    }
}

fn insert(connection: &mut MysqlConnection, drafts: &[&ValidDraft]) -> QueryResult<()> {
    let rows = drafts.iter().copied();
    let rows: Vec<_> = rows
        .map(|draft| DraftRow::new(draft, Some(fold(draft.name()))))
        .collect();
    let insert = diesel::insert_into(robots::table).values(rows);
    insert.execute(connection).map(drop)
}

/// The ids of the robots that have the names of these drafts.
fn ids_by_name(
    connection: &mut MysqlConnection,
    drafts: &[&ValidDraft],
) -> QueryResult<HashMap<String, i64>> {
    let names = drafts.iter().map(|draft| draft.name());
    let found = robots::table.filter(robots::name.eq_any(names));
    let found: Vec<_> = found.select((robots::name, robots::id)).load(connection)?;
    Ok(found.into_iter().collect())
}
