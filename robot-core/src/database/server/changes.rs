//! Changes of single robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    backend::{Backend, check_deadline},
    batcher::{Attempt, Work},
    connection::Connection,
    limits::{LOCK_FACTOR, Limits, Plans, WRITE_MARGIN, lock_timeout, whole_seconds},
};
use crate::{
    catalogue::{Change, Error, Result},
    database::{errors::wrap, schema::assigned},
    model::{RobotId, ValidChanges, ValidDraft, Violation},
};

/// Changes, each with this timeout.
pub(super) struct Changes {
    pub(super) timeout: Duration,
}

impl<B: Backend> Work<B> for Changes {
    type Item = Change;
    type Output = RobotId;

    const QUEUE: &'static str = "changes";

    const IS_WRITE: bool = true;

    fn limit(&self) -> Duration {
        lock_timeout(self.timeout) + WRITE_MARGIN
    }

    async fn execute(
        &self,
        connection: &mut Connection<B>,
        changes: &[Change],
        attempt: Attempt,
    ) -> QueryResult<Vec<Result<RobotId>>> {
        let lock = self.timeout / LOCK_FACTOR;
        // In a batch, waits for several locks add up.
        let (limit, lock_seconds) = match attempt {
            Attempt::InBatch => (self.timeout / 2, 0),
            Attempt::Alone => (self.timeout, whole_seconds(lock)),
        };
        let limits = Limits {
            statement: limit,
            lock,
            lock_seconds,
            plans: Plans::Index,
        };
        connection.limit(limits).await?;
        let deadline = Instant::now() + limit;
        if let [change] = changes
            && let Some(connection) = connection.autocommit()
        {
            return Ok(vec![connection.apply(change).await?]);
        }
        let groups = Groups::of(changes);
        if B::INSERTS_BY_ONE_STATEMENT
            && groups.are_only_inserts()
            && let Some(connection) = connection.autocommit()
        {
            let mut applied = groups.apply(connection, deadline).await?;
            return Ok(applied.results(changes));
        }
        connection.begin().await?;
        let applied = groups.apply(connection.inner(), deadline).await;
        let mut applied = connection.end(applied).await?;
        Ok(applied.results(changes))
    }
}

/// Applies changes in the same way, all or none of them, with the last statement before the deadline.
pub(super) async fn apply_all<B: Backend>(
    connection: &mut Connection<B>,
    changes: &[Change],
    deadline: Instant,
) -> QueryResult<Vec<RobotId>> {
    connection.begin().await?;
    let groups = Groups::of(changes);
    let ids = groups.apply(connection.inner(), deadline).await;
    let ids = ids.and_then(|mut applied| {
        let ids = applied.results(changes).into_iter();
        ids.collect::<Result<_>>().map_err(wrap)
    });
    connection.end(ids).await
}

/// The changes of a batch by kind: each name once, each id once. They are applied by as few statements as
/// possible: updates, then inserts, then those with a statement of their own, then deletes. None of them has been
/// acknowledged, so that any order is right. Rows of each kind are locked in the order of their names or ids,
/// which makes deadlocks between servers rare.
#[derive(Default)]
struct Groups<'a> {
    inserts: BTreeMap<&'a str, &'a ValidDraft>,
    updates: BTreeMap<RobotId, &'a ValidChanges>,
    deletes: BTreeSet<RobotId>,
    /// Changes with a statement of their own, in the order of those of each robot: further updates, and
    /// changes that expect a revision. Each statement sees the result of the one before.
    separate: BTreeMap<RobotId, Vec<&'a Change>>,
}

/// What was applied.
#[derive(Default)]
struct Applied {
    inserted: HashMap<String, i64>,
    /// The results of the first update of each robot.
    updated: HashMap<RobotId, Result<RobotId>>,
    deleted: HashSet<RobotId>,
    /// The results of the separate changes of each robot, in their order.
    separate: HashMap<RobotId, VecDeque<Result<RobotId>>>,
}

impl<'a> Groups<'a> {
    fn of(changes: &'a [Change]) -> Self {
        let mut groups = Self::default();
        for change in changes {
            match change {
                Change::Insert(draft) => {
                    groups.inserts.entry(draft.name()).or_insert(draft);
                }
                Change::Update(id, changes) if !groups.updates.contains_key(id) => {
                    groups.updates.insert(*id, changes);
                }
                Change::Delete(id) => drop(groups.deletes.insert(*id)),
                Change::Update(id, _) | Change::UpdateIf(id, ..) | Change::DeleteIf(id, _) => {
                    groups.separate.entry(*id).or_default().push(change);
                }
            }
        }
        groups
    }

    fn are_only_inserts(&self) -> bool {
        self.updates.is_empty() && self.deletes.is_empty() && self.separate.is_empty()
    }

    async fn apply<B: Backend>(
        &self,
        connection: &mut B,
        deadline: Instant,
    ) -> QueryResult<Applied> {
        let drafts: Vec<_> = self.inserts.values().copied().collect();
        let updates: Vec<_> = self
            .updates
            .iter()
            .map(|(id, changes)| (*id, *changes))
            .collect();
        let deletes: Vec<_> = self.deletes.iter().copied().collect();
        let mut applied = Applied::default();
        // First: a name that is taken is then held by a committed row, not by one that this transaction has
        // inserted. Otherwise a robot that another transaction deletes meanwhile would have a taken name.
        if !updates.is_empty() {
            let mut updated = connection.update_all(&updates, deadline).await?;
            let result = |(id, _)| match updated.remove(&id) {
                Some(result) => (id, result.map(|()| id)),
                None => (id, Err(Error::NotFound(id))),
            };
            applied.updated = updates.into_iter().map(result).collect();
        }
        if !drafts.is_empty() {
            check_deadline(deadline)?;
            applied.inserted = connection.insert_all(&drafts, deadline).await?;
        }
        for (id, changes) in &self.separate {
            let results = applied.separate.entry(*id).or_default();
            for change in changes {
                check_deadline(deadline)?;
                results.push_back(connection.apply(change).await?);
            }
        }
        if !deletes.is_empty() {
            applied.deleted = connection.delete_all(&deletes, deadline).await?;
        }
        Ok(applied)
    }
}

impl Applied {
    /// The results of changes, in their order.
    fn results(&mut self, changes: &[Change]) -> Vec<Result<RobotId>> {
        changes.iter().map(|change| self.take(change)).collect()
    }

    /// The result of the next change. Of several equal inserts or deletes, the first one succeeded.
    fn take(&mut self, change: &Change) -> Result<RobotId> {
        match change {
            Change::Insert(draft) => match self.inserted.remove(draft.name()) {
                Some(id) => assigned(id),
                None => Err(Violation::NAME_TAKEN.into()),
            },
            Change::Delete(id) if self.deleted.remove(id) => Ok(*id),
            Change::Delete(id) => Err(Error::NotFound(*id)),
            Change::Update(id, _) => match self.updated.remove(id) {
                Some(first) => first,
                None => self.next_separate(*id),
            },
            Change::UpdateIf(id, ..) | Change::DeleteIf(id, _) => self.next_separate(*id),
        }
    }

    fn next_separate(&mut self, id: RobotId) -> Result<RobotId> {
        let results = self.separate.get_mut(&id);
        let result = results.and_then(VecDeque::pop_front);
        result.unwrap_or_else(|| Err(Error::store("a change has no result")))
    }
}

