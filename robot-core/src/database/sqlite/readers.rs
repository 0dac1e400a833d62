//! Pool of reading connections, for threads that may block.

use std::{
    convert::Infallible,
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    time::{Duration, Instant},
};

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

/// How long dropping the pool waits until its connections are closed. Chosen far above the time that one
/// takes to be opened and closed; after it, the program ends although one of them is open.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// A pool of reading connections, all of which are closed when it is dropped.
pub(super) struct Readers {
    // Dropped before `closed` waits for its connections.
    pool: r2d2::Pool<Manager>,
    _closed: Closed,
    busy: Gauge,
    wait: Histogram,
}

impl Readers {
    /// A pool of up to `connections`, each opened when it is needed.
    pub(super) fn new(file: &DatabaseFile, connections: u32) -> Self {
        let (open, closed) = mpsc::channel();
        let manager = Manager {
            file: file.clone(),
            open,
        };
        let pool = r2d2::Pool::builder()
            .max_size(connections)
            .min_idle(Some(0))
            .test_on_check_out(true)
            .connection_timeout(file.timeout())
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(manager);
        Self {
            pool,
            _closed: Closed(Mutex::new(closed)),
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
        connection.reader.read(query).map_err(classify)
    }
}

/// Waits when it is dropped until the pool and its connections are, which a thread of the pool may still
/// use: a program that ended before it would leave the log of the file behind.
struct Closed(Mutex<Receiver<Infallible>>);

impl Drop for Closed {
    fn drop(&mut self) {
        let closed = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Ends when the last sender is dropped.
        let _ = closed.recv_timeout(CLOSE_LIMIT);
    }
}

/// Connects. Diesel's own manager takes a URL and no settings.
#[derive(Debug)]
struct Manager {
    file: DatabaseFile,
    open: Sender<Infallible>,
}

/// A connection of the pool.
struct PooledReader {
    // Dropped before the sender.
    reader: Reader,
    _open: Sender<Infallible>,
}

impl ManageConnection for Manager {
    type Connection = PooledReader;
    type Error = OpenError;

    fn connect(&self) -> Result<PooledReader, OpenError> {
        Ok(PooledReader {
            reader: self.file.reader(Purpose::Read)?,
            _open: self.open.clone(),
        })
    }

    fn is_valid(&self, pooled: &mut PooledReader) -> Result<(), OpenError> {
        if pooled.reader.is_current() {
            return Ok(());
        }
        Err(self
            .file
            .cannot_open("another program has changed it".into()))
    }

    fn has_broken(&self, pooled: &mut PooledReader) -> bool {
        std::thread::panicking() || pooled.reader.connection().is_broken()
    }
}
