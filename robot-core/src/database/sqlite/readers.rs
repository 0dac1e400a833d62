//! Pool of reading connections, for threads that may block.

use diesel::{
    QueryResult, SqliteConnection,
    r2d2::{self, ManageConnection, NopErrorHandler, R2D2Connection},
};

use super::{connection::Purpose, errors::classify, file::DatabaseFile, reader::Reader};
use crate::catalogue::{Error, OpenError, Result};

/// A pool of reading connections.
pub(super) struct Readers(r2d2::Pool<Manager>);

impl Readers {
    /// A pool of up to `connections`, each opened when it is needed.
    pub(super) fn new(file: &DatabaseFile, connections: u32) -> Self {
        let pool = r2d2::Pool::builder()
            .max_size(connections)
            // A connection opened in the background at the end of the program could keep the
            // last one from checkpointing the log.
            .min_idle(Some(0))
            .test_on_check_out(true)
            .connection_timeout(file.timeout())
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(Manager(file.clone()));
        Self(pool)
    }

    /// Runs a query.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Result<T> {
        let mut connection = self.0.get().map_err(Error::unavailable)?;
        connection.read(query).map_err(classify)
    }
}

/// Connects. Diesel's own manager takes a URL and no settings.
#[derive(Debug)]
struct Manager(DatabaseFile);

impl ManageConnection for Manager {
    type Connection = Reader;
    type Error = OpenError;

    fn connect(&self) -> Result<Reader, OpenError> {
        self.0.reader(Purpose::Read)
    }

    fn is_valid(&self, reader: &mut Reader) -> Result<(), OpenError> {
        if reader.is_current() {
            return Ok(());
        }
        Err(self.0.cannot_open("another program has changed it".into()))
    }

    fn has_broken(&self, reader: &mut Reader) -> bool {
        std::thread::panicking() || reader.connection().is_broken()
    }
}
