//! Search index of a database: checked when the database is opened, and created again if a part of it
//! is missing.

use std::time::Duration;

use super::migrations::{Migrate, MigrationFailure};

/// The search index of a backend.
pub(super) trait SearchIndex: Migrate {
    /// The SQL that creates the index, whatever exists of it: that of the migration.
    const CREATE: &str;

    /// A query for the names of its objects.
    const OBJECTS: &str;

    /// The number of its objects.
    const OBJECT_COUNT: usize;

    /// What the operator can do if it cannot be created.
    const REMEDY: &str;
}

/// Creates the index if it is incomplete: another program may have dropped a part of it, or an
/// earlier attempt may have failed. Without it, searches read every name, so that the caller waits for
/// other programs up to `timeout` only.
pub(super) fn ensure_search_index<C: SearchIndex>(
    connection: &mut C,
    database: &str,
    timeout: Duration,
) {
    match create_if_incomplete(connection, database, timeout) {
        Ok(true) => {}
        Ok(false) => warn::<C>(database, "the log of the database server has the cause"),
        Err(MigrationFailure(cause)) => warn::<C>(database, &cause.to_string()),
    }
}

fn warn<C: SearchIndex>(database: &str, cause: &str) {
    tracing::warn!(
        "{database}: searches read every name, because the search index cannot be created: \
         {cause}; {}, and restart the program",
        C::REMEDY
    );
}

/// Returns whether the index is complete.
fn create_if_incomplete<C: SearchIndex>(
    connection: &mut C,
    database: &str,
    timeout: Duration,
) -> Result<bool, MigrationFailure> {
    if is_complete(connection)? {
        return Ok(true);
    }
    tracing::warn!(
        "{database}: creating the search index, which may take half a minute per million robots"
    );
    connection.exclusively(database, timeout, |connection| {
        // Another process may have created it.
        if !is_complete(connection)? {
            connection.batch_execute(C::CREATE)?;
        }
        Ok(())
    })?;
    is_complete(connection)
}

fn is_complete<C: SearchIndex>(connection: &mut C) -> Result<bool, MigrationFailure> {
    Ok(connection.texts(C::OBJECTS)?.len() == C::OBJECT_COUNT)
}
