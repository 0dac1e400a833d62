//! Pool of reading connections, for threads that may block.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use ::metrics::{Gauge, Histogram, gauge, histogram};
use diesel::{QueryResult, SqliteConnection};

use super::{connection::Purpose, file::DatabaseFile, reader::Reader};
use crate::database::{locks::lock, sqlite::errors::classify};
use crate::{
    catalogue::{Error, Result},
    metrics::{Counted, STORE_CONNECTIONS_BUSY, STORE_POOL_WAIT},
};

/// A pool of reading connections.
pub(crate) struct ReaderPool {
    file: DatabaseFile,
    state: Mutex<PoolState>,
    available: Condvar,
    busy: Gauge,
    wait: Histogram,
}

struct PoolState {
    idle: Vec<Reader>,
    /// The number of connections that may still be used.
    free: u32,
}

impl ReaderPool {
    /// A pool of up to `connections`, each opened when it is needed.
    pub(crate) fn new(file: &DatabaseFile, connections: u32) -> Self {
        Self {
            file: file.clone(),
            state: Mutex::new(PoolState {
                idle: Vec::new(),
                free: connections,
            }),
            available: Condvar::new(),
            busy: gauge!(STORE_CONNECTIONS_BUSY.name, "queue" => "reads"),
            wait: histogram!(STORE_POOL_WAIT.name),
        }
    }

    /// Runs a query. The connection is closed if the query fails.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Result<T> {
        let (_permit, idle) = self.acquire()?;
        let _busy = Counted::new(&self.busy);
        let current = idle.filter(Reader::is_current);
        let opened = current.map_or_else(|| self.file.reader(Purpose::Read), Ok);
        let mut reader = opened.map_err(Error::unavailable)?;
        let value = reader.read(query).map_err(classify)?;
        self.state().idle.push(reader);
        Ok(value)
    }

    /// Waits up to the timeout until another connection may be used.
    fn acquire(&self) -> Result<(Permit<'_>, Option<Reader>)> {
        let started = Instant::now();
        let limit = self.file.timeout;
        let mut state = self
            .available
            .wait_timeout_while(self.state(), limit, |state| state.free == 0)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        self.wait.record(started.elapsed());
        state.free = state.free.checked_sub(1).ok_or_else(|| too_slow(limit))?;
        Ok((Permit(self), state.idle.pop()))
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        lock(&self.state)
    }
}

fn too_slow(limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    Error::unavailable(format!(
        "other reads have used all connections for {seconds} seconds"
    ))
}

/// The right to use a connection until this is dropped.
struct Permit<'a>(&'a ReaderPool);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let Self(readers) = self;
        readers.state().free += 1;
        readers.available.notify_one();
    }
}
