//! Migrations: brings the tables of a database up to date when it is opened.

use std::error::Error as StdError;

use diesel::{
    Connection, QueryResult,
    migration::{Migration, MigrationSource, MigrationVersion},
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::catalogue::{OpenError, Preparation};

/// Why a database cannot be used: an [`OpenError`], or the cause of one. The database was not changed.
pub(super) type MigrationError = Box<dyn StdError + Send + Sync>;

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

/// Prepares the tables when a database is opened.
pub(super) fn prepare<C: Migrate>(
    connection: &mut C,
    database: &str,
    preparation: Preparation,
) -> Result<(), MigrationError> {
    match preparation {
        Preparation::Migrate => bring_up_to_date(connection, database),
        Preparation::Keep => must_be_readable(connection, database),
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
            count_applied(connection, database, &known::<C>()?)?;
            connection.exclusively(database, |connection| {
                // Those that the version does not have. Sorted: the last one first.
                for applied in connection.applied_migrations()? {
                    if applied.to_string().as_str() > version.last_migration {
                        connection.revert_last_migration(C::MIGRATIONS)?;
                    }
                }
                Ok(())
            })
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

/// Runs the pending migrations, all or none. A backend without transactions for tables may stop
/// after some of them, and continues the next time.
fn bring_up_to_date<C: Migrate>(connection: &mut C, database: &str) -> Result<(), MigrationError> {
    let known = known::<C>()?;
    let mut applied = count_applied(connection, database, &known)?;
    while applied < known.len() {
        // One process migrates at a time, and the others find that nothing is left to do.
        let migrated =
            connection.exclusively(database, |connection| migrate(connection, database, &known));
        let Err(error) = migrated else {
            return Ok(());
        };
        // The lock does not span the nodes of a cluster: the migration of one node may fail because
        // another one has made progress.
        match count_applied(connection, database, &known) {
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
    match count_applied(connection, database, known)? {
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
pub(super) fn must_be_readable<C: Migrate>(
    connection: &mut C,
    database: &str,
) -> Result<(), MigrationError> {
    match count_applied(connection, database, &known::<C>()?)? {
        0 => Err("it is empty".into()),
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
    database: &str,
    known: &[MigrationVersion<'_>],
) -> Result<usize, MigrationError> {
    // Diesel would create its table of migrations in order to read it.
    let tables = connection.texts(C::TABLES)?;
    if tables.is_empty() {
        return Ok(0);
    }
    let database = database.to_owned();
    if !tables
        .iter()
        .any(|name| name == "__diesel_schema_migrations")
    {
        return Err(OpenError::Foreign(database).into());
    }
    let applied = connection.texts("SELECT version FROM __diesel_schema_migrations")?;
    let applied: Vec<_> = applied.into_iter().map(MigrationVersion::from).collect();
    let Some(unknown) = applied.iter().find(|version| !known.contains(version)) else {
        return Ok(applied.len());
    };
    let error = if applied.contains(&PRERELEASE.into()) {
        OpenError::Prerelease(database)
    } else if *unknown == INCOMPLETE_COPY.into() {
        OpenError::IncompleteCopy(database)
    } else if known.iter().any(|version| applied.contains(version)) {
        let migration = unknown.to_string();
        OpenError::TooNew {
            database,
            migration,
        }
    } else {
        // Every program that uses Diesel has a table of this name.
        OpenError::Foreign(database)
    };
    Err(error.into())
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests {
    use diesel::SqliteConnection;

    use super::*;
    use crate::catalogue::EarlierVersion;

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
