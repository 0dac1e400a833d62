//! Pool of sessions with a server: opened when they are needed, validated before they are reused,
//! replaced when they are lost.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use diesel::r2d2::{self, ManageConnection, NopErrorHandler, PooledConnection, R2D2Connection};

use super::{
    address::Address,
    backend::{Backend, Purpose},
    session::{Session, SessionError, ThreadTracker},
};
use crate::{
    catalogue::{Error, IfUnreachable, OpenError, OpenOptions, Result},
    database::migrations::{MigrationError, bring_up_to_date},
};

/// Time limit of connecting. Shorter, and a host that is listed last in the URL is never reached
/// while those before it do not answer; longer, and attempts that cannot succeed keep their threads.
/// Chosen for a few hosts with libpq's timeout of at least 2 s each. Requests have their own, shorter
/// limit.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Time limit of all migrations. Shorter, and a start with a very large table never succeeds; longer,
/// and a server that hangs is reported later. Chosen for hundreds of millions of robots at some
/// seconds per million.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// How long a session that answered is used without a ping. Shorter, and every request costs another
/// round trip; longer, and more requests meet a connection that was closed. With one second, a busy
/// session spends one round trip per second.
const VALIDATION_INTERVAL: Duration = Duration::from_secs(1);

/// Minimum time left for trying another session. Lower, and the last attempt cannot succeed; higher,
/// and a request fails although there was time. Connecting takes some milliseconds in a local network.
const LEAST_TIME: Duration = Duration::from_millis(20);

/// The minimum interval between two log lines about one outage.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// How long dropping the pool waits for threads that are connecting or closing. Shorter, and one of
/// them may crash the exiting process; longer, and a silent server delays the exit.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A pool of sessions.
pub(super) struct Pool<B: Backend> {
    /// `None` only while it is dropped.
    sessions: Option<r2d2::Pool<Manager<B>>>,
    shared: Arc<Shared<B>>,
}

impl<B: Backend> Pool<B> {
    /// Prepares the database, and makes a pool for it.
    ///
    /// # Errors
    /// The database cannot be used, or is unreachable and the options say not to wait for it.
    pub(super) fn open(address: Address<B>, options: &OpenOptions) -> Result<Self, OpenError> {
        let size = options.get_connections();
        let shared = Arc::new(Shared {
            address,
            // Each session may leave one abandoned thread, and its successor another.
            thread_limit: 2 * size as usize,
            tracker: ThreadTracker::default(),
            is_prepared: Mutex::new(false),
            last_loss: Mutex::new(Instant::now()),
            last_demotion: Mutex::new(Instant::now()),
            outage_logged: Mutex::new(None),
        });
        match shared.prepare() {
            Err(error)
                if options.get_if_unreachable() == IfUnreachable::Wait && error.is_transient() =>
            {
                shared.log_outage(&error);
            }
            result => result?,
        }
        let sessions = r2d2::Pool::builder()
            .max_size(size)
            .min_idle(Some(0))
            .test_on_check_out(false)
            // The pool retries a failed connection after half of it. Callers have their own limit.
            .connection_timeout(Duration::from_secs(1))
            // The manager logs failures, at most once per interval.
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(Manager(Arc::clone(&shared)));
        Ok(Self {
            sessions: Some(sessions),
            shared,
        })
    }

    /// A session that works, as far as is known, within a time limit.
    pub(super) fn get(&self, limit: Duration) -> Result<PooledConnection<Manager<B>>> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let sessions = self.sessions.as_ref();
            let sessions = sessions.ok_or_else(|| Error::store("the pool is closed"))?;
            let mut session = sessions.get_timeout(left).map_err(Error::unavailable)?;
            if session.opened() < *lock(&self.shared.last_demotion) {
                session.discard();
                continue;
            }
            let answered = session.last_answered();
            if answered.elapsed() < VALIDATION_INTERVAL && answered > *lock(&self.shared.last_loss)
            {
                return Ok(session);
            }
            // Half of the time, so that some is left for another session.
            let left = deadline.saturating_duration_since(Instant::now());
            match session.execute(left / 2, R2D2Connection::ping) {
                Ok(()) => return Ok(session),
                Err(error) if left < LEAST_TIME => return Err(Error::unavailable(error)),
                Err(_) => session.discard(),
            }
        }
    }

    /// Validates every session before it is used again: one of them was lost.
    pub(super) fn validate_all(&self) {
        *lock(&self.shared.last_loss) = Instant::now();
    }

    /// Replaces every session: the server does not accept writes any more.
    pub(super) fn replace_all(&self) {
        *lock(&self.shared.last_demotion) = Instant::now();
    }

    /// Whether abandoned threads use so much of the limit that the rest is reserved for reads.
    pub(super) fn is_exhausted(&self) -> bool {
        4 * self.shared.tracker.abandoned() >= self.shared.thread_limit
    }
}

