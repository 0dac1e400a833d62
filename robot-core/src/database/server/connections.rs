//! Connections of a purpose, used again after use, and the meaning of failures on them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};
use tokio::time::{error::Elapsed, sleep};

use super::{
    backend::Backend,
    connection::Connection,
    connector::{Connector, NoAnswer},
    errors::{classify, is_conflict, is_read_only},
};
use crate::{catalogue::Error, database::locks::lock};

/// The pause after a failure to connect. Shorter costs more during an outage; longer delays the first
/// requests after it.
const CONNECT_PAUSE: Duration = Duration::from_millis(100);

/// How often a call that needs a connection looks for one. Shorter costs more during an outage; longer delays
/// the first requests.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

pub(super) struct Connections<B: Backend> {
    connector: Arc<Connector<B>>,
    /// Those that are not used, the last one first.
    idle: Mutex<Vec<Connection<B>>>,
    /// Held by the attempt to connect.
    attempt: Arc<tokio::sync::Mutex<()>>,
}

/// Why statements failed.
pub(super) enum Failure {
    /// They may have taken effect, or their time is up.
    Final(Error),
    /// They are not at fault, and have changed nothing: the connection was lost, or another transaction
    /// conflicted with them.
    External(Error),
    /// They have changed nothing, and may succeed if they are repeated.
    Repeatable(Error),
    /// They have changed nothing.
    Rejected(Error),
}

impl Failure {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Final(error)
            | Self::External(error)
            | Self::Repeatable(error)
            | Self::Rejected(error) => error,
        }
    }
}

impl<B: Backend> Connections<B> {
    pub(super) fn new(connector: &Arc<Connector<B>>) -> Arc<Self> {
        Arc::new(Self {
            connector: Arc::clone(connector),
            idle: Mutex::default(),
            attempt: Arc::default(),
        })
    }

    /// A connection, as soon as one is not used any more or the server accepts a new one; `None` once it is not
    /// needed any more.
    ///
    /// One attempt to connect is made at a time, in a task of its own: a caller that gives up does not end it, so
    /// that it reaches a host that is listed after one that hangs.
    pub(super) async fn open(
        self: &Arc<Self>,
        is_needed: impl Fn() -> bool,
    ) -> Option<Connection<B>> {
        while is_needed() {
            if let Some(idle) = self.idle() {
                return Some(idle);
            }
            if let Ok(attempt) = Arc::clone(&self.attempt).try_lock_owned() {
                let connections = Arc::clone(self);
                tokio::spawn(async move {
                    match connections.connector.connect().await {
                        Some(new) => connections.keep(new),
                        None => sleep(CONNECT_PAUSE).await,
                    }
                    drop(attempt);
                });
            }
            sleep(LOOK_INTERVAL).await;
        }
        None
    }

    fn idle(&self) -> Option<Connection<B>> {
        let epoch = self.connector.epoch();
        let mut idle = lock(&self.idle);
        idle.retain(|connection| connection.epoch == epoch && !connection.is_unneeded());
        idle.pop()
    }

    /// Keeps a connection for the next use.
    pub(super) fn keep(&self, connection: Connection<B>) {
        let mut idle = lock(&self.idle);
        idle.push(connection);
        idle.retain(|connection| !connection.is_unneeded());
    }

    /// Closes those that are not used.
    pub(super) fn close(&self) {
        lock(&self.idle).clear();
    }

    /// The result of statements, which may have taken too long. Keeps the connection unless it is lost.
    pub(super) async fn settle<T>(
        &self,
        mut connection: Connection<B>,
        result: Result<QueryResult<T>, Elapsed>,
        is_write: bool,
    ) -> Result<T, Failure> {
        let error = match result {
            Ok(Ok(value)) => {
                connection.note_answer();
                self.keep(connection);
                return Ok(value);
            }
            Ok(Err(error)) => error,
            Err(_) => {
                self.connector.replace_all();
                return Err(Failure::Final(
                    if is_write && !connection.is_uncommitted() {
                        Error::unknown(NoAnswer)
                    } else {
                        Error::unavailable(NoAnswer)
                    },
                ));
            }
        };
        if is_read_only(&error) {
            self.connector.replace_demoted();
        }
        if connection.is_lost(&error).await {
            self.connector.replace_all();
            return Err(if is_write && !connection.is_uncommitted() {
                Failure::Final(Error::unknown(error))
            } else {
                Failure::External(Error::unavailable(error))
            });
        }
        if !connection.is_broken() {
            connection.note_answer();
            self.keep(connection);
        }
        Err(failure(error))
    }
}

/// What an error of the server means.
fn failure(error: DieselError) -> Failure {
    let is_conflict = is_conflict(&error);
    // Localized messages have no specific kind, so an unknown error may be a deadlock. A taken id was
    // assigned by the server itself. Both are repeated.
    let is_unexplained = matches!(
        error,
        DieselError::DatabaseError(
            DatabaseErrorKind::Unknown | DatabaseErrorKind::UniqueViolation,
            _
        )
    );
    match classify(error) {
        error @ Error::Unknown(_) => Failure::Final(error),
        error if is_conflict => Failure::External(error),
        error @ Error::Unavailable(_) => Failure::Repeatable(error),
        error @ Error::Store(_) if is_unexplained => Failure::Repeatable(error),
        error => Failure::Rejected(error),
    }
}
