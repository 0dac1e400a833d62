//! Migrations of MariaDB and MySQL.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{connection::SimpleConnection, dsl::sql, prelude::*, sql_query, sql_types::Text};
use diesel_async::{AsyncMysqlConnection, async_connection_wrapper::AsyncConnectionWrapper};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::database::{
    migrations::{Migrate, MigrationError},
    server::errors::MIGRATING,
};

/// The SQL by which a session locks out other processes that change tables, and the SQL that unlocks. The name of a lock is at most as long as that of a database, hence the hash.
pub(super) const TABLE_LOCK: (&str, &str) = (
    "SELECT CAST(GET_LOCK(SHA1(CONCAT(DATABASE(), '.robots')), 0) AS CHAR)",
    "SELECT CAST(RELEASE_LOCK(SHA1(CONCAT(DATABASE(), '.robots'))) AS CHAR)",
);

/// Returns a row on a node of a Galera cluster.
const IS_GALERA: &str = "SELECT '1' FROM DUAL WHERE FALSE /*M! OR EXISTS (
    SELECT 1 FROM information_schema.global_status WHERE variable_name = 'wsrep_cluster_size' AND variable_value > 0) */";

/// How long a process waits for another one that migrates, before it tries again as after an outage.
const LIMIT: Duration = Duration::from_secs(10);

/// Lets one node of a cluster migrate at a time. Two nodes that create the same trigger would wait for each other forever, and
/// all other nodes for them. Returns whether no other node has the claim. The claim of a process that was killed expires:
/// longer, and the next one waits for longer; shorter, and a large catalogue is not migrated within it.
fn claim(connection: &mut AsyncConnectionWrapper<AsyncMysqlConnection>) -> QueryResult<bool> {
    connection.batch_execute(
        "CREATE TABLE IF NOT EXISTS robots_migration (id BIGINT NOT NULL PRIMARY KEY, until DATETIME NOT NULL) ENGINE = InnoDB;
         INSERT IGNORE INTO robots_migration VALUES (1, '1970-01-01')",
    )?;
    let claim = "UPDATE robots_migration SET until = UTC_TIMESTAMP() + INTERVAL 10 MINUTE WHERE until < UTC_TIMESTAMP()";
    Ok(sql_query(claim).execute(connection)? == 1)
}

/// Ends the claim.
const RELEASE: &str = "UPDATE robots_migration SET until = '1970-01-01'";

impl Migrate for AsyncConnectionWrapper<AsyncMysqlConnection> {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/mysql");

    const TABLES: &str = "SELECT table_name FROM information_schema.tables \
                          WHERE table_schema = DATABASE() \
                          AND table_name IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        _: &str,
        work: impl FnOnce(&mut Self) -> Result<T, MigrationError>,
    ) -> Result<T, MigrationError> {
        // Changes of tables are not transactional here, so that migrations must tolerate being run
        // again. The lock works among the processes on one server.
        let (lock, unlock) = TABLE_LOCK;
        let start = Instant::now();
        if self.texts(&lock.replace(", 0) AS", &format!(", {}) AS", LIMIT.as_secs())))? != ["1"] {
            return Err(MIGRATING.into());
        }
        let is_galera = !self.texts(IS_GALERA)?.is_empty();
        // Of two nodes at the same time, one gets an error.
        while is_galera && !claim(self).unwrap_or(false) {
            if start.elapsed() > LIMIT {
                self.texts(unlock)?;
                return Err(MIGRATING.into());
            }
            thread::sleep(Duration::from_millis(200));
        }
        let result = work(self);
        if is_galera {
            self.batch_execute(RELEASE)?;
        }
        self.texts(unlock)?;
        result
    }
}
