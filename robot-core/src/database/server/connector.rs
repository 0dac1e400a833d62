//! Connections to a server: preparing its database once, connecting within a time limit, and finding
//! out whether a connection still works.

use std::{
    error::Error as StdError,
    sync::{Arc, Mutex, TryLockError},
    thread,
    time::{Duration, Instant},
};

use ::metrics::{Counter, Gauge, counter, gauge};
use diesel::QueryResult;

use super::{
    abandoned::{AbandonedThreads, NoAnswer},
    address::Address,
    backend::{Backend, Purpose, complete},
    limits::Limits,
};
use crate::{
    catalogue::{Cause, Error, IfUnreachable, OpenError, OpenOptions, Preparation},
    database::{
        locks::lock,
        migrations::{self, MigrationError},
    },
    metrics::{CONNECTS, Counted, STORE_CONNECTIONS, STORE_CONNECTIONS_LIMIT, STORE_CONNECTS},
};

/// Time limit of connecting. Shorter, and a host that is listed last in the URL is never reached
/// while those before it do not answer; longer, and attempts that cannot succeed keep their threads.
/// Chosen for a few hosts with libpq's timeout of at least 2 s each. Requests have their own, shorter
/// limit.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The pause after a failure to connect. Shorter costs more during an outage; longer delays the first
/// requests after it.
const CONNECT_PAUSE: Duration = Duration::from_millis(100);

/// Time limit of all migrations. Shorter, and a start with a very large table never succeeds; longer,
/// and a server that hangs is reported later. Chosen for hundreds of millions of robots at some
/// seconds per million.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// How long a connection that answered is used without a ping. Shorter, and every request costs another
/// round trip; longer, and more requests meet a connection that was closed. With one second, a busy
/// connection spends one round trip per second.
const VALIDATION_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum number of abandoned threads per connection. Fewer, and a program that has lost every
/// connection cannot connect to the server that takes over; more, and a frozen server accumulates more
/// threads. A connection that hangs leaves two: of its batch, and of its validation.
const ABANDONED_PER_CONNECTION: usize = 4;

/// The minimum interval between two replacements of all connections. Shorter, and a server that stays
/// read-only is flooded with connections; longer, and a further failover is noticed later.
const REPLACEMENT_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum interval between two log lines about one outage.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Opens the connections of a catalogue.
pub(super) struct Connector<B> {
    address: Address<B>,
    preparation: Preparation,
    is_prepared: Mutex<bool>,
    /// When a connection was last lost. The others may be lost, too.
    last_loss: Mutex<Instant>,
    /// When the server last rejected a write because it is no longer the primary.
    last_demotion: Mutex<Instant>,
    /// The outage that lasts.
    outage: Mutex<Option<Outage>>,
    abandoned: AbandonedThreads,
    /// Held by the only thread that connects during an outage, also during the pause after it.
    attempt: Mutex<()>,
    metrics: ConnectionMetrics,
}

/// Why there are too few connections.
struct Outage {
    cause: Cause,
    /// When it was last logged.
    logged: Instant,
}

struct ConnectionMetrics {
    open: Gauge,
    connected: Counter,
    failed: Counter,
}

impl ConnectionMetrics {
    fn new() -> Self {
        let [connected, failed] =
            CONNECTS.map(|result| counter!(STORE_CONNECTS.name, "result" => result));
        Self {
            open: gauge!(STORE_CONNECTIONS.name),
            connected,
            failed,
        }
    }
}

