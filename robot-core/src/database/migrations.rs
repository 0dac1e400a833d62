//! Bringing the tables of a database up to date when it is opened.

use diesel::{backend::Backend, migration::MigrationSource};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use super::connection::{AnyConnection, Location};
use crate::error::{Cause, OpenError};

#[cfg(feature = "sqlite")]
const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// Runs the migrations that the database lacks, all or none.
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
            // One process migrates at a time; the next one finds the work done.
            let unknown = connection
                .immediate_transaction(|connection| migrate(connection, SQLITE))
                .map_err(|Failure(cause)| location.unusable(cause))?;
            match unknown {
                None => Ok(()),
                Some(migration) => Err(OpenError::TooNew {
                    database: location.name(),
                    migration,
                }),
            }
        }
    }
}

/// Runs what is pending, or changes nothing and returns the first migration that the database
/// has and this program does not know.
fn migrate<DB: Backend>(
    connection: &mut impl MigrationHarness<DB>,
    migrations: EmbeddedMigrations,
) -> Result<Option<String>, Failure> {
    let known: Vec<_> = MigrationSource::<DB>::migrations(&migrations)?
        .iter()
        .map(|migration| migration.name().version().as_owned())
        .collect();
    let unknown = connection
        .applied_migrations()?
        .into_iter()
        .rev()
        .find(|version| !known.contains(version));
    if unknown.is_none() {
        connection.run_pending_migrations(migrations)?;
    }
    Ok(unknown.map(|version| version.to_string()))
}

/// The cause of a migration that failed, in a type that a transaction can end with.
struct Failure(Cause);

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Self {
        Self(cause)
    }
}

impl From<diesel::result::Error> for Failure {
    fn from(error: diesel::result::Error) -> Self {
        Self(error.into())
    }
}
