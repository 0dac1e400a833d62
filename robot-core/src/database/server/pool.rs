//! Pool of connections of a purpose, and execution on them: in time, and again after failures that are not the fault
//! of the statements. Look-ups, changes and other statements have a pool each, so that they never delay each other.

use std::{
    future::Future,
    hash::{BuildHasher, RandomState},
    pin::pin,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{error::Elapsed, sleep, timeout, timeout_at},
};

use super::{
    backend::Backend,
    connect_error::NO_ANSWER,
    connection::Connection,
    connector::Connector,
    errors::{ErrorClass, classify, meaning},
    operation::Operation,
};
use crate::{
    catalogue::{Error, Result},
    database::{
        locks::lock,
        measuring::{QueueMetrics, count_commit},
    },
};

/// Maximum number of repetitions of statements that conflict with other transactions. Fewer, and writes
/// fail under contention: in a Galera cluster, all changes of different nodes conflict. More, and
/// conflicting writes add load to a server that is overloaded. The pauses between twenty take a
/// second, half of the default timeout.
const ATTEMPTS: u32 = 20;

/// The pause after a failure to connect. Shorter costs more during an outage; longer delays the first
/// requests after it.
const CONNECT_PAUSE: Duration = Duration::from_millis(100);

/// How often a call that needs a connection looks for one. Shorter costs more during an outage; longer delays
/// the first requests.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// The minimum age of a connection whose server rejects writes, so that all connections are replaced. Shorter,
/// and a server that stays read-only is flooded with connections; longer, and a further failover is noticed
/// later.
const REPLACEMENT_AGE: Duration = Duration::from_secs(1);

/// How long a connection that is not needed stays open. Shorter, and programs that are idle for a while
/// connect again; longer, and the server keeps connections that were needed once.
const IDLE_LIMIT: Duration = Duration::from_secs(300);

/// How long a server may take to answer on another connection while statements that may take long are executed. Shorter,
/// and these fail on a server that is overloaded; longer, and requests wait longer for one that hangs.
const PROBE_LIMIT: Duration = Duration::from_secs(1);

pub(super) struct Pool<B: Backend> {
    pub(super) connector: Arc<Connector<B>>,
    /// Connections that are not used, the last one first.
    idle: Mutex<Vec<Connection<B>>>,
    /// Held by the attempt to connect.
    attempt: Arc<tokio::sync::Mutex<()>>,
    /// A permit for each connection.
    all: Arc<Semaphore>,
    /// Those of statements that may take long: one fewer.
    long: Arc<Semaphore>,
    pub(super) metrics: QueueMetrics,
}

/// The right of statements to use a connection.
pub(super) struct Lease<B> {
    connection: Connection<B>,
    pub(super) operation: Operation,
    /// How many items the statements are for.
    pub(super) items: usize,
    submitted: Instant,
    permits: [Option<OwnedSemaphorePermit>; 2],
}

/// What is executed on a connection: an asynchronous function, or a batch.
pub(super) trait Statements<B, T> {
    fn execute(&self, connection: &mut Connection<B>) -> impl Future<Output = QueryResult<T>>;
}

impl<B, T, F: AsyncFn(&mut Connection<B>) -> QueryResult<T>> Statements<B, T> for F {
    async fn execute(&self, connection: &mut Connection<B>) -> QueryResult<T> {
        self(connection).await
    }
}

/// Why statements failed.
pub(super) struct ExecutionError(pub(super) Fault, pub(super) Error);

/// What a failure means for a repetition, the most promising one last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// The statements may have taken effect, or their time is up.
    Final,
    /// They have changed nothing.
    Rejected,
    /// They have changed nothing, and may succeed if they are repeated.
    Repeatable,
    /// They are not at fault, and have changed nothing: the connection was lost, or another transaction
    /// conflicted with them.
    External,
}

impl ExecutionError {
    /// The meaning of an error of the server.
    fn of(error: DieselError) -> Self {
        let is_conflict = meaning(&error) == Some(ErrorClass::Conflict);
        // Localized messages have no specific kind, so an unknown error may be a deadlock. A taken id was
        // assigned by the server itself. Both are repeated.
        let is_unexplained = matches!(
            error,
            DieselError::DatabaseError(
                DatabaseErrorKind::Unknown | DatabaseErrorKind::UniqueViolation,
                _
            )
        );
        let error = classify(error);
        let fault = match error {
            Error::Unknown(_) => Fault::Final,
            _ if is_conflict => Fault::External,
            Error::Unavailable(_) => Fault::Repeatable,
            Error::Store(_) if is_unexplained => Fault::Repeatable,
            _ => Fault::Rejected,
        };
        Self(fault, error)
    }
}

