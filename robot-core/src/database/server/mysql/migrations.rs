//! Migrations of MariaDB and MySQL.

use diesel::{dsl::sql, prelude::*, sql_types::Text};
use diesel_async::{AsyncMysqlConnection, async_connection_wrapper::AsyncConnectionWrapper};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::database::{
    migrations::{Migrate, MigrationError},
    server::{backend::Addition, errors::MIGRATING},
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

/// The trigger for changes by other programs, which do not know of the revision and the search text. Not in
/// a migration: MySQL with a binary log lets only some users create triggers.
pub(super) const CHANGE_TRIGGER: Addition = Addition {
    exists: "SELECT trigger_name FROM information_schema.triggers \
             WHERE trigger_schema = DATABASE() AND trigger_name = 'robots_change'",
    create: "CREATE TRIGGER robots_change BEFORE UPDATE ON robots FOR EACH ROW SET
        NEW.own_text = IF(
            NEW.revision = OLD.revision AND NOT (NEW.name = OLD.name AND NEW.own <=> OLD.own), NULL, NEW.own_text
        ),
        NEW.search_text = IF(
            NEW.revision = OLD.revision AND NOT (NEW.name = OLD.name AND NEW.own <=> OLD.own), NULL, NEW.search_text
        ),
        NEW.revision = IF(
            NEW.revision = OLD.revision
            AND NOT (NEW.name = OLD.name AND NEW.type <=> OLD.type AND NEW.year <=> OLD.year
                AND NEW.own <=> OLD.own),
            OLD.revision + 1,
            NEW.revision
        )",
    missing: "changes by other programs do not raise the revision, because the trigger robots_change \
              cannot be created",
    remedy: "grant the user TRIGGER, and, on a server with a binary log, set log_bin_trust_function_creators",
};
