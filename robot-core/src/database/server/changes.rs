//! Changes of single robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
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
    database::{
        define::KnownDefinition,
        errors::{is_taken, taken, wrap},
        schema::assigned,
    },
    model::{Definition, RobotId, ValidChanges, ValidDraft, Violation},
};

/// Changes, each with this timeout.
pub(super) struct Changes {
    pub(super) timeout: Duration,
    pub(super) definition: Arc<KnownDefinition>,
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
        if self.definition.get().own().next().is_some() {
            // Another process may have changed it.
            self.definition.refresh(connection.inner()).await?;
        }
        let definition = &*self.definition.get();
        if let [change] = changes
            && let Some(connection) = connection.autocommit()
        {
            return Ok(vec![connection.apply_alone(definition, change).await?]);
        }
        let groups = Groups::of::<B>(definition, changes);
        if B::INSERTS_BY_ONE_STATEMENT
            && definition.has_only_unique_names()
            && groups.are_only_inserts()
            && let Some(connection) = connection.autocommit()
        {
            let mut applied = groups.apply(connection, definition, deadline).await?;
            return Ok(applied.results(changes));
        }
        connection.begin().await?;
        let applied = groups.apply(connection.inner(), definition, deadline).await;
        let mut applied = connection.end(applied).await?;
        Ok(applied.results(changes))
    }
}

/// Applies changes in the same way, all or none of them, with the last statement before the deadline.
pub(super) async fn apply_all<B: Backend>(
    connection: &mut Connection<B>,
    definition: &Definition,
    changes: &[Change],
    deadline: Instant,
) -> QueryResult<Vec<RobotId>> {
    connection.begin().await?;
    let groups = Groups::of::<B>(definition, changes);
    let ids = groups.apply(connection.inner(), definition, deadline).await;
    let ids = ids.and_then(|mut applied| {
        let ids = applied.results(changes).into_iter();
        ids.collect::<Result<_>>().map_err(wrap)
    });
    connection.end(ids).await
}

/// The changes of a batch by kind. They are applied by as few statements as
/// possible: updates, then inserts, then those with a statement of their own, then deletes. None of them has been
/// acknowledged, so that any order is right. Rows of each kind are locked in the order of their names or ids,
/// which makes deadlocks between servers rare.
#[derive(Default)]
struct Groups<'a> {
    /// By their names. Each has its place in the batch.
    inserts: Vec<(usize, &'a Change, &'a ValidDraft)>,
    updates: BTreeMap<RobotId, &'a ValidChanges>,
    deletes: BTreeSet<RobotId>,
    /// Changes with a statement of their own, in the order of those of each robot: further updates, updates that
    /// cannot be executed together, and changes that expect a revision. Each statement sees the result of the
    /// one before.
    separate: BTreeMap<RobotId, Vec<&'a Change>>,
}

/// What was applied.
#[derive(Default)]
struct Applied {
    inserted: HashMap<usize, Result<RobotId>>,
    /// The results of the first update of each robot.
    updated: HashMap<RobotId, Result<RobotId>>,
    deleted: HashSet<RobotId>,
    /// The results of the separate changes of each robot, in their order.
    separate: HashMap<RobotId, VecDeque<Result<RobotId>>>,
}

impl<'a> Groups<'a> {
    fn of<B: Backend>(definition: &Definition, changes: &'a [Change]) -> Self {
        let mut groups = Self::default();
        for (index, change) in changes.iter().enumerate() {
            match change {
                Change::Insert(draft) => groups.inserts.push((index, change, draft)),
                Change::Update(id, changes)
                    if !groups.updates.contains_key(id)
                        && !groups.separate.contains_key(id)
                        && B::updates_together(definition, changes) =>
                {
                    groups.updates.insert(*id, changes);
                }
                Change::Delete(id) => drop(groups.deletes.insert(*id)),
                Change::Update(id, _) | Change::UpdateIf(id, ..) | Change::DeleteIf(id, _) => {
                    groups.separate.entry(*id).or_default().push(change);
                }
            }
        }
        // Stable: of inserts of the same name, the first one succeeds.
        groups.inserts.sort_by_key(|(_, _, draft)| draft.name());
        groups
    }

    fn are_only_inserts(&self) -> bool {
        self.updates.is_empty() && self.deletes.is_empty() && self.separate.is_empty()
    }

