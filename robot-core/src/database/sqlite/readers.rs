//! Pool of reading connections, for threads that may block.

use std::time::Instant;

use ::metrics::{Gauge, Histogram, gauge, histogram};
use diesel::{
    QueryResult, SqliteConnection,
    r2d2::{self, ManageConnection, NopErrorHandler, R2D2Connection},
};

use super::{connection::Purpose, errors::classify, file::DatabaseFile, reader::Reader};
use crate::{
    catalogue::{Error, OpenError, Result},
    metrics::{Counted, STORE_CONNECTIONS_BUSY, STORE_POOL_WAIT},
};

/// A pool of reading connections.
pub(super) struct Readers {
    pool: r2d2::Pool<Manager>,
    busy: Gauge,
    wait: Histogram,
}

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
        Self {
            pool,
            busy: gauge!(STORE_CONNECTIONS_BUSY.name, "queue" => "reads"),
            wait: histogram!(STORE_POOL_WAIT.name),
        }
    }

    /// Runs a query.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Result<T> {
        let started = Instant::now();
        let connection = self.pool.get();
        self.wait.record(started.elapsed());
        let mut connection = connection.map_err(Error::unavailable)?;
        let _busy = Counted::new(&self.busy);
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
