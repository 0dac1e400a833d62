//! Bringing the tables of a database up to date when it is opened.

use std::error::Error as StdError;

use diesel::{
    SqliteConnection,
    migration::{Migration, MigrationSource},
    sqlite::Sqlite,
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::{
    connection::{AnyConnection, Location},
    sqlite::{self, Contents},
};
use crate::error::OpenError;

const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// Runs the migrations that the database lacks, all or none. A database that turns out to be
/// of no use is left as it was.
///
/// # Errors
/// The database has migrations that this program does not know, or cannot be changed.
pub(super) fn bring_up_to_date(
    connection: &mut AnyConnection,
    location: &Location,
) -> Result<(), OpenError> {
    let AnyConnection::Sqlite(connection) = connection;
    let tables = match state(connection) {
        // One process migrates at a time, and the next one finds the work done. Where there
        // is no work, nobody waits for a lock.
        Ok(Tables::Behind) => connection.immediate_transaction(migrate),
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
        Tables::UpToDate | Tables::Behind => {
            sqlite::keep_a_write_ahead_log(connection).map_err(|cause| location.refusal(cause))
        }
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

fn state(connection: &mut SqliteConnection) -> Result<Tables, Failure> {
    // Diesel would create the record of migrations in order to read it.
    match sqlite::contents(connection)? {
        Contents::Nothing => return Ok(Tables::Behind),
        Contents::SomethingElse => return Ok(Tables::Foreign),
        Contents::Migrations => {}
    }
    let known: Vec<Box<dyn Migration<Sqlite>>> = SQLITE.migrations()?;
    let known: Vec<_> = known
        .iter()
        .map(|migration| migration.name().version().as_owned())
        .collect();
    let applied = connection.applied_migrations()?;
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
fn migrate(connection: &mut SqliteConnection) -> Result<Tables, Failure> {
    match state(connection)? {
        Tables::Behind => {
            connection.run_pending_migrations(SQLITE)?;
            Ok(Tables::UpToDate)
        }
        other => Ok(other),
    }
}

/// Any failure, in a type that a transaction can end with.
struct Failure(Box<dyn StdError + Send + Sync>);

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
