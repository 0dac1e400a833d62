//! The pool of sessions with a server: made when they are needed, looked at before they are
//! used again, replaced when they are lost.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use diesel::r2d2::{self, ManageConnection, NopErrorHandler, PooledConnection, R2D2Connection};

use super::{
    connection::{Location, Purpose},
    failure::no_connection,
    migrations,
    session::{Crew, Failed, Session},
};
use crate::{
    error::{Error, OpenError, Result},
    open::{OpenOptions, WhenAway},
};

/// How long connecting may take: each of several hosts in a URL may have to be tried.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How long it may take to bring the tables up to date.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// How long a session is taken for good without another look.
const TRUST: Duration = Duration::from_secs(1);

/// With less time left, there is no use in trying yet another session.
const LEAST: Duration = Duration::from_millis(20);

/// How often an outage is told in the log.
const NEWS: Duration = Duration::from_secs(10);

/// How long the end waits for connections that are being made or closed.
const FAREWELL: Duration = Duration::from_secs(2);

/// A pool of sessions.
pub(super) struct Sessions {
    /// Taken only to let the sessions end.
    pool: Option<r2d2::Pool<Manager>>,
    shared: Arc<Shared>,
}

impl Sessions {
    /// Prepares the database and makes a pool for it.
    ///
    /// # Errors
    /// The database cannot be used, or it is away and not to be waited for.
    pub(super) fn open(location: Location, options: &OpenOptions) -> Result<Self, OpenError> {
        let size = options.pool_size();
        let shared = Arc::new(Shared {
            location,
            // Each session may have left a thread behind, and its successor another one.
            crew_limit: 2 * size as usize,
            crew: Crew::default(),
            is_prepared: Mutex::new(false),
            last_loss: Mutex::new(Instant::now()),
            last_demotion: Mutex::new(Instant::now()),
            told: Mutex::new(None),
        });
        match shared.prepare() {
            Err(error) if options.when_away == WhenAway::Wait && error.is_passing() => {
                shared.tell(&error);
            }
            result => result?,
        }
        let pool = r2d2::Pool::builder()
            .max_size(size)
            .min_idle(Some(0))
            .test_on_check_out(false)
            // After half of it the pool tries again to connect. Callers bring their own limit.
            .connection_timeout(Duration::from_secs(1))
            // The manager tells of failures, less often than they occur.
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(Manager(Arc::clone(&shared)));
        Ok(Self {
            pool: Some(pool),
            shared,
        })
    }

    /// A session that is good as far as is known, within a limit of time.
    pub(super) fn get(&self, limit: Duration) -> Result<PooledConnection<Manager>> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let pool = self.pool.as_ref();
            let pool = pool.ok_or_else(|| Error::store("the pool is closed"))?;
            let mut session = pool.get_timeout(left).map_err(no_connection)?;
            if session.opened() < *lock(&self.shared.last_demotion) {
                session.give_up();
                continue;
            }
            let good = session.last_good();
            if good.elapsed() < TRUST && good > *lock(&self.shared.last_loss) {
                return Ok(session);
            }
            // Half of the time, so that there is some left for another session.
            let left = deadline.saturating_duration_since(Instant::now());
            match session.execute(left / 2, R2D2Connection::ping) {
                Ok(()) => return Ok(session),
                Err(failed) if left < LEAST => return Err(Error::unavailable(failed)),
                Err(_) => session.give_up(),
            }
        }
    }

    /// Has every session looked at before it is used again: one of them was lost.
    pub(super) fn suspect(&self) {
        *lock(&self.shared.last_loss) = Instant::now();
    }

    /// Has every session replaced: the server that they are with takes no writes any more.
    pub(super) fn replace(&self) {
        *lock(&self.shared.last_demotion) = Instant::now();
    }

    /// Whether so many threads wait for a server which does not answer that the others are
    /// better kept for reading.
    pub(super) fn is_stuck(&self) -> bool {
        4 * self.shared.crew.stuck() >= self.shared.crew_limit
    }
}

impl Drop for Sessions {
    /// When a process ends, the client's library tears down what its threads still use. So
    /// those that are able to end may do so before.
    fn drop(&mut self) {
        self.pool.take();
        let started = Instant::now();
        while self.shared.crew.size() > self.shared.crew.stuck() && started.elapsed() < FAREWELL {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What all sessions have in common.
struct Shared {
    location: Location,
    crew: Crew,
    crew_limit: usize,
    is_prepared: Mutex<bool>,
    last_loss: Mutex<Instant>,
    last_demotion: Mutex<Instant>,
    /// When the log was told that the database is away, where it is.
    told: Mutex<Option<Instant>>,
}

impl Shared {
    /// Makes sure, once, that the database is one to use and its tables are up to date.
    fn prepare(&self) -> Result<(), OpenError> {
        let mut is_prepared = lock(&self.is_prepared);
        if !*is_prepared {
            let mut session = self.connect(Purpose::Opening)?;
            let location = self.location.clone();
            session
                .run(MIGRATION_LIMIT, move |connection| {
                    migrations::bring_up_to_date(connection, &location)
                })
                .map_err(|failed| self.location.unreachable(failed))??;
            *is_prepared = true;
        }
        Ok(())
    }

    fn connect(&self, purpose: Purpose) -> Result<Session, OpenError> {
        if self.crew.size() >= self.crew_limit {
            return Err(self.location.unreachable(Failed::Silent));
        }
        let location = self.location.clone();
        Session::open(&self.crew, CONNECT_LIMIT, move || location.connect(purpose))
            .map_err(|failed| self.location.unreachable(failed))?
    }

    /// Tells the log of an outage, now and then.
    fn tell(&self, error: &OpenError) {
        let mut told = lock(&self.told);
        if told.is_none_or(|told| told.elapsed() > NEWS) {
            log::warn!("{error}");
            *told = Some(Instant::now());
        }
    }

    /// Tells the log that an outage, if there was one, is over.
    fn tell_of_the_end(&self) {
        if lock(&self.told).take().is_some() {
            log::warn!("the database {} can be reached again", self.location.name());
        }
    }
}

/// Nothing is done under the locks here that could leave a value half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes sessions for the pool.
pub(super) struct Manager(Arc<Shared>);

impl ManageConnection for Manager {
    type Connection = Session;
    type Error = OpenError;

    fn connect(&self) -> Result<Session, OpenError> {
        let Self(shared) = self;
        let session = shared
            .prepare()
            .and_then(|()| shared.connect(Purpose::Writing));
        match &session {
            Ok(_) => shared.tell_of_the_end(),
            Err(error) => shared.tell(error),
        }
        session
    }

    /// The pool does not ask: callers look for themselves, within the time that they have.
    fn is_valid(&self, session: &mut Session) -> Result<(), OpenError> {
        let Self(shared) = self;
        session
            .execute(shared.location.timeout, R2D2Connection::ping)
            .map_err(|failed| shared.location.unreachable(failed))
    }

    fn has_broken(&self, session: &mut Session) -> bool {
        session.is_lost()
    }
}
