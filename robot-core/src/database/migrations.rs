//! Migrations: brings the tables of a database up to date when it is opened.

use std::{error::Error as StdError, time::Duration};

use diesel::{
    Connection, QueryResult,
    migration::{Migration, MigrationSource, MigrationVersion},
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::catalogue::{EarlierVersion, OpenError, Preparation};

/// A version beside those of the migrations, while robots are copied into the database. Programs that
/// do not know it take the database for one of a newer version, and do not open it either.
const INCOMPLETE_COPY: &str = "incomplete-copy";

/// The first migration of databases that programs before 0.1.0 created. Their tables are not migrated.
const PRERELEASE: &str = "20261121000000";

/// What the connection of a backend provides for its migrations.
pub(super) trait Migrate:
    Connection + MigrationHarness<<Self as Connection>::Backend> + Sized
{
    /// The migrations of this version of the program.
    const MIGRATIONS: EmbeddedMigrations;

    /// How long a process waits for another one that migrates the database.
    const LOCK_TIMEOUT: Duration;

    /// A query for the names of the tables that show which program a database belongs to.
    const TABLES: &str;

    /// The texts that a query returns.
    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>>;

    /// Runs `work` under a lock that excludes other migrating processes, in a transaction if the
    /// backend supports that for tables. Waits for the lock up to `timeout`.
    fn exclusively<T>(
        &mut self,
        database: &str,
        timeout: Duration,
        work: impl FnOnce(&mut Self) -> Result<T, MigrationFailure>,
    ) -> Result<T, MigrationFailure>;
}

/// Why a database cannot be used. It was not changed.
pub(super) enum MigrationError {
    /// It has this migration, which is unknown to this program.
    TooNew(String),
    /// A copy into it is not complete.
    IncompleteCopy,
    /// A program before 0.1.0 created it.
    Prerelease,
    /// It belongs to another program.
    Foreign,
    /// It cannot be read or changed.
    Failed(Box<dyn StdError + Send + Sync>),
}

impl MigrationError {
    /// The error for the caller. `cannot_open` converts the cause of a failure.
    pub(super) fn into_open_error(
        self,
        database: String,
        cannot_open: impl FnOnce(Box<dyn StdError + Send + Sync>) -> OpenError,
    ) -> OpenError {
        match self {
            Self::TooNew(migration) => OpenError::TooNew {
                database,
                migration,
            },
            Self::IncompleteCopy => OpenError::IncompleteCopy { database },
            Self::Prerelease => OpenError::Prerelease { database },
            Self::Foreign => OpenError::Foreign { database },
            Self::Failed(cause) => cannot_open(cause),
        }
    }
}

/// Prepares the tables when a database is opened.
pub(super) fn prepare<C: Migrate>(
    connection: &mut C,
    database: &str,
    preparation: Preparation,
) -> Result<(), MigrationError> {
    match preparation {
        Preparation::Migrate => bring_up_to_date(connection, database),
        Preparation::Keep => must_be_readable(connection),
        Preparation::BeginCopy => {
            bring_up_to_date(connection, database)?;
            Ok(mark_incomplete(connection)?)
        }
        Preparation::EndCopy => {
            let table = "__diesel_schema_migrations";
            let unmark = format!("DELETE FROM {table} WHERE version = '{INCOMPLETE_COPY}'");
            connection
                .batch_execute(&unmark)
                .map_err(MigrationFailure::from)?;
            bring_up_to_date(connection, database)
        }
        Preparation::Revert(version) => {
            usable(state(connection))?;
            Ok(
                connection.exclusively(database, C::LOCK_TIMEOUT, |connection| {
                    revert(connection, version)
                })?,
            )
        }
    }
}

/// Marks a catalogue without robots as the incomplete target of a copy.
fn mark_incomplete<C: Migrate>(connection: &mut C) -> Result<(), MigrationFailure> {
    if connection
        .texts("SELECT name FROM robots LIMIT 1")?
        .is_empty()
    {
        let table = "__diesel_schema_migrations";
        let mark = format!("INSERT INTO {table} (version) VALUES ('{INCOMPLETE_COPY}')");
        connection.batch_execute(&mark)?;
    }
    Ok(())
}

/// Reverts the migrations that a version does not have, the last one first.
fn revert<C: Migrate>(connection: &mut C, version: EarlierVersion) -> Result<(), MigrationFailure> {
    // Sorted: the last one first.
    for applied in connection.applied_migrations()? {
        if applied.to_string().as_str() > version.last_migration {
            connection.revert_last_migration(C::MIGRATIONS)?;
        }
    }
    Ok(())
}

/// Runs the pending migrations, all or none. A backend without transactions for tables may stop
/// after some of them, and continues the next time.
fn bring_up_to_date<C: Migrate>(connection: &mut C, database: &str) -> Result<(), MigrationError> {
    let state = match state(connection) {
        Ok(SchemaState::Outdated { applied }) => migrate_exclusively(connection, database, applied),
        other => other,
    };
    usable(state).map(drop)
}

/// Fails if this version cannot read the database. It may have pending migrations: columns that they
/// add are shown with their default values.
pub(super) fn must_be_readable<C: Migrate>(connection: &mut C) -> Result<(), MigrationError> {
    match usable(state(connection))? {
        SchemaState::Outdated { applied: 0 } => Err(MigrationError::Failed("it is empty".into())),
        _ => Ok(()),
    }
}

/// The state, unless it keeps this version from using the database.
fn usable(state: Result<SchemaState, MigrationFailure>) -> Result<SchemaState, MigrationError> {
    match state? {
        SchemaState::IncompleteCopy => Err(MigrationError::IncompleteCopy),
        SchemaState::TooNew(migration) => Err(MigrationError::TooNew(migration)),
        SchemaState::Prerelease => Err(MigrationError::Prerelease),
        SchemaState::Foreign => Err(MigrationError::Foreign),
        usable => Ok(usable),
    }
}

/// Runs the pending migrations of a database with so many `applied` ones, while no other process does.
fn migrate_exclusively<C: Migrate>(
    connection: &mut C,
    database: &str,
    mut applied: usize,
) -> Result<SchemaState, MigrationFailure> {
    loop {
        // One process migrates at a time, and the others find that nothing is left to do.
        let migrated = connection.exclusively(database, C::LOCK_TIMEOUT, |connection| {
            migrate(connection, database)
        });
        let Err(failure) = migrated else {
            return migrated;
        };
        // The lock does not span the nodes of a cluster: the migration of one node may fail because
        // another one has made progress.
        match state(connection) {
            Ok(SchemaState::Current) => return Ok(SchemaState::Current),
            Ok(SchemaState::Outdated { applied: now }) if now > applied => applied = now,
            _ => return Err(failure),
        }
    }
}

/// The state of a database relative to the migrations of this program.
enum SchemaState {
    Current,
    /// So many of its migrations were applied.
    Outdated {
        applied: usize,
    },
    /// It has this migration, which is unknown to this program.
    TooNew(String),
    /// A copy into it is not complete.
    IncompleteCopy,
    /// A program before 0.1.0 created it.
    Prerelease,
    /// Its tables belong to another program.
    Foreign,
}

fn state<C: Migrate>(connection: &mut C) -> Result<SchemaState, MigrationFailure> {
    // Diesel would create its table of migrations in order to read it.
    let tables = connection.texts(C::TABLES)?;
    if tables.is_empty() {
        return Ok(SchemaState::Outdated { applied: 0 });
    }
    if !tables
        .iter()
        .any(|name| name == "__diesel_schema_migrations")
    {
        return Ok(SchemaState::Foreign);
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
            Some(_) if applied.contains(&PRERELEASE.into()) => SchemaState::Prerelease,
            // Every program that uses Diesel has a table of this name.
            Some(unknown) if *unknown == INCOMPLETE_COPY.into() => SchemaState::IncompleteCopy,
            Some(_) if !known.iter().any(|version| applied.contains(version)) => {
                SchemaState::Foreign
            }
            Some(unknown) => SchemaState::TooNew(unknown.to_string()),
            None if known.iter().all(|version| applied.contains(version)) => SchemaState::Current,
            None => SchemaState::Outdated {
                applied: applied.len(),
            },
        },
    )
}

