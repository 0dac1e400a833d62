//! Pool of reading connections, for threads that may block.

use diesel::{
    QueryResult, SqliteConnection,
    r2d2::{self, ManageConnection, NopErrorHandler, R2D2Connection},
};

use super::{connection::Purpose, errors::classify, file::DatabaseFile, log::Log};
use crate::catalogue::{Error, OpenError, Result};

/// A pool of reading connections.
pub(super) struct Readers {
    pool: r2d2::Pool<Manager>,
    manager: Manager,
    log: Log,
}

impl Readers {
    /// A pool of up to `connections`, each opened when it is needed.
    pub(super) fn new(file: &DatabaseFile, connections: u32) -> Self {
        let manager = Manager(file.clone());
        let pool = r2d2::Pool::builder()
            .max_size(connections)
            // A connection opened in the background at the end of the program could keep the
            // last one from checkpointing the log.
            .min_idle(Some(0))
            .test_on_check_out(false)
            .connection_timeout(file.timeout())
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(manager.clone());
        Self {
            pool,
            manager,
            log: Log::of(file),
        }
    }

    /// Runs a query.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Result<T> {
        let mut reader = self.pool.get().map_err(Error::unavailable)?;
        if reader.was_used && self.log.is_empty() {
            *reader = self.manager.connect().map_err(Error::unavailable)?;
        }
        reader.was_used = true;
        query(&mut reader.connection).map_err(classify)
    }
}

/// A connection of the pool.
struct Reader {
    connection: SqliteConnection,
    /// Whether its page cache may have pages.
    was_used: bool,
}

/// Connects. Diesel's own manager takes a URL and no settings.
#[derive(Debug, Clone)]
struct Manager(DatabaseFile);

impl ManageConnection for Manager {
    type Connection = Reader;
    type Error = OpenError;

    fn connect(&self) -> Result<Reader, OpenError> {
        Ok(Reader {
            connection: self.0.connect(Purpose::Read)?,
            was_used: false,
        })
    }

    fn is_valid(&self, reader: &mut Reader) -> Result<(), OpenError> {
        let result = reader.connection.ping();
        result.map_err(|error| self.0.cannot_open(error.into()))
    }

    fn has_broken(&self, reader: &mut Reader) -> bool {
        std::thread::panicking() || reader.connection.is_broken()
    }
}
