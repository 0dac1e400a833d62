//! Pool of reading connections, for threads that may block.

use std::{io, mem, sync::Arc, time::Instant};

use ::metrics::{Gauge, Histogram, gauge, histogram};
use diesel::{QueryResult, SqliteConnection};
use r2d2::{ManageConnection, NopErrorHandler, Pool};
use scheduled_thread_pool::ScheduledThreadPool;

use super::{connection::Purpose, file::DatabaseFile, reader::Reader};
use crate::database::sqlite::errors::classify;
use crate::{
    catalogue::{Error, Result},
    metrics::{Counted, STORE_CONNECTIONS_BUSY, STORE_POOL_WAIT},
};

/// A pool of reading connections.
pub(crate) struct ReaderPool {
    file: DatabaseFile,
    slots: Pool<Slots>,
    busy: Gauge,
    wait: Histogram,
}

/// The right to use a connection. The thread that uses it opens the connection, and gets the error if that fails:
/// r2d2 would try again until the time limit.
enum Slot {
    New,
    Open(Reader),
    Closed,
}

/// Creates and checks the slots of a pool.
struct Slots;

impl ManageConnection for Slots {
    type Connection = Slot;
    type Error = io::Error;

    fn connect(&self) -> io::Result<Slot> {
        Ok(Slot::New)
    }

    fn is_valid(&self, slot: &mut Slot) -> io::Result<()> {
        match slot {
            Slot::Open(reader) if !reader.is_current() => Err(io::ErrorKind::NotConnected.into()),
            Slot::Closed => Err(io::ErrorKind::NotConnected.into()),
            Slot::New | Slot::Open(_) => Ok(()),
        }
    }

    /// A closed slot is replaced when the next caller takes it: if it were dropped here, r2d2 would not wake a caller
    /// that waits.
    fn has_broken(&self, _: &mut Slot) -> bool {
        false
    }
}

impl ReaderPool {
    /// A pool of up to `connections`, each opened when it is needed.
    pub(crate) fn new(file: &DatabaseFile, connections: u32) -> Self {
        let slots = Pool::builder()
            .max_size(connections)
            .min_idle(Some(0))
            .idle_timeout(None)
            .max_lifetime(None)
            .error_handler(Box::new(NopErrorHandler))
            .thread_pool(Arc::new(ScheduledThreadPool::new(1)))
            .build_unchecked(Slots);
        Self {
            file: file.clone(),
            slots,
            busy: gauge!(STORE_CONNECTIONS_BUSY.name, "queue" => "reads"),
            wait: histogram!(STORE_POOL_WAIT.name),
        }
    }

    /// Runs a query. The connection is closed if the query fails.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Result<T> {
        let (started, limit) = (Instant::now(), self.file.timeout);
        let slot = self.slots.get_timeout(limit);
        self.wait.record(started.elapsed());
        let mut slot = slot.map_err(|_| {
            let seconds = limit.as_secs_f64();
            Error::unavailable(format!(
                "other reads have used all connections for {seconds} seconds"
            ))
        })?;
        let _busy = Counted::new(self.busy.clone());
        let mut reader = match mem::replace(&mut *slot, Slot::Closed) {
            Slot::Open(reader) => reader,
            Slot::New | Slot::Closed => {
                let opened = self.file.reader(Purpose::Read);
                opened.map_err(Error::unavailable)?
            }
        };
        let value = reader.read(query).map_err(classify)?;
        *slot = Slot::Open(reader);
        Ok(value)
    }
}

impl Drop for ReaderPool {
    /// Closes the connections, so that the program does not end before: the helper thread may hold r2d2's pool for
    /// a moment, and the last connection to be closed removes the WAL.
    fn drop(&mut self) {
        while let Some(mut slot) = self.slots.try_get() {
            *slot = Slot::Closed;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::mpsc, thread, time::Duration};

    use diesel::{RunQueryDsl, connection::SimpleConnection, dsl::sql, result::Error::NotFound};

    use super::*;
    use crate::catalogue::OpenOptions;

    fn pool(folder: &Path, connections: u32) -> ReaderPool {
        let url = format!("sqlite://{}/robots.db", folder.display());
        drop(crate::open(&url).unwrap());
        let file = DatabaseFile::from_url(&url, &OpenOptions::default()).unwrap();
        ReaderPool::new(&file, connections)
    }

    #[test]
    fn open_connection_is_used_after_another_one_was_closed() {
        let folder = tempfile::tempdir().unwrap();
        let pool = pool(folder.path(), 2);
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

    #[test]
    fn waiting_read_gets_the_slot_of_a_failed_one() {
        let folder = tempfile::tempdir().unwrap();
        let pool = pool(folder.path(), 1);
        let (started, has_started) = mpsc::channel();
        thread::scope(|scope| {
            let failing = scope.spawn(|| {
                pool.read(|_| {
                    started.send(()).unwrap();
                    // Long enough for the other read to wait.
                    thread::sleep(Duration::from_millis(200));
                    Err::<(), _>(NotFound)
                })
            });
            has_started.recv().unwrap();
            pool.read(|_| Ok(())).unwrap();
            assert!(failing.join().unwrap().is_err());
        });
    }
}
