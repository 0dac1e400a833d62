//! Changes of single robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque, btree_map::Entry},
    mem,
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    backend::{Backend, check_deadline},
    batcher::{Attempt, Failure, Terms, Work, transaction},
    connector::Connection,
    limits::{LOCK_FACTOR, Limits, Plans, WRITE_MARGIN, lock_timeout, whole_seconds},
};
use crate::{
    catalogue::{Change, Error, Result},
    database::{errors::wrap, schema::assigned},
    model::{RobotId, ValidChanges, ValidDraft, Violation},
};

/// The maximum number of rows that a statement inserts. A batch has fewer. MariaDB and MySQL allow 65,535
/// values in a statement, so up to 65 per row.
const ROWS: usize = 1000;

/// Changes, each with this timeout.
pub(super) struct Changes {
    pub(super) timeout: Duration,
}

impl<B: Backend> Work<B> for Changes {
    type Item = Change;
    type Output = RobotId;

    const QUEUE: &'static str = "changes";

    fn terms(&self, _: &Change) -> Terms {
        Terms {
            first_attempt: Attempt::InBatch,
            limit: lock_timeout(self.timeout) + WRITE_MARGIN,
            is_write: true,
        }
    }

    fn execute(
        &self,
        connection: &mut Connection<B>,
        changes: &[Change],
        attempt: Attempt,
    ) -> Result<Vec<Result<RobotId>>, Failure> {
        let lock = self.timeout / LOCK_FACTOR;
        // In a batch, waits for several locks add up.
        let (limit, lock_seconds) = match attempt {
            Attempt::InBatch => (self.timeout / 2, 0),
            Attempt::Alone => (self.timeout, whole_seconds(lock)),
        };
        let connection = connection.limited(Limits {
            statement: limit,
            lock,
            lock_seconds,
            plans: Plans::Index,
        })?;
        match changes {
            [change] => Ok(vec![connection.apply(change)?]),
            _ => apply_batch(connection, changes, Instant::now() + limit),
        }
    }
}

/// Applies the changes of a batch by as few statements as possible: inserts, then updates, then conditional
/// changes, then deletes. None of them has been acknowledged, so that any order is right. Rows of each kind
/// are locked in the order of their names or ids, which makes deadlocks between servers rare.
fn apply_batch<B: Backend>(
    connection: &mut B,
    changes: &[Change],
    deadline: Instant,
) -> Result<Vec<Result<RobotId>>, Failure> {
    let groups = Groups::of(changes);
    let mut applied = if B::INSERTS_BY_ONE_STATEMENT && groups.are_only_inserts() {
        groups.apply(connection, deadline)?
    } else {
        transaction(connection, |connection| groups.apply(connection, deadline))?
    };
    Ok(changes.iter().map(|change| applied.take(change)).collect())
}

/// Applies changes in the same way, all or none of them, with the last statement before the deadline.
pub(super) fn apply_all<B: Backend>(
    connection: &mut B,
    changes: &[Change],
    deadline: Instant,
) -> Result<Vec<RobotId>, Failure> {
    let groups = Groups::of(changes);
    transaction(connection, |connection| {
        let mut applied = groups.apply(connection, deadline)?;
        let ids = changes.iter().map(|change| applied.take(change));
        ids.collect::<Result<_>>().map_err(wrap)
    })
}

/// The changes of a batch by kind: each name once, each id once.
#[derive(Default)]
struct Groups<'a> {
    inserts: BTreeMap<&'a str, &'a ValidDraft>,
    updates: BTreeMap<RobotId, &'a ValidChanges>,
    /// Further changes of the same robots, in their order.
    later_updates: Vec<(RobotId, &'a ValidChanges)>,
    deletes: BTreeSet<RobotId>,
    /// Changes that expect a revision, in the order of those of each robot. Each is a statement of its
    /// own, so that it sees the revision after the one before.
    conditional: BTreeMap<RobotId, Vec<&'a Change>>,
}

/// What was applied.
#[derive(Default)]
struct Applied {
    inserted: HashMap<String, i64>,
    updated: HashMap<RobotId, Result<()>>,
    deleted: HashSet<RobotId>,
    /// The results of the conditional changes of each robot, in their order.
    conditional: HashMap<RobotId, VecDeque<Result<RobotId>>>,
}

impl<'a> Groups<'a> {
    fn of(changes: &'a [Change]) -> Self {
        let mut groups = Self::default();
        for change in changes {
            match change {
                Change::Insert(draft) => {
                    groups.inserts.entry(draft.name()).or_insert(draft);
                }
                Change::Update(id, changes) => match groups.updates.entry(*id) {
                    Entry::Vacant(entry) => drop(entry.insert(changes)),
                    Entry::Occupied(_) => groups.later_updates.push((*id, changes)),
                },
                Change::Delete(id) => drop(groups.deletes.insert(*id)),
                Change::UpdateIf(id, ..) | Change::DeleteIf(id, _) => {
                    groups.conditional.entry(*id).or_default().push(change);
                }
            }
        }
        groups
    }

