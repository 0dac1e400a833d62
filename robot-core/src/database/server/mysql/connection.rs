//! Connections to MariaDB and MySQL and their settings.

use std::time::Duration;

use diesel::{QueryResult, connection::SimpleConnection};
use diesel_async::{
    AsyncMysqlConnection, SimpleAsyncConnection, async_connection_wrapper::AsyncConnectionWrapper,
};

use super::{migrations::TABLE_LOCK, statements::update_all, url::MysqlUrl};
use crate::{
    catalogue::{Preparation, Receipt},
    database::{
        execute::Execute,
        migrations::{self, MigrationError},
        server::{
            backend::Backend,
            connect_error::{ConnectError, ConnectFailure, UrlError},
            operation::{Operation, SCAN_FACTOR, whole_seconds},
        },
    },
    model::{Definition, Robot, ValidChanges},
};

impl Backend for AsyncMysqlConnection {
    type Url = MysqlUrl;

    const SCHEMES: &'static [&'static str] = &["mysql"];

    const EXAMPLE: &'static str = "mysql://user:password@host/database";

    const REMEDY: &'static str = "check user, password and database in the URL, that the user may create tables and triggers in it, and, on a \
         server with a binary log or Galera, that log_bin_trust_function_creators is set";

    const TLS_REMEDY: &'static str =
        "check ssl_mode and ssl_ca in the URL, and the certificate of the server";

    fn parse(url: &str, timeout: Duration) -> Result<MysqlUrl, UrlError> {
        MysqlUrl::parse(url, timeout)
    }

    async fn connect(url: &MysqlUrl) -> Result<Self, ConnectError> {
        let mut connection = Self::try_from(url.connect().await?).await?;
        set_up(&mut connection, url.timeout).await?;
        Ok(connection)
    }

    async fn connect_first(url: &MysqlUrl) -> Result<Self, ConnectError> {
        let mut connection = Self::connect(url).await?;
        let collations = connection.texts(
            "SELECT collation_name FROM information_schema.collations
         WHERE collation_name IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')",
        );
        if collations.await?.is_empty() {
            let message = "the server is too old to distinguish all names; it must be MariaDB 10.6 or MySQL \
                       8.0.17, or later";
            return Err(ConnectError(ConnectFailure::Refused, message.to_owned()));
        }
        // A commit waits for the disk with 1, and with MariaDB's 3; but not completely if a binary log is
        // not synced.
        let may_lose = connection.texts(
            "SELECT CONCAT('innodb_flush_log_at_trx_commit = ', @@innodb_flush_log_at_trx_commit,
                       ', log_bin = ', @@log_bin, ', sync_binlog = ', @@sync_binlog)
         FROM DUAL WHERE @@innodb_flush_log_at_trx_commit NOT IN (1, 3)
         OR (@@log_bin AND @@sync_binlog <> 1 AND @@innodb_flush_log_at_trx_commit <> 3)",
        );
        for settings in may_lose.await? {
            tracing::warn!(
                "the database server has {settings}: a power cut may lose acknowledged writes"
            );
        }
        Ok(connection)
    }

    fn prepare(self, database: &str, preparation: Preparation) -> Result<Self, MigrationError> {
        let mut connection = AsyncConnectionWrapper::<Self>::from(self);
        // Migrations may change tables of any size.
        SimpleConnection::batch_execute(
            &mut connection,
            "SET SESSION autocommit = 1 /*M!100400 , SESSION max_statement_time = 0 */
             /*!80003 , SESSION max_execution_time = 0 */",
        )?;
        migrations::prepare(&mut connection, database, preparation)?;
        Ok(connection.into_inner())
    }

    /// The limit of a statement is a long one, because it would interrupt a commit, too.
    async fn set_limits(&mut self, operation: Operation, timeout: Duration) -> QueryResult<()> {
        let seconds = match operation {
            // In a batch, waits for several robots add up.
            Operation::ChangeBatch => 0,
            _ => whole_seconds(operation.lock_limit(timeout)),
        };
        // MySQL waits at least a second.
        let mysql = seconds.max(1);
        let limit = match operation {
            Operation::Define => Duration::ZERO,
            _ => timeout * SCAN_FACTOR,
        };
        self.batch_execute(&format!(
            "SET SESSION innodb_lock_wait_timeout = {mysql}, SESSION lock_wait_timeout = {mysql}
             /*M!100300 , SESSION innodb_lock_wait_timeout = {seconds},
                SESSION max_statement_time = {limit} */",
            limit = limit.as_secs_f64(),
        ))
        .await
    }

    async fn update_all(
        &mut self,
        definition: &Definition,
        updates: &[(&Robot, &ValidChanges, Option<&str>)],
    ) -> QueryResult<Vec<Receipt>> {
        update_all(self, definition, updates).await
    }

    const BEGIN_SNAPSHOT: &'static str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";

    const TABLE_LOCK: (&'static str, &'static str) = TABLE_LOCK;

    /// First the metadata lock of the table: a change of the table waits for it, and later statements wait for that
    /// change, also those of a transaction that has the lock of the catalogue. A batch waits for these locks, which every
    /// transaction that changes robots has, but not for robots. The first changes use the savepoint.
    const LOCK_CATALOGUE: &'static str = "SELECT id FROM robots LIMIT 0 FOR UPDATE;
         SELECT revision FROM robots_definition WHERE id = 1 LOCK IN SHARE MODE /*M!100300 WAIT 1 */;
         SELECT revision + 1 INTO @robots_next FROM robots_catalogue WHERE id = 1 FOR UPDATE /*M!100300 WAIT 1 */;
         SAVEPOINT before_part; SET @robots_before = @robots_next";

    /// A Galera node may end a transaction for another one and not say so: if the next request prepares a statement, or
    /// if another statement follows in the same request. So this statement and the commit are requests of their own.
    const STORE_REVISION: &'static str = "UPDATE robots_catalogue
         SET revision = (@robots_next - 1) /*M! * NULLIF(@@in_transaction, 0) */";

    const FORGET_REVISION: &'static str = ", actor = (@robots_next := NULL)";

    const ROLL_BACK: &'static str = "SET @robots_next = NULL; ROLLBACK";

    /// `InnoDB` shows the changes of a transaction to others before its log is on disk. A later commit writes all of the log.
    const FLUSH: &'static str = "UPDATE robots_flushes SET number = number + 1";

    const SAVEPOINT: [&'static str; 2] = [
        "SAVEPOINT before_part; SET @robots_before = @robots_next",
        "ROLLBACK TO SAVEPOINT before_part; SET @robots_next = @robots_before",
    ];

    /// A robot would be locked before the catalogue.
    const CHANGES_ALONE: bool = false;

    const LOCK_WRITES: &'static str =
        "SELECT revision FROM robots_definition WHERE id = 1 FOR UPDATE;
         SELECT revision + 1 INTO @robots_next FROM robots_catalogue WHERE id = 1 FOR UPDATE";
}

