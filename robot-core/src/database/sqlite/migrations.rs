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
use crate::database::migrations::{Migrate, MigrationError};

/// How long a process waits for another one that migrates the file. Too short, and servers that start
/// together fail on a large file; too long, and one that starts beside a program that never ends its
/// transaction seems to hang.
const LOCK_TIMEOUT: Duration = Duration::from_secs(600);

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
        work: impl FnOnce(&mut Self) -> Result<T, MigrationError>,
    ) -> Result<T, MigrationError> {
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

/// Begins a transaction, and takes the write lock, for which it waits up to [`LOCK_TIMEOUT`].
fn begin(connection: &mut SqliteConnection, database: &str) -> QueryResult<()> {
    let mut attempt = || {
        // Without a write-ahead log, the migration would block other processes that start: they
        // look at the tables first. Opening verifies the journal mode later.
        connection.batch_execute("PRAGMA journal_mode = WAL")?;
        AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")
    };
    match retry_while_locked(QUIET_LOCK_TIMEOUT, LOCK_PAUSE, &mut attempt) {
        Err(error) if is_locked(&error) => {
            let seconds = LOCK_TIMEOUT.as_secs();
            tracing::warn!(
                "{database}: waiting for another program that migrates it or writes to it, for up \
                 to {seconds} seconds"
            );
            retry_while_locked(LOCK_TIMEOUT, LOCK_PAUSE, attempt)
        }
        result => result,
    }
}
