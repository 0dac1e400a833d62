//! Session: a connection to a server on a thread of its own. A driver waits for an answer without a
//! time limit, and a frozen server sends none, so callers must be able to abandon the thread.

use std::{
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use diesel::{
    QueryResult,
    r2d2::R2D2Connection,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::{backend::Backend, errors::is_transient};

/// Work for the thread of a session.
type Job<B> = Box<dyn FnOnce(&mut B) + Send>;

/// A handle on a connection. When it is dropped, the connection is closed; if the server is frozen,
/// as soon as it answers.
pub(super) struct Session<B> {
    /// `None` only while it is dropped.
    jobs: Option<Sender<Job<B>>>,
    thread: Option<JoinHandle<()>>,
    calls: Calls,
    is_lost: bool,
    /// The time limit of statements on the server, if it is known.
    statement_limit: Option<Duration>,
    opened: Instant,
    /// When the connection last answered.
    answered: Instant,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    /// The statement failed, and has changed nothing. The connection is still usable.
    #[error(transparent)]
    Statement(DieselError),
    /// The connection was lost before the answer. What the server did is unknown.
    #[error("the connection was lost: {0}")]
    Lost(DieselError),
    /// There was no answer in time. What the server did, or will do, is unknown.
    #[error("the database did not answer in time")]
    Timeout,
}

/// Counts the threads of sessions, and those that are abandoned, so that a frozen server does not
/// accumulate them. The counts are the reference counts of what each thread holds.
#[derive(Debug, Clone, Default)]
pub(super) struct ThreadTracker {
    threads: Arc<()>,
    calls: Calls,
}

#[derive(Debug, Clone, Default)]
struct Calls {
    /// Held by each call on the thread that executes it.
    executing: Arc<()>,
    /// Held by each caller that waits.
    waiting: Arc<()>,
}

impl<B: R2D2Connection + 'static> Session<B> {
    /// Connects, within a time limit.
    pub(super) fn open<E: Send + 'static>(
        tracker: &ThreadTracker,
        limit: Duration,
        connect: impl FnOnce() -> Result<B, E> + Send + 'static,
    ) -> Result<Result<Self, E>, SessionError> {
        let (jobs, work) = mpsc::channel::<Job<B>>();
        let (connected, connection) = mpsc::sync_channel(1);
        let tracked = Arc::clone(&tracker.threads);
        let spawned = thread::Builder::new()
            .name("robot-session".to_owned())
            .spawn(move || {
                match connect() {
                    // If the caller has given up, the connection is closed.
                    Ok(mut connection) if connected.send(Ok(())).is_ok() => {
                        for job in work {
                            job(&mut connection);
                        }
                    }
                    Ok(_) => {}
                    Err(error) => drop(connected.send(Err(error))),
                }
                drop(tracked);
            });
        let thread = spawned
            .map_err(|error| SessionError::Lost(DieselError::QueryBuilderError(error.into())))?;
        let connected = connection
            .recv_timeout(limit)
            .map_err(|_| SessionError::Timeout)?;
        Ok(connected.map(|()| Self {
            jobs: Some(jobs),
            thread: Some(thread),
            calls: tracker.calls.clone(),
            is_lost: false,
            statement_limit: None,
            opened: Instant::now(),
            answered: Instant::now(),
        }))
    }

    /// Runs work on the connection, and waits for its result up to a time limit. Without a result
    /// the session is lost.
    pub(super) fn run<T: Send + 'static>(
        &mut self,
        limit: Duration,
        work: impl FnOnce(&mut B) -> T + Send + 'static,
    ) -> Result<T, SessionError> {
        let (done, result) = mpsc::sync_channel(1);
        let Calls { executing, waiting } = self.calls.clone();
        let job = move |connection: &mut B| {
            let value = work(connection);
            drop(executing);
            // The caller may have given up.
            let _ = done.send(value);
        };
        let sent = self
            .jobs
            .as_ref()
            .is_some_and(|jobs| jobs.send(Box::new(job)).is_ok());
        let result = if sent {
            result.recv_timeout(limit)
        } else {
            Err(RecvTimeoutError::Disconnected)
        };
        if result.is_ok() {
            self.answered = Instant::now();
        } else {
            self.is_lost = true;
        }
        drop(waiting);
        result.map_err(|_| SessionError::Timeout)
    }

    /// Runs a statement, and waits for its result up to a time limit.
    pub(super) fn execute<T: Send + 'static>(
        &mut self,
        limit: Duration,
        statement: impl FnOnce(&mut B) -> QueryResult<T> + Send + 'static,
    ) -> Result<T, SessionError> {
        let result = self.run(limit, move |connection| {
            statement(connection).map_err(|error| match effect(&error) {
                Effect::None => SessionError::Statement(error),
                Effect::NoneIfConnected if connection.ping().is_ok() => {
                    SessionError::Statement(error)
                }
                Effect::NoneIfConnected | Effect::Unknown => SessionError::Lost(error),
            })
        });
        let result = result.and_then(|result| result);
        if let Err(SessionError::Lost(_)) = result {
            self.is_lost = true;
        }
        result
    }

    /// Closes the connection instead of reusing it.
    pub(super) fn discard(&mut self) {
        self.is_lost = true;
    }

    /// Whether the connection must not be used again.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// When the connection was opened.
    pub(super) fn opened(&self) -> Instant {
        self.opened
    }

    /// When the connection last answered.
    pub(super) fn last_answered(&self) -> Instant {
        self.answered
    }
}

