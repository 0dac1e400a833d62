//! Statements that are executed one at a time: pages, scans, and changes of many robots. They have connections of
//! their own, so that they never delay look-ups and changes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ::metrics::Counter;
use diesel::QueryResult;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{sleep, timeout, timeout_at},
};

use super::{
    backend::Backend,
    batcher::{ATTEMPTS, pause},
    connection::Connection,
    connections::{Connections, Failure},
    connector::Connector,
    limits::{Limits, Plans, READ_MARGIN, SCAN_FACTOR, WRITE_MARGIN, whole_seconds},
};
use crate::{
    catalogue::{Error, Result},
    database::measuring::{QueueMetrics, rejected, retries},
};

/// The name of the queue in metrics.
const QUEUE: &str = "tasks";

/// The kind of statements, which decides their time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Follows an index.
    Page,
    /// May read every name.
    Scan,
    /// Changes many rows.
    Write,
}

pub(super) struct Pool<B: Backend> {
    connector: Arc<Connector<B>>,
    connections: Arc<Connections<B>>,
    /// A permit for each connection.
    all: Semaphore,
    /// Those of statements that may take long: one fewer.
    long: Semaphore,
    timeout: Duration,
    metrics: QueueMetrics,
    timed_out: Counter,
    retries: Counter,
}

impl<B: Backend> Pool<B> {
    /// With at most this number of connections, at least two. None is opened before it is needed.
    pub(super) fn new(connections: usize, connector: &Arc<Connector<B>>) -> Self {
        Self {
            connector: Arc::clone(connector),
            connections: Connections::new(connector),
            all: Semaphore::new(connections),
            long: Semaphore::new(connections - 1),
            timeout: connector.timeout(),
            metrics: QueueMetrics::new(QUEUE),
            timed_out: rejected(QUEUE, "timeout"),
            retries: retries(QUEUE),
        }
    }

    /// How long statements may take.
    pub(super) fn limit(&self, kind: Kind) -> Duration {
        match kind {
            Kind::Page => self.timeout,
            Kind::Scan | Kind::Write => self.timeout * SCAN_FACTOR,
        }
    }

    /// Executes statements, which may be repeated, and which leave no transaction open.
    pub(super) async fn execute<T>(
        &self,
        kind: Kind,
        statements: impl AsyncFn(&mut Connection<B>) -> QueryResult<T>,
    ) -> Result<T> {
        let submitted = Instant::now();
        let deadline = submitted + self.timeout;
        let permits = timeout_at(deadline.into(), self.permits(kind)).await;
        let _permits = permits.map_err(|_| self.unavailable())?;
        let mut attempts = 0;
        loop {
            let connection = timeout_at(deadline.into(), self.connections.open(|| true)).await;
            let mut connection = connection
                .ok()
                .flatten()
                .ok_or_else(|| self.unavailable())?;
            let _measurement = self.metrics.begin(1, submitted.elapsed());
            let is_write = kind == Kind::Write;
            let margin = if is_write { WRITE_MARGIN } else { READ_MARGIN };
            let limit = self.limit(kind);
            let limited = async {
                connection.limit(self.limits(limit)).await?;
                statements(&mut connection).await
            };
            let result = timeout(limit + margin, limited).await;
            match self.connections.settle(connection, result, is_write).await {
                Ok(value) => return Ok(value),
                Err(Failure::External(error) | Failure::Repeatable(error))
                    if attempts < ATTEMPTS =>
                {
                    if Instant::now() > deadline {
                        self.timed_out.increment(1);
                        return Err(match error {
                            Error::Unavailable(_) => error,
                            _ => self.connector.unavailable(),
                        });
                    }
                    self.retries.increment(1);
                    sleep(pause(attempts)).await;
                    attempts += 1;
                }
                Err(failure) => return Err(failure.into_error()),
            }
        }
    }

    async fn permits(&self, kind: Kind) -> [Option<SemaphorePermit<'_>>; 2] {
        // They are never closed, so that waiting does not fail.
        let long = match kind {
            Kind::Page => None,
            Kind::Scan | Kind::Write => self.long.acquire().await.ok(),
        };
        [long, self.all.acquire().await.ok()]
    }

    fn limits(&self, statement: Duration) -> Limits {
        Limits {
            statement,
            lock: self.timeout,
            lock_seconds: whole_seconds(self.timeout),
            plans: Plans::Any,
        }
    }

    fn unavailable(&self) -> Error {
        self.timed_out.increment(1);
        self.connector.unavailable()
    }

    /// Closes the connections that are not used.
    pub(super) fn close(&self) {
        self.connections.close();
    }
}
