//! Statements in MariaDB's and MySQL's dialect.

use std::hash::{BuildHasher, RandomState};

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};
use diesel_async::{AsyncMysqlConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::{
    catalogue::{Error, Receipt, Room},
    database::{
        conditions::has_id_of,
        dialect::{Dialect, returned},
        errors::{VALUES, wrap},
        execute::{Execute, impl_execute},
        fragment::Fragment,
        index::Index,
        schema::{DraftRow, RobotRow, receipt},
        server::{define::batch_patiently, pattern::pattern_of},
        statements::{end_of_step, is_robot, select, update_of},
    },
    model::{Definition, Field, INDEXED_LENGTH, Kind, Robot, ValidChanges, ValidDraft},
};

/// The collation of names, for MariaDB and for MySQL: texts are compared byte by byte.
const COLLATE: &str =
    "/*M!100202 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */";

impl_execute!(AsyncMysqlConnection, .await);

impl Dialect for AsyncMysqlConnection {
    /// As in `STORE_REVISION` of the backend.
    const IN_TRANSACTION: &str = "/*M! * NULLIF(@@in_transaction, 0) */";

    const ADDED: &str = "robots.addition";

    /// MariaDB's merge keeps some of several values that a patch removes.
    fn merge(removed: &[&str]) -> (String, &'static str) {
        let paths: Vec<_> = removed.iter().map(|name| format!("'$.{name}'")).collect();
        let own = match &paths[..] {
            [] => "coalesce(own, '{}')".to_owned(),
            _ => format!("json_remove(coalesce(own, '{{}}'), {})", paths.join(", ")),
        };
        (format!("nullif(json_merge_patch({own}, "), "), '{}')")
    }

    async fn update(&mut self, update: Fragment<'_>, ids: &[i64]) -> QueryResult<Vec<Receipt>> {
        if self.change(update).await? == 0 {
            return Ok(Vec::new());
        }
        let receipts = match ids {
            // Without a transaction, another client may have changed the robot.
            [id] => Fragment::new("SELECT ")
                .number(*id)
                .sql(", CAST(@robots_revision AS CHAR)"),
            ids => receipts_of(ids),
        };
        let receipts = returned(self, receipts).await;
        // Without a transaction, the change is committed.
        receipts.map_err(|error| wrap(Error::unknown(error)))
    }

    const NOW: &str = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000";

    const FOR_UPDATE: &str = " FOR UPDATE";

    const FOR_SHARE: &str = " LOCK IN SHARE MODE";

    const LENGTH: &str = "char_length";

    const LAST_ID: &str = "SELECT CAST(auto_increment AS SIGNED) - 1 FROM information_schema.tables
                           WHERE table_schema = DATABASE() AND table_name = 'robots'";

    const BOOLEANS: [&str; 2] = ["'false'", "'true'"];

    /// The values of an index are in a column of their own.
    fn own_value(field: &Field) -> String {
        if field.is_indexed() {
            return format!("robots.{}", Index::of(field).column());
        }
        own_value(field, "own")
    }

    fn own_text_value(name: &str) -> String {
        format!("JSON_EXTRACT(own, '$.{name}')")
    }

    fn stored_value(field: &Field) -> String {
        own_value(field, "own")
    }

    fn folded_contains(sql: &str, folded: &str) -> Fragment<'static> {
        Fragment::new(format!("{sql} REGEXP ")).text(pattern_of(folded))
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
                batch_patiently(self, &drop).await?;
            }
            let drop = format!("ALTER TABLE robots DROP COLUMN {column}");
            batch_patiently(self, &drop).await?;
        }
        Ok(())
    }

    /// The values of an index are in an ordinary column, which triggers keep: while others change robots, reads by the
    /// index of a virtual column miss some. A stored one could be added only while no client changes robots.
    async fn create_indexes(&mut self, indexes: &[Index<'_>]) -> QueryResult<()> {
        let existing = self.texts(Self::COLUMNS).await?;
        let own = indexes.iter().filter(|index| index.field.is_own());
        let missing = own.filter(|index| !existing.contains(&index.column()));
        let missing: Vec<_> = missing.collect();
        for index in &missing {
            let column = index.column();
            let value = own_value(index.field, "NEW.own");
            let (sql_type, value) = match index.field.kind() {
                Kind::Integer { .. } => ("BIGINT".to_owned(), value),
                Kind::Number { .. } => ("DOUBLE".to_owned(), value),
                _ => (
                    format!("VARCHAR({INDEXED_LENGTH}) CHARACTER SET utf8mb4 {COLLATE}"),
                    format!("LEFT({value}, {INDEXED_LENGTH})"),
                ),
            };
            let add = format!("ALTER TABLE robots ADD COLUMN {column} {sql_type}");
            batch_patiently(self, &add).await?;
            for event in EVENTS {
                let trigger = trigger(event, &column);
                // A number that the column cannot have is none.
                let create = format!(
                    "CREATE TRIGGER {trigger} BEFORE {event} ON robots FOR EACH ROW BEGIN
                     DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET NEW.{column} = NULL;
                     SET NEW.{column} = {value}; END"
                );
                batch_patiently(self, &create).await?;
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
            batch_patiently(self, &create).await?;
        }
        Ok(())
    }

    /// Its column stays until the next change: processes that do not know the new definition yet may use it.
    fn drop_index(name: &str) -> String {
        format!("ALTER TABLE robots DROP INDEX {name}")
    }

    /// Without a character set, the columns have that of the database, which may lose characters.
    const SET_SEARCH_TEXTS: (&str, &str) = (
        "UPDATE robots JOIN JSON_TABLE(",
        ", '$[*]' COLUMNS (id BIGINT PATH '$.id', revision BIGINT PATH '$.revision',
             search_text VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.search_text',
             own_text LONGTEXT CHARACTER SET utf8mb4 PATH '$.own_text',
             own LONGTEXT CHARACTER SET utf8mb4 PATH '$.own',
             updated_by VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.updated_by')) AS new
         SET robots.search_text = new.search_text, robots.own_text = new.own_text/*own*/
         WHERE robots.id = new.id AND robots.revision = new.revision",
    );

    const SET_OWN: &str =
        ", robots.own = new.own, robots.updated_by = new.updated_by, robots.revision = 0";

    /// The first row has a revision only if the definition of the database is this one, which stays so until the
    /// transaction ends; otherwise the insert fails. MariaDB returns the ids of the rows: a cluster that loses a node
    /// changes the distance of ids, so that they cannot be derived from the first one.
    async fn insert(
        &mut self,
        definition: &Definition,
        drafts: &[(&ValidDraft, Option<&str>)],
    ) -> QueryResult<Vec<Receipt>> {
        let insert = format!("INSERT INTO robots (added, revision, {VALUES_OF_ROW}) VALUES (1 - ");
        let count = i64::try_from(drafts.len()).unwrap_or(i64::MAX);
        let insert = Fragment::new(insert).number(count);
        let insert = insert.sql(", (SELECT 1 FROM robots_definition WHERE id = 1 AND revision = ");
        let mut insert = insert.number(definition.revision().get());
        for (index, (draft, by)) in drafts.iter().enumerate() {
            insert = insert.sql(if index == 0 { "), " } else { "), (1, 1, " });
            insert = values(insert, DraftRow::new(definition, draft).by(*by));
        }
        let insert = insert.sql(") /*M! RETURNING id, CAST(revision AS CHAR) */");
        match returned(self, insert).await {
            // The definition of the database is another one.
            Err(DieselError::DatabaseError(DatabaseErrorKind::NotNullViolation, _)) => {
                Err(wrap(Error::DefinitionStale))
            }
            receipts => inserted(self, receipts?, drafts.len()).await,
        }
    }

    async fn insert_robots(
        &mut self,
        definition: &Definition,
        robots: &[Robot],
    ) -> QueryResult<()> {
        let insert = format!("INSERT INTO robots (id, revision, {VALUES_OF_ROW}) VALUES (");
        let mut insert = Fragment::new(insert).uncached();
        for (index, robot) in robots.iter().enumerate() {
            let row = RobotRow::restored(robot, DraftRow::new(definition, robot.values()));
            insert = insert.sql(if index == 0 { "" } else { "), (" });
            insert = insert.number(row.id).sql(", ").number(row.revision);
            insert = values(insert.sql(", "), row.values);
        }
        self.change(insert.sql(")")).await.map(drop)
    }

    /// Inserts a row with the id and deletes it. ALTER TABLE would end the transaction, and could
    /// lower the last id.
    async fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        let random = RandomState::new().hash_one(id);
        let name = format!("\u{10ffff}{random:016x}");
        // Neither is a change of the catalogue.
        self.batch("SET @robots_raises_id = 1").await?;
        let insert = Fragment::new("INSERT INTO robots (id, name) VALUES (").number(id);
        let inserted = self.change(insert.sql(", ").text(name).sql(")")).await;
        let delete = Fragment::new("DELETE FROM robots WHERE id = ").number(id);
        let deleted = self.change(delete).await;
        self.batch("SET @robots_raises_id = NULL").await?;
        inserted.and(deleted).map(drop)
    }
}

