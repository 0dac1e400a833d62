//! The pool of sessions with a server: made when they are needed, looked at before they are
//! used again, replaced when they are lost.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use diesel::r2d2::{self, ManageConnection, NopErrorHandler, PooledConnection};

use super::{
    connection::{Location, Purpose},
    failure::no_connection,
    migrations, queries,
    session::{Crew, Failed, Session},
};
use crate::{
    error::{OpenError, Result},
    open::{OpenOptions, WhenAway},
};

/// How long connecting may take: each of several hosts in a URL may have to be tried.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How long it may take to bring the tables up to date.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// How long a session is taken for good without another look.
const TRUST: Duration = Duration::from_secs(1);

/// How often an outage is told in the log.
const NEWS: Duration = Duration::from_secs(10);

/// A pool of sessions.
pub(super) struct Sessions {
    pool: r2d2::Pool<Manager>,
    shared: Arc<Shared>,
}

impl Sessions {
    /// Prepares the database and makes a pool for it.
    ///
    /// # Errors
    /// The database cannot be used, or it is away and not to be waited for.
    pub(super) fn open(location: Location, options: &OpenOptions) -> Result<Self, OpenError> {
        let timeout = location.timeout;
        let size = options.pool_size();
        let shared = Arc::new(Shared {
            location,
            // Each session may have left a thread behind, and its successor another one.
            crew_limit: 2 * size as usize,
            crew: Crew::default(),
            is_prepared: Mutex::new(false),
            last_loss: Mutex::new(Instant::now()),
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
            .test_on_check_out(true)
            .connection_timeout(timeout)
            // The manager tells of failures, less often than they occur.
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(Manager(Arc::clone(&shared)));
        Ok(Self { pool, shared })
    }

    /// A session that is good as far as is known, within a limit of time.
    pub(super) fn get(&self, limit: Duration) -> Result<PooledConnection<Manager>> {
        self.pool.get_timeout(limit).map_err(no_connection)
    }

    /// Has every session looked at before it is used again: one of them was lost, or found the
    /// server in a state that may affect all.
    pub(super) fn suspect(&self) {
        *lock(&self.shared.last_loss) = Instant::now();
    }
}

/// What all sessions have in common.
struct Shared {
    location: Location,
    crew: Crew,
    crew_limit: usize,
    is_prepared: Mutex<bool>,
    last_loss: Mutex<Instant>,
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

/// Makes and judges sessions for the pool.
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

    fn is_valid(&self, session: &mut Session) -> Result<(), OpenError> {
        let Self(shared) = self;
        let good = session.last_good();
        if good.elapsed() < TRUST && good > *lock(&shared.last_loss) {
            return Ok(());
        }
        // A caller is waiting, who may need another session.
        session
            .execute(shared.location.timeout / 2, queries::probe)
            .map_err(|failed| shared.location.unreachable(failed))
    }

    fn has_broken(&self, session: &mut Session) -> bool {
        session.is_lost()
    }
}
