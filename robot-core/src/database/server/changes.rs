//! Changes of single robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    backend::{Backend, check_deadline},
    batcher::{Attempt, BatchFailure, Terms, Work, transaction},
    connector::Connection,
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
    ) -> Result<Vec<Result<RobotId>>, BatchFailure> {
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
        let connection = connection.limited(limits).map_err(BatchFailure::unsent)?;
        match changes {
            [change] => Ok(vec![connection.apply(change)?]),
            _ => apply_batch(connection, changes, Instant::now() + limit),
        }
    }
}

/// Applies the changes of a batch by as few statements as possible: updates, then inserts, then those with
/// a statement of their own, then deletes. None of them has been acknowledged, so that any order is right.
/// Rows of each kind are locked in the order of their names or ids, which makes deadlocks between servers
/// rare.
fn apply_batch<B: Backend>(
    connection: &mut B,
    changes: &[Change],
    deadline: Instant,
) -> Result<Vec<Result<RobotId>>, BatchFailure> {
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
) -> Result<Vec<RobotId>, BatchFailure> {
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

    fn apply<B: Backend>(&self, connection: &mut B, deadline: Instant) -> QueryResult<Applied> {
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
            let mut updated = connection.update_all(&updates, deadline)?;
            let result = |(id, _)| match updated.remove(&id) {
                Some(result) => (id, result.map(|()| id)),
                None => (id, Err(Error::NotFound(id))),
            };
            applied.updated = updates.into_iter().map(result).collect();
        }
        if !drafts.is_empty() {
            check_deadline(deadline)?;
            applied.inserted = connection.insert_all(&drafts, deadline)?;
        }
        for (id, changes) in &self.separate {
            let results = applied.separate.entry(*id).or_default();
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

    /// Two connections to a new catalogue.
    fn connections<B: Backend>(variable: &str) -> [Connection<B>; 2] {
        let options = OpenOptions::new();
        let address = Address::<B>::from_url(&scratch_database(variable), &options).unwrap();
        let connector = Connector::open(address, &options).unwrap();
        [(); 2].map(|()| connector.connect().unwrap())
    }

    fn execute<B: Backend>(
        connection: &mut Connection<B>,
        batch: &[Change],
    ) -> Vec<Result<RobotId>> {
        // Locks are awaited for seconds.
        let changes = Changes {
            timeout: Duration::from_secs(60),
        };
        let result = changes.execute(connection, batch, Attempt::InBatch);
        result.ok().unwrap()
    }

    fn add<B: Backend, const N: usize>(
        connection: &mut Connection<B>,
        names: [&str; N],
    ) -> [RobotId; N] {
        let inserts = names.map(|name| Change::Insert(valid(name)));
        let added = execute(connection, &inserts);
        let ids: Vec<_> = added.into_iter().map(Result::unwrap).collect();
        ids[..].try_into().unwrap()
    }

    fn taken_name_fails_only_its_change_of_a_batch<B: Backend>(variable: &str) {
        let [mut connection, _] = connections::<B>(variable);
        let [a, b, c] = add(&mut connection, ["a", "b", "c"]);
        let batch = [
            Change::Update(a, valid("b").into()),
            Change::Update(b, valid("b2").into()),
            Change::Update(a, valid("a2").into()),
            Change::Update(c, valid("c").into()),
            Change::Update(RobotId::new(99).unwrap(), valid("c").into()),
        ];
        let renamed = execute(&mut connection, &batch);
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

    fn update_to_the_name_of_an_insert_precedes_it<B: Backend>(variable: &str) {
        let [mut connection, _] = connections::<B>(variable);
        let [a] = add(&mut connection, ["a"]);
        let batch = [
            Change::Insert(valid("b")),
            Change::Update(a, valid("b").into()),
        ];
        let results = execute(&mut connection, &batch);
        assert!(matches!(results[0], Err(Error::Rejected(_))));
        assert_eq!(*results[1].as_ref().unwrap(), a);
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn postgres_update_to_the_name_of_an_insert_precedes_it() {
        update_to_the_name_of_an_insert_precedes_it::<diesel::PgConnection>("TEST_POSTGRES_URL");
    }

    #[cfg(feature = "mysql")]
    #[test]
    fn mysql_update_to_the_name_of_an_insert_precedes_it() {
        update_to_the_name_of_an_insert_precedes_it::<diesel::MysqlConnection>("TEST_MYSQL_URL");
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

    /// The batch finds the new name taken before it waits for the deletion. On MariaDB no batch waits.
    #[cfg(feature = "postgres")]
    #[test]
    fn postgres_second_update_after_a_deletion_returns_not_found() {
        use std::thread;

        use diesel::{
            Connection, PgConnection, RunQueryDsl, dsl::sql, result::Error as DieselError, select,
            sql_types::BigInt,
        };

        use crate::database::statements::Statements;

        let [mut connection, mut deleting] = connections::<PgConnection>("TEST_POSTGRES_URL");
        let [a, _] = add(&mut connection, ["a", "b"]);
        let batch = [
            Change::Update(a, valid("b").into()),
            Change::Update(a, valid("a2").into()),
        ];
        let updated = thread::scope(|scope| {
            let mut updating = None;
            let deleted = deleting.inner().transaction(|transaction| {
                let deleted = transaction.delete(a)?;
                updating = Some(scope.spawn(|| execute(&mut connection, &batch)));
                let waiting = "(SELECT count(*) FROM pg_locks \
                               WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)))";
                let deadline = Instant::now() + Duration::from_secs(30);
                while select(sql::<BigInt>(waiting)).get_result::<i64>(transaction)? == 0 {
                    assert!(Instant::now() < deadline, "no session waits");
                    thread::sleep(Duration::from_millis(1));
                }
                Ok::<_, DieselError>(deleted)
            });
            assert_eq!(deleted.unwrap(), 1);
            updating.unwrap().join().unwrap()
        });
        assert!(matches!(updated[0], Err(Error::Rejected(_))));
        assert!(matches!(updated[1], Err(Error::NotFound(_))));
    }
}
