//! Statements in MariaDB's and MySQL's dialect.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
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
        schema::{DraftRow, RobotRow, Row, robot, robots},
        statements::{Contains, Dialect, impl_statements},
    },
    model::{Robot, ValidDraft},
};

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn instr(whole: Text, part: Text) -> Integer;
}

diesel::define_sql_function! {
    /// The id of the row that this connection inserted last.
    fn last_insert_id() -> BigInt;
}

impl_statements!(MysqlConnection, limit);

impl Dialect for MysqlConnection {
    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::from(draft))
            .execute(self)?;
        // The row is committed: from here on no error may mean that nothing was stored.
        diesel::select(last_insert_id())
            .get_result(self)
            .map_err(|error| wrap(Error::unknown(error)))
    }

    /// MariaDB and MySQL have no index for parts of names.
    fn contains<'a>(&mut self, text: &'a str) -> Contains<'a, Mysql> {
        Box::new(instr(robots::name, text).gt(0))
    }

    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows: Vec<_> = robots.iter().map(RobotRow::from).collect();
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

/// The robots with these ids.
pub(super) fn get_all(connection: &mut MysqlConnection, ids: &[i64]) -> QueryResult<Vec<Robot>> {
    let rows = robots::table.filter(robots::id.eq_any(ids));
    let rows = rows.select(Row::as_select()).load(connection)?;
    rows.into_iter().map(robot).collect()
}

/// The robots with these names.
pub(super) fn find_all(
    connection: &mut MysqlConnection,
    names: &[&str],
) -> QueryResult<Vec<Robot>> {
    let rows = robots::table.filter(robots::name.eq_any(names));
    let rows = rows.select(Row::as_select()).load(connection)?;
    rows.into_iter().map(robot).collect()
}

/// Inserts the robots whose names are free, and looks up their ids, in the transaction of the caller: a
/// cluster may roll it back as a whole, so that a savepoint would not help.
pub(super) fn insert_all(
    connection: &mut MysqlConnection,
    drafts: &[&ValidDraft],
) -> QueryResult<HashMap<String, i64>> {
    let insert = |connection: &mut MysqlConnection, drafts: &[&ValidDraft]| {
        let rows: Vec<_> = drafts.iter().map(|draft| DraftRow::from(*draft)).collect();
        let insert = diesel::insert_into(robots::table).values(rows);
        insert.execute(connection)?;
        let inserted = robots::table.filter(robots::name.eq_any(names(drafts)));
        let inserted = inserted
            .select((robots::name, robots::id))
            .load(connection)?;
        Ok(inserted.into_iter().collect())
    };
    match insert(connection, drafts) {
        Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            let taken = robots::table.filter(robots::name.eq_any(names(drafts)));
            let taken: HashSet<String> = taken
                .select(robots::name)
                .load(connection)?
                .into_iter()
                .collect();
            let is_free = |draft: &&ValidDraft| !taken.contains(draft.name());
            let free: Vec<_> = drafts.iter().copied().filter(is_free).collect();
            if free.is_empty() {
                return Ok(HashMap::new());
            }
            insert(connection, &free)
        }
        result => result,
    }
}

fn names<'a>(drafts: &[&'a ValidDraft]) -> Vec<&'a str> {
    drafts.iter().map(|draft| draft.name()).collect()
}
