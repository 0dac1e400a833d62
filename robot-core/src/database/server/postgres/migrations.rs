//! Migrations of PostgreSQL, and its search index.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{
    PgConnection,
    dsl::sql,
    prelude::*,
    sql_types::{Bool, Text},
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::database::{
    migrations::{Migrate, MigrationFailure},
    search_index::SearchIndex,
    server::{errors::MIGRATING, limits::MIGRATION_LOCK_TIMEOUT},
};

impl Migrate for PgConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

    const LOCK_TIMEOUT: Duration = MIGRATION_LOCK_TIMEOUT;

    const TABLES: &str = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() \
                          AND tablename IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        _: &str,
        timeout: Duration,
        work: impl FnOnce(&mut Self) -> Result<T, MigrationFailure>,
    ) -> Result<T, MigrationFailure> {
        /// A number that no other program is likely to use.
        const KEY: i64 = 0x726f_626f_7473;
        let lock = format!("SELECT pg_try_advisory_xact_lock({KEY})");
        self.transaction(|connection| {
            let started = Instant::now();
            while !sql::<Bool>(&lock).get_result(connection)? {
                if started.elapsed() > timeout {
                    return Err(MigrationFailure(MIGRATING.into()));
                }
                thread::sleep(Duration::from_millis(20));
            }
            work(connection)
        })
    }
}

impl SearchIndex for PgConnection {
    const CREATE: &str = include_str!(
        "../../../../migrations/postgres/2026-11-24-000000_folded_search_index/up.sql"
    );

    const OBJECTS: &str = "SELECT indexname::text FROM pg_indexes \
                           WHERE schemaname = current_schema() \
                           AND indexname = 'robots_folded_search' \
                           UNION ALL SELECT proname::text FROM pg_proc \
                           JOIN pg_namespace ON pg_namespace.oid = pronamespace \
                           WHERE nspname = current_schema() AND proname IN ('robots_search_text', 'robots_search_text_unicode')";

    const OBJECT_COUNT: usize = 3;

    const REMEDY: &str = "have a superuser run CREATE EXTENSION pg_trgm in the database, or, if it \
                          has the extension, GRANT USAGE ON SCHEMA for the schema of the extension";
}
