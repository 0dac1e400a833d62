//! Statements in MariaDB's and MySQL's dialect.

use std::{
    collections::HashSet,
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use diesel::QueryResult;
use diesel_async::{AsyncMysqlConnection, RunQueryDsl, SimpleAsyncConnection};

use super::migrations::TABLE_LOCK;
use crate::{
    catalogue::Error,
    database::{
        conditions::has_name_of,
        define::Index,
        dialect::Dialect,
        errors::{is_taken, wrap},
        execute::Execute,
        execute::impl_execute,
        fragment::Fragment,
        schema::{DraftRow, ENTRY, RobotRow, robots},
        server::backend::{ServerDialect, check_deadline},
        statements::select,
    },
    model::{Definition, Field, INDEXED_LENGTH, Kind, Robot, ValidDraft},
};

/// The maximum number of rows that a statement inserts or reads. MariaDB and MySQL allow 65,535 values in a
/// statement, so up to 65 per row.
const ROWS: usize = 1000;

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
        diesel::insert_into(robots::table)
            .values(DraftRow::new(definition, draft))
            .execute(self)
            .await?;
        // The row is committed: from here on no error may mean that nothing was stored.
        let id = Fragment::new("SELECT CAST(last_insert_id() AS SIGNED)");
        let mut ids = self
            .numbers(id)
            .await
            .map_err(|error| wrap(Error::unknown(error)))?;
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

    /// A cluster that loses a node changes the distance of ids. The ids are read before the commit, which waits for the
    /// other nodes.
    const INSERTS_BY_ONE_STATEMENT: bool = false;

    const NEEDS_SAVEPOINTS: bool = false;

    const TABLE_LOCK: Option<(&'static str, &'static str)> = Some(TABLE_LOCK);

    /// Runs in the transaction of the caller.
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
                inserted => ids.extend(inserted?.map(Some)),
            }
        }
        Ok(ids)
    }
}

/// Inserts the robots whose names are free. Without a savepoint: in a cluster, a conflict rolls back the whole
/// transaction.
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
    let taken = connection.pairs(taken, usize::MAX, Ok).await?;
    let mut taken: HashSet<_> = taken.iter().map(|(_, name)| name.as_str()).collect();
    let is_free: Vec<_> = names.into_iter().map(|name| taken.insert(name)).collect();
    let free = drafts.iter().zip(&is_free).filter(|(_, is_free)| **is_free);
    let free: Vec<_> = free.map(|(draft, _)| *draft).collect();
    if free.is_empty() {
        return Ok(vec![None; drafts.len()]);
    }
    let mut ids = insert(connection, definition, &free).await?;
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
) -> QueryResult<impl Iterator<Item = i64> + use<>> {
    let rows = drafts.iter().map(|draft| DraftRow::new(definition, draft));
    let rows: Vec<_> = rows.collect();
    let count = rows.len();
    let insert = diesel::insert_into(robots::table).values(rows);
    insert.execute(connection).await?;
    // The first id. Those of a statement have the same distance.
    let ids = "SELECT CAST(last_insert_id() AS SIGNED), CAST(@@auto_increment_increment AS CHAR)";
    let ids = connection.pairs(Fragment::new(ids), 1, Ok).await?.pop();
    let (first, distance) = ids.unwrap_or_default();
    let distance = distance.parse().unwrap_or(1);
    Ok((first..).step_by(distance).take(count))
}
