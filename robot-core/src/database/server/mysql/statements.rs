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
    result::{DatabaseErrorKind, Error as DieselError},
    sql_types::{BigInt, Nullable, Text},
};
use diesel_async::{AsyncMysqlConnection, RunQueryDsl, SimpleAsyncConnection};

use super::migrations::TABLE_LOCK;
use crate::{
    catalogue::{Error, Room},
    database::{
        conditions::has_name_of,
        define::Index,
        dialect::Dialect,
        errors::{VALUES, is_taken, wrap},
        execute::{Execute, impl_execute},
        fragment::{Fragment, json},
        rewrite::{Rewritten, if_own},
        schema::{DraftRow, ENTRY, RobotRow, robots},
        server::{
            backend::{ServerDialect, check_deadline},
            batcher::BATCH_LIMIT,
            define::batch_patiently,
        },
        statements::{check_current, end_of_step, is_current, select},
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

    /// The values of an index are in a column of their own.
    fn own_value(field: Field) -> String {
        if field.is_indexed() {
            return format!("robots.{}", Index::of(field).column());
        }
        own_value(field, "own")
    }

    fn own_text_value(name: &str) -> String {
        format!("JSON_EXTRACT(own, '$.{name}')")
    }

    fn stored_value(field: Field) -> String {
        own_value(field, "own")
    }

    const COLUMNS: &str = "SELECT column_name FROM information_schema.columns \
                           WHERE table_schema = DATABASE() AND table_name = 'robots'";

    const INDEXES: &str = "SELECT DISTINCT index_name FROM information_schema.statistics \
                           WHERE table_schema = DATABASE() AND table_name = 'robots' \
                           AND (index_name IN ('robots_name', 'robots_names') \
                           OR column_name LIKE 'robots\\_value\\_%')";

    async fn drop_orphans(&mut self) -> QueryResult<()> {
        // Before, the columns of indexes were generated ones, and had the names of the indexes.
        let orphans = "SELECT column_name FROM information_schema.columns
            WHERE table_schema = DATABASE() AND table_name = 'robots'
            AND (column_name LIKE 'robots\\_index\\_%' OR column_name LIKE 'robots\\_unique\\_%'
               OR column_name LIKE 'robots\\_value\\_%'
                  AND column_name NOT IN (SELECT column_name FROM information_schema.statistics
                     WHERE table_schema = DATABASE() AND table_name = 'robots'))";
        for column in self.texts(orphans).await? {
            for event in EVENTS {
                let drop = format!("DROP TRIGGER IF EXISTS {}", trigger(event, &column));
                self.change_table(&drop).await?;
            }
            let drop = format!("ALTER TABLE robots DROP COLUMN {column}");
            self.change_table(&drop).await?;
        }
        Ok(())
    }

    /// The values of an index are in an ordinary column, which triggers keep: while others change robots, reads by the
    /// index of a virtual column miss some. A stored one could be added only while no client changes robots.
    async fn create_indexes(&mut self, indexes: &[Index]) -> QueryResult<()> {
        let existing = self.texts(Self::COLUMNS).await?;
        let own = indexes.iter().filter(|index| index.field.is_own());
        let missing = own.filter(|index| !existing.contains(&index.column()));
        let missing: Vec<_> = missing.collect();
        for index in &missing {
            let column = index.column();
            let sql_type = match index.field.kind() {
                Kind::Integer { .. } => "BIGINT".to_owned(),
                Kind::Number { .. } => "DOUBLE".to_owned(),
                _ => format!("VARCHAR({INDEXED_LENGTH}) CHARACTER SET utf8mb4 {COLLATE}"),
            };
            let add = format!("ALTER TABLE robots ADD COLUMN {column} {sql_type}");
            self.change_table(&add).await?;
            let value = match index.field.kind() {
                Kind::Integer { .. } | Kind::Number { .. } => own_value(index.field, "NEW.own"),
                _ => format!(
                    "LEFT({}, {INDEXED_LENGTH})",
                    own_value(index.field, "NEW.own")
                ),
            };
            for event in EVENTS {
                let trigger = trigger(event, &column);
                // A number that the column cannot have is none.
                let create = format!(
                    "CREATE TRIGGER {trigger} BEFORE {event} ON robots FOR EACH ROW BEGIN
                     DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET NEW.{column} = NULL;
                     SET NEW.{column} = {value}; END"
                );
                self.change_table(&create).await?;
            }
        }
        let mut last = 0;
        while !missing.is_empty()
            && let Some(end) = end_of_step(self, last).await?
        {
            // The triggers set the values.
            let fill =
                format!("UPDATE robots SET revision = revision WHERE id > {last} AND id <= {end}");
            batch_patiently(self, &fill).await?;
            last = end;
        }
        for index @ Index { name, field } in indexes {
            let unique = if field.is_unique() { "UNIQUE " } else { "" };
            let column = if field.is_own() {
                index.column()
            } else {
                field.name().to_owned()
            };
            let create = format!("ALTER TABLE robots ADD {unique}INDEX {name} ({column})");
            self.change_table(&create).await?;
        }
        Ok(())
    }

    async fn change_table(&mut self, statement: &str) -> QueryResult<()> {
        batch_patiently(self, statement).await
    }

    /// Its column stays until the next change: processes that do not know the new definition yet may use it.
    fn drop_index(name: &str) -> String {
        format!("ALTER TABLE robots DROP INDEX {name}")
    }

    fn is_current(definition: &Definition) -> Option<Fragment<'static>> {
        Some(is_current(definition))
    }

    async fn rewrite(
        &mut self,
        definition: &Definition,
        rows: &[Rewritten<'_>],
    ) -> QueryResult<()> {
        let update = Fragment::new("UPDATE robots JOIN JSON_TABLE(");
        let update = update.text(json(&rows)?).sql(
            ", '$[*]' COLUMNS (id BIGINT PATH '$.id', revision BIGINT PATH '$.revision',
                 search_text VARCHAR(255) PATH '$.search_text', own_text LONGTEXT PATH '$.own_text',
                 own LONGTEXT PATH '$.own')) AS new
             ON robots.id = new.id AND robots.revision = new.revision
             SET robots.search_text = new.search_text, robots.own_text = new.own_text",
        );
        let own = ", robots.own = nullif(new.own, '{}'), robots.revision = robots.revision + 1";
        let update = update.sql(if_own(rows, own)).sql(" WHERE ");
        if self.change(update.then(is_current(definition))).await? == 0 {
            check_current(self, definition).await?;
        }
        Ok(())
    }

    async fn insert(&mut self, definition: &Definition, draft: &ValidDraft) -> QueryResult<i64> {
        let mut ids = insert(self, definition, &[draft]).await?;
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

/// The events at which triggers set the values of indexes.
const EVENTS: [&str; 2] = ["INSERT", "UPDATE"];

/// The name of the trigger that sets the values of a column.
fn trigger(event: &str, column: &str) -> String {
    let of_column = column.strip_prefix(VALUES).unwrap_or(column);
    format!("robots_{}_{of_column}", event.to_lowercase())
}

/// The SQL of the value of an own field, in a column with this SQL.
fn own_value(field: Field, own: &str) -> String {
    let json = format!("JSON_EXTRACT({own}, '$.{field}')");
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

    const TABLE_LOCK: (&'static str, &'static str) = TABLE_LOCK;

    const LOCK_WRITES: &'static str =
        "SELECT revision FROM robots_definition WHERE id = 1 FOR UPDATE";

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
    let insert = Insert {
        rows: rows.collect(),
        definition: definition.revision().get(),
    };
    match insert.load(connection).await {
        // The definition of the database is another one.
        Err(DieselError::DatabaseError(DatabaseErrorKind::NotNullViolation, _)) => {
            Err(wrap(Error::DefinitionStale))
        }
        returned => assigned_ids(connection, returned?, drafts.len()).await,
    }
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

/// An insert. Its first row has a revision only if the definition of the database has this revision, which stays so until
/// the transaction ends; otherwise the insert fails. On MariaDB, it returns the ids of the rows: a cluster that loses a
/// node changes the distance of ids, so that they cannot be derived from the first one.
struct Insert<'a> {
    rows: Vec<DraftRow<'a>>,
    definition: i64,
}

impl QueryId for Insert<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Insert<'_> {
    type SqlType = BigInt;
}

impl QueryFragment<Mysql> for Insert<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Mysql>) -> QueryResult<()> {
        pass.push_sql(
            "INSERT INTO robots (revision, name, type, year, search_text, own_text, own) \
             VALUES ((SELECT 1 FROM robots_definition WHERE id = 1 AND revision = ",
        );
        pass.push_bind_param::<BigInt, _>(&self.definition)?;
        for (index, row) in self.rows.iter().enumerate() {
            pass.push_sql(if index == 0 { "), " } else { "), (1, " });
            pass.push_bind_param::<Text, _>(row.name)?;
            pass.push_sql(", ");
            pass.push_bind_param::<Nullable<Text>, _>(&row.robot_type)?;
            pass.push_sql(", ");
            pass.push_bind_param::<Nullable<BigInt>, _>(&row.year)?;
            for text in [&row.search_text, &row.own_text, &row.own] {
                pass.push_sql(", ");
                pass.push_bind_param::<Nullable<Text>, _>(text)?;
            }
        }
        pass.push_sql(") /*M! RETURNING id */");
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