impl From<ExecutionError> for Error {
    fn from(ExecutionError(_, error): ExecutionError) -> Self {
        error
    }
}

impl<B: Backend> Pool<B> {
    /// With at most this number of connections. None is opened before it is needed.
    pub(super) fn new(
        queue: &'static str,
        connections: usize,
        connector: &Arc<Connector<B>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            connector: Arc::clone(connector),
            idle: Mutex::default(),
            attempt: Arc::default(),
            all: Arc::new(Semaphore::new(connections)),
            long: Arc::new(Semaphore::new(connections.max(2) - 1)),
            metrics: QueueMetrics::new(queue),
        })
    }

    /// Executes statements, which may be repeated, and which leave no transaction open.
    pub(super) async fn execute<T>(
        self: &Arc<Self>,
        operation: Operation,
        statements: impl AsyncFn(&mut Connection<B>) -> QueryResult<T>,
    ) -> Result<T> {
        let lease = self.lease(operation, Instant::now()).await?;
        Ok(self.repeat(lease, &statements).await?)
    }

    /// Executes statements, and repeats that after failures that are not their fault: a batch once.
    pub(super) async fn repeat<T>(
        self: &Arc<Self>,
        mut lease: Lease<B>,
        statements: &impl Statements<B, T>,
    ) -> Result<T, ExecutionError> {
        let mut attempts = 0;
        loop {
            let (operation, items, submitted) = (lease.operation, lease.items, lease.submitted);
            let (mut connection, permits) = (lease.connection, lease.permits);
            let limit = self.connector.timeout;
            let limited = async {
                connection.limit(operation, limit).await?;
                statements.execute(&mut connection).await
            };
            let measurement = self.metrics.begin(items, submitted.elapsed());
            let result = self.wait(operation, limited).await;
            drop(measurement);
            let result = self.keep_or_close(connection, operation, result).await;
            if matches!(operation, Operation::Change | Operation::ChangeBatch) {
                count_commit(result.as_ref().map(drop).map_err(|failure| &failure.1));
            }
            let (repeated, attempts_limit) = if operation.is_batch() {
                (Fault::External, 1)
            } else {
                (Fault::Repeatable, ATTEMPTS)
            };
            let failure = match result {
                Err(failure) if failure.0 >= repeated && attempts < attempts_limit => failure,
                result => return result,
            };
            let retried = items.try_into().unwrap_or(u64::MAX);
            self.metrics.retries.increment(retried);
            // Others that wait come before.
            drop(permits);
            sleep(pause(attempts)).await;
            // If its time is up, the failure says why.
            let again = self.lease(operation, submitted).await;
            lease = again.map_err(|late| self.reason(failure.1, late))?;
            lease.items = items;
            attempts += 1;
        }
    }

    /// The failure of statements that could not be repeated in time: that of the last attempt says why, unless the server
    /// is unreachable now.
    pub(super) fn reason(&self, last: Error, late: ExecutionError) -> ExecutionError {
        match last {
            Error::Unavailable(_) if !self.connector.has_outage() => {
                ExecutionError(Fault::Final, last)
            }
            _ => late,
        }
    }

    /// Waits for statements until their time is up. Those that may take long also fail if the server hangs: every
    /// time that the timeout has passed, it must answer on another connection.
    async fn wait<T>(
        &self,
        operation: Operation,
        statements: impl Future<Output = T>,
    ) -> Result<T, Elapsed> {
        let limit = self.connector.timeout;
        let statements = timeout(operation.limit(limit), statements);
        if operation.is_limited_by_timeout() {
            return statements.await;
        }
        let mut statements = pin!(statements);
        loop {
            match timeout(limit, &mut statements).await {
                Ok(result) => return result,
                Err(_) => timeout(PROBE_LIMIT, self.probe()).await?,
            }
        }
    }

    /// Waits until the server answers on another connection, also by an error.
    async fn probe(&self) {
        match self.take_idle() {
            Some(mut idle) => {
                if idle.inner.batch("SELECT 1").await.is_ok() {
                    self.keep(idle);
                }
            }
            None => self.connector.probe().await,
        }
    }

    /// A connection for statements, unless their time is up.
    pub(super) async fn lease(
        self: &Arc<Self>,
        operation: Operation,
        submitted: Instant,
    ) -> Result<Lease<B>, ExecutionError> {
        let opened = async {
            // The semaphores are never closed, so that waiting does not fail.
            let long = if operation.may_take_long() {
                Arc::clone(&self.long).acquire_owned().await.ok()
            } else {
                None
            };
            Lease {
                permits: [long, Arc::clone(&self.all).acquire_owned().await.ok()],
                connection: self.open().await,
                operation,
                items: 1,
                submitted,
            }
        };
        let deadline = submitted + self.connector.timeout;
        if Instant::now() < deadline
            && let Ok(lease) = timeout_at(deadline.into(), opened).await
        {
            return Ok(lease);
        }
        self.metrics.timed_out.increment(1);
        Err(ExecutionError(Fault::Final, self.connector.unavailable()))
    }

    /// A connection, as soon as one is not used any more or the server accepts a new one.
    ///
    /// One attempt to connect is made at a time, in a task of its own: a caller that gives up does not end it, so
    /// that it reaches a host that is listed after one that hangs.
    async fn open(self: &Arc<Self>) -> Connection<B> {
        loop {
            if let Some(idle) = self.take_idle() {
                return idle;
            }
            if let Ok(attempt) = Arc::clone(&self.attempt).try_lock_owned() {
                let pool = Arc::clone(self);
                tokio::spawn(async move {
                    match pool.connector.connect().await {
                        Some(new) => pool.keep(new),
                        None => sleep(CONNECT_PAUSE).await,
                    }
                    drop(attempt);
                });
            }
            sleep(LOOK_INTERVAL).await;
        }
    }

    fn take_idle(&self) -> Option<Connection<B>> {
        let epoch = self.connector.epoch();
        let mut idle = lock(&self.idle);
        idle.retain(|connection| {
            connection.epoch == epoch && connection.answered.elapsed() <= IDLE_LIMIT
        });
        idle.pop()
    }

    /// Keeps a connection for the next use. The server has just answered on it.
    fn keep(&self, mut connection: Connection<B>) {
        connection.answered = Instant::now();
        lock(&self.idle).push(connection);
    }

    /// Closes the connections that are not used.
    pub(super) fn close(&self) {
        lock(&self.idle).clear();
    }

    /// The meaning of a result. Keeps the connection unless it is lost.
    async fn keep_or_close<T>(
        &self,
        mut connection: Connection<B>,
        operation: Operation,
        result: Result<QueryResult<T>, Elapsed>,
    ) -> Result<T, ExecutionError> {
        let is_unknown = operation.is_write() && !connection.is_uncommitted;
        let (fault, cause): (_, Box<dyn std::error::Error + Send + Sync>) = match result {
            Ok(Ok(value)) => {
                if !connection.is_broken {
                    self.keep(connection);
                }
                return Ok(value);
            }
            Ok(Err(error)) => {
                let is_demoted = meaning(&error) == Some(ErrorClass::ReadOnly);
                if is_demoted
                    && connection.epoch == self.connector.epoch()
                    && connection.opened.elapsed() > REPLACEMENT_AGE
                {
                    self.connector.replace_all();
                }
                if !connection.is_lost(&error).await {
                    if !connection.is_broken {
                        self.keep(connection);
                    }
                    return Err(ExecutionError::of(error));
                }
                (Fault::External, error.into())
            }
            Err(_) => (Fault::Final, NO_ANSWER.into()),
        };
        self.connector.replace_all();
        Err(if is_unknown {
            ExecutionError(Fault::Final, Error::unknown(cause))
        } else {
            ExecutionError(fault, Error::unavailable(cause))
        })
    }
}

/// The pause before the next attempt: longer from one to the next, with jitter, so that conflicting
/// transactions are not repeated together.
fn pause(attempts: u32) -> Duration {
    let jitter = RandomState::new().hash_one(attempts) % 8;
    Duration::from_millis(u64::from(attempts + 1) * 4 + jitter)
}
