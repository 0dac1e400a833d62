//! A connection to a database server, and what a failed statement means for it.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use ::metrics::gauge;
use diesel::{QueryResult, result::Error as DieselError};
use tokio::time::timeout;

use super::{
    backend::Backend,
    errors::{ErrorClass, meaning},
    operation::Operation,
};
use crate::{
    catalogue::Error,
    database::errors::{wrap, wrapped},
    metrics::{Counted, STORE_CONNECTIONS},
};

/// How long after its last answer a connection is trusted with a statement that is a transaction of its own.
/// After that, the server may have closed it, and it is unknown whether such a statement was executed.
/// Shorter, and single changes take more round trips; longer, and more outcomes are unknown.
const TRUST: Duration = Duration::from_secs(1);

/// How long a failed connection may take to answer before it counts as lost.
const PING_LIMIT: Duration = Duration::from_millis(500);

pub(super) struct Connection<B> {
    /// For statements that read, or within a transaction.
    pub(super) inner: B,
    /// The kind of statements whose time limits were set last; `None` for a new connection.
    limited: Option<Operation>,
    /// Those of another epoch are not used any more.
    pub(super) epoch: u64,
    pub(super) opened: Instant,
    /// When the server answered last.
    pub(super) answered: Instant,
    /// Whether nothing that was sent since the time limits were set can have taken effect, even if the connection
    /// is lost.
    pub(super) is_uncommitted: bool,
    /// Whether the transaction has a lock.
    has_lock: bool,
    /// A commit or a rollback has failed, so that a transaction may be open: it must not be used again.
    pub(super) is_broken: bool,
    _open: Counted,
}

impl<B: Backend> Connection<B> {
    pub(super) fn new(inner: B, epoch: u64) -> Self {
        Self {
            inner,
            limited: None,
            epoch,
            opened: Instant::now(),
            answered: Instant::now(),
            is_uncommitted: true,
            has_lock: false,
            is_broken: false,
            _open: Counted::new(gauge!(STORE_CONNECTIONS.name)),
        }
    }

    /// Sets the time limits of the next statements, unless they are set.
    pub(super) async fn limit(
        &mut self,
        operation: Operation,
        timeout: Duration,
    ) -> QueryResult<()> {
        self.is_uncommitted = true;
        if self.limited != Some(operation) {
            self.limited = None;
            self.inner.set_limits(operation, timeout).await?;
            self.limited = Some(operation);
        }
        Ok(())
    }

    /// For statements of which one stores, as a transaction of its own. `None` if the connection may be lost: the
    /// statement needs a transaction, which is repeated if it is.
    pub(super) fn autocommit(&mut self) -> Option<&mut B> {
        if self.answered.elapsed() > TRUST {
            return None;
        }
        self.is_uncommitted = false;
        Some(&mut self.inner)
    }

    /// Begins a transaction with a lock. No statement that could have stored something alone is under way.
    pub(super) async fn begin(&mut self, lock: &str) -> QueryResult<()> {
        self.is_uncommitted = true;
        self.has_lock = !lock.is_empty();
        let begun = self.inner.batch(&format!("BEGIN; {lock}")).await;
        if begun.is_err() {
            self.roll_back().await;
        }
        begun
    }

    async fn roll_back(&mut self) {
        self.has_lock = false;
        let rolled_back = self.inner.batch(B::ROLL_BACK).await;
        self.is_broken = rolled_back.is_err();
    }

    /// Ends a transaction whose statements had this result.
    pub(super) async fn end<T>(&mut self, result: QueryResult<T>) -> QueryResult<T> {
        let last = format!("{}{}", B::STORE_REVISION, B::FORGET_REVISION);
        let result = match result {
            Ok(value) if mem::take(&mut self.has_lock) && !last.is_empty() => {
                self.inner.batch(&last).await.map(|()| value)
            }
            result => result,
        };
        match result {
            Ok(value) => {
                self.is_uncommitted = false;
                let committed = self.inner.batch("COMMIT").await;
                self.is_broken = committed.is_err();
                committed.map(|()| value)
            }
            Err(error) => {
                self.roll_back().await;
                match wrapped(&error) {
                    // It is known now that nothing was stored.
                    Some(Error::Unknown(cause)) if !self.is_broken => {
                        Err(wrap(Error::Unavailable(Arc::clone(cause))))
                    }
                    _ => Err(error),
                }
            }
        }
    }

    /// Whether the connection was lost at an error. The catalogue's own errors, but for unknown outcomes, are found
    /// with an answer of the server.
    pub(super) async fn is_lost(&mut self, error: &DieselError) -> bool {
        if wrapped(error).is_some_and(|own| !matches!(own, Error::Unknown(_))) {
            return false;
        }
        match meaning(error) {
            Some(ErrorClass::Unknown) => return true,
            // The server has answered.
            Some(ErrorClass::Conflict | ErrorClass::Locked | ErrorClass::DiskFull) => return false,
            _ => {}
        }
        let ping = timeout(PING_LIMIT, self.inner.batch("SELECT 1")).await;
        !matches!(ping, Ok(Ok(())))
    }
}
