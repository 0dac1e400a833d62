//! Migrations of MariaDB and MySQL.

use std::time::Duration;

use diesel::{
    MysqlConnection, connection::SimpleConnection, dsl::sql, prelude::*, sql_types::Text,
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::database::{
    migrations::{Migrate, MigrationFailure},
    server::{errors::MIGRATING, limits::MIGRATION_LOCK_TIMEOUT},
};

impl Migrate for MysqlConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/mysql");

    const LOCK_TIMEOUT: Duration = MIGRATION_LOCK_TIMEOUT;

    const TABLES: &str = "SELECT table_name FROM information_schema.tables \
                          WHERE table_schema = DATABASE() \
                          AND table_name IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        _: &str,
        timeout: Duration,
        work: impl FnOnce(&mut Self) -> Result<T, MigrationFailure>,
    ) -> Result<T, MigrationFailure> {
        // Changes of tables are not transactional here, so that migrations must tolerate being run
        // again. The lock works among the processes on one server. The name of a lock is at most as
        // long as that of a database, hence the hash.
        const LOCK: &str = "SHA1(CONCAT(DATABASE(), '.robots'))";
        let seconds = timeout.as_secs();
        let lock = format!("SELECT CAST(GET_LOCK({LOCK}, {seconds}) AS CHAR)");
        if self.texts(&lock)? != ["1"] {
            return Err(MigrationFailure(MIGRATING.into()));
        }
        let result = work(self);
        self.batch_execute(&format!("DO RELEASE_LOCK({LOCK})"))?;
        result
    }
}