/// Sets what the catalogue relies on, whatever the defaults of the server and the user are.
async fn set_up(connection: &mut AsyncMysqlConnection, timeout: Duration) -> QueryResult<()> {
    let lock_timeout = whole_seconds(timeout);
    let limit = timeout * SCAN_FACTOR;
    // MariaDB executes the first comment, and MySQL the second: without the last variable, it returns a last id
    // that may be a day old.
    let settings = format!(
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE;
         SET SESSION autocommit = 1, SESSION completion_type = 'NO_CHAIN',
             SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
             SESSION default_storage_engine = 'InnoDB', SESSION unique_checks = 1,
             SESSION sql_big_selects = 1, SESSION sql_select_limit = 18446744073709551615,
             SESSION max_sort_length = 4096, SESSION lc_messages = 'en_US',
             SESSION innodb_lock_wait_timeout = {lock_timeout}, SESSION lock_wait_timeout = {lock_timeout}
             /*M!100400 , SESSION check_constraint_checks = 1,
                SESSION max_statement_time = {seconds} */
             /*!80003 , SESSION max_execution_time = {milliseconds},
                SESSION information_schema_stats_expiry = 0 */;",
        seconds = limit.as_secs_f64(),
        milliseconds = limit.as_millis(),
    );
    connection.batch_execute(&settings).await?;
    // A node of a Galera cluster waits until it has applied what the others have committed. Other
    // servers may not have the variable.
    match connection
        .batch_execute("SET SESSION wsrep_sync_wait = 7")
        .await
    {
        Err(error) if !error.to_string().contains("Unknown system variable") => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[cfg(feature = "conformance")]
mod tests {
    use super::*;
    use crate::conformance::scratch_database;

    async fn settings() -> Vec<String> {
        let timeout = Duration::from_millis(1500);
        let url = MysqlUrl::parse(&scratch_database("TEST_MYSQL_URL"), timeout).unwrap();
        let connected = AsyncMysqlConnection::connect(&url).await;
        let mut connection = connected.unwrap();
        let names = [
            "tx_isolation",
            "tx_read_only",
            "autocommit",
            "sql_mode",
            "sql_select_limit",
            "check_constraint_checks",
            "wsrep_sync_wait",
            "lock_wait_timeout",
            "innodb_lock_wait_timeout",
            "character_set_connection",
            "max_statement_time",
        ];
        let mut settings = Vec::new();
        for name in names {
            let query = format!("SELECT CAST(@@{name} AS CHAR)");
            settings.extend(connection.texts(&query).await.unwrap());
        }
        settings
    }

    #[tokio::test]
    async fn sessions_have_the_required_settings() {
        let expected = [
            "REPEATABLE-READ",
            "OFF",
            "ON",
            "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
            "18446744073709551615",
            "ON",
            "7",
            "2",
            "2",
            "utf8mb4",
            "15.000000",
        ];
        assert_eq!(settings().await, expected);
    }
}
