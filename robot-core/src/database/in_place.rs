//! Reads in place: done by threads that must not block, such as the workers of a web server.
//!
//! A robot that is in memory is found in a few microseconds, of which handing the question to
//! another thread and the answer back would make twenty. But it may have to come from a disk,
//! and that may be slow. So there are fewer connections for such reads than there are workers:
//! at worst all workers but one wait for the disk, and that one serves whoever does not need it
//! (where the runtime wakes it: see `driver.rs` of the Rocket frontend).

use std::sync::{Mutex, MutexGuard, TryLockError};

use diesel::QueryResult;

use super::{
    connection::{AnyConnection, Location, Purpose},
    failure::classify,
};
use crate::error::{Error, Result};

/// How many looks are taken for a free connection, however many there are: for about as long as a
/// few reads take that find all in memory.
const PATIENCE: usize = 600;

/// The connections for reads in place.
pub(super) struct InPlace {
    location: Location,
    /// Each is connected by the first who needs it, and given up when it fails.
    connections: Box<[Mutex<Option<AnyConnection>>]>,
}

impl InPlace {
    /// So many reads in place at a time.
    pub(super) fn new(location: &Location, reads: usize) -> Self {
        Self {
            location: location.clone(),
            connections: (0..reads).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// Runs a query, unless as many run as may. `None` too where it would have to wait for a
    /// lock, or cannot be run for another reason, which whoever may block finds out.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> QueryResult<T>,
    ) -> Option<Result<T>> {
        let mut connection = self.connection()?;
        // While a query runs its connection is not here, so that one which panics is gone.
        let mut used = match connection.take() {
            Some(used) => used,
            None => self.location.connect(Purpose::ReadingInPlace).ok()?,
        };
        match query(&mut used).map_err(classify) {
            Ok(value) => {
                *connection = Some(used);
                Some(Ok(value))
            }
            Err(Error::Unavailable(_) | Error::Store(_)) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// The place of a connection that nobody else uses. For a moment it is waited for: it takes
    /// less time than going to another thread.
    fn connection(&self) -> Option<MutexGuard<'_, Option<AnyConnection>>> {
        let rounds = PATIENCE.checked_div(self.connections.len())?;
        for _ in 0..rounds {
            for connection in &self.connections {
                match connection.try_lock() {
                    Ok(connection) => return Some(connection),
                    Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                    Err(TryLockError::WouldBlock) => {}
                }
            }
            std::hint::spin_loop();
        }
        None
    }
}
