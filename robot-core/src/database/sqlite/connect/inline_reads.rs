//! Look-ups on threads that must not block, such as the workers of a web server. Each thread has a
//! connection, which further threads share.
//!
//! A look-up that finds its pages in memory takes some microseconds; passing it to another thread
//! and back takes 20. But a slow disk would block the thread, and all clients that it serves. So a
//! look-up runs here only if the last ones, here or on blocking threads, were fast.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ::metrics::{Counter, counter};
use diesel::{QueryResult, SqliteConnection};

use super::{connection::Purpose, file::DatabaseFile, reader::Reader};
use crate::metrics::SQLITE_MOVED_READS;

/// The duration from which a look-up is slow. Too low, and look-ups move to blocking threads because
/// the system has stopped a thread for a moment; too high, and clients wait for the disk reads of
/// others.
const SLOW: Duration = Duration::from_millis(20);

/// The number of fast look-ups on blocking threads after a start or a slow one, until they run here.
const FAST_READS: usize = 64;

/// The number of threads that have had an index.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Consecutive numbers of the threads that look up robots.
    static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

/// The connections for inline reads.
pub(crate) struct InlineReads {
    file: DatabaseFile,
    /// One for each thread, which opens it at its first read, and closes it if a read fails.
    connections: Box<[Mutex<Option<Reader>>]>,
    /// Look-ups since the start, or since the last slow one, up to [`FAST_READS`].
    fast: AtomicUsize,
    /// Counts the look-ups on blocking threads.
    pub(crate) moved: Counter,
}

impl InlineReads {
    /// Connections for a number of threads.
    pub(crate) fn new(file: &DatabaseFile, threads: usize) -> Self {
        Self {
            file: file.clone(),
            connections: (0..threads).map(|_| Mutex::new(None)).collect(),
            fast: AtomicUsize::new(0),
            moved: counter!(SQLITE_MOVED_READS.name),
        }
    }

    /// Runs a query on the connection of this thread. `None` if look-ups are slow, if another thread uses
    /// the connection, or if the query would wait for a lock or failed: a thread that may block then
    /// repeats it and reports the error.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Option<T> {
        if self.fast.load(Ordering::Relaxed) < FAST_READS {
            return None;
        }
        let index = THREAD.with(|thread| thread.checked_rem(self.connections.len()))?;
        let mut slot = self.connections[index].try_lock().ok()?;
        let started = Instant::now();
        let mut connection = match slot.take().filter(Reader::is_current) {
            Some(connection) => connection,
            None => self.file.reader(Purpose::ReadInline).ok()?,
        };
        let result = connection.read(query);
        self.observe(started.elapsed());
        let value = result.ok()?;
        *slot = Some(connection);
        Some(value)
    }

    /// Records how long a look-up took, here or on a blocking thread.
    pub(crate) fn observe(&self, duration: Duration) {
        if duration >= SLOW {
            self.fast.store(0, Ordering::Relaxed);
        } else if self.fast.load(Ordering::Relaxed) < FAST_READS {
            self.fast.fetch_add(1, Ordering::Relaxed);
        }
    }
}
