//! Migrations of SQLite, and its search index.

use diesel::{SqliteConnection, dsl::sql, prelude::*, sql_types::Text};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::database::{
    migrations::{Failure, Migrate},
    search_index::SearchIndex,
};

impl Migrate for SqliteConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

    /// A file with any tables belongs to some program.
    const TABLES: &str = "SELECT name FROM sqlite_master";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.immediate_transaction(work)
    }
}

impl SearchIndex for SqliteConnection {
    const CREATE: &str =
        include_str!("../../../migrations/sqlite/2026-11-22-000000_search_index/up.sql");

    const OBJECTS: &str = "SELECT name FROM sqlite_master WHERE name IN ('robots_search', \
                           'robots_unindexed', 'robots_index', 'robots_search_insert', \
                           'robots_search_delete', 'robots_search_update')";

    const OBJECT_COUNT: usize = 6;

    const REMEDY: &str = "check that the disk has room";
}
