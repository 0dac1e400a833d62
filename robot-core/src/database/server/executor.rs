//! Execution of statements on a server: time limits, retries, and admission of writes.

use std::{
    hash::{BuildHasher, RandomState},
    thread,
    time::{Duration, Instant},
};

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::{
    address::Address,
    backend::Backend,
    errors::{classify, is_read_only},
    limits::{SCAN_FACTOR, lock_timeout},
    pool::Pool,
    semaphore::{Permit, Semaphore},
    session::SessionError,
};
use crate::catalogue::{Error, OpenError, OpenOptions, Result};

/// Extra time that a caller waits beyond the server's lock timeout, so that the server's error arrives
/// before our timeout, which would leave the outcome unknown and close the session. Longer, and a
/// server that hangs delays the reply for nothing.
const WRITE_MARGIN: Duration = Duration::from_secs(1);

/// Extra time that a caller waits for a look-up, so that the server's own error arrives first. Shorter
/// than for a write, because a look-up that timed out can be repeated.
const READ_MARGIN: Duration = Duration::from_millis(300);

/// Maximum number of attempts of a statement that conflicts with other transactions. Fewer, and writes
/// fail under contention; more, and conflicting writes add load to a server that is overloaded. The
/// pauses between eight attempts take a seventh of a second, a fraction of the default timeout.
const ATTEMPTS: u32 = 8;

/// The kind of a statement, which decides its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementKind {
    /// Follows an index.
    LookUp,
    /// May read every name.
    Scan,
    /// Changes one row.
    Write,
    /// Inserts many rows.
    Restore,
}

impl StatementKind {
    fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::Restore)
    }
}

/// Executes statements on the sessions of a pool.
pub(super) struct Executor<B: Backend> {
    pool: Pool<B>,
    /// Permits for writes, which may wait for locks: fewer than sessions, so that some are always
    /// left for reads.
    writes: Semaphore,
    timeout: Duration,
}

impl<B: Backend> Executor<B> {
    pub(super) fn open(address: Address<B>, options: &OpenOptions) -> Result<Self, OpenError> {
        let timeout = address.timeout();
        let size = options.get_connections() as usize;
        Ok(Self {
            pool: Pool::open(address, options)?,
            writes: Semaphore::new(size - size.div_ceil(4).min(size - 1)),
            timeout,
        })
    }

    /// Executes a statement, which is a transaction of its own, and retries it if it conflicts with
    /// other transactions.
    ///
    /// # Errors
    /// Nothing was changed, except possibly for [`Error::Unknown`].
    pub(super) fn execute<T: Send + 'static>(
        &self,
        kind: StatementKind,
        statement: impl FnOnce(&mut B) -> QueryResult<T> + Clone + Send + 'static,
    ) -> Result<T> {
        let deadline = Instant::now() + self.timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let _permit = self.admit(kind, left())?;
        let mut attempt = 1;
        loop {
            let mut session = self.pool.get(left())?;
            let (statement_limit, limit) = self.limits(kind, left());
            let result = session.execute_limited(statement_limit, limit, statement.clone());
            let error = match result {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            self.invalidate_sessions(&error);
            drop(session);
            match verdict(error, kind) {
                Verdict::Retry(_) if attempt < ATTEMPTS && !left().is_zero() => {
                    thread::sleep(pause(attempt));
                }
                // An error after the whole timeout is an overload, whatever its message.
                Verdict::Retry(Error::Store(cause)) if left().is_zero() => {
                    return Err(Error::Unavailable(cause));
                }
                Verdict::Retry(error) | Verdict::Final(error) => return Err(error),
            }
            attempt += 1;
        }
    }

    /// The permit for a write; reads need none.
    fn admit(&self, kind: StatementKind, limit: Duration) -> Result<Option<Permit<'_>>> {
        if !kind.is_write() {
            return Ok(None);
        }
        if self.pool.is_exhausted() {
            return Err(too_many_writes());
        }
        let permit = self.writes.acquire(limit);
        permit.map(Some).ok_or_else(too_many_writes)
    }

    /// Replaces or validates the other sessions if an error says that they may not work either.
    fn invalidate_sessions(&self, error: &SessionError) {
        match error {
            // The server is no longer the primary. New connections go to the one that is.
            SessionError::Statement(error) if is_read_only(error) => self.pool.replace_all(),
            SessionError::Statement(_) => {}
            SessionError::Lost(_) | SessionError::Timeout => self.pool.validate_all(),
        }
    }

    /// The time limits of a statement: on the server, and of the caller's wait.
    fn limits(&self, kind: StatementKind, left: Duration) -> (Duration, Duration) {
        let long = self.timeout * SCAN_FACTOR;
        match kind {
            StatementKind::LookUp => (self.timeout, left + READ_MARGIN),
            StatementKind::Scan => (long, long),
            StatementKind::Write => (self.timeout, lock_timeout(self.timeout) + WRITE_MARGIN),
            StatementKind::Restore => (long, long + WRITE_MARGIN),
        }
    }
}

fn too_many_writes() -> Error {
    Error::unavailable("too many writes wait for the database")
}

/// Whether a failed statement is retried.
enum Verdict {
    Final(Error),
    /// A retry of the whole statement may succeed.
    Retry(Error),
}

fn verdict(error: SessionError, kind: StatementKind) -> Verdict {
    match error {
        SessionError::Statement(error) => {
            // Localized messages have no specific kind, so an unknown error may be a deadlock. A
            // taken id was assigned by the server itself. Both are retried.
            let is_unexplained = matches!(
                error,
                DieselError::DatabaseError(
                    DatabaseErrorKind::Unknown | DatabaseErrorKind::UniqueViolation,
                    _
                )
            );
            match classify(error) {
                error @ Error::Unavailable(_) => Verdict::Retry(error),
                error @ Error::Store(_) if is_unexplained => Verdict::Retry(error),
                error => Verdict::Final(error),
            }
        }
        lost if kind.is_write() => Verdict::Final(Error::unknown(lost)),
        lost => Verdict::Retry(Error::unavailable(lost)),
    }
}

/// The pause before the next attempt: longer from one to the next, with jitter, so that conflicting
/// transactions do not retry together.
fn pause(attempt: u32) -> Duration {
    let jitter = RandomState::new().hash_one(attempt) % 8;
    Duration::from_millis(u64::from(attempt) * 4 + jitter)
}
