//! Suspension of writes after a failed checkpoint, until the program is restarted.

use std::{mem::ManuallyDrop, sync::Arc, time::Duration};

use diesel::{SqliteConnection, result::Error as DieselError};

use crate::catalogue::{Cause, Error};
use crate::database::sqlite::connect::{DatabaseFile, begin};

/// Keeps the WAL as it is: pages may be in no other file on disk.
///
/// The connection holds the write lock, so that no process starts the WAL again, and it is never
/// closed, so that no connection is the last one, which would delete the WAL. Both end with the
/// process. If no other process uses the file then, the next one builds the shared memory from the
/// log, and its checkpoint writes all pages again.
pub(crate) struct Suspension {
    connection: ManuallyDrop<SqliteConnection>,
    is_locked: bool,
    cause: Cause,
}

impl Suspension {
    /// Suspends writing because of the error of a checkpoint, and logs it.
    pub(crate) fn new(
        connection: SqliteConnection,
        file: &DatabaseFile,
        cause: DieselError,
    ) -> Self {
        tracing::error!(
            "{}: a checkpoint failed, so changes are rejected; nothing is lost. Check the disk, stop \
             all programs that use the file, and start again: {cause}",
            file.name()
        );
        let mut suspension = Self {
            connection: ManuallyDrop::new(connection),
            is_locked: false,
            cause: Arc::new(cause),
        };
        suspension.lock(file.timeout());
        suspension
    }

    /// Takes the write lock, unless it has it. Another process may hold it for longer than
    /// `timeout`; then this has to be called again.
    pub(crate) fn lock(&mut self, timeout: Duration) {
        if !self.is_locked {
            self.is_locked = begin(&mut self.connection, timeout, Duration::MAX).is_ok();
        }
    }

    /// The error of every write.
    pub(crate) fn error(&self) -> Error {
        Error::RestartRequired(Arc::clone(&self.cause))
    }
}