impl<B: Backend> Drop for Pool<B> {
    /// The client library frees its state when the process exits. Threads that still use it could
    /// crash, so wait for them.
    fn drop(&mut self) {
        self.sessions.take();
        let started = Instant::now();
        let tracker = &self.shared.tracker;
        while tracker.threads() > tracker.abandoned() && started.elapsed() < SHUTDOWN_TIMEOUT {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The state of all sessions.
struct Shared<B> {
    address: Address<B>,
    tracker: ThreadTracker,
    thread_limit: usize,
    is_prepared: Mutex<bool>,
    last_loss: Mutex<Instant>,
    last_demotion: Mutex<Instant>,
    /// When an outage that lasts was last logged.
    outage_logged: Mutex<Option<Instant>>,
}

impl<B: Backend> Shared<B> {
    /// Checks the database and brings its tables up to date, once.
    fn prepare(&self) -> Result<(), OpenError> {
        let mut is_prepared = lock(&self.is_prepared);
        if !*is_prepared {
            let mut session = self.connect(Purpose::Prepare)?;
            let name = self.address.name();
            session
                .run(MIGRATION_LIMIT, move |connection: &mut B| {
                    bring_up_to_date(connection, &name)?;
                    connection.prepare(&name);
                    Ok(())
                })
                .map_err(|error| self.address.unreachable(error))?
                .map_err(|error: MigrationError| {
                    error.into_open_error(self.address.name(), |cause| {
                        self.address.cannot_open(cause)
                    })
                })?;
            *is_prepared = true;
        }
        Ok(())
    }

    fn connect(&self, purpose: Purpose) -> Result<Session<B>, OpenError> {
        if self.tracker.threads() >= self.thread_limit {
            return Err(self.address.unreachable(SessionError::Timeout));
        }
        let address = self.address.clone();
        let connect = move || address.connect(purpose);
        Session::open(&self.tracker, CONNECT_LIMIT, connect)
            .map_err(|error| self.address.unreachable(error))?
    }

    /// Logs an outage, at most once per interval.
    fn log_outage(&self, error: &OpenError) {
        let mut logged = lock(&self.outage_logged);
        if logged.is_none_or(|logged| logged.elapsed() > LOG_INTERVAL) {
            log::warn!("{error}");
            *logged = Some(Instant::now());
        }
    }

    /// Logs the end of an outage, if there was one.
    fn log_recovery(&self) {
        if lock(&self.outage_logged).take().is_some() {
            log::warn!("the database {} is available again", self.address.name());
        }
    }
}

/// No code panics while it holds one of these locks, so the values are consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens sessions for the pool.
pub(super) struct Manager<B>(Arc<Shared<B>>);

impl<B: Backend> ManageConnection for Manager<B> {
    type Connection = Session<B>;
    type Error = OpenError;

    fn connect(&self) -> Result<Session<B>, OpenError> {
        let Self(shared) = self;
        let session = shared.prepare().and_then(|()| shared.connect(Purpose::Use));
        match &session {
            Ok(_) => shared.log_recovery(),
            Err(error) => shared.log_outage(error),
        }
        session
    }

    /// Not called by the pool: `Pool::get` validates, within the time that its caller has.
    fn is_valid(&self, session: &mut Session<B>) -> Result<(), OpenError> {
        let Self(shared) = self;
        session
            .execute(shared.address.timeout(), R2D2Connection::ping)
            .map_err(|error| shared.address.unreachable(error))
    }

    fn has_broken(&self, session: &mut Session<B>) -> bool {
        session.is_lost()
    }
}
