//! Interface of a server backend: connecting, and the meaning of errors.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use diesel::{ConnectionError, ConnectionResult, QueryResult, r2d2::R2D2Connection};

use super::limits::Limits;
use crate::{
    catalogue::{Error, OpenOptions, Result},
    database::{
        errors::{taken, wrap},
        migrations::{Migrate, MigrationError},
        statements::Statements,
    },
    model::{Robot, RobotId, ValidChanges, ValidDraft},
};

/// Purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To check the database and to bring its tables up to date.
    Prepare,
    /// To read and write robots.
    Use,
}

/// Why a server did not accept a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectFailure {
    /// It is unreachable or not ready yet.
    Unreachable,
    /// It rejects the connection until its configuration or the URL changes: what the operator can
    /// do.
    Rejected(&'static str),
    /// The URL is invalid.
    InvalidUrl,
}

/// A connection to a kind of database server.
pub(super) trait Backend: Statements + Migrate + R2D2Connection + 'static {
    /// A URL, as an example for messages.
    const EXAMPLE: &'static str;

    /// What the operator can do about a server that cannot be used, unless its error says more.
    const REMEDY: &'static str;

    /// What completes its tables.
    const ADDITION: Addition;

    /// Whether [`insert_all`](Self::insert_all) is one statement, which needs no transaction.
    const INSERTS_BY_ONE_STATEMENT: bool;

    /// The URL to connect to, with parameters that it does not set itself.
    fn complete_url(url: &str, options: &OpenOptions) -> String;

    /// Connects, and sets what the catalogue relies on.
    fn connect(url: &str, purpose: Purpose, timeout: Duration) -> ConnectionResult<Self>;

    /// Why a connection failed.
    fn connect_failure(error: &ConnectionError) -> ConnectFailure;

    /// Sets the time limits of the next statements, as far as the server has them. Those of a commit
    /// are not limited.
    fn set_limits(&mut self, limits: Limits) -> QueryResult<()>;

    /// The robots with these ids, in any order, by one statement.
    fn get_all(&mut self, ids: &[i64]) -> QueryResult<Vec<Robot>>;

    /// The robots with these names, in any order, by one statement.
    fn find_all(&mut self, names: &[&str]) -> QueryResult<Vec<Robot>>;

    /// Inserts robots with different names, except those whose names are taken, and returns the new ids
    /// by name. If this takes several statements, the last one begins before the deadline.
    fn insert_all(
        &mut self,
        drafts: &[&ValidDraft],
        deadline: Instant,
    ) -> QueryResult<HashMap<String, i64>>;

    /// Changes robots with different ids, except those whose new names are taken, and returns the
    /// results of those that exist. By default with a statement for each, the last one before the
    /// deadline; one that fails must not roll back the others.
    fn update_all(
        &mut self,
        updates: &[(RobotId, &ValidChanges)],
        deadline: Instant,
    ) -> QueryResult<HashMap<RobotId, Result<()>>> {
        let mut updated = HashMap::new();
        for (id, changes) in updates {
            check_deadline(deadline)?;
            let result = match self.update(*id, changes) {
                Ok(0) => continue,
                Ok(_) => Ok(()),
                Err(error) => Err(taken(&error).ok_or(error)?.into()),
            };
            updated.insert(*id, result);
        }
        Ok(updated)
    }

    /// Deletes robots with different ids, and returns the ids of those that existed. By default with a
    /// statement for each, the last one before the deadline.
    fn delete_all(&mut self, ids: &[RobotId], deadline: Instant) -> QueryResult<HashSet<RobotId>> {
        let mut deleted = HashSet::new();
        for id in ids {
            check_deadline(deadline)?;
            if self.delete(*id)? > 0 {
                deleted.insert(*id);
            }
        }
        Ok(deleted)
    }

    /// Executes reads that see the database as it is at one moment.
    fn snapshot<T>(&mut self, reads: impl FnOnce(&mut Self) -> QueryResult<T>) -> QueryResult<T>;
}

/// An object that completes the tables. It needs rights that the user may not have, and the catalogue works
/// without it.
pub(super) struct Addition {
    /// A query that returns a row if it exists.
    pub(super) exists: &'static str,
    pub(super) create: &'static str,
    /// What a missing one means.
    pub(super) missing: &'static str,
    /// What the operator can do.
    pub(super) remedy: &'static str,
}

/// Creates the [`Addition`] of a backend unless it exists, and adds the rows of other programs to the search
/// index.
pub(super) fn complete<B: Backend>(connection: &mut B, database: &str) {
    let Addition {
        exists,
        create,
        missing,
        remedy,
    } = B::ADDITION;
    let added = connection.exclusively(database, |connection| {
        if connection.texts(exists)?.is_empty() {
            connection.batch_execute(create)?;
        }
        Ok(())
    });
    if let Err(MigrationError::Failed(cause)) = added {
        tracing::warn!("{database}: {missing}: {cause}; {remedy}, and restart the program");
    }
    if let Err(cause) = index_names(connection) {
        tracing::warn!("{database}: searches compare the names that other programs added: {cause}");
    }
}

/// Adds names that other programs inserted to the search index.
fn index_names<B: Backend>(connection: &mut B) -> QueryResult<()> {
    /// Names in a transaction.
    const NAMES: i64 = 1000;
    loop {
        let rows = connection.unindexed(NAMES)?;
        if rows.is_empty() {
            return Ok(());
        }
        connection.transaction(|connection| {
            let mut rows = rows.iter();
            rows.try_for_each(|(id, name)| connection.index(*id, name))
        })?;
    }
}

/// An error once the deadline of a transaction has passed, so that it ends.
pub(super) fn check_deadline(deadline: Instant) -> QueryResult<()> {
    if Instant::now() < deadline {
        return Ok(());
    }
    Err(wrap(Error::unavailable(
        "the changes of a batch take too long",
    )))
}

/// Implements the look-ups of a [`Backend`]. A macro for the reason that
/// [`impl_statements`](crate::database::statements::impl_statements) is one.
macro_rules! impl_look_ups {
    () => {
        fn get_all(&mut self, ids: &[i64]) -> diesel::QueryResult<Vec<$crate::model::Robot>> {
            $crate::database::server::backend::load_robots!(self, id, ids)
        }

        fn find_all(&mut self, names: &[&str]) -> diesel::QueryResult<Vec<$crate::model::Robot>> {
            $crate::database::server::backend::load_robots!(self, name, names)
        }
    };
}

/// Loads the robots of which a column has one of these values.
macro_rules! load_robots {
    ($connection:expr, $column:ident, $values:expr) => {{
        use $crate::database::schema::{Row, robot, robots};
        let rows = robots::table.filter(robots::$column.eq_any($values));
        let rows = rows.select(Row::as_select()).load($connection)?;
        rows.into_iter().map(robot).collect()
    }};
}

pub(super) use {impl_look_ups, load_robots};
