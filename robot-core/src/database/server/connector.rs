//! Connecting to a database server: once to prepare the database, and then for every use.

use std::{
    error::Error as StdError,
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ::metrics::{counter, gauge};
use tokio::{sync::OnceCell, task::spawn_blocking, time::timeout};

use super::{
    backend::Backend,
    connect_error::{ConnectError, ConnectFailure, NO_ANSWER, UrlError},
    connection::Connection,
    define::repair,
    errors::is_transient,
    operation::Operation,
};
use crate::{
    catalogue::{Cause, Error, OpenError, OpenOptions, Preparation, redact},
    database::{
        define::KnownDefinition, locks::lock, migrations::MigrationError,
        slow_statements::stopwatch,
    },
    metrics::{CONNECTS, STORE_CONNECTIONS_LIMIT, STORE_CONNECTS},
};

/// Time limit of connecting. Shorter, and a host that is listed last in the URL is never reached
/// while those before it do not answer; longer, and an attempt that cannot succeed delays the next one.
/// Chosen for a few hosts with a time limit of at least 2 s each.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Time limit of all migrations. Shorter, and a start with a very large table never succeeds; longer,
/// and a server that hangs is reported later. Chosen for hundreds of millions of robots at some
/// seconds per million.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// The minimum interval between two log lines about one outage.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Opens the connections of a catalogue.
pub(super) struct Connector<B: Backend> {
    url: B::Url,
    /// The URL without credentials, for messages.
    name: String,
    pub(super) timeout: Duration,
    slow_statement: Duration,
    preparation: Preparation,
    /// Set when the database has been checked, and its tables are up to date.
    prepared: OnceCell<()>,
    /// Grows when connections may be lost, or may lead to a server that is not the primary any more.
    epoch: AtomicU64,
    /// The outage that lasts.
    outage: Mutex<Option<Outage>>,
    pub(super) definition: Arc<KnownDefinition>,
    /// The last revision that is known to be durable.
    pub(super) durable: Arc<AtomicI64>,
    /// Whether there may be indexes that the definition does not have.
    pub(super) has_leftovers: AtomicBool,
}

/// Why the server cannot be used.
struct Outage {
    cause: Cause,
    /// When it was last logged.
    logged: Instant,
}

impl<B: Backend> Connector<B> {
    /// Prepares the database.
    ///
    /// # Errors
    /// The database cannot be used, or is unreachable and the options say not to wait for it.
    pub(super) async fn open(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        gauge!(STORE_CONNECTIONS_LIMIT.name).set(options.get_connections());
        let invalid = |reason: UrlError| OpenError::InvalidUrl {
            database: redact(url),
            reason: reason.into_owned(),
            example: B::EXAMPLE,
        };
        let connector = Self {
            url: B::parse(url, options.get_timeout()).map_err(invalid)?,
            name: redact(url),
            timeout: options.get_timeout(),
            slow_statement: options.slow_statement,
            preparation: match options.preparation {
                // Applies to files only.
                Preparation::Keep => Preparation::Migrate,
                other => other,
            },
            prepared: OnceCell::new(),
            epoch: AtomicU64::new(0),
            outage: Mutex::default(),
            definition: Arc::default(),
            durable: Arc::default(),
            has_leftovers: AtomicBool::new(false),
        };
        if let Err(error) = connector.prepare().await {
            let error = connector.open_error(error);
            if !(options.wait_for_server && error.is_transient()) {
                return Err(error);
            }
            connector.note_outage(error);
        }
        Ok(connector)
    }

    /// Connects, and logs the beginning and the end of an outage.
    pub(super) async fn connect(&self) -> Option<Connection<B>> {
        let epoch = self.epoch();
        let connected = async {
            self.prepare().await?;
            Ok::<_, MigrationError>(self.establish(B::connect(&self.url)).await?)
        };
        let connected = connected.await;
        let result = CONNECTS[usize::from(connected.is_err())];
        counter!(STORE_CONNECTS.name, "result" => result).increment(1);
        match connected {
            Ok(mut connection) => {
                let outage = lock(&self.outage).take();
                if outage.is_some() {
                    tracing::warn!("the database {} is available again", self.name);
                    // Another process may have changed the definition during the outage.
                    if let Err(error) = self.definition.refresh(&mut connection).await {
                        tracing::error!("{}: the definition cannot be read: {error}", self.name);
                    }
                }
                Some(Connection::new(connection, epoch))
            }
            Err(error) => {
                self.note_outage(self.open_error(error));
                None
            }
        }
    }

    /// Waits until the server accepts or rejects a new connection.
    pub(super) async fn probe(&self) {
        let _ = B::connect(&self.url).await;
    }

    /// Checks the database and brings its tables up to date, once.
    async fn prepare(&self) -> Result<(), MigrationError> {
        self.prepared
            .get_or_try_init(|| async {
                let connection = self.establish(B::connect_first(&self.url)).await?;
                let (name, preparation) = (self.name.clone(), self.preparation);
                let prepared = spawn_blocking(move || connection.prepare(&name, preparation));
                let prepared = timeout(MIGRATION_LIMIT, prepared).await;
                let connection = prepared.map_err(|_| ConnectError::no_answer())???;
                if !matches!(preparation, Preparation::Revert(_)) {
                    let mut connection = Connection::new(connection, self.epoch());
                    connection.limit(Operation::Define, self.timeout).await?;
                    repair(&mut connection, &self.definition).await?;
                }
                Ok(())
            })
            .await
            .copied()
    }

    /// Whether an outage lasts, as far as is known.
    pub(super) fn has_outage(&self) -> bool {
        lock(&self.outage).is_some()
    }

    /// Waits for a connection, unless that takes too long. Its statements that take long are logged.
    async fn establish(
        &self,
        connected: impl Future<Output = Result<B, ConnectError>>,
    ) -> Result<B, ConnectError> {
        let connected = timeout(CONNECT_LIMIT, connected).await;
        let mut connection = connected.map_err(|_| ConnectError::no_answer())??;
        connection.set_instrumentation(stopwatch(self.slow_statement));
        Ok(connection)
    }

    /// Why the database cannot be opened, for the operator.
    fn open_error(&self, cause: MigrationError) -> OpenError {
        let cause = match cause.downcast::<OpenError>() {
            Ok(error) => return *error,
            Err(cause) => cause,
        };
        let database = self.name.clone();
        let remedy = match cause.downcast_ref() {
            Some(ConnectError(ConnectFailure::Unreachable, _)) => {
                let cause = Cause::from(cause);
                return OpenError::Unreachable { database, cause };
            }
            Some(ConnectError(ConnectFailure::Tls, _)) => B::TLS_REMEDY,
            _ if is_transient(cause.as_ref()) => return OpenError::Busy(database),
            _ => B::REMEDY,
        };
        OpenError::Unusable {
            database,
            remedy,
            cause: Cause::from(cause),
        }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// No connection is used again: one of them was lost, or leads to a server that rejects writes, and the others may
    /// as well.
    pub(super) fn replace_all(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes an outage, and logs it at most once per interval.
    fn note_outage(&self, cause: OpenError) {
        let cause = Cause::from(Box::<dyn StdError + Send + Sync>::from(cause));
        let mut outage = lock(&self.outage);
        let logged = outage.take().map(|outage| outage.logged);
        let logged = logged.filter(|logged| logged.elapsed() <= LOG_INTERVAL);
        if logged.is_none() {
            tracing::warn!("{cause}");
        }
        let logged = logged.unwrap_or_else(Instant::now);
        *outage = Some(Outage { cause, logged });
    }

    /// The error of a call that was not executed in time.
    pub(super) fn unavailable(&self) -> Error {
        match &*lock(&self.outage) {
            Some(outage) => Error::Unavailable(Arc::clone(&outage.cause)),
            None => Error::unavailable(NO_ANSWER),
        }
    }
}
