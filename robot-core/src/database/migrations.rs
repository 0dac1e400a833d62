//! Migrations: brings the tables of a database up to date when it is opened.

use std::error::Error as StdError;

use diesel::{
    Connection, QueryResult,
    migration::{Migration, MigrationSource, MigrationVersion},
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::catalogue::{EarlierVersion, OpenError, Preparation};

/// A version beside those of the migrations, while robots are copied into the database. Programs that
/// do not know it take the database for one of a newer version, and do not open it either.
const INCOMPLETE_COPY: &str = "incomplete-copy";

/// What the connection of a backend provides for its migrations.
pub(super) trait Migrate:
    Connection + MigrationHarness<<Self as Connection>::Backend> + Sized
{
    /// The migrations of this version of the program.
    const MIGRATIONS: EmbeddedMigrations;

    /// A query for the names of the tables that show which program a database belongs to.
    const TABLES: &str;

    /// The texts that a query returns.
    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>>;

    /// Runs `work` under a lock that excludes other migrating processes, in a transaction if the
    /// backend supports that for tables.
    fn exclusively<T>(
        &mut self,
        database: &str,
        work: impl FnOnce(&mut Self) -> Result<T, MigrationError>,
    ) -> Result<T, MigrationError>;
}

/// Why a database cannot be used. It was not changed.
pub(super) enum MigrationError {
    /// It has this migration, which is unknown to this program.
    TooNew(String),
    /// A copy into it is not complete.
    IncompleteCopy,
    /// It belongs to another program.
    Foreign,
    /// It cannot be read or changed.
    Failed(Box<dyn StdError + Send + Sync>),
}

impl From<Box<dyn StdError + Send + Sync>> for MigrationError {
    fn from(cause: Box<dyn StdError + Send + Sync>) -> Self {
        Self::Failed(cause)
    }
}

impl From<diesel::result::Error> for MigrationError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
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
            Self::IncompleteCopy => OpenError::IncompleteCopy(database),
            Self::Foreign => OpenError::Foreign(database),
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
            mark_incomplete(connection)
        }
        Preparation::EndCopy => {
            let table = "__diesel_schema_migrations";
            let unmark = format!("DELETE FROM {table} WHERE version = '{INCOMPLETE_COPY}'");
            connection.batch_execute(&unmark)?;
            bring_up_to_date(connection, database)
        }
        Preparation::Revert(version) => {
            count_applied(connection, &known::<C>()?)?;
            connection.exclusively(database, |connection| revert(connection, version))
        }
    }
}

/// Marks a catalogue without robots as the incomplete target of a copy.
fn mark_incomplete<C: Migrate>(connection: &mut C) -> Result<(), MigrationError> {
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
fn revert<C: Migrate>(connection: &mut C, version: EarlierVersion) -> Result<(), MigrationError> {
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
    let known = known::<C>()?;
    let mut applied = count_applied(connection, &known)?;
    while applied < known.len() {
        // One process migrates at a time, and the others find that nothing is left to do.
        let migrated =
            connection.exclusively(database, |connection| migrate(connection, database, &known));
        let Err(error) = migrated else {
            return Ok(());
        };
        // The lock does not span the nodes of a cluster: the migration of one node may fail because
        // another one has made progress.
        match count_applied(connection, &known) {
            Ok(now) if now > applied => applied = now,
            _ => return Err(error),
        }
    }
    Ok(())
}

/// Runs the pending migrations, unless another process has.
fn migrate<C: Migrate>(
    connection: &mut C,
    database: &str,
    known: &[MigrationVersion<'_>],
) -> Result<(), MigrationError> {
    match count_applied(connection, known)? {
        applied if applied == known.len() => return Ok(()),
        // It takes no time.
        0 => tracing::info!("{database}: creating an empty catalogue"),
        _ => tracing::warn!(
            "{database}: migrating to this version, which may take half a minute per million robots"
        ),
    }
    connection.run_pending_migrations(C::MIGRATIONS)?;
    Ok(())
}

/// Fails if this version cannot read the database. It may have pending migrations: the first one that adds
/// a column has to make the statements work without it, for `Preparation::Keep`.
pub(super) fn must_be_readable<C: Migrate>(connection: &mut C) -> Result<(), MigrationError> {
    match count_applied(connection, &known::<C>()?)? {
        0 => Err(MigrationError::Failed("it is empty".into())),
        _ => Ok(()),
    }
}

/// The versions of the migrations of this program.
fn known<C: Migrate>() -> Result<Vec<MigrationVersion<'static>>, MigrationError> {
    let known: Vec<Box<dyn Migration<C::Backend>>> = C::MIGRATIONS.migrations()?;
    let versions = known.iter().map(|known| known.name().version().as_owned());
    Ok(versions.collect())
}

/// The number of migrations that were applied to a database, which are all `known`. Fails if this
/// version cannot use the database.
fn count_applied<C: Migrate>(
    connection: &mut C,
    known: &[MigrationVersion<'_>],
) -> Result<usize, MigrationError> {
    // Diesel would create its table of migrations in order to read it.
    let tables = connection.texts(C::TABLES)?;
    if tables.is_empty() {
        return Ok(0);
    }
    if !tables
        .iter()
        .any(|name| name == "__diesel_schema_migrations")
    {
        return Err(MigrationError::Foreign);
    }
    let applied = connection.texts("SELECT version FROM __diesel_schema_migrations")?;
    let applied: Vec<_> = applied.into_iter().map(MigrationVersion::from).collect();
    match applied.iter().find(|version| !known.contains(version)) {
        None => Ok(applied.len()),
        Some(unknown) if *unknown == INCOMPLETE_COPY.into() => Err(MigrationError::IncompleteCopy),
        // Every program that uses Diesel has a table of this name.
        Some(_) if !known.iter().any(|version| applied.contains(version)) => {
            Err(MigrationError::Foreign)
        }
        Some(unknown) => Err(MigrationError::TooNew(unknown.to_string())),
    }
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
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