impl<B: Backend> Connector<B> {
    /// Prepares the database.
    ///
    /// # Errors
    /// The database cannot be used, or is unreachable and the options say not to wait for it.
    pub(super) fn open(address: Address<B>, options: &OpenOptions) -> Result<Self, OpenError> {
        gauge!(STORE_CONNECTIONS_LIMIT.name).set(options.get_connections());
        let connector = Self {
            address,
            preparation: match options.get_preparation() {
                // Applies to files only.
                Preparation::Keep => Preparation::Migrate,
                other => other,
            },
            is_prepared: Mutex::new(false),
            last_loss: Mutex::new(Instant::now()),
            last_demotion: Mutex::new(Instant::now()),
            outage: Mutex::default(),
            abandoned: AbandonedThreads::new(
                ABANDONED_PER_CONNECTION * options.get_connections() as usize,
            ),
            attempt: Mutex::default(),
            metrics: ConnectionMetrics::new(),
        };
        match connector.prepare() {
            Err(error)
                if options.get_if_unreachable() == IfUnreachable::Wait && error.is_transient() =>
            {
                connector.note_outage(error);
            }
            result => result?,
        }
        Ok(connector)
    }

    /// How long a request waits until it is executed.
    pub(super) fn timeout(&self) -> Duration {
        self.address.timeout()
    }

    /// Connects. During an outage, or while too many threads are abandoned, one thread at a time tries,
    /// and the others fail. A failure takes a while.
    pub(super) fn connect(&self) -> Option<Connection<B>> {
        let attempt = self.attempt.try_lock();
        let is_busy = matches!(attempt, Err(TryLockError::WouldBlock));
        let is_outage = lock(&self.outage).is_some() || self.abandoned.are_too_many();
        let connection = if is_outage && is_busy {
            None
        } else {
            self.connect_and_log()
        };
        if connection.is_none() {
            thread::sleep(CONNECT_PAUSE);
        }
        connection
    }

    /// Connects, and logs the beginning and the end of an outage.
    fn connect_and_log(&self) -> Option<Connection<B>> {
        let connected = self.prepare().and_then(|()| {
            let started = Instant::now();
            let connection = self.establish(Purpose::Use)?;
            Ok(Connection::new(connection, started, &self.metrics.open))
        });
        match connected {
            Ok(connection) => {
                self.metrics.connected.increment(1);
                self.log_recovery();
                Some(connection)
            }
            Err(error) => {
                self.metrics.failed.increment(1);
                self.note_outage(error);
                None
            }
        }
    }

    /// Checks the database and brings its tables up to date, once.
    fn prepare(&self) -> Result<(), OpenError> {
        let mut is_prepared = lock(&self.is_prepared);
        if !*is_prepared {
            let mut connection = self.establish(Purpose::Prepare)?;
            let (name, preparation) = (self.address.name(), self.preparation);
            self.within(MIGRATION_LIMIT, move || {
                migrations::prepare(&mut connection, &name, preparation)?;
                if !matches!(preparation, Preparation::Revert(_)) {
                    complete(&mut connection, &name);
                }
                Ok(())
            })?
            .map_err(|error: MigrationError| {
                error.into_open_error(self.address.name(), |cause| self.address.cannot_open(cause))
            })?;
            *is_prepared = true;
        }
        Ok(())
    }

    fn establish(&self, purpose: Purpose) -> Result<B, OpenError> {
        let address = self.address.clone();
        self.within(CONNECT_LIMIT, move || address.connect(purpose))?
    }

    fn within<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OpenError> {
        let result = self.abandoned.run_within(limit, work);
        result.map_err(|error| self.address.unreachable(error))
    }

    /// The connection, if it works as far as is known: it has answered recently, or answers now.
    pub(super) fn validate(&self, connection: Connection<B>) -> Option<Connection<B>> {
        if self.is_valid(&connection) {
            return Some(connection);
        }
        if connection.opened < *lock(&self.last_demotion) {
            return None;
        }
        let ping = move || connection.ping();
        let answer = self.abandoned.run_within(self.address.timeout() / 2, ping);
        let answer = answer.ok().flatten();
        if answer.is_none() {
            self.validate_all();
        }
        answer
    }

    /// Whether the connection can be used without a ping.
    fn is_valid(&self, connection: &Connection<B>) -> bool {
        connection.opened >= *lock(&self.last_demotion)
            && connection.last_request.elapsed() < VALIDATION_INTERVAL
            && connection.last_request > *lock(&self.last_loss)
    }

