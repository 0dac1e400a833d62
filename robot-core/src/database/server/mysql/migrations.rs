//! Migrations of MariaDB and MySQL.

use diesel::{dsl::sql, prelude::*, sql_types::Text};
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
        // For ten seconds at most.
        if self.texts(&lock.replace(", 0) AS", ", 10) AS"))? != ["1"] {
            return Err(MIGRATING.into());
        }
        let result = work(self);
        self.texts(unlock)?;
        result
    }
}
