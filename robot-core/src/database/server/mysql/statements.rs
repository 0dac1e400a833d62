//! Statements in MariaDB's and MySQL's dialect.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use diesel::{
    QueryResult,
    mysql::Mysql,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_types::BigInt,
};
use diesel_async::{AsyncMysqlConnection, RunQueryDsl, SimpleAsyncConnection};

use super::migrations::TABLE_LOCK;
use crate::{
    catalogue::{Error, Room},
    database::{
        conditions::has_name_of,
        define::Index,
        dialect::Dialect,
        errors::{is_taken, wrap},
        execute::Execute,
        execute::impl_execute,
        fragment::Fragment,
        schema::{DraftRow, ENTRY, RobotRow, robots},
        server::{
            backend::{ServerDialect, check_deadline},
            batcher::BATCH_LIMIT,
        },
        statements::select,
    },
    model::{Definition, Field, INDEXED_LENGTH, Kind, Robot, ValidDraft},
};

/// The maximum number of rows that a statement inserts or reads. MariaDB and MySQL allow 65,535 values in a
/// statement, so up to 65 per row.
const ROWS: usize = 1000;

const _: () = assert!(BATCH_LIMIT <= ROWS, "one statement inserts a batch");

/// The collation of names, for MariaDB and for MySQL: texts are compared byte by byte.
const COLLATE: &str =
    "/*M!100202 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */";

impl_execute!(AsyncMysqlConnection, .await);

impl Dialect for AsyncMysqlConnection {
    const MERGE: (&str, &str) = ("nullif(json_merge_patch(coalesce(own, '{}'), ", "), '{}')");

    /// MariaDB's merge keeps some of several values that a patch removes.
    fn merge(removed: &[&str]) -> (String, &'static str) {
        let (before, after) = Self::MERGE;
        let paths: Vec<_> = removed.iter().map(|name| format!("'$.{name}'")).collect();
        let own = "coalesce(own, '{}')";
        let removing = format!("json_remove({own}, {})", paths.join(", "));
        let before = match removed {
            [] => before.to_owned(),
            _ => before.replace(own, &removing),
        };
        (before, after)
    }

    /// Values that are counted are texts.
    fn as_text(sql: &str) -> String {
        sql.to_owned()
    }

    const FOR_UPDATE: &str = " FOR UPDATE";

    const LENGTH: &str = "char_length";

    const LAST_ID: &str = "SELECT CAST(auto_increment AS SIGNED) - 1 FROM information_schema.tables
                           WHERE table_schema = DATABASE() AND table_name = 'robots'";

    const BOOLEANS: [&str; 2] = ["'false'", "'true'"];

    /// An index has a column of its own.
    fn own_value(field: Field) -> String {
        if field.is_indexed() {
            return format!("robots.{}", Index::of(field).name);
        }
        own_value(field)
    }

    fn stored_value(field: Field) -> String {
        own_value(field)
    }

    const COLUMNS: &str = "SELECT column_name FROM information_schema.columns \
                           WHERE table_schema = DATABASE() AND table_name = 'robots'";

    const INDEXES: &str = "SELECT DISTINCT index_name FROM information_schema.statistics \
                           WHERE table_schema = DATABASE() AND table_name = 'robots' \
                           AND (index_name IN ('robots_name', 'robots_names') \
                           OR index_name LIKE 'robots\\_index\\_%' OR index_name LIKE 'robots\\_unique\\_%')";

    const ORPHANS: Option<&str> = Some(
        "SELECT column_name FROM information_schema.columns
         WHERE table_schema = DATABASE() AND table_name = 'robots'
         AND (column_name LIKE 'robots\\_index\\_%' OR column_name LIKE 'robots\\_unique\\_%')
         AND column_name NOT IN (SELECT index_name FROM information_schema.statistics
            WHERE table_schema = DATABASE() AND table_name = 'robots')",
    );

