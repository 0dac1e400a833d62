//! Changes of single robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
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
        conditions::has_id_of,
        define::KnownDefinition,
        errors::{is_taken, wrap},
        schema::{ROBOT, assigned},
        statements::{self, apply_alone, rejection, select},
    },
    model::{Definition, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// The number of robots that a statement reads or changes by their ids. MariaDB executes one with 1,000 differently,
/// and may read the whole table.
const ROWS: usize = 512;

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
            return apply(connection, definition, changes, &HashMap::new(), deadline).await;
        }
        connection.begin().await?;
        let compared = changes.iter();
        let compared = compared.filter(|change| !matches!(change, Change::Update(..)));
        let results = async |connection: &mut B| {
            let robots = lock_robots(connection, compared.filter_map(Change::id)).await?;
            apply(connection, definition, changes, &robots, deadline).await
        };
        let results = results(connection.inner()).await;
        connection.end(results).await
    }
}

/// Applies changes, all or none of them, with the last statement before the deadline.
pub(super) async fn apply_all<B: Backend>(
    connection: &mut Connection<B>,
    definition: &Definition,
    changes: &[Change],
    deadline: Instant,
) -> QueryResult<Vec<RobotId>> {
    connection.begin().await?;
    let ids = async |connection: &mut B| {
        let robots = lock_robots(connection, changes.iter().filter_map(Change::id)).await?;
        if !depend_on_order(definition, changes, &robots) {
            let results = apply(connection, definition, changes, &robots, deadline).await?;
            return results.into_iter().collect::<Result<_>>().map_err(wrap);
        }
        let mut ids = Vec::with_capacity(changes.len());
        for change in changes {
            check_deadline(deadline)?;
            let result = apply_separately(connection, definition, change).await?;
            ids.push(result.map_err(wrap)?);
        }
        Ok(ids)
    };
    let ids = ids(connection.inner()).await;
    connection.end(ids).await
}

/// The robots with these ids, which no other transaction changes before this one ends. They are locked in the order
/// of their ids, which makes deadlocks between servers rare.
async fn lock_robots<B: Backend>(
    connection: &mut B,
    ids: impl Iterator<Item = RobotId>,
) -> QueryResult<HashMap<RobotId, Robot>> {
    let mut ids: Vec<_> = ids.map(RobotId::get).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut robots = HashMap::new();
    for ids in ids.chunks(ROWS) {
        let query = select(ROBOT, Some(has_id_of(ids))).sql(" ORDER BY robots.id FOR UPDATE");
        let locked = connection.robots(query, usize::MAX).await?;
        robots.extend(locked.into_iter().map(|robot| (robot.id(), robot)));
    }
    Ok(robots)
}

/// Whether a change sets a unique value that another robot has, which is changed, too.
fn depend_on_order(
    definition: &Definition,
    changes: &[Change],
    robots: &HashMap<RobotId, Robot>,
) -> bool {
    definition.unique().any(|field| {
        let holders = robots.values().filter_map(|robot| {
            let value = robot.value_of(field)?;
            Some((value.to_string(), robot.id()))
        });
        let holders: HashMap<_, _> = holders.collect();
        changes.iter().any(|change| {
            let value = change.value(field).map(|value| value.to_string());
            let holder = value.and_then(|value| holders.get(&value));
            holder.is_some_and(|holder| Some(*holder) != change.id())
        })
    })
}

/// Applies changes in a transaction, by as few statements as possible: deletes, updates, further changes of the same
/// robots, and inserts. None of them has been acknowledged, so that any order is right. Of the robots that were
/// locked, a missing one does not exist; changes that expect a revision, and deletes, need them. Names are inserted
/// in their order, which makes deadlocks between servers rare.
///
/// Inserts come last: a name that is taken is then held by a committed row, not by one that this transaction
/// has inserted.
async fn apply<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    changes: &[Change],
    locked: &HashMap<RobotId, Robot>,
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
    let (mut deletes, mut updates, mut seen) = (Vec::new(), BTreeMap::new(), HashSet::new());
    let mut separate = Vec::new();
    for (place, change) in others {
        let Some(id) = change.id().filter(|id| seen.insert(*id)) else {
            separate.push((place, change));
            continue;
        };
        let revision = locked.get(&id).map(Robot::revision);
        let is_expected = change
            .expected()
            .is_none_or(|expected| revision == Some(expected));
        let result = match change {
            Change::Update(_, changes) | Change::UpdateIf(_, _, changes) if is_expected => {
                updates.insert(id, changes);
                separate.push((place, change));
                continue;
            }
            _ if revision.is_none() => Err(Error::NotFound(id)),
            _ if !is_expected => Err(Error::Stale(id)),
            _ => {
                deletes.push(id.get());
                Ok(id)
            }
        };
        results.insert(place, result);
    }
    for ids in deletes.chunks(ROWS) {
        check_deadline(deadline)?;
        statements::delete(connection, has_id_of(ids)).await?;
    }
    let mut updated = update_equal(connection, definition, &updates, locked, deadline).await?;
    updates.retain(|id, _| !updated.contains(id));
    updated.extend(connection.update_free(definition, updates).await?);
    for (place, change) in separate {
        let result = match change.id().filter(|id| updated.remove(id)) {
            Some(id) => Ok(id),
            None => {
                check_deadline(deadline)?;
                apply_separately(connection, definition, change).await?
            }
        };
        results.insert(place, result);
    }
    results.extend(insert_all(connection, definition, inserts, deadline).await?);
    Ok(results.into_values().collect())
}

/// Applies inserts, and returns their results, each with its place.
async fn insert_all<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    inserts: Vec<(usize, &Change)>,
    deadline: Instant,
) -> QueryResult<Vec<(usize, Result<RobotId>)>> {
    let drafts = inserts.iter().filter_map(|(_, change)| change.draft());
    let drafts: Vec<_> = drafts.collect();
    let mut results = Vec::with_capacity(drafts.len());
    if drafts.is_empty() {
        return Ok(results);
    }
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
        results.push((place, result));
    }
    Ok(results)
}

/// Changes the locked robots of which several get the same values, by few statements, and returns their ids: not
/// unique values.
async fn update_equal<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    updates: &BTreeMap<RobotId, &ValidChanges>,
    locked: &HashMap<RobotId, Robot>,
    deadline: Instant,
) -> QueryResult<HashSet<RobotId>> {
    let is_free = |changes: &ValidChanges| {
        let mut unique = definition.unique();
        unique.all(|field| changes.value(field).is_none())
    };
    let updates: Vec<_> = updates
        .iter()
        .filter(|(id, _)| locked.contains_key(id))
        .collect();
    let mut updated = HashSet::new();
    for equal in updates.chunk_by(|one, other| one.1 == other.1) {
        if equal.len() == 1 || !is_free(equal[0].1) {
            continue;
        }
        for chunk in equal.chunks(ROWS) {
            check_deadline(deadline)?;
            let ids: Vec<_> = chunk.iter().map(|(id, _)| id.get()).collect();
            statements::update(connection, definition, chunk[0].1, has_id_of(&ids)).await?;
            updated.extend(chunk.iter().map(|(id, _)| **id));
        }
    }
    Ok(updated)
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