/// Runs the pending migrations, unless another process has, or a newer version.
fn migrate<C: Migrate>(
    connection: &mut C,
    database: &str,
) -> Result<SchemaState, MigrationFailure> {
    match state(connection)? {
        SchemaState::Outdated { .. } => {
            // Not for a new database, where it takes no time.
            if connection.texts(C::TABLES)?.is_empty() {
                tracing::info!("{database}: creating an empty catalogue");
            } else {
                tracing::warn!(
                    "{database}: migrating to this version, which may take half a minute per \
                     million robots"
                );
            }
            connection.run_pending_migrations(C::MIGRATIONS)?;
            Ok(SchemaState::Current)
        }
        other => Ok(other),
    }
}

/// Any failure, as a type that a transaction can end with.
pub(super) struct MigrationFailure(pub(super) Box<dyn StdError + Send + Sync>);

impl From<MigrationFailure> for MigrationError {
    fn from(MigrationFailure(cause): MigrationFailure) -> Self {
        Self::Failed(cause)
    }
}

impl From<Box<dyn StdError + Send + Sync>> for MigrationFailure {
    fn from(cause: Box<dyn StdError + Send + Sync>) -> Self {
        Self(cause)
    }
}

impl From<diesel::result::Error> for MigrationFailure {
    fn from(error: diesel::result::Error) -> Self {
        Self(error.into())
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use diesel::SqliteConnection;

    use super::*;

    #[test]
    fn revert_removes_later_migrations() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        let mut versions = |preparation| {
            let prepared = prepare(&mut connection, "robots.db", preparation);
            assert!(prepared.is_ok());
            connection.applied_migrations().unwrap().len()
        };
        let all = versions(Preparation::Migrate);
        assert!(all > 0);
        let last_migration = "0";
        let none = versions(Preparation::Revert(EarlierVersion { last_migration }));
        assert_eq!(none, 0);
        assert_eq!(versions(Preparation::Migrate), all);
    }
}