/// Changes locked robots, and reads their revisions at the end.
pub(super) async fn update_all(
    connection: &mut AsyncMysqlConnection,
    definition: &Definition,
    updates: &[(&Robot, &ValidChanges, Option<&str>)],
) -> QueryResult<Vec<Receipt>> {
    let mut ids = Vec::with_capacity(updates.len());
    for (robot, changes, by) in updates {
        let is_robot = is_robot(robot.id(), None);
        let update = update_of::<AsyncMysqlConnection>(definition, (changes, *by), is_robot);
        if connection.change(update).await? == 0 {
            // The definition of the database is another one.
            return Ok(Vec::new());
        }
        ids.push(robot.id().get());
    }
    returned(connection, receipts_of(&ids)).await
}

/// The query for the receipts of changed robots.
fn receipts_of(ids: &[i64]) -> Fragment<'_> {
    select("id, CAST(revision AS CHAR)", Some(has_id_of(ids)))
}

/// The events at which triggers set the values of indexes.
const EVENTS: [&str; 2] = ["INSERT", "UPDATE"];

/// The name of the trigger that sets the values of a column.
fn trigger(event: &str, column: &str) -> String {
    let of_column = column.strip_prefix(VALUES).unwrap_or(column);
    format!("robots_{}_{of_column}", event.to_lowercase())
}

