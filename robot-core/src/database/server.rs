//! A database on a server, which may be away, slow, or busy with others.

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
    connection::{AnyConnection, Location},
    failure::{classify, is_read_only},
    session::Failed,
    sessions::Sessions,
    turnstile::Turnstile,
};
use crate::{
    error::{Error, OpenError, Result},
    open::OpenOptions,
};

/// So many times longer than anything else, a scan of all names or a restoration may take.
pub(super) const SCAN_FACTOR: u32 = 10;

/// How much longer than the server waits for others a write is waited for: what the server says
/// is worth more than that it said nothing in time, upon which its session is thrown away.
const WRITE_MARGIN: Duration = Duration::from_secs(1);

/// So much longer a look-up is waited for than the server is to take for it.
const READ_MARGIN: Duration = Duration::from_millis(300);

/// How often a statement is tried while others are in its way.
const ATTEMPTS: u32 = 8;

/// How much a statement is expected to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// It follows an index.
    LookUp,
    /// It may have to look at every name.
    Scan,
    /// It changes something.
    Write,
    /// It inserts many rows.
    Restore,
}

impl Task {
    /// Whether it may have changed something.
    fn is_a_write(self) -> bool {
        matches!(self, Self::Write | Self::Restore)
    }
}

/// A database on a server.
pub(super) struct Server {
    sessions: Sessions,
    /// Writes may have to wait for one another. Some sessions are always left for reads.
    writers: Turnstile,
    timeout: Duration,
}

impl Server {
    pub(super) fn open(location: Location, options: &OpenOptions) -> Result<Self, OpenError> {
        let timeout = location.timeout;
        let size = options.pool_size() as usize;
        Ok(Self {
            sessions: Sessions::open(location, options)?,
            writers: Turnstile::new(size - size.div_ceil(4).min(size - 1)),
            timeout,
        })
    }

    /// Runs a statement, which is a transaction of its own; more than once, where others were
    /// in its way.
    ///
    /// # Errors
    /// Nothing was changed, but for [`Error::Unknown`].
    pub(super) fn execute<T: Send + 'static>(
        &self,
        task: Task,
        statement: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Clone + Send + 'static,
    ) -> Result<T> {
        let deadline = Instant::now() + self.timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let _admission = match task {
            Task::Write | Task::Restore if self.sessions.is_stuck() => {
                return Err(too_many_writes());
            }
            Task::Write | Task::Restore => {
                Some(self.writers.enter(left()).ok_or_else(too_many_writes)?)
            }
            Task::LookUp | Task::Scan => None,
        };
        let mut attempt = 1;
        loop {
            let mut session = self.sessions.get(left())?;
            let limit = match task {
                Task::LookUp => left() + READ_MARGIN,
                Task::Scan => self.timeout * SCAN_FACTOR,
                Task::Write => lock_patience(self.timeout) + WRITE_MARGIN,
                Task::Restore => self.timeout * SCAN_FACTOR + WRITE_MARGIN,
            };
            let allowed = match task {
                Task::Scan | Task::Restore => self.timeout * SCAN_FACTOR,
                Task::LookUp | Task::Write => self.timeout,
            };
            let result = session.execute_allowing(allowed, limit, statement.clone());
            let failed = match result {
                Ok(value) => return Ok(value),
                Err(failed) => failed,
            };
            match &failed {
                // The server has lost its role. New connections find the one that has it.
                Failed::Statement(error) if is_read_only(error) => self.sessions.replace(),
                Failed::Statement(_) => {}
                Failed::Lost(_) | Failed::Silent => self.sessions.suspect(),
            }
            drop(session);
            match verdict(failed, task) {
                Verdict::Passing(_) if attempt < ATTEMPTS && !left().is_zero() => {
                    thread::sleep(pause(attempt));
                }
                // What took all the time there was is no bug, whatever the words.
                Verdict::Passing(Error::Store(cause)) if left().is_zero() => {
                    return Err(Error::Unavailable(cause));
                }
                Verdict::Passing(error) | Verdict::Final(error) => return Err(error),
            }
            attempt += 1;
        }
    }
}

fn too_many_writes() -> Error {
    Error::unavailable("other writes wait for the database")
}

/// What a failure means to the caller.
enum Verdict {
    Final(Error),
    /// Trying again, whole, may help.
    Passing(Error),
}

fn verdict(failed: Failed, task: Task) -> Verdict {
    match failed {
        Failed::Statement(error) => {
            // Words in the server's language may say what a kind of its own would: a deadlock.
            // An id that is taken is one that the server itself gave.
            let is_unexplained = matches!(
                error,
                DieselError::DatabaseError(
                    DatabaseErrorKind::Unknown | DatabaseErrorKind::UniqueViolation,
                    _
                )
            );
            match classify(error) {
                error @ Error::Unavailable(_) => Verdict::Passing(error),
                error @ Error::Store(_) if is_unexplained => Verdict::Passing(error),
                error => Verdict::Final(error),
            }
        }
        lost if task.is_a_write() => Verdict::Final(Error::unknown(lost)),
        lost => Verdict::Passing(Error::unavailable(lost)),
    }
}

/// How long a server waits for a lock, in the whole seconds that some of them count.
pub(super) fn lock_patience(timeout: Duration) -> Duration {
    Duration::from_secs_f64(timeout.as_secs_f64().ceil())
}

/// Longer from attempt to attempt, and not the same for all, so that those who were in each
/// other's way do not meet again.
fn pause(attempt: u32) -> Duration {
    let jitter = RandomState::new().hash_one(attempt) % 8;
    Duration::from_millis(u64::from(attempt) * 4 + jitter)
}
