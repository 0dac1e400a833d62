//! Bringing the tables of a database up to date when it is opened.

use std::error::Error as StdError;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use std::time::Duration;

use diesel::{
    Connection, QueryResult,
    migration::{Migration, MigrationSource, MigrationVersion},
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use super::connection::{AnyConnection, Location};
#[cfg(any(feature = "postgres", feature = "mysql"))]
use super::failure::LOCKED;
#[cfg(feature = "sqlite")]
use super::sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use super::trigrams::{Indexed, index_names};
use crate::error::OpenError;

/// How long another process may take to bring the tables up to date, before we give up waiting.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) const LOCK_LIMIT: Duration = Duration::from_secs(10);

/// What a connection to a backend does for its migrations.
pub(super) trait Migrated:
    Connection + MigrationHarness<<Self as Connection>::Backend> + Sized
{
    /// The migrations that this program knows.
    const MIGRATIONS: EmbeddedMigrations;

    /// Lists the tables that tell whose the database is.
    const TABLES: &str;

    /// The texts that a query returns.
    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>>;

    /// Does work while no other process does such work, and where the backend is able to, all
    /// or nothing of it.
    fn alone<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure>;
}

/// Runs the migrations that the database lacks, all or none. A database that turns out to be
/// of no use is left as it was.
///
/// # Errors
/// The database has migrations that this program does not know, or cannot be changed.
pub(super) fn bring_up_to_date(
    connection: &mut AnyConnection,
    location: &Location,
) -> Result<(), OpenError> {
    match connection {
        #[cfg(feature = "sqlite")]
        AnyConnection::Sqlite(connection) => {
            run(connection, location)?;
            sqlite::keep_a_write_ahead_log(connection, location.timeout)
                .map_err(|cause| location.refusal(cause))?;
            index(connection);
            Ok(())
        }
        #[cfg(feature = "postgres")]
        AnyConnection::Postgres(connection) => {
            run(connection, location)?;
            index(connection);
            Ok(())
        }
        #[cfg(feature = "mysql")]
        AnyConnection::Mysql(connection) => run(connection, location),
    }
}

/// Makes the index of names, if that is possible.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn index<C: Indexed>(connection: &mut C) {
    if let Err(Failure(cause)) = index_names(connection) {
        log::warn!("a search will have to read every name, for its index cannot be made: {cause}");
    }
}

fn run<C: Migrated>(connection: &mut C, location: &Location) -> Result<(), OpenError> {
    let tables = match state(connection) {
        // One process migrates at a time, and the next one finds the work done. Where there
        // is no work, nobody waits for a lock.
        Ok(Tables::Behind) => connection.alone(migrate).or_else(|failure| {
            // Where nothing keeps processes apart, on the nodes of a cluster, one of two fails
            // and the other one has done the work.
            match state(connection) {
                Ok(Tables::UpToDate) => Ok(Tables::UpToDate),
                _ => Err(failure),
            }
        }),
        other => other,
    };
    match tables.map_err(|Failure(cause)| location.refusal(cause))? {
        Tables::Ahead(migration) => Err(OpenError::TooNew {
            database: location.name(),
            migration,
        }),
        Tables::Foreign => Err(OpenError::Foreign {
            database: location.name(),
        }),
        Tables::UpToDate | Tables::Behind => Ok(()),
    }
}

/// How the tables of a database stand to the migrations that this program knows.
enum Tables {
    UpToDate,
    Behind,
    /// The first migration that this program does not know.
    Ahead(String),
    /// They are of another program.
    Foreign,
}

fn state<C: Migrated>(connection: &mut C) -> Result<Tables, Failure> {
    // Diesel would create the record of migrations in order to read it.
    let tables = connection.texts(C::TABLES)?;
    if tables.is_empty() {
        return Ok(Tables::Behind);
    }
    if !tables
        .iter()
        .any(|name| name == "__diesel_schema_migrations")
    {
        return Ok(Tables::Foreign);
    }
    let known: Vec<Box<dyn Migration<C::Backend>>> = C::MIGRATIONS.migrations()?;
    let known: Vec<_> = known
        .iter()
        .map(|migration| migration.name().version().as_owned())
        .collect();
    let applied = connection.texts("SELECT version FROM __diesel_schema_migrations")?;
    let applied: Vec<_> = applied.into_iter().map(MigrationVersion::from).collect();
    Ok(
        match applied.iter().find(|version| !known.contains(version)) {
            // Diesel keeps a record of this name for every program that uses it.
            Some(_) if !known.iter().any(|version| applied.contains(version)) => Tables::Foreign,
            Some(unknown) => Tables::Ahead(unknown.to_string()),
            None if known.iter().all(|version| applied.contains(version)) => Tables::UpToDate,
            None => Tables::Behind,
        },
    )
}

/// Runs what is pending, unless another process was faster, or newer.
fn migrate<C: Migrated>(connection: &mut C) -> Result<Tables, Failure> {
    match state(connection)? {
        Tables::Behind => {
            connection.run_pending_migrations(C::MIGRATIONS)?;
            Ok(Tables::UpToDate)
        }
        other => Ok(other),
    }
}

/// Any failure, in a type that a transaction can end with.
pub(super) struct Failure(Box<dyn StdError + Send + Sync>);

#[cfg(any(feature = "postgres", feature = "mysql"))]
impl Failure {
    /// Another process has been at the tables for too long.
    pub(super) fn locked() -> Self {
        Self(LOCKED.into())
    }
}

impl From<Box<dyn StdError + Send + Sync>> for Failure {
    fn from(cause: Box<dyn StdError + Send + Sync>) -> Self {
        Self(cause)
    }
}

impl From<diesel::result::Error> for Failure {
    fn from(error: diesel::result::Error) -> Self {
        Self(error.into())
    }
}
