//! A connection to a server, on a thread of its own: a driver waits for an answer as long as
//! it takes, and a server that hangs gives none, so whoever waits for the driver must be able
//! to leave it behind.

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

use super::{connection::AnyConnection, failure::is_passing};

/// Work for the thread of a session.
type Job = Box<dyn FnOnce(&mut AnyConnection) + Send>;

/// A handle on a connection. When it is dropped, the connection is closed; one that hangs, as
/// soon as it does not any more.
pub(super) struct Session {
    /// Taken only to let the thread end.
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    work: Work,
    is_lost: bool,
    /// How long the server lets a statement take, where that is known.
    allowed: Option<Duration>,
    opened: Instant,
    /// When the connection was last known to be good.
    good: Instant,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    /// The statement failed, and has changed nothing. The connection is as good as before.
    #[error(transparent)]
    Statement(DieselError),
    /// The connection was lost before the answer. What the server did is unknown.
    #[error("the connection was lost: {0}")]
    Lost(DieselError),
    /// There was no answer in time. What the server did, or is going to do, is unknown.
    #[error("the database did not answer in time")]
    Silent,
}

/// Counts threads, and those that are stuck, so that a server that hangs for days does not
/// gather them. The number is that of the copies which they hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Crew {
    members: Arc<()>,
    work: Work,
}

#[derive(Debug, Clone, Default)]
struct Work {
    under_way: Arc<()>,
    waited_for: Arc<()>,
}

impl Session {
    /// Connects, within a limit of time.
    pub(super) fn open<E: Send + 'static>(
        crew: &Crew,
        limit: Duration,
        connect: impl FnOnce() -> Result<AnyConnection, E> + Send + 'static,
    ) -> Result<Result<Self, E>, Failed> {
        let (jobs, work) = mpsc::channel::<Job>();
        let (connected, connection) = mpsc::sync_channel(1);
        let member = Arc::clone(&crew.members);
        let spawned = thread::Builder::new()
            .name("robot-session".to_owned())
            .spawn(move || {
                match connect() {
                    // Where nobody waits any more, the connection is of no use.
                    Ok(mut connection) if connected.send(Ok(())).is_ok() => {
                        for job in work {
                            job(&mut connection);
                        }
                    }
                    Ok(_) => {}
                    Err(error) => drop(connected.send(Err(error))),
                }
                drop(member);
            });
        let thread =
            spawned.map_err(|error| Failed::Lost(DieselError::QueryBuilderError(error.into())))?;
        let connected = connection.recv_timeout(limit).map_err(|_| Failed::Silent)?;
        Ok(connected.map(|()| Self {
            jobs: Some(jobs),
            thread: Some(thread),
            work: crew.work.clone(),
            is_lost: false,
            allowed: None,
            opened: Instant::now(),
            good: Instant::now(),
        }))
    }

    /// Lets the connection work, and waits for the result within a limit of time. Without one
    /// the session is lost.
    pub(super) fn run<T: Send + 'static>(
        &mut self,
        limit: Duration,
        work: impl FnOnce(&mut AnyConnection) -> T + Send + 'static,
    ) -> Result<T, Failed> {
        let (done, result) = mpsc::sync_channel(1);
        let Work {
            under_way,
            waited_for,
        } = self.work.clone();
        let job = move |connection: &mut AnyConnection| {
            let value = work(connection);
            drop(under_way);
            // Nobody may wait any more.
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
            self.good = Instant::now();
        } else {
            self.is_lost = true;
        }
        drop(waited_for);
        result.map_err(|_| Failed::Silent)
    }

    /// Runs a statement, and waits for its result within a limit of time.
    pub(super) fn execute<T: Send + 'static>(
        &mut self,
        limit: Duration,
        statement: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Send + 'static,
    ) -> Result<T, Failed> {
        let result = self.run(limit, move |connection| {
            statement(connection).map_err(|error| match outcome(&error) {
                Outcome::NotDone => Failed::Statement(error),
                Outcome::Unclear if connection.ping().is_ok() => Failed::Statement(error),
                Outcome::Unclear | Outcome::InDoubt => Failed::Lost(error),
            })
        });
        let result = result.and_then(|result| result);
        if let Err(Failed::Lost(_)) = result {
            self.is_lost = true;
        }
        result
    }

    /// As [`execute`](Self::execute), with a limit of time on the server's side, too, which is told
    /// only where it is another than that of the statement before.
    pub(super) fn execute_allowing<T: Send + 'static>(
        &mut self,
        allowed: Duration,
        limit: Duration,
        statement: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Send + 'static,
    ) -> Result<T, Failed> {
        if self.allowed.replace(allowed) == Some(allowed) {
            return self.execute(limit, statement);
        }
        let result = self.execute(limit, move |connection| {
            connection.limit_statements(allowed)?;
            statement(connection)
        });
        if result.is_err() {
            self.allowed = None;
        }
        result
    }

    /// Makes the connection one that is closed instead of used again.
    pub(super) fn give_up(&mut self) {
        self.is_lost = true;
    }

    /// Whether the connection is of no use any more.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// When the connection was made.
    pub(super) fn opened(&self) -> Instant {
        self.opened
    }

    /// When the connection was last known to be good.
    pub(super) fn last_good(&self) -> Instant {
        self.good
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.jobs.take();
        // A server is told that its client leaves; one that hangs is not waited for.
        if let Some(thread) = self.thread.take()
            && !self.is_lost
        {
            // A thread that panicked has nothing more to do, either.
            let _ = thread.join();
        }
    }
}

