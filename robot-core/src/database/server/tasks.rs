//! Statements that are executed one at a time: pages, scans, and changes of many robots. They have connections of
//! their own, so that they never delay look-ups and changes.

use std::{any::Any, time::Duration};

use super::{
    backend::Backend,
    batcher::{Attempt, BatchFailure, Terms, Work},
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
    /// Changes many rows.
    Write,
}

/// A statement, which may be executed several times.
pub(super) struct Task<B> {
    pub(super) kind: Kind,
    pub(super) statement: Statement<B>,
}

type Statement<B> = Box<dyn Fn(&mut B) -> Result<Value, BatchFailure> + Send>;

/// The result of a statement, which has a type of its own.
pub(super) type Value = Box<dyn Any + Send>;

/// Statements with this timeout.
pub(super) struct Tasks {
    pub(super) timeout: Duration,
}

impl Tasks {
    /// How long a statement may take.
    pub(super) fn limit(&self, kind: Kind) -> Duration {
        match kind {
            Kind::Page => self.timeout,
            Kind::Scan | Kind::Write => self.timeout * SCAN_FACTOR,
        }
    }
}

impl<B: Backend> Work<B> for Tasks {
    type Item = Task<B>;
    type Output = Value;

    const QUEUE: &'static str = "tasks";

    const BATCH_LIMIT: usize = 1;

    /// Those that may take long leave a connection to the others.
    fn terms(&self, task: &Task<B>) -> Terms {
        let (first_attempt, margin) = match task.kind {
            Kind::Page => (Attempt::InBatch, READ_MARGIN),
            Kind::Scan => (Attempt::Alone, READ_MARGIN),
            Kind::Write => (Attempt::Alone, WRITE_MARGIN),
        };
        Terms {
            first_attempt,
            limit: self.limit(task.kind) + margin,
            is_write: task.kind == Kind::Write,
        }
    }

    fn execute(
        &self,
        connection: &mut Connection<B>,
        tasks: &[Task<B>],
        _: Attempt,
    ) -> Result<Vec<Result<Value>>, BatchFailure> {
        let mut results = Vec::with_capacity(tasks.len());
        for task in tasks {
            let limits = Limits {
                statement: self.limit(task.kind),
                lock: self.timeout,
                lock_seconds: whole_seconds(self.timeout),
                plans: Plans::Any,
            };
            let connection = connection.limited(limits).map_err(BatchFailure::unsent)?;
            results.push(Ok((task.statement)(connection)?));
        }
        Ok(results)
    }
}