    async fn apply<B: Backend>(
        &self,
        connection: &mut B,
        definition: &Definition,
        deadline: Instant,
    ) -> QueryResult<Applied> {
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
            let mut updated = connection
                .update_all(definition, &updates, deadline)
                .await?;
            let result = |(id, _)| match updated.remove(&id) {
                Some(result) => (id, result.map(|()| id)),
                None => (id, Err(Error::NotFound(id))),
            };
            applied.updated = updates.into_iter().map(result).collect();
        }
        if !self.inserts.is_empty() {
            check_deadline(deadline)?;
            applied.inserted = self.insert(connection, definition, deadline).await?;
        }
        for (id, changes) in &self.separate {
            let results = applied.separate.entry(*id).or_default();
            for change in changes {
                check_deadline(deadline)?;
                results.push_back(apply_separately(connection, definition, change).await?);
            }
        }
        if !deletes.is_empty() {
            applied.deleted = connection.delete_all(&deletes, deadline).await?;
        }
        Ok(applied)
    }

    async fn insert<B: Backend>(
        &self,
        connection: &mut B,
        definition: &Definition,
        deadline: Instant,
    ) -> QueryResult<HashMap<usize, Result<RobotId>>> {
        let drafts: Vec<_> = self.inserts.iter().map(|(_, _, draft)| *draft).collect();
        let ids = connection.insert_all(definition, &drafts, deadline).await?;
        let mut inserted = HashMap::with_capacity(ids.len());
        for ((index, change, _), id) in self.inserts.iter().zip(ids) {
            let result = match id {
                Some(id) => assigned(id),
                None if definition.has_only_unique_names() => Err(Violation::NAME_TAKEN.into()),
                None => {
                    check_deadline(deadline)?;
                    apply_separately(connection, definition, change).await?
                }
            };
            inserted.insert(*index, result);
        }
        Ok(inserted)
    }
}

/// Applies a change in a transaction, of which a unique value costs nothing but the change.
async fn apply_separately<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    change: &Change,
) -> QueryResult<Result<RobotId>> {
    if matches!(change, Change::DeleteIf(..)) {
        return connection.apply(definition, change).await;
    }
    connection.batch("SAVEPOINT before_change").await?;
    match connection.apply(definition, change).await {
        Err(error) if is_taken(&error) => {
            connection
                .batch("ROLLBACK TO SAVEPOINT before_change")
                .await?;
            match connection.violations(definition, change).await? {
                Some(violations) => Ok(Err(violations.into())),
                None => Ok(Err(taken(&error).ok_or(error)?.into())),
            }
        }
        result => result,
    }
}

impl Applied {
    /// The results of changes, in their order.
    fn results(&mut self, changes: &[Change]) -> Vec<Result<RobotId>> {
        let changes = changes.iter().enumerate();
        changes
            .map(|(index, change)| self.take(index, change))
            .collect()
    }

    /// The result of the next change. Of several equal deletes, the first one succeeded.
    fn take(&mut self, index: usize, change: &Change) -> Result<RobotId> {
        match change {
            Change::Insert(_) => self
                .inserted
                .remove(&index)
                .unwrap_or_else(|| Err(missing())),
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
        result.unwrap_or_else(|| Err(missing()))
    }
}

fn missing() -> Error {
    Error::store("a change has no result")
}

#[cfg(test)]
#[cfg(feature = "conformance")]
mod tests {
    use tokio::runtime::Handle;

    use super::*;
    use crate::{
        catalogue::OpenOptions, conformance::scratch_database,
        database::server::connector::Connector, model::Draft,
    };

    fn valid(name: &str) -> ValidDraft {
        ValidDraft::new(Draft::new(name, "droid", 1977)).unwrap()
    }

    /// Two connections to a new catalogue.
    async fn connections<B: Backend>(variable: &str) -> [Connection<B>; 2] {
        let url = scratch_database(variable);
        let connector = Connector::open(&url, &OpenOptions::new(), &Handle::current()).await;
        let connector = connector.unwrap();
        [
            connector.connect().await.unwrap(),
            connector.connect().await.unwrap(),
        ]
    }

    async fn execute<B: Backend>(
        connection: &mut Connection<B>,
        batch: &[Change],
    ) -> Vec<Result<RobotId>> {
        // Locks are awaited for seconds.
        let changes = Changes {
            timeout: Duration::from_secs(60),
            definition: Arc::default(),
        };
        let result = changes.execute(connection, batch, Attempt::InBatch).await;
        result.ok().unwrap()
    }

