//! Statements that are executed one at a time: pages, scans and restorations. They have connections of
//! their own, so that they never delay look-ups and changes.

use std::time::Duration;

use super::{
    backend::Backend,
    batcher::{Attempt, Failure, Work},
    connector::Connection,
    limits::{Limits, Plans, READ_MARGIN, SCAN_FACTOR, WRITE_MARGIN, whole_seconds},
};
use crate::catalogue::Result;

/// The kind of a statement, which decides its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Follows an index.
    Page,
    /// May read every name.
    Scan,
    /// Inserts many rows.
    Restore,
}

/// A statement, which may be executed several times, and keeps its result itself.
pub(super) struct Task<B> {
    pub(super) kind: Kind,
    pub(super) statement: Statement<B>,
}

type Statement<B> = Box<dyn Fn(&mut B) -> Result<(), Failure> + Send>;

/// Statements with this timeout.
pub(super) struct Tasks {
    pub(super) timeout: Duration,
}

impl Tasks {
    fn long_limit(&self) -> Duration {
        self.timeout * SCAN_FACTOR
    }
}

impl<B: Backend> Work<B> for Tasks {
    type Item = Task<B>;
    type Output = ();

    const BATCH_LIMIT: usize = 1;

    const OVERLAP_DELAY: Duration = Duration::ZERO;

    fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Those that may take long leave a connection to the others.
    fn first_attempt(&self, task: &Task<B>) -> Attempt {
        match task.kind {
            Kind::Page => Attempt::InBatch,
            Kind::Scan | Kind::Restore => Attempt::Alone,
        }
    }

    fn expiry(&self, task: &Task<B>) -> Option<Duration> {
        (task.kind == Kind::Page).then(|| self.timeout + READ_MARGIN)
    }

    fn execution_limit(&self, task: &Task<B>) -> Duration {
        match task.kind {
            Kind::Page => self.timeout + READ_MARGIN,
            Kind::Scan => self.long_limit(),
            Kind::Restore => self.long_limit() + WRITE_MARGIN,
        }
    }

    fn is_write(&self, task: &Task<B>) -> bool {
        task.kind == Kind::Restore
    }

    fn execute(
        &self,
        connection: &mut Connection<B>,
        tasks: &[Task<B>],
        _: Attempt,
    ) -> Result<Vec<Result<()>>, Failure> {
        let mut results = Vec::with_capacity(tasks.len());
        for task in tasks {
            let connection = connection.limited(Limits {
                statement: match task.kind {
                    Kind::Page => self.timeout,
                    Kind::Scan | Kind::Restore => self.long_limit(),
                },
                lock: self.timeout,
                lock_seconds: whole_seconds(self.timeout),
                plans: Plans::Any,
            })?;
            (task.statement)(connection)?;
            results.push(Ok(()));
        }
        Ok(results)
    }
}