    /// Every connection is validated before it is used again: one of them was lost, and the others may be.
    pub(super) fn validate_all(&self) {
        *lock(&self.last_loss) = Instant::now();
    }

    /// Every connection is replaced: the server does not accept writes any more.
    ///
    /// At most once per interval, since the new connections may meet the same server.
    pub(super) fn replace_all(&self) {
        let mut last_demotion = lock(&self.last_demotion);
        if last_demotion.elapsed() > REPLACEMENT_INTERVAL {
            *last_demotion = Instant::now();
        }
    }

    /// The threads that wait for a server without a time limit.
    pub(super) fn abandoned(&self) -> &AbandonedThreads {
        &self.abandoned
    }

    /// Notes an outage, or another reason why there are too few connections, and logs it at most once per
    /// interval.
    pub(super) fn note_outage(&self, cause: impl Into<Box<dyn StdError + Send + Sync>>) {
        let cause = Cause::from(cause.into());
        let mut outage = lock(&self.outage);
        let logged = outage.as_ref().map(|outage| outage.logged);
        let logged = logged.filter(|logged| logged.elapsed() <= LOG_INTERVAL);
        let logged = logged.unwrap_or_else(|| {
            tracing::warn!("{cause}");
            Instant::now()
        });
        *outage = Some(Outage { cause, logged });
    }

    /// The error of a call that was not executed in time.
    pub(super) fn unavailable(&self) -> Error {
        match &*lock(&self.outage) {
            Some(outage) => Error::Unavailable(Arc::clone(&outage.cause)),
            None => Error::unavailable(NoAnswer),
        }
    }

    /// Logs the end of an outage, if there was one.
    fn log_recovery(&self) {
        if lock(&self.outage).take().is_some() {
            // They may wait for a server that another one has replaced.
            self.abandoned.forget();
            tracing::warn!("the database {} is available again", self.address.name());
        }
    }
}

/// A connection, and what is known about it.
pub(super) struct Connection<B> {
    inner: B,
    /// The time limits that were set last; `None` for those of a new connection.
    limits: Option<Limits>,
    /// When it began to connect.
    opened: Instant,
    /// When the last request that was answered began. Not when it was answered: a connection that was
    /// lost in between would seem to be newer than the loss.
    last_request: Instant,
    _open: Counted,
}

impl<B: Backend> Connection<B> {
    fn new(inner: B, opened: Instant, open: &Gauge) -> Self {
        Self {
            inner,
            limits: None,
            opened,
            last_request: opened,
            _open: Counted::new(open),
        }
    }

    /// The connection, if the server answers.
    fn ping(mut self) -> Option<Self> {
        let started = Instant::now();
        self.inner.ping().ok()?;
        self.last_request = started;
        Some(self)
    }

    /// Sets the time limits of the next statements, unless they are set.
    pub(super) fn limited(&mut self, limits: Limits) -> QueryResult<&mut B> {
        if self.limits != Some(limits) {
            self.limits = None;
            self.inner.set_limits(limits)?;
            self.limits = Some(limits);
        }
        Ok(&mut self.inner)
    }

    pub(super) fn inner(&mut self) -> &mut B {
        &mut self.inner
    }

    /// Notes that the server has answered a request that began then.
    pub(super) fn note_answer(&mut self, started: Instant) {
        self.last_request = started;
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    /// The server accepts connections, and does not answer for the 2 s that libpq waits.
    #[test]
    fn one_thread_at_a_time_connects_during_an_outage() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://{}/robots", server.local_addr().unwrap());
        let options = OpenOptions::new().wait_for_server();
        let address = Address::<diesel::PgConnection>::from_url(&url, &options).unwrap();
        let connector = Connector::open(address, &options).unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(connector.connect().is_none()));
            }
        });
        server.set_nonblocking(true).unwrap();
        // That of `open`, and one more; a second one if a thread started late.
        let attempts = std::iter::from_fn(|| server.accept().ok()).count();
        assert!((2..=3).contains(&attempts), "{attempts}");
    }
}
