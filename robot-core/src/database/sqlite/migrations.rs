//! Migrations of SQLite, and its search index.

use std::time::Duration;

use diesel::{
    SqliteConnection,
    connection::{AnsiTransactionManager, SimpleConnection, TransactionManager},
    dsl::sql,
    prelude::*,
    sql_types::Text,
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use super::{
    connection::{LOCK_PAUSE, retry_while_locked},
    errors::is_locked,
};
use crate::database::{
    migrations::{Failure, Migrate},
    search_index::SearchIndex,
};

/// How long a process waits for another one that migrates the file. Too short, and servers that start
/// together fail on a large file; too long, and one that starts beside a program that never ends its
/// transaction seems to hang.
const MIGRATION_LOCK_TIMEOUT: Duration = Duration::from_secs(600);

/// How long a process waits without logging it.
const QUIET_LOCK_TIMEOUT: Duration = Duration::from_secs(1);

impl Migrate for SqliteConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

    /// A file with any tables belongs to some program.
    const TABLES: &str = "SELECT name FROM sqlite_master";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        database: &str,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        begin(self, database)?;
        let result = work(self);
        if result.is_ok() {
            AnsiTransactionManager::commit_transaction(self)?;
        } else {
            // Fails if SQLite has rolled back already. The connection is closed after a failure.
            let _ = AnsiTransactionManager::rollback_transaction(self);
        }
        result
    }
}

/// Begins a transaction, and takes the write lock.
fn begin(connection: &mut SqliteConnection, database: &str) -> QueryResult<()> {
    let mut attempt = || {
        // Without a write-ahead log, the migration would block other processes that start: they
        // look at the tables first. Opening verifies the journal mode later.
        connection.batch_execute("PRAGMA journal_mode = WAL")?;
        AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")
    };
    match retry_while_locked(QUIET_LOCK_TIMEOUT, |_| LOCK_PAUSE, &mut attempt) {
        Err(error) if is_locked(&error) => {
            log::warn!(
                "{database}: waiting for another program that migrates it or writes to it, for up \
                 to {} minutes",
                MIGRATION_LOCK_TIMEOUT.as_secs() / 60
            );
            retry_while_locked(MIGRATION_LOCK_TIMEOUT, |_| LOCK_PAUSE, attempt)
        }
        result => result,
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