    fn create_index(index: &Index) -> String {
        let Index { name, field } = index;
        let unique = if field.is_unique() { "UNIQUE " } else { "" };
        if *field == Field::NAME {
            return format!("ALTER TABLE robots ADD {unique}INDEX {name} (name)");
        }
        let value = own_value(*field);
        let column = match field.kind() {
            Kind::Integer { .. } => format!("BIGINT AS ({value})"),
            Kind::Number { .. } => format!("DOUBLE AS ({value})"),
            _ => format!(
                "VARCHAR({INDEXED_LENGTH}) CHARACTER SET utf8mb4 {COLLATE} AS (LEFT({value}, {INDEXED_LENGTH}))"
            ),
        };
        format!(
            "ALTER TABLE robots ADD COLUMN /*M! IF NOT EXISTS */ {name} {column} VIRTUAL, \
             ADD {unique}INDEX {name} ({name})"
        )
    }

    /// Its column stays until the next change: processes that do not know the new definition yet may use it.
    fn drop_index(name: &str) -> String {
        format!("ALTER TABLE robots DROP INDEX {name}")
    }

    async fn insert(&mut self, definition: &Definition, draft: &ValidDraft) -> QueryResult<i64> {
        let row = DraftRow::new(definition, draft);
        let insert = Returning(diesel::insert_into(robots::table).values(row));
        let returned = insert.load(self).await?;
        let mut ids = assigned_ids(self, returned, 1).await?;
        Ok(ids.pop().unwrap_or(0))
    }

    async fn insert_robots(
        &mut self,
        definition: &Definition,
        robots: &[Robot],
    ) -> QueryResult<()> {
        let row = |robot| RobotRow::new(robot, DraftRow::new(definition, robot.values()));
        let rows: Vec<_> = robots.iter().map(row).collect();
        let insert = diesel::insert_into(robots::table).values(rows);
        insert.execute(self).await.map(drop)
    }

    /// Inserts a row with the id and deletes it. ALTER TABLE would end the transaction, and could
    /// lower the last id.
    async fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        let random = RandomState::new().hash_one(id);
        let name = format!("\u{10ffff}{random:016x}");
        let insert = Fragment::new("INSERT INTO robots (id, name) VALUES (").number(id);
        self.change(insert.sql(", ").text(name).sql(")")).await?;
        let delete = Fragment::new("DELETE FROM robots WHERE id = ").number(id);
        self.change(delete).await.map(drop)
    }
}

/// The SQL of the value of an own field.
fn own_value(field: Field) -> String {
    let json = format!("JSON_EXTRACT(own, '$.{field}')");
    let number = |sql_type: &str| {
        format!(
            "IF(JSON_TYPE({json}) IN ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'), \
             CAST({json} AS {sql_type}), NULL)"
        )
    };
    match field.kind() {
        Kind::Integer { .. } => number("SIGNED"),
        Kind::Number { .. } => number("DOUBLE"),
        _ => format!("(JSON_UNQUOTE({json}) {COLLATE})"),
    }
}

impl ServerDialect for AsyncMysqlConnection {
    const BEGIN_SNAPSHOT: &'static str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";

    const NEEDS_SAVEPOINTS: bool = false;

    const TABLE_LOCK: Option<(&'static str, &'static str)> = Some(TABLE_LOCK);

    async fn insert_all(
        &mut self,
        definition: &Definition,
        drafts: &[&ValidDraft],
        deadline: Instant,
    ) -> QueryResult<Vec<Option<i64>>> {
        let mut ids = Vec::new();
        for drafts in drafts.chunks(ROWS) {
            check_deadline(deadline)?;
            match insert(self, definition, drafts).await {
                Err(error) if is_taken(&error) => {
                    ids.extend(insert_free(self, definition, drafts).await?);
                }
                inserted => ids.extend(inserted?.into_iter().map(Some)),
            }
        }
        Ok(ids)
    }
}

