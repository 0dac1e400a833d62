//! Connecting to a database server: once to prepare the database, and then for every use.

use std::{
    error::Error as StdError,
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ::metrics::{Counter, Gauge, counter, gauge};
use diesel::QueryResult;
use tokio::{task::spawn_blocking, time::timeout};

use super::{
    backend::Backend,
    connect_error::{ConnectError, ConnectFailure, UrlError},
    connection::Connection,
    errors::is_transient,
    store::lock_tables,
};
use crate::{
    catalogue::{Cause, Error, OpenError, OpenOptions, Preparation, redact},
    database::{
        define::{KnownDefinition, create_indexes, drop_indexes},
        locks::lock,
        slow_statements::stopwatch,
    },
    metrics::{CONNECTS, STORE_CONNECTIONS, STORE_CONNECTIONS_LIMIT, STORE_CONNECTS},
};

/// Time limit of connecting. Shorter, and a host that is listed last in the URL is never reached
/// while those before it do not answer; longer, and an attempt that cannot succeed delays the next one.
/// Chosen for a few hosts with a time limit of at least 2 s each.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Time limit of all migrations. Shorter, and a start with a very large table never succeeds; longer,
/// and a server that hangs is reported later. Chosen for hundreds of millions of robots at some
/// seconds per million.
const MIGRATION_LIMIT: Duration = Duration::from_secs(3600);

/// The minimum interval between two replacements of all connections because the server is read-only. Shorter,
/// and a server that stays read-only is flooded with connections; longer, and a further failover is noticed
/// later.
const REPLACEMENT_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum interval between two log lines about one outage.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// A server did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("the database did not answer in time")]
pub(super) struct NoAnswer;

/// Opens the connections of a catalogue.
pub(super) struct Connector<B: Backend> {
    url: B::Url,
    /// The URL without credentials, for messages.
    name: String,
    pub(super) timeout: Duration,
    slow_statement: Duration,
    preparation: Preparation,
    is_prepared: tokio::sync::Mutex<bool>,
    /// Grows when connections may be lost, or may lead to a server that is not the primary any more.
    epoch: AtomicU64,
    /// When the server last rejected a write because it is no longer the primary.
    last_demotion: Mutex<Instant>,
    /// The outage that lasts.
    outage: Mutex<Option<Outage>>,
    /// Connections that are open.
    open: Gauge,
    /// Attempts by their results, as in [`CONNECTS`].
    connects: [Counter; 2],
    pub(super) definition: Arc<KnownDefinition>,
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
            is_prepared: tokio::sync::Mutex::new(false),
            epoch: AtomicU64::new(0),
            last_demotion: Mutex::new(Instant::now()),
            outage: Mutex::default(),
            open: gauge!(STORE_CONNECTIONS.name),
            connects: CONNECTS.map(|result| counter!(STORE_CONNECTS.name, "result" => result)),
            definition: Arc::default(),
        };
        match connector.prepare().await {
            Err(error) if options.wait_for_server && error.is_transient() => {
                connector.note_outage(error);
            }
            result => result?,
        }
        Ok(connector)
    }

    /// Connects, and logs the beginning and the end of an outage.
    pub(super) async fn connect(&self) -> Option<Connection<B>> {
        let epoch = self.epoch();
        let connected = match self.prepare().await {
            Ok(()) => self.establish().await,
            Err(error) => Err(error),
        };
        match connected {
            Ok(mut connection) => {
                self.connects[0].increment(1);
                let outage = lock(&self.outage).take();
                if outage.is_some() {
                    tracing::warn!("the database {} is available again", self.name);
                    // Another process may have changed the definition during the outage.
                    if let Err(error) = self.definition.refresh(&mut connection).await {
                        tracing::error!("{}: the definition cannot be read: {error}", self.name);
                    }
                }
                Some(Connection::new(connection, epoch, &self.open))
            }
            Err(error) => {
                self.connects[1].increment(1);
                self.note_outage(error);
                None
            }
        }
    }

    /// Checks the database and brings its tables up to date, once.
    async fn prepare(&self) -> Result<(), OpenError> {
        let mut is_prepared = self.is_prepared.lock().await;
        if !*is_prepared {
            let connection = self.in_time(B::connect_first(&self.url)).await?;
            let (name, preparation) = (self.name.clone(), self.preparation);
            let prepared = spawn_blocking(move || connection.prepare(&name, preparation));
            let mut connection = timeout(MIGRATION_LIMIT, prepared)
                .await
                .map_err(|_| self.unreachable(NoAnswer))?
                .map_err(|error| self.cannot_open(error.into()))?
                .map_err(|error| self.cannot_open(error))?;
            if !matches!(preparation, Preparation::Revert(_)) {
                let opened = self.open_definition(&mut connection).await;
                opened.map_err(|error| self.cannot_open(error.into()))?;
            }
            *is_prepared = true;
        }
        Ok(())
    }

    /// Reads the definition, and repairs its indexes if a process may have left them incomplete.
    async fn open_definition(&self, connection: &mut B) -> QueryResult<()> {
        self.definition.refresh(connection).await?;
        if let Some((lock, unlock)) = B::TABLE_LOCK {
            lock_tables(connection, lock).await?;
            let definition = self.definition.get();
            let repaired = match create_indexes(connection, &definition).await {
                Ok(()) => drop_indexes(connection, &definition).await,
                Err(error) => Err(error),
            };
            connection.texts(unlock).await?;
            return repaired;
        }
        Ok(())
    }

    /// Whether an outage lasts, as far as is known.
    pub(super) fn has_outage(&self) -> bool {
        lock(&self.outage).is_some()
    }

    async fn establish(&self) -> Result<B, OpenError> {
        self.in_time(B::connect(&self.url)).await
    }

    /// A connection, unless it takes too long. Its statements that take long are logged.
    async fn in_time(
        &self,
        connected: impl Future<Output = Result<B, ConnectError>>,
    ) -> Result<B, OpenError> {
        let connected = timeout(CONNECT_LIMIT, connected).await;
        let connected = connected.map_err(|_| self.unreachable(NoAnswer))?;
        let mut connection = connected.map_err(|ConnectError(failure, cause)| match failure {
            ConnectFailure::Unreachable => self.unreachable(cause),
            ConnectFailure::Refused => self.unusable(cause.into(), B::REMEDY),
            ConnectFailure::Tls => self.unusable(cause.into(), B::TLS_REMEDY),
        })?;
        connection.set_instrumentation(stopwatch(self.slow_statement));
        Ok(connection)
    }

    /// The error for a database that cannot be used.
    fn cannot_open(&self, cause: Box<dyn StdError + Send + Sync>) -> OpenError {
        match cause.downcast::<OpenError>() {
            Ok(error) => *error,
            Err(cause) => self.unusable(cause, B::REMEDY),
        }
    }

    fn unusable(&self, cause: Box<dyn StdError + Send + Sync>, remedy: &'static str) -> OpenError {
        let database = self.name.clone();
        if is_transient(cause.as_ref()) {
            return OpenError::Busy(database);
        }
        OpenError::Unusable {
            database,
            remedy,
            cause: Cause::from(cause),
        }
    }

    /// The error for a server that does not answer.
    fn unreachable(&self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> OpenError {
        OpenError::Unreachable {
            database: self.name.clone(),
            cause: Cause::from(cause.into()),
        }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// No connection is used again: one of them was lost, and the others may be.
    pub(super) fn replace_all(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// No connection is used again: the server does not accept writes any more, and another one may.
    ///
    /// At most once per interval, since the new connections may meet the same server.
    pub(super) fn replace_demoted(&self) {
        let mut last_demotion = lock(&self.last_demotion);
        if last_demotion.elapsed() > REPLACEMENT_INTERVAL {
            *last_demotion = Instant::now();
            self.replace_all();
        }
    }

    /// Notes an outage, and logs it at most once per interval.
    fn note_outage(&self, cause: OpenError) {
        let cause = Cause::from(Box::<dyn StdError + Send + Sync>::from(cause));
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
}
