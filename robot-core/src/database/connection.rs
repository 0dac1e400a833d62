//! Connections: where a database is, how one is opened and set up, and the pool of readers.
//! What a backend needs beyond that is in a module of its own.

use std::{error::Error, time::Duration};

use diesel::{
    ConnectionError,
    r2d2::{self, ManageConnection, R2D2Connection},
};

use super::{failure::is_passing, sqlite};
use crate::error::{Cause, OpenError};

/// A connection to any of the backends compiled in.
#[derive(diesel::MultiConnection)]
pub(super) enum AnyConnection {
    Sqlite(diesel::SqliteConnection),
}

/// What a connection is for. In SQLite any number may read, in a snapshot each, beside one
/// that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To find out whether the database can be used, and to create it where it does not exist.
    Opening,
    Reading,
    Writing,
}

/// A database that a URL names.
#[derive(Debug, Clone)]
pub(super) enum Location {
    /// A file, by its path.
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

    /// A connection with all the settings that the catalogue relies on.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<AnyConnection, ConnectionError> {
        match self {
            Self::Sqlite(path) => sqlite::connect(path, purpose).map(AnyConnection::Sqlite),
        }
    }

    /// A pool of readers, which are connected when they are first needed.
    pub(super) fn readers(&self) -> Readers {
        // More readers than cores keep the cores busy while some wait for the disk.
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let size = u32::try_from(4 * cores).unwrap_or(u32::MAX).clamp(4, 32);
        r2d2::Pool::builder()
            .max_size(size)
            // A reader that is connected in the background as the program ends could keep the
            // last connection from putting the log away.
            .min_idle(Some(0))
            .test_on_check_out(false)
            .connection_timeout(POOL_PATIENCE)
            .build_unchecked(ReaderManager(self.clone()))
    }

    /// The database as it is named in messages, without credentials.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("'{}'", path.trim_start_matches("./")),
        }
    }

    /// The error for a database that cannot be opened.
    pub(super) fn refusal(&self, cause: Box<dyn Error + Send + Sync>) -> OpenError {
        let database = self.name();
        if is_passing(cause.as_ref()) {
            return OpenError::Busy { database };
        }
        OpenError::Unusable {
            database,
            remedy: match self {
                Self::Sqlite(path) if std::path::Path::new(path).is_dir() => {
                    "it is a folder; name a file in it"
                }
                Self::Sqlite(_) => {
                    "check that its folder exists and that both may be written, that the disk \
                     has room, and that it is a database of robots; or name another one"
                }
            },
            cause: Cause::from(cause),
        }
    }
}

/// A pool of connections for reading.
pub(super) type Readers = r2d2::Pool<ReaderManager>;

/// How long a caller waits for a connection of the pool.
const POOL_PATIENCE: Duration = Duration::from_secs(2);

/// Connects readers. Diesel's own manager tries one backend after the other, and does not
/// tell why the right one failed.
#[derive(Debug)]
pub(super) struct ReaderManager(Location);

impl ManageConnection for ReaderManager {
    type Connection = AnyConnection;
    type Error = r2d2::Error;

    fn connect(&self) -> Result<AnyConnection, r2d2::Error> {
        self.0
            .connect(Purpose::Reading)
            .map_err(r2d2::Error::ConnectionError)
    }

    fn is_valid(&self, connection: &mut AnyConnection) -> Result<(), r2d2::Error> {
        connection.ping().map_err(r2d2::Error::QueryError)
    }

    fn has_broken(&self, connection: &mut AnyConnection) -> bool {
        std::thread::panicking() || connection.is_broken()
    }
}