    async fn add<B: Backend, const N: usize>(
        connection: &mut Connection<B>,
        names: [&str; N],
    ) -> [RobotId; N] {
        let inserts = names.map(|name| Change::Insert(valid(name)));
        let added = execute(connection, &inserts).await;
        let ids: Vec<_> = added.into_iter().map(Result::unwrap).collect();
        ids[..].try_into().unwrap()
    }

    async fn taken_name_fails_only_its_change_of_a_batch<B: Backend>(variable: &str) {
        let [mut connection, _] = connections::<B>(variable).await;
        let [a, b, c] = add(&mut connection, ["a", "b", "c"]).await;
        let batch = [
            Change::Update(a, valid("b").into()),
            Change::Update(b, valid("b2").into()),
            Change::Update(a, valid("a2").into()),
            Change::Update(c, valid("c").into()),
            Change::Update(RobotId::new(99).unwrap(), valid("c").into()),
        ];
        let renamed = execute(&mut connection, &batch).await;
        let rejected = renamed.iter().map(|result| match result {
            Ok(_) => "",
            Err(Error::Rejected(_)) => "rejected",
            Err(_) => "not found",
        });
        assert!(rejected.eq(["rejected", "", "", "", "not found"]));
        let mut names = Vec::new();
        for id in [a, b, c] {
            let robot = connection.inner().get(id).await.unwrap().unwrap();
            names.push(robot.name().to_owned());
        }
        assert_eq!(names, ["a2", "b2", "c"]);
    }

    async fn update_to_the_name_of_an_insert_precedes_it<B: Backend>(variable: &str) {
        let [mut connection, _] = connections::<B>(variable).await;
        let [a] = add(&mut connection, ["a"]).await;
        let batch = [
            Change::Insert(valid("b")),
            Change::Update(a, valid("b").into()),
        ];
        let results = execute(&mut connection, &batch).await;
        assert!(matches!(results[0], Err(Error::Rejected(_))));
        assert_eq!(*results[1].as_ref().unwrap(), a);
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn postgres_update_to_the_name_of_an_insert_precedes_it() {
        update_to_the_name_of_an_insert_precedes_it::<diesel_async::AsyncPgConnection>(
            "TEST_POSTGRES_URL",
        )
        .await;
    }

    #[cfg(feature = "mysql")]
    #[tokio::test]
    async fn mysql_update_to_the_name_of_an_insert_precedes_it() {
        update_to_the_name_of_an_insert_precedes_it::<diesel_async::AsyncMysqlConnection>(
            "TEST_MYSQL_URL",
        )
        .await;
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn postgres_taken_name_fails_only_its_change_of_a_batch() {
        taken_name_fails_only_its_change_of_a_batch::<diesel_async::AsyncPgConnection>(
            "TEST_POSTGRES_URL",
        )
        .await;
    }

    #[cfg(feature = "mysql")]
    #[tokio::test]
    async fn mysql_taken_name_fails_only_its_change_of_a_batch() {
        taken_name_fails_only_its_change_of_a_batch::<diesel_async::AsyncMysqlConnection>(
            "TEST_MYSQL_URL",
        )
        .await;
    }

    /// The batch finds the new name taken before it waits for the deletion. On MariaDB no batch waits.
    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn postgres_second_update_after_a_deletion_returns_not_found() {
        use diesel::{dsl::sql, select, sql_types::BigInt};
        use diesel_async::RunQueryDsl;

        use crate::database::statements::Statements;

        let [mut connection, mut deleting] =
            connections::<diesel_async::AsyncPgConnection>("TEST_POSTGRES_URL").await;
        let [a, _] = add(&mut connection, ["a", "b"]).await;
        let batch = [
            Change::Update(a, valid("b").into()),
            Change::Update(a, valid("a2").into()),
        ];
        deleting.begin().await.unwrap();
        assert_eq!(deleting.inner().delete(a).await.unwrap(), 1);
        let updating = tokio::spawn(async move { execute(&mut connection, &batch).await });
        let waiting = "(SELECT count(*) FROM pg_locks \
                       WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)))";
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let waiting = select(sql::<BigInt>(waiting)).get_result::<i64>(deleting.inner());
            if waiting.await.unwrap() > 0 {
                break;
            }
            assert!(Instant::now() < deadline, "no session waits");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        deleting.end(Ok(())).await.unwrap();
        let updated = updating.await.unwrap();
        assert!(matches!(updated[0], Err(Error::Rejected(_))));
        assert!(matches!(updated[1], Err(Error::NotFound(_))));
    }
}
