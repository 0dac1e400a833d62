//! Migrations of SQLite.

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
    connect::{LOCK_PAUSE, retry_while_locked},
    errors::is_locked,
};
use crate::database::migrations::{Migrate, MigrationFailure};

/// How long a process waits for another one that migrates the file. Too short, and servers that start
/// together fail on a large file; too long, and one that starts beside a program that never ends its
/// transaction seems to hang.
const MIGRATION_LOCK_TIMEOUT: Duration = Duration::from_secs(600);

/// How long a process waits without logging it.
const QUIET_LOCK_TIMEOUT: Duration = Duration::from_secs(1);

impl Migrate for SqliteConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

    const LOCK_TIMEOUT: Duration = MIGRATION_LOCK_TIMEOUT;

    /// A file with any tables belongs to some program.
    const TABLES: &str = "SELECT name FROM sqlite_master";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        database: &str,
        timeout: Duration,
        work: impl FnOnce(&mut Self) -> Result<T, MigrationFailure>,
    ) -> Result<T, MigrationFailure> {
        begin(self, database, timeout)?;
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

/// Begins a transaction, and takes the write lock, for which it waits up to `timeout`.
fn begin(connection: &mut SqliteConnection, database: &str, timeout: Duration) -> QueryResult<()> {
    let mut attempt = || {
        // Without a write-ahead log, the migration would block other processes that start: they
        // look at the tables first. Opening verifies the journal mode later.
        connection.batch_execute("PRAGMA journal_mode = WAL")?;
        AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")
    };
    let quiet = QUIET_LOCK_TIMEOUT.min(timeout);
    let rest = timeout.saturating_sub(quiet);
    match retry_while_locked(quiet, LOCK_PAUSE, &mut attempt) {
        Err(error) if is_locked(&error) && !rest.is_zero() => {
            tracing::warn!(
                "{database}: waiting for another program that migrates it or writes to it, for up \
                 to {} seconds",
                rest.as_secs_f32().ceil()
            );
            retry_while_locked(rest, LOCK_PAUSE, attempt)
        }
        result => result,
    }
}
