//! Pool of reading connections, for threads that may block.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Instant,
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
    /// A slot for each connection that may be used: `None` if it is not open. The open ones are at the end.
    slots: Mutex<Vec<Option<Reader>>>,
    available: Condvar,
    busy: Gauge,
    wait: Histogram,
}

impl ReaderPool {
    /// A pool of up to `connections`, each opened when it is needed.
    pub(crate) fn new(file: &DatabaseFile, connections: u32) -> Self {
        Self {
            file: file.clone(),
            slots: Mutex::new((0..connections).map(|_| None).collect()),
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
        let mut permit = self.acquire()?;
        let _busy = Counted::new(self.busy.clone());
        let current = permit.connection.take().filter(Reader::is_current);
        let opened = current.map_or_else(|| self.file.reader(Purpose::Read), Ok);
        let mut reader = opened.map_err(Error::unavailable)?;
        let value = reader.read(query).map_err(classify)?;
        permit.connection = Some(reader);
        Ok(value)
    }

    /// Waits up to the timeout until another connection may be used.
    fn acquire(&self) -> Result<Permit<'_>> {
        let started = Instant::now();
        let (slots, limit) = (lock(&self.slots), self.file.timeout);
        let waited = self
            .available
            .wait_timeout_while(slots, limit, |slots| slots.is_empty());
        let (mut slots, _) = waited.unwrap_or_else(PoisonError::into_inner);
        self.wait.record(started.elapsed());
        let connection = slots.pop().ok_or_else(|| {
            let seconds = limit.as_secs_f64();
            Error::unavailable(format!(
                "other reads have used all connections for {seconds} seconds"
            ))
        })?;
        Ok(Permit {
            pool: self,
            connection,
        })
    }
}

/// The right to use a connection until this is dropped.
struct Permit<'a> {
    pool: &'a ReaderPool,
    connection: Option<Reader>,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut slots = lock(&self.pool.slots);
        let place = self.connection.as_ref().map_or(0, |_| slots.len());
        slots.insert(place, self.connection.take());
        drop(slots);
        self.pool.available.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use diesel::{RunQueryDsl, connection::SimpleConnection, dsl::sql, result::Error::NotFound};

    use super::*;
    use crate::catalogue::OpenOptions;

    #[test]
    fn open_connection_is_used_after_another_one_was_closed() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        drop(crate::open(&url).unwrap());
        let file = DatabaseFile::from_url(&url, &OpenOptions::default()).unwrap();
        let pool = ReaderPool::new(&file, 2);
        let failed = pool.read(|_| {
            let marked = pool.read(|other| other.batch_execute("PRAGMA cache_size = 77"));
            marked.unwrap();
            Err::<(), _>(NotFound)
        });
        assert!(failed.is_err());
        let size = pool.read(|connection| {
            sql::<diesel::sql_types::Integer>("PRAGMA cache_size").get_result::<i32>(connection)
        });
        assert_eq!(size.unwrap(), 77);
    }
}