impl Crew {
    /// How many threads there are.
    pub(super) fn size(&self) -> usize {
        Arc::strong_count(&self.members) - 1
    }

    /// How many threads are at work that nobody waits for any more.
    pub(super) fn stuck(&self) -> usize {
        let waited_for = Arc::strong_count(&self.work.waited_for);
        Arc::strong_count(&self.work.under_way).saturating_sub(waited_for)
    }
}

/// What the failure of a statement says about its doing.
enum Outcome {
    /// Only a server that understood the statement, and did not do it, can have answered so.
    NotDone,
    /// It may have been done all the same.
    InDoubt,
    /// It was not done, provided that the connection is still good.
    Unclear,
}

fn outcome(error: &DieselError) -> Outcome {
    let DieselError::DatabaseError(kind, information) = error else {
        return Outcome::Unclear;
    };
    let words = information.message();
    match kind {
        DatabaseErrorKind::UniqueViolation
        | DatabaseErrorKind::CheckViolation
        | DatabaseErrorKind::NotNullViolation => Outcome::NotDone,
        DatabaseErrorKind::ClosedConnection => Outcome::InDoubt,
        // MariaDB's 1180 and 1317: a cluster may have gone apart in the middle of a commit.
        _ if words.contains("during COMMIT") || words == "Query execution was interrupted" => {
            Outcome::InDoubt
        }
        _ if is_passing(error) => Outcome::NotDone,
        _ => Outcome::Unclear,
    }
}

#[cfg(all(test, feature = "sqlite"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::Barrier;

    use diesel::{SqliteConnection, prelude::*, sql_query};

    use super::*;
    use crate::error::OpenError;

    const LONG: Duration = Duration::from_secs(10);

    const SHORT: Duration = Duration::from_millis(20);

    /// The thread of a session does not care what it is connected to.
    fn session(crew: &Crew) -> Session {
        let connect = || {
            let connection = SqliteConnection::establish(":memory:");
            Ok::<_, OpenError>(AnyConnection::Sqlite(connection.unwrap()))
        };
        Session::open(crew, LONG, connect).unwrap().unwrap()
    }

    fn wait_until_gone(crew: &Crew) {
        let started = Instant::now();
        while crew.size() > 0 {
            assert!(started.elapsed() < LONG, "{} are left", crew.size());
            thread::yield_now();
        }
    }

    #[test]
    fn a_connection_ends_with_its_session() {
        let crew = Crew::default();
        let mut session = session(&crew);
        assert_eq!(session.run(LONG, |_| 42).unwrap(), 42);
        assert!(!session.is_lost());
        assert_eq!((crew.size(), crew.stuck()), (1, 0));
        drop(session);
        assert_eq!(crew.size(), 0);
    }

    #[test]
    fn a_connection_that_hangs_is_left_behind_and_ends_when_it_can() {
        let crew = Crew::default();
        let mut session = session(&crew);
        let barrier = Arc::new(Barrier::new(2));
        let hanging = Arc::clone(&barrier);
        let failed = session.run(SHORT, move |_| {
            hanging.wait();
        });
        assert!(matches!(failed, Err(Failed::Silent)));
        assert!(session.is_lost());
        drop(session);
        assert_eq!((crew.size(), crew.stuck()), (1, 1));
        barrier.wait();
        wait_until_gone(&crew);
    }

    #[test]
    fn connecting_that_hangs_is_left_behind_and_ends_when_it_can() {
        let crew = Crew::default();
        let barrier = Arc::new(Barrier::new(2));
        let hanging = Arc::clone(&barrier);
        let connect = move || {
            hanging.wait();
            let connection = SqliteConnection::establish(":memory:");
            Ok::<_, OpenError>(AnyConnection::Sqlite(connection.unwrap()))
        };
        let failed = Session::open(&crew, SHORT, connect);
        assert!(matches!(failed, Err(Failed::Silent)));
        assert_eq!(crew.size(), 1);
        barrier.wait();
        wait_until_gone(&crew);
    }

    #[test]
    fn a_failure_on_a_connection_that_is_good_is_that_of_the_statement() {
        let mut session = session(&Crew::default());
        let failed = session.execute(LONG, |connection| sql_query("nonsense").execute(connection));
        assert!(matches!(failed, Err(Failed::Statement(_))));
        assert!(!session.is_lost());
    }

    #[test]
    fn a_bug_costs_the_session_and_nothing_else() {
        let mut session = session(&Crew::default());
        let failed = session.run(LONG, |_| -> u8 { panic!("a bug") });
        assert!(matches!(failed, Err(Failed::Silent)));
        assert!(session.is_lost());
    }
}