/// Inserts the robots whose names are free. A transaction needs no savepoint for it: in a cluster, a conflict rolls back
/// the whole transaction.
async fn insert_free(
    connection: &mut AsyncMysqlConnection,
    definition: &Definition,
    drafts: &[&ValidDraft],
) -> QueryResult<Vec<Option<i64>>> {
    if !definition.has_only_unique_names() {
        // Each with a statement of its own finds out which values are taken.
        return Ok(vec![None; drafts.len()]);
    }
    let names: Vec<_> = drafts.iter().map(|draft| draft.name()).collect();
    let taken = select(ENTRY, Some(has_name_of(&names)));
    let taken = connection
        .pairs(taken, &mut Room::of_robots(usize::MAX), Ok)
        .await?;
    let mut taken: HashSet<_> = taken.iter().map(|(_, name)| name.as_str()).collect();
    let is_free: Vec<_> = names.into_iter().map(|name| taken.insert(name)).collect();
    let free = drafts.iter().zip(&is_free).filter(|(_, is_free)| **is_free);
    let free: Vec<_> = free.map(|(draft, _)| *draft).collect();
    if free.is_empty() {
        return Ok(vec![None; drafts.len()]);
    }
    let mut ids = insert(connection, definition, &free).await?.into_iter();
    let ids = is_free
        .into_iter()
        .map(|is_free| if is_free { ids.next() } else { None });
    Ok(ids.collect())
}

/// Inserts robots by one statement, and returns their ids.
async fn insert(
    connection: &mut AsyncMysqlConnection,
    definition: &Definition,
    drafts: &[&ValidDraft],
) -> QueryResult<Vec<i64>> {
    let rows = drafts.iter().map(|draft| DraftRow::new(definition, draft));
    let rows: Vec<_> = rows.collect();
    let insert = Returning(diesel::insert_into(robots::table).values(rows));
    let returned = insert.load(connection).await?;
    assigned_ids(connection, returned, drafts.len()).await
}

/// The ids that the last insert has assigned to so many robots, if it has not returned them.
async fn assigned_ids(
    connection: &mut AsyncMysqlConnection,
    returned: Vec<i64>,
    count: usize,
) -> QueryResult<Vec<i64>> {
    if returned.len() == count {
        return Ok(returned);
    }
    // The first id. The ids of a statement have the same distance.
    let ids = "SELECT CAST(last_insert_id() AS SIGNED), CAST(@@auto_increment_increment AS CHAR)";
    let ids = connection
        .pairs(Fragment::new(ids), &mut Room::of_robots(1), Ok)
        .await;
    // Without a transaction, the rows are committed: from here on no error may mean that nothing was stored.
    let ids = ids.map_err(|error| wrap(Error::unknown(error)))?.pop();
    let (first, distance) = ids.unwrap_or_default();
    let distance = distance.parse().unwrap_or(1);
    Ok((first..).step_by(distance).take(count).collect())
}

/// An insert that returns the ids of the rows, on MariaDB. A cluster that loses a node changes the distance of ids, so
/// that they cannot be derived from the first one.
struct Returning<T>(T);

impl<T> QueryId for Returning<T> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<T> Query for Returning<T> {
    type SqlType = BigInt;
}

impl<T: QueryFragment<Mysql>> QueryFragment<Mysql> for Returning<T> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Mysql>) -> QueryResult<()> {
        self.0.walk_ast(pass.reborrow())?;
        pass.push_sql(" /*M! RETURNING id */");
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "conformance")]
mod tests {
    use super::*;
    use crate::{
        catalogue::OpenOptions, conformance::scratch_database,
        database::server::connector::Connector,
    };

    /// As on MySQL.
    #[tokio::test]
    async fn ids_that_an_insert_does_not_return_are_derived() {
        let url = scratch_database("TEST_MYSQL_URL");
        let options = OpenOptions::default();
        let connector = Connector::<AsyncMysqlConnection>::open(&url, &options).await;
        let mut connection = connector.unwrap().connect().await.unwrap().inner;
        let set_distance = "SET auto_increment_increment = 3";
        connection.batch(set_distance).await.unwrap();
        let insert = Fragment::new("INSERT INTO robots (name) VALUES ('a'), ('b'), ('c')");
        let returned = connection.numbers(insert).await.unwrap();
        let ids = assigned_ids(&mut connection, returned, 3).await.unwrap();
        let stored = Fragment::new("SELECT id FROM robots ORDER BY id");
        assert_eq!(connection.numbers(stored).await.unwrap(), ids);
        assert_eq!(ids[2] - ids[0], 6);
    }
}
