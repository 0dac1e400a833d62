//! Statements in MariaDB's and MySQL's dialect.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    time::Instant,
};

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};
use diesel_async::{AsyncMysqlConnection, RunQueryDsl};

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
        server::backend::check_deadline,
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

impl_execute!(AsyncMysqlConnection, awaited);

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

/// Inserts robots, except those with values that others have, in the transaction of the caller.
pub(super) async fn insert_all(
    connection: &mut AsyncMysqlConnection,
    definition: &Definition,
    drafts: &[&ValidDraft],
    deadline: Instant,
) -> QueryResult<Vec<Option<i64>>> {
    if !definition.has_unique_names() {
        // Without unique names, only the statement that inserts a robot returns its id.
        return Ok(vec![None; drafts.len()]);
    }
    let mut names = HashSet::new();
    let first = drafts.iter().copied();
    let first: Vec<_> = first.filter(|draft| names.insert(draft.name())).collect();
    let mut inserted = Vec::new();
    for drafts in first.chunks(ROWS) {
        check_deadline(deadline)?;
        inserted.extend(insert_free(connection, definition, drafts).await?);
    }
    // After all inserts: the first read may fix the snapshot of the transaction.
    let mut ids = HashMap::new();
    for drafts in inserted.chunks(ROWS) {
        check_deadline(deadline)?;
        ids.extend(ids_by_name(connection, drafts).await?);
    }
    Ok(drafts
        .iter()
        .map(|draft| ids.remove(draft.name()))
        .collect())
}

/// Inserts the robots whose names are free, and returns them. Without a savepoint: in a cluster, a
/// conflict rolls back the whole transaction.
async fn insert_free<'a>(
    connection: &mut AsyncMysqlConnection,
    definition: &Definition,
    drafts: &[&'a ValidDraft],
) -> QueryResult<Vec<&'a ValidDraft>> {
    match insert(connection, definition, drafts).await {
        // Each with a statement of its own finds out which values are taken.
        Err(error) if is_taken(&error) && !definition.has_only_unique_names() => Ok(Vec::new()),
        Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            let taken = ids_by_name(connection, drafts).await?;
            let is_free = |draft: &&ValidDraft| !taken.contains_key(draft.name());
            let free: Vec<_> = drafts.iter().copied().filter(is_free).collect();
            if !free.is_empty() {
                insert(connection, definition, &free).await?;
            }
            Ok(free)
        }
        result => result.map(|()| drafts.to_vec()),
    }
}

async fn insert(
    connection: &mut AsyncMysqlConnection,
    definition: &Definition,
    drafts: &[&ValidDraft],
) -> QueryResult<()> {
    let rows = drafts.iter().map(|draft| DraftRow::new(definition, draft));
    let rows: Vec<_> = rows.collect();
    let insert = diesel::insert_into(robots::table).values(rows);
    insert.execute(connection).await.map(drop)
}

/// The ids of the robots that have the names of these drafts.
async fn ids_by_name(
    connection: &mut AsyncMysqlConnection,
    drafts: &[&ValidDraft],
) -> QueryResult<HashMap<String, i64>> {
    let names: Vec<_> = drafts.iter().map(|draft| draft.name()).collect();
    // The last one of equal names stays: an older one was deleted since the snapshot began.
    let query = select(ENTRY, Some(has_name_of(&names))).sql(" ORDER BY robots.id");
    let found = connection.pairs(query, usize::MAX, Ok).await?.into_iter();
    Ok(found.map(|(id, name)| (name, id)).collect())
}