    fn are_only_inserts(&self) -> bool {
        self.updates.is_empty() && self.deletes.is_empty() && self.conditional.is_empty()
    }

    fn apply<B: Backend>(&self, connection: &mut B, deadline: Instant) -> QueryResult<Applied> {
        let drafts: Vec<_> = self.inserts.values().copied().collect();
        let updates: Vec<_> = self
            .updates
            .iter()
            .map(|(id, changes)| (*id, *changes))
            .collect();
        let deletes: Vec<_> = self.deletes.iter().copied().collect();
        let mut applied = Applied::default();
        for drafts in drafts.chunks(ROWS) {
            check_deadline(deadline)?;
            applied.inserted.extend(connection.insert_all(drafts)?);
        }
        if !updates.is_empty() {
            applied.updated = connection.update_all(&updates, deadline)?;
        }
        for (id, changes) in &self.later_updates {
            check_deadline(deadline)?;
            connection.update(*id, changes)?;
        }
        for (id, changes) in &self.conditional {
            let results = applied.conditional.entry(*id).or_default();
            for change in changes {
                check_deadline(deadline)?;
                results.push_back(connection.apply(change)?);
            }
        }
        if !deletes.is_empty() {
            applied.deleted = connection.delete_all(&deletes, deadline)?;
        }
        Ok(applied)
    }
}

impl Applied {
    /// The result of a change. Of several equal inserts or deletes, the first one succeeded. Of several
    /// updates of a robot, all after the first succeeded.
    fn take(&mut self, change: &Change) -> Result<RobotId> {
        match change {
            Change::Insert(draft) => match self.inserted.remove(draft.name()) {
                Some(id) => assigned(id),
                None => Err(Violation::NameTaken.into()),
            },
            Change::Update(id, _) => match self.updated.get_mut(id) {
                Some(result) => mem::replace(result, Ok(())).map(|()| *id),
                None => Err(Error::NotFound(*id)),
            },
            Change::Delete(id) if self.deleted.remove(id) => Ok(*id),
            Change::Delete(id) => Err(Error::NotFound(*id)),
            Change::UpdateIf(id, ..) | Change::DeleteIf(id, _) => {
                let results = self.conditional.get_mut(id);
                let result = results.and_then(VecDeque::pop_front);
                result.unwrap_or_else(|| Err(Error::store("a change has no result")))
            }
        }
    }
}

#[cfg(all(test, feature = "conformance"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{
        catalogue::OpenOptions,
        conformance::scratch_database,
        database::server::{address::Address, connector::Connector},
        model::{Draft, Robot},
    };

    fn valid(name: &str) -> ValidDraft {
        ValidDraft::new(Draft::new(name, "droid", 1977)).unwrap()
    }

    fn taken_name_fails_only_its_change_of_a_batch<B: Backend>(variable: &str) {
        let options = OpenOptions::new();
        let address = Address::<B>::from_url(&scratch_database(variable), &options).unwrap();
        let mut connection = Connector::open(address, &options)
            .unwrap()
            .connect()
            .unwrap();
        let changes = Changes {
            timeout: options.get_timeout(),
        };
        let mut execute = |batch: &[Change]| {
            let result = changes.execute(&mut connection, batch, Attempt::InBatch);
            result.ok().unwrap()
        };
        let added = execute(&["a", "b", "c"].map(|name| Change::Insert(valid(name))));
        let ids: Vec<_> = added.into_iter().map(Result::unwrap).collect();
        let [a, b, c] = ids[..].try_into().unwrap();
        let renamed = execute(&[
            Change::Update(a, valid("b").into()),
            Change::Update(b, valid("b2").into()),
            Change::Update(a, valid("a2").into()),
            Change::Update(c, valid("c").into()),
            Change::Update(RobotId::new(99).unwrap(), valid("c").into()),
        ]);
        let rejected = renamed.iter().map(|result| match result {
            Ok(_) => "",
            Err(Error::Rejected(_)) => "rejected",
            Err(_) => "not found",
        });
        assert!(rejected.eq(["rejected", "", "", "", "not found"]));
        let robots = [a, b, c].map(|id| connection.inner().get(id).unwrap().unwrap());
        let names: Vec<_> = robots.iter().map(Robot::name).collect();
        assert_eq!(names, ["a2", "b2", "c"]);
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn postgres_taken_name_fails_only_its_change_of_a_batch() {
        taken_name_fails_only_its_change_of_a_batch::<diesel::PgConnection>("TEST_POSTGRES_URL");
    }

    #[cfg(feature = "mysql")]
    #[test]
    fn mysql_taken_name_fails_only_its_change_of_a_batch() {
        taken_name_fails_only_its_change_of_a_batch::<diesel::MysqlConnection>("TEST_MYSQL_URL");
    }
}
