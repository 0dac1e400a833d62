//! Connections: where a database is, how one is opened and set up, and the pools of them.

use std::time::Duration;

use diesel::{
    prelude::*,
    r2d2::{self, ConnectionManager, CustomizeConnection},
};

use crate::error::OpenError;

/// A connection to any of the backends compiled in.
#[derive(diesel::MultiConnection)]
pub(super) enum AnyConnection {
    #[cfg(feature = "sqlite")]
    Sqlite(diesel::SqliteConnection),
}

/// A pool of connections that serve one purpose.
pub(super) type Pool = r2d2::Pool<ConnectionManager<AnyConnection>>;

/// How long a caller waits for a connection of the pool.
const POOL_PATIENCE: Duration = Duration::from_secs(2);

/// How long a statement waits for a lock that another process holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// What a connection is for. In SQLite any number may read, in a snapshot each, beside one
/// that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Reading,
    Writing,
}

/// A database that a URL names.
pub(super) struct Location {
    /// As Diesel wants it.
    address: String,
}

impl Location {
    /// Reads a URL; everything behind `sqlite://` is the path, to the letter.
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        let path = url
            .strip_prefix("sqlite://")
            .filter(|path| !path.is_empty() && !path.ends_with('/') && !path.contains('\0'))
            .ok_or_else(|| OpenError::NoPath {
                url: url.to_owned(),
            })?;
        // SQLite takes some relative names for something else than a file (`:memory:`,
        // `file:...`). With a folder before it, every name is the name of a file.
        let folder = if path.starts_with('/') { "" } else { "./" };
        Ok(Self {
            address: format!("{folder}{path}"),
        })
    }

    /// A connection, set up.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<AnyConnection, OpenError> {
        let mut connection =
            AnyConnection::establish(&self.address).map_err(|error| self.unusable(error))?;
        set_up(&mut connection, purpose).map_err(|error| self.unusable(error))?;
        Ok(connection)
    }

    /// A pool whose connections are opened when they are first needed.
    pub(super) fn pool(&self, purpose: Purpose) -> Pool {
        let connections = match purpose {
            Purpose::Reading => readers(),
            Purpose::Writing => 1,
        };
        r2d2::Pool::builder()
            .max_size(connections)
            .min_idle(Some(1))
            .test_on_check_out(false)
            .connection_timeout(POOL_PATIENCE)
            .connection_customizer(Box::new(purpose))
            .build_unchecked(ConnectionManager::new(&self.address))
    }

    /// The database as it is named in messages.
    pub(super) fn name(&self) -> String {
        format!("'{}'", self.address.trim_start_matches("./"))
    }

    /// The error for a database that cannot be used.
    pub(super) fn unusable(&self, cause: impl Into<crate::Cause>) -> OpenError {
        OpenError::Unusable {
            database: self.name(),
            remedy: "check that its folder exists and that both may be written, \
                     that the disk has room, and that it is a database of robots; or name another one",
            cause: cause.into(),
        }
    }
}

/// More readers than cores keep the cores busy while some wait for the disk.
fn readers() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(4 * cores).unwrap_or(u32::MAX).clamp(4, 32)
}

impl CustomizeConnection<AnyConnection, r2d2::Error> for Purpose {
    fn on_acquire(&self, connection: &mut AnyConnection) -> Result<(), r2d2::Error> {
        set_up(connection, *self).map_err(r2d2::Error::QueryError)
    }
}

/// Gives a new connection all the settings that the catalogue relies on.
fn set_up(connection: &mut AnyConnection, purpose: Purpose) -> QueryResult<()> {
    match connection {
        #[cfg(feature = "sqlite")]
        AnyConnection::Sqlite(connection) => set_up_sqlite(connection, purpose),
    }
}

#[cfg(feature = "sqlite")]
fn set_up_sqlite(connection: &mut diesel::SqliteConnection, purpose: Purpose) -> QueryResult<()> {
    use diesel::connection::SimpleConnection;

    let patience = LOCK_PATIENCE.as_millis();
    // The patience comes first: changing the journal needs a lock, too. FULL makes a commit
    // wait for the disk, without which a power cut takes back answered writes.
    connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {patience}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    ))?;
    match purpose {
        Purpose::Reading => connection.batch_execute("PRAGMA query_only = ON;"),
        Purpose::Writing => Ok(()),
    }
}
