//! Changes of single robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    collections::BTreeMap,
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
    catalogue::{Change, Result},
    database::{
        define::KnownDefinition,
        errors::{is_taken, wrap},
        schema::assigned,
        statements::{self, apply_alone, rejection},
    },
    model::{Definition, RobotId, ValidDraft, Violation},
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
            return Ok(vec![apply_alone(connection, definition, change).await?]);
        }
        let are_inserts = changes.iter().all(|change| change.id().is_none());
        if B::INSERTS_BY_ONE_STATEMENT
            && definition.has_only_unique_names()
            && are_inserts
            && let Some(connection) = connection.autocommit()
        {
            return apply(connection, definition, changes, deadline).await;
        }
        connection.begin().await?;
        let results = apply(connection.inner(), definition, changes, deadline).await;
        connection.end(results).await
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
    let results = apply(connection.inner(), definition, changes, deadline).await;
    let ids = results.and_then(|results| {
        let ids: Result<_> = results.into_iter().collect();
        ids.map_err(wrap)
    });
    connection.end(ids).await
}

/// Applies changes in a transaction, by as few statements as possible: updates, changes with a statement of their
/// own, and inserts. None of them has been acknowledged, so that any order is right. Rows are locked in the order of
/// their ids, and names are inserted in their order, which makes deadlocks between servers rare.
///
/// Inserts come last: a name that is taken is then held by a committed row, not by one that this transaction
/// has inserted.
async fn apply<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    changes: &[Change],
    deadline: Instant,
) -> QueryResult<Vec<Result<RobotId>>> {
    let mut results = BTreeMap::new();
    let (mut inserts, mut others): (Vec<_>, Vec<_>) = changes
        .iter()
        .enumerate()
        .partition(|(_, change)| change.id().is_none());
    // Stable: the changes of a robot stay in their order, and of inserts of the same name, the first one succeeds.
    others.sort_by_key(|(_, change)| change.id());
    inserts.sort_by_key(|(_, change)| change.draft().map(ValidDraft::name));
    let mut first_updates = BTreeMap::new();
    for (_, change) in &others {
        if let Change::Update(id, changes) = change {
            first_updates.entry(*id).or_insert(changes);
        }
    }
    let mut updated = connection.update_free(definition, first_updates).await?;
    for (place, change) in others {
        let result = match change {
            Change::Update(id, _) if updated.remove(id) => Ok(*id),
            _ => {
                check_deadline(deadline)?;
                apply_separately(connection, definition, change).await?
            }
        };
        results.insert(place, result);
    }
    let drafts: Vec<_> = inserts
        .iter()
        .filter_map(|(_, change)| change.draft())
        .collect();
    if !drafts.is_empty() {
        check_deadline(deadline)?;
        let ids = connection.insert_all(definition, &drafts, deadline).await?;
        for ((place, change), id) in inserts.into_iter().zip(ids) {
            let result = match id {
                Some(id) => assigned(id),
                None if definition.has_only_unique_names() => Err(Violation::NAME_TAKEN.into()),
                None => {
                    check_deadline(deadline)?;
                    apply_separately(connection, definition, change).await?
                }
            };
            results.insert(place, result);
        }
    }
    Ok(results.into_values().collect())
}

/// Applies a change in a transaction, of which a unique value costs nothing but the change.
async fn apply_separately<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    change: &Change,
) -> QueryResult<Result<RobotId>> {
    let is_set = |field| change.value(field).is_some();
    if !B::NEEDS_SAVEPOINTS {
        return apply_alone(connection, definition, change).await;
    }
    if !definition.unique().any(is_set) {
        return statements::apply(connection, definition, change).await;
    }
    connection.batch("SAVEPOINT before_change").await?;
    match statements::apply(connection, definition, change).await {
        Err(error) if is_taken(&error) => {
            let rollback = "ROLLBACK TO SAVEPOINT before_change";
            connection.batch(rollback).await?;
            rejection(connection, definition, change, error).await
        }
        result => result,
    }
}

#[cfg(test)]
#[cfg(feature = "conformance")]
mod tests {
    use tokio::runtime::Handle;

    use super::*;
    use crate::{
        catalogue::{Error, OpenOptions},
        conformance::scratch_database,
        database::server::connector::Connector,
        model::Draft,
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
            Change::Update(a, valid("c").into()),
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
            let robot = statements::get(connection.inner(), id)
                .await
                .unwrap()
                .unwrap();
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
}
