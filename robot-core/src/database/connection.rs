//! Connections: where a database is, how one is opened and set up, and the pools of them.
//! What a backend needs beyond that is in a module of its own.

use std::time::Duration;

use diesel::{
    prelude::*,
    r2d2::{self, ConnectionManager, CustomizeConnection},
};

#[cfg(feature = "sqlite")]
use super::sqlite;
use crate::error::{Cause, OpenError};

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

/// What a connection is for. In SQLite any number may read, in a snapshot each, beside one
/// that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Reading,
    Writing,
}

/// A database that a URL names.
pub(super) enum Location {
    /// A file, by its path.
    #[cfg(feature = "sqlite")]
    Sqlite(String),
}

impl Location {
    /// Reads a URL.
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        sqlite::path_of_url(url)
            .map(Self::Sqlite)
            .ok_or_else(|| OpenError::NoPath {
                url: url.to_owned(),
            })
    }

    /// The first connection of a catalogue, which finds out whether the database can be used.
    pub(super) fn connect(&self) -> Result<AnyConnection, OpenError> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => sqlite::establish(path).map(AnyConnection::Sqlite),
        }
        .map_err(|error| self.unusable(error))
    }

    /// A pool whose connections are opened when they are first needed.
    pub(super) fn pool(&self, purpose: Purpose) -> Pool {
        let Self::Sqlite(address) = self;
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
            .build_unchecked(ConnectionManager::new(address))
    }

    /// The database as it is named in messages, without credentials.
    pub(super) fn name(&self) -> String {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => format!("'{}'", path.trim_start_matches("./")),
        }
    }

    /// The error for a database that cannot be used.
    pub(super) fn unusable(&self, cause: impl Into<Cause>) -> OpenError {
        OpenError::Unusable {
            database: self.name(),
            remedy: match self {
                #[cfg(feature = "sqlite")]
                Self::Sqlite(_) => {
                    "check that its folder exists and that both may be written, that the disk \
                     has room, and that it is a database of robots; or name another one"
                }
            },
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
        match connection {
            #[cfg(feature = "sqlite")]
            AnyConnection::Sqlite(connection) => {
                sqlite::set_up(connection).and_then(|()| match self {
                    Self::Reading => sqlite::only_read(connection),
                    Self::Writing => Ok(()),
                })
            }
        }
        .map_err(r2d2::Error::QueryError)
    }
}
