//! Migrations of PostgreSQL, and its search index.

use std::time::{Duration, Instant};

use diesel::{connection::SimpleConnection, dsl::sql, prelude::*, sql_types::Text};
use diesel_async::{AsyncPgConnection, async_connection_wrapper::AsyncConnectionWrapper};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::database::{
    migrations::{Migrate, MigrationError},
    server::errors::MIGRATING,
};

/// The SQL by which a session locks out other processes that change the tables of this schema, and the SQL that unlocks.
/// Not the lock of migrations: one that waits for it has a snapshot, for whose end the creation of an index waits.
pub(super) const TABLE_LOCK: (&str, &str) = (
    "SELECT pg_try_advisory_lock(x'726f626f'::int, hashtext(current_schema()))::int::text",
    "SELECT pg_advisory_unlock(x'726f626f'::int, hashtext(current_schema()))::text",
);

impl Migrate for AsyncConnectionWrapper<AsyncPgConnection> {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

    const TABLES: &str = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() \
                          AND tablename IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        _: &str,
        work: impl FnOnce(&mut Self) -> Result<T, MigrationError>,
    ) -> Result<T, MigrationError> {
        // The key is a number that no other program is likely to use. With a shorter limit, servers that start
        // together fail or return 503 although the migration is short; with a longer one, a server that cannot
        // start is reported later. Chosen for tables of about a million robots.
        const LIMIT: Duration = Duration::from_secs(10);
        self.transaction(|connection| {
            let before = connection.texts("SHOW lock_timeout")?.concat();
            let lock = format!(
                "SET LOCAL lock_timeout = '{}s'; SELECT pg_advisory_xact_lock(x'726f626f7473'::bigint);
                 SET LOCAL lock_timeout = '{before}'",
                LIMIT.as_secs()
            );
            let started = Instant::now();
            match connection.batch_execute(&lock) {
                // The server may say so in any language.
                Err(_) if started.elapsed() >= LIMIT => return Err(MIGRATING.into()),
                locked => locked?,
            }
            work(connection)
        })
    }
}

/// Creates the search index unless it exists: the trigrams of search texts. It needs rights that the user may not have, and
/// the catalogue works without it. `pg_trgm` indexes letters and digits only: the comparison of the candidates decides.
pub(super) fn create_search_index(
    connection: &mut impl Migrate,
    database: &str,
) -> Result<(), MigrationError> {
    const EXISTS: &str = "SELECT indexname::text FROM pg_indexes \
         WHERE schemaname = current_schema() AND indexname = 'robots_search'";
    // A database has the extension once, in any schema, which need not be in the search path. Rows that were
    // added last wait in a list that every search reads: it is kept short.
    const CREATE: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm;
        DO $$
        BEGIN
            EXECUTE format(
                'CREATE INDEX robots_search ON robots USING gin (search_text %I.gin_trgm_ops)
                 WITH (gin_pending_list_limit = 1024)',
                (SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
                 WHERE extname = 'pg_trgm')
            );
        END
        $$";
    if !connection.texts(EXISTS)?.is_empty() {
        return Ok(());
    }
    let created = connection.exclusively(database, |connection| {
        if connection.texts(EXISTS)?.is_empty() {
            connection.batch_execute(CREATE)?;
        }
        Ok(())
    });
    if let Err(cause) = created {
        tracing::warn!(
            "{database}: searches read every name, because the search index cannot be created: {cause}; have a superuser run \
             CREATE EXTENSION pg_trgm in the database, or, if it has the extension, GRANT USAGE ON SCHEMA for the schema of \
             the extension, and restart the program"
        );
    }
    Ok(())
}
