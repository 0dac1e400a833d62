//! Connections for reads on threads that must not block, such as the workers of a web server.
//!
//! A look-up that finds its pages in memory takes some microseconds; passing it to another thread
//! and back takes 20. But pages may have to come from a slow disk. So there is one connection fewer
//! than there are such threads: at worst all threads but one wait for the disk.

use std::sync::{Mutex, MutexGuard, TryLockError};

use ::metrics::{Counter, counter};
use diesel::{QueryResult, SqliteConnection};

use super::{connection::Purpose, errors::classify, file::DatabaseFile, reader::Reader};
use crate::{
    catalogue::{Error, Result},
    metrics::SQLITE_MOVED_READS,
};

/// Number of lock attempts before a read moves to a blocking thread. Lower, and reads move although a
/// connection is free in a moment; higher, and the attempts take longer than the 20 µs of the move.
/// Chosen so that they take about as long as some look-ups.
const ATTEMPTS: usize = 600;

/// The connections for inline reads.
pub(super) struct InlineReads {
    file: DatabaseFile,
    /// Each is closed when a read fails.
    connections: Box<[Mutex<Option<Reader>>]>,
    moved: Counter,
}

impl InlineReads {
    /// Up to `connections`, each opened by its first read.
    pub(super) fn new(file: &DatabaseFile, connections: usize) -> Self {
        Self {
            file: file.clone(),
            connections: (0..connections).map(|_| Mutex::new(None)).collect(),
            moved: counter!(SQLITE_MOVED_READS.name),
        }
    }

    /// Runs a query. `None` if all connections are in use, or if the query would wait for a lock, or
    /// failed: a thread that may block then repeats it and reports the error.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Option<Result<T>> {
        let result = self.try_read(query);
        if result.is_none() {
            self.moved.increment(1);
        }
        result
    }

    fn try_read<T>(
        &self,
        query: impl FnOnce(&mut SqliteConnection) -> QueryResult<T>,
    ) -> Option<Result<T>> {
        let mut slot = self.free_slot()?;
        // The slot is empty while the query runs, so that a connection is dropped if it panics.
        let known = slot.take();
        let current = known.and_then(|mut known| known.is_current().then_some(known));
        let mut connection = match current {
            Some(connection) => connection,
            None => self.file.reader(Purpose::ReadInline).ok()?,
        };
        match connection.read(query).map_err(classify) {
            Ok(value) => {
                *slot = Some(connection);
                Some(Ok(value))
            }
            Err(Error::Unavailable(_) | Error::DiskFull(_) | Error::Store(_)) => None,
            Err(error) => Some(Err(error)),
        }
    }

    fn free_slot(&self) -> Option<MutexGuard<'_, Option<Reader>>> {
        let rounds = ATTEMPTS.checked_div(self.connections.len())?;
        for _ in 0..rounds {
            for connection in &self.connections {
                match connection.try_lock() {
                    Ok(slot) => return Some(slot),
                    Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                    Err(TryLockError::WouldBlock) => {}
                }
            }
            std::hint::spin_loop();
        }
        None
    }
}