/// The SQL of the value of an own field, in a column with this SQL.
fn own_value(field: &Field, own: &str) -> String {
    let json = format!("JSON_EXTRACT({own}, '$.{field}')");
    let number = "'INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL'";
    let text = format!("JSON_UNQUOTE({json})");
    let (json_types, value, collate) = match field.kind() {
        Kind::Integer { .. } => (number, format!("CAST({json} AS SIGNED)"), ""),
        Kind::Number { .. } => (number, format!("CAST({json} AS DOUBLE)"), ""),
        Kind::Boolean => ("'BOOLEAN'", text, COLLATE),
        _ => ("'STRING'", text, COLLATE),
    };
    format!("(IF(JSON_TYPE({json}) IN ({json_types}), {value}, NULL) {collate})")
}

/// The columns of [`values`].
const VALUES_OF_ROW: &str =
    "name, type, year, search_text, own_text, own, created_at, updated_at, updated_by";

/// Appends the values of a row to an insert.
fn values<'a>(insert: Fragment<'a>, row: DraftRow<'a>) -> Fragment<'a> {
    let insert = insert.text(row.name).sql(", ").text_or_null(row.robot_type);
    let mut insert = insert.sql(", ").number_or_null(row.year);
    for text in [row.search_text, row.own_text, row.own] {
        insert = insert.sql(", ").text_or_null(text);
    }
    for time in [row.created_at, row.updated_at] {
        insert = insert.sql(", ").number_or_null(time);
    }
    insert.sql(", ").text_or_null(row.updated_by)
}

/// The receipts of the last insert of so many robots, if it has not returned them.
async fn inserted(
    connection: &mut AsyncMysqlConnection,
    returned: Vec<Receipt>,
    count: usize,
) -> QueryResult<Vec<Receipt>> {
    if returned.len() == count {
        return Ok(returned);
    }
    // The first id, and the last revision. The ids of a statement have the same distance.
    let last = "SELECT CAST(last_insert_id() AS SIGNED), \
                CONCAT(@@auto_increment_increment, ' ', @robots_revision)";
    let room = &mut Room::of_robots(1);
    let last = connection.pairs(Fragment::new(last), room, Ok).await;
    // Without a transaction, the rows are committed: from here on no error may mean that nothing was stored.
    let last = last.map_err(|error| wrap(Error::unknown(error)))?.pop();
    let (first, numbers) = last.unwrap_or_default();
    let (distance, revision) = numbers.split_once(' ').unwrap_or_default();
    let ids = (first..).step_by(distance.parse().unwrap_or(1));
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let last = revision.parse().unwrap_or(count);
    let receipts = ids.zip(last + 1 - count..=last);
    receipts
        .map(|(id, revision)| receipt((id, revision.to_string())))
        .collect()
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
    async fn receipts_that_an_insert_does_not_return_are_derived() {
        let url = scratch_database("TEST_MYSQL_URL");
        let options = OpenOptions::default();
        let connector = Connector::<AsyncMysqlConnection>::open(&url, &options).await;
        let mut connection = connector.unwrap().connect().await.unwrap().inner;
        let set_distance = "SET auto_increment_increment = 3";
        connection.batch(set_distance).await.unwrap();
        let insert = Fragment::new("INSERT INTO robots (name) VALUES ('a'), ('b'), ('c')");
        connection.change(insert).await.unwrap();
        let receipts = inserted(&mut connection, Vec::new(), 3).await.unwrap();
        let stored = Fragment::new("SELECT id, CAST(revision AS CHAR) FROM robots ORDER BY id");
        let stored = returned(&mut connection, stored).await.unwrap();
        assert_eq!(stored, receipts);
        assert_eq!(stored[2].id.get() - stored[0].id.get(), 6);
    }
}