impl<B: Backend> Session<B> {
    /// As [`execute`](Self::execute), with a time limit on the server as well. It is sent only if it
    /// differs from that of the last statement.
    pub(super) fn execute_limited<T: Send + 'static>(
        &mut self,
        statement_limit: Duration,
        limit: Duration,
        statement: impl FnOnce(&mut B) -> QueryResult<T> + Send + 'static,
    ) -> Result<T, SessionError> {
        if self.statement_limit.replace(statement_limit) == Some(statement_limit) {
            return self.execute(limit, statement);
        }
        let result = self.execute(limit, move |connection| {
            connection.limit_statements(statement_limit)?;
            statement(connection)
        });
        if result.is_err() {
            self.statement_limit = None;
        }
        result
    }
}

impl<B> Drop for Session<B> {
    fn drop(&mut self) {
        self.jobs.take();
        // Wait until the connection is closed in an orderly way, unless the server is frozen.
        if let Some(thread) = self.thread.take()
            && !self.is_lost
        {
            // The thread has ended even if it panicked.
            let _ = thread.join();
        }
    }
}

impl ThreadTracker {
    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        Arc::strong_count(&self.threads) - 1
    }

    /// The number of threads that execute a call whose caller has given up.
    pub(super) fn abandoned(&self) -> usize {
        let waiting = Arc::strong_count(&self.calls.waiting);
        Arc::strong_count(&self.calls.executing).saturating_sub(waiting)
    }
}

/// The effect of a statement that failed.
enum Effect {
    /// It changed nothing: the server processed it, and rejected it.
    None,
    /// It may have taken effect.
    Unknown,
    /// It changed nothing, provided that the connection still works.
    NoneIfConnected,
}

fn effect(error: &DieselError) -> Effect {
    let DieselError::DatabaseError(kind, information) = error else {
        return Effect::NoneIfConnected;
    };
    let message = information.message();
    match kind {
        DatabaseErrorKind::UniqueViolation
        | DatabaseErrorKind::CheckViolation
        | DatabaseErrorKind::NotNullViolation => Effect::None,
        DatabaseErrorKind::ClosedConnection => Effect::Unknown,
        // MariaDB's 1180 and 1317: a cluster may have split during a commit.
        _ if message.contains("during COMMIT") || message == "Query execution was interrupted" => {
            Effect::Unknown
        }
        _ if is_transient(error) => Effect::None,
        _ => Effect::NoneIfConnected,
    }
}

#[cfg(all(test, feature = "sqlite"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::Barrier;

    use diesel::{SqliteConnection, prelude::*, sql_query};

    use super::*;
    use crate::catalogue::OpenError;

    const LONG: Duration = Duration::from_secs(10);

    const SHORT: Duration = Duration::from_millis(20);

    /// A session with any connection.
    fn session(tracker: &ThreadTracker) -> Session<SqliteConnection> {
        let connect = || {
            let connection = SqliteConnection::establish(":memory:");
            Ok::<_, OpenError>(connection.unwrap())
        };
        Session::open(tracker, LONG, connect).unwrap().unwrap()
    }

    fn wait_until_ended(tracker: &ThreadTracker) {
        let started = Instant::now();
        while tracker.threads() > 0 {
            assert!(
                started.elapsed() < LONG,
                "{} threads run",
                tracker.threads()
            );
            thread::yield_now();
        }
    }

    #[test]
    fn connection_is_closed_with_its_session() {
        let tracker = ThreadTracker::default();
        let mut session = session(&tracker);
        assert_eq!(session.run(LONG, |_| 42).unwrap(), 42);
        assert!(!session.is_lost());
        assert_eq!((tracker.threads(), tracker.abandoned()), (1, 0));
        drop(session);
        assert_eq!(tracker.threads(), 0);
    }

    #[test]
    fn frozen_connection_is_abandoned_and_ends_later() {
        let tracker = ThreadTracker::default();
        let mut session = session(&tracker);
        let barrier = Arc::new(Barrier::new(2));
        let hanging = Arc::clone(&barrier);
        let error = session.run(SHORT, move |_| {
            hanging.wait();
        });
        assert!(matches!(error, Err(SessionError::Timeout)));
        assert!(session.is_lost());
        drop(session);
        assert_eq!((tracker.threads(), tracker.abandoned()), (1, 1));
        barrier.wait();
        wait_until_ended(&tracker);
    }

    #[test]
    fn frozen_connect_is_abandoned_and_ends_later() {
        let tracker = ThreadTracker::default();
        let barrier = Arc::new(Barrier::new(2));
        let hanging = Arc::clone(&barrier);
        let connect = move || {
            hanging.wait();
            let connection = SqliteConnection::establish(":memory:");
            Ok::<_, OpenError>(connection.unwrap())
        };
        let error = Session::open(&tracker, SHORT, connect);
        assert!(matches!(error, Err(SessionError::Timeout)));
        assert_eq!(tracker.threads(), 1);
        barrier.wait();
        wait_until_ended(&tracker);
    }

    #[test]
    fn failed_statement_keeps_the_session() {
        let mut session = session(&ThreadTracker::default());
        let error = session.execute(LONG, |connection| sql_query("nonsense").execute(connection));
        assert!(matches!(error, Err(SessionError::Statement(_))));
        assert!(!session.is_lost());
    }

    #[test]
    fn panic_loses_only_the_session() {
        let mut session = session(&ThreadTracker::default());
        let error = session.run(LONG, |_| -> u8 { panic!("a bug") });
        assert!(matches!(error, Err(SessionError::Timeout)));
        assert!(session.is_lost());
    }
}
