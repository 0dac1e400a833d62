//! A connection to a server, on a thread of its own: a driver waits for an answer as long as
//! it takes, and a server that hangs gives none, so whoever waits for the driver must be able
//! to leave it behind.

use std::{
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::{connection::AnyConnection, failure::is_passing, queries};

/// Work for the thread of a session.
type Job = Box<dyn FnOnce(&mut AnyConnection) + Send>;

/// A handle on a connection, which is closed when the handle is dropped and the statement
/// under way, if any, has ended.
pub(super) struct Session {
    jobs: Sender<Job>,
    is_lost: bool,
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

/// Counts threads that may be stuck, so that a server that hangs for days does not gather them.
#[derive(Debug, Clone, Default)]
pub(super) struct Crew(Arc<()>);

impl Session {
    /// Connects, within a limit of time.
    pub(super) fn open<E: Send + 'static>(
        crew: &Crew,
        limit: Duration,
        connect: impl FnOnce() -> Result<AnyConnection, E> + Send + 'static,
    ) -> Result<Result<Self, E>, Failed> {
        let (jobs, work) = mpsc::channel::<Job>();
        let (connected, connection) = mpsc::sync_channel(1);
        let member = crew.clone();
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
        spawned.map_err(|error| Failed::Statement(DieselError::QueryBuilderError(error.into())))?;
        let connected = connection.recv_timeout(limit).map_err(|_| Failed::Silent)?;
        Ok(connected.map(|()| Self {
            jobs,
            is_lost: false,
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
        let job = move |connection: &mut AnyConnection| {
            // Nobody may wait any more.
            let _ = done.send(work(connection));
        };
        let result = match self.jobs.send(Box::new(job)) {
            Ok(()) => result.recv_timeout(limit),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        if result.is_ok() {
            self.good = Instant::now();
        } else {
            self.is_lost = true;
        }
        result.map_err(|_| Failed::Silent)
    }

    /// Runs a statement, and waits for its result within a limit of time.
    pub(super) fn execute<T: Send + 'static>(
        &mut self,
        limit: Duration,
        statement: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Send + 'static,
    ) -> Result<T, Failed> {
        let outcome = self.run(limit, move |connection| {
            statement(connection).map_err(|error| {
                if is_an_answer(&error) || queries::probe(connection).is_ok() {
                    Failed::Statement(error)
                } else {
                    Failed::Lost(error)
                }
            })
        });
        let outcome = outcome.and_then(|result| result);
        if let Err(Failed::Lost(_)) = outcome {
            self.is_lost = true;
        }
        outcome
    }

    /// Makes the connection one that is closed instead of used again.
    pub(super) fn give_up(&mut self) {
        self.is_lost = true;
    }

    /// Whether the connection is of no use any more.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// When the connection was last known to be good.
    pub(super) fn last_good(&self) -> Instant {
        self.good
    }
}

impl Crew {
    /// How many threads there are.
    pub(super) fn size(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// Whether only a server that understood the statement, and did not do it, can have answered
/// so.
fn is_an_answer(error: &DieselError) -> bool {
    let DieselError::DatabaseError(kind, _) = error else {
        return false;
    };
    match kind {
        DatabaseErrorKind::UniqueViolation
        | DatabaseErrorKind::CheckViolation
        | DatabaseErrorKind::NotNullViolation => true,
        DatabaseErrorKind::ClosedConnection => false,
        _ => is_passing(error),
    }
}
