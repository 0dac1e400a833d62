//! Changes of single robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    backend::{Backend, check_deadline},
    batcher::Work,
    connection::Connection,
    kind::Kind,
};
use crate::{
    catalogue::{Change, Error, Result, Room},
    database::{
        conditions::has_id_of,
        define::KnownDefinition,
        errors::{is_stale_definition, is_taken, wrap},
        schema::{ROBOT, assigned},
        statements::{self, apply_alone, check_all, rejection, select},
    },
    model::{Definition, Robot, RobotId, ValidChanges, Violation},
};

/// The number of robots that a statement reads or changes by their ids. MariaDB executes one with 1,000 differently,
/// and may read the whole table.
const ROWS: usize = 512;

/// How many definitions are tried, each of which is another one when the changes are stored.
const DEFINITION_ATTEMPTS: u32 = 4;

/// Changes, each with this timeout.
pub(super) struct Changes {
    pub(super) timeout: Duration,
    pub(super) definition: Arc<KnownDefinition>,
}

impl<B: Backend> Work<B> for Changes {
    type Item = Change;
    type Output = RobotId;

    const QUEUE: &'static str = "changes";

    const BATCH: Kind = Kind::ChangeBatch;

    const ALONE: Kind = Kind::Change;

    async fn execute(
        &self,
        connection: &mut Connection<B>,
        changes: &[Change],
        kind: Kind,
    ) -> QueryResult<Vec<Result<RobotId>>> {
        let deadline = Instant::now() + kind.statement_limit(self.timeout);
        let mut attempts = 0;
        loop {
            let definition = self.definition.get();
            match execute(connection, &definition, changes, deadline).await {
                Err(error) if is_stale_definition(&error) => {
                    renew(connection, &self.definition, &mut attempts).await?;
                }
                results => return results,
            }
        }
    }
}

/// Reads the definition, after changes could not be stored by the known one. Nothing is stored by another definition than
/// the one that has checked it.
async fn renew<B: Backend>(
    connection: &mut Connection<B>,
    known: &KnownDefinition,
    attempts: &mut u32,
) -> QueryResult<()> {
    *attempts += 1;
    if *attempts > DEFINITION_ATTEMPTS {
        let message = "the definition is changed all the time";
        return Err(wrap(Error::unavailable(message)));
    }
    known.refresh(&mut connection.inner).await
}

/// Executes changes, each with a result of its own.
async fn execute<B: Backend>(
    connection: &mut Connection<B>,
    definition: &Definition,
    changes: &[Change],
    deadline: Instant,
) -> QueryResult<Vec<Result<RobotId>>> {
    let mut rejected = BTreeMap::new();
    let mut checked = Vec::with_capacity(changes.len());
    for (place, change) in changes.iter().enumerate() {
        match change.check_again(definition) {
            Ok(change) => checked.push(change),
            Err(violations) => _ = rejected.insert(place, violations),
        }
    }
    let results = execute_checked(connection, definition, &checked, deadline).await?;
    let mut results = results.into_iter();
    let all = (0..changes.len()).map(|place| match rejected.remove(&place) {
        Some(violations) => Err(violations.into()),
        // There is one for each of the others.
        None => results
            .next()
            .unwrap_or_else(|| Err(Error::unknown("a result is missing"))),
    });
    Ok(all.collect())
}

async fn execute_checked<B: Backend>(
    connection: &mut Connection<B>,
    definition: &Definition,
    changes: &[Cow<'_, Change>],
    deadline: Instant,
) -> QueryResult<Vec<Result<RobotId>>> {
    if let [change] = changes
        && let Some(connection) = connection.autocommit()
    {
        return Ok(vec![apply_alone(connection, definition, change).await?]);
    }
    let are_inserts = changes.iter().all(|change| change.id().is_none());
    if definition.has_only_unique_names()
        && are_inserts
        && let Some(connection) = connection.autocommit()
    {
        return apply(connection, definition, changes, deadline).await;
    }
    connection.begin().await?;
    let results = apply(&mut connection.inner, definition, changes, deadline).await;
    connection.end(results).await
}

/// Applies changes in the same way, all or none of them, with the last statement before the deadline.
pub(super) async fn apply_all<B: Backend>(
    connection: &mut Connection<B>,
    known: &KnownDefinition,
    changes: &[Change],
    deadline: Instant,
) -> QueryResult<Vec<RobotId>> {
    let mut attempts = 0;
    loop {
        let definition = known.get();
        let checked = check_all(changes, &definition)?;
        connection.begin().await?;
        let results = apply(&mut connection.inner, &definition, &checked, deadline).await;
        let ids = results.and_then(|results| {
            let ids: Result<_> = results.into_iter().collect();
            ids.map_err(wrap)
        });
        match connection.end(ids).await {
            Err(error) if is_stale_definition(&error) => {
                renew(connection, known, &mut attempts).await?;
            }
            ids => return ids,
        }
    }
}

/// The robots that are changed, which no other transaction changes before this one ends. They are locked in the order
/// of their ids, which makes deadlocks between servers rare.
async fn lock_robots<B: Backend>(
    connection: &mut B,
    changes: &[Cow<'_, Change>],
) -> QueryResult<HashMap<RobotId, Robot>> {
    let ids = changes
        .iter()
        .filter_map(|change| change.id())
        .map(RobotId::get);
    let ids: Vec<_> = ids.collect::<BTreeSet<_>>().into_iter().collect();
    let mut robots = HashMap::new();
    for ids in ids.chunks(ROWS) {
        let query = select(ROBOT, Some(has_id_of(ids))).sql(" ORDER BY robots.id FOR UPDATE");
        let locked = connection
            .robots(query, &mut Room::of_robots(usize::MAX))
            .await?;
        robots.extend(locked.into_iter().map(|robot| (robot.id(), robot)));
    }
    Ok(robots)
}

/// Whether a robot is changed twice, or gets a unique value of another robot that is changed.
fn depend_on_order(
    definition: &Definition,
    changes: &[Cow<'_, Change>],
    robots: &HashMap<RobotId, Robot>,
) -> bool {
    let mut ids = HashSet::new();
    let mut all = changes.iter().filter_map(|change| change.id());
    let is_taken = |field| {
        let values = robots.values().filter_map(|robot| {
            let value = robot.value_of(field)?;
            Some((value.to_string(), robot.id()))
        });
        let holders: HashMap<_, _> = values.collect();
        changes.iter().any(|change| {
            let value = change.value(field).map(|value| value.to_string());
            let holder = value.and_then(|value| holders.get(&value));
            holder.is_some_and(|holder| Some(*holder) != change.id())
        })
    };
    !all.all(|id| ids.insert(id)) || definition.unique().any(is_taken)
}

/// Applies changes by as few statements as possible: deletes, updates and inserts. The caller has begun a transaction,
/// unless one statement is enough. None of the changes has been acknowledged, so that any order is right, unless the
/// results depend on it.
///
/// Inserts come last: a name that is taken is then held by a committed row, not by one that this transaction
/// has inserted.
async fn apply<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    changes: &[Cow<'_, Change>],
    deadline: Instant,
) -> QueryResult<Vec<Result<RobotId>>> {
    let robots = lock_robots(connection, changes).await?;
    let is_ordered = depend_on_order(definition, changes, &robots);
    let mut results = BTreeMap::new();
    let (mut inserts, mut updates, mut deletes) = (Vec::new(), BTreeMap::new(), Vec::new());
    for (place, change) in changes.iter().enumerate() {
        let revision = change
            .id()
            .and_then(|id| robots.get(&id))
            .map(Robot::revision);
        let is_stale = |expected| revision != Some(expected);
        let result = match (&**change, change.id()) {
            _ if is_ordered => apply_separately(connection, definition, change, deadline).await?,
            (_, Some(id)) if revision.is_none() => Err(Error::NotFound(id)),
            (_, Some(id)) if change.expected().is_some_and(is_stale) => Err(Error::Stale(id)),
            (Change::Update(id, _, values), _) => {
                updates.insert(*id, (place, change, values));
                continue;
            }
            (_, Some(id)) => {
                deletes.push(id.get());
                Ok(id)
            }
            (_, None) => {
                inserts.push((place, change));
                continue;
            }
        };
        results.insert(place, result);
    }
    for ids in deletes.chunks(ROWS) {
        check_deadline(deadline)?;
        statements::delete(connection, has_id_of(ids)).await?;
    }
    let values = updates.iter().map(|(id, (_, _, values))| (*id, *values));
    let updated = update_together(connection, definition, values.collect(), deadline).await?;
    for (id, (place, change, _)) in updates {
        let result = if updated.contains(&id) {
            Ok(id)
        } else {
            apply_separately(connection, definition, change, deadline).await?
        };
        results.insert(place, result);
    }
    // In their order, in which they get their ids: of inserts of the same name, the first one succeeds.
    let drafts = inserts.iter().filter_map(|(_, change)| change.draft());
    let drafts: Vec<_> = drafts.collect();
    if !drafts.is_empty() {
        check_deadline(deadline)?;
        let ids = connection.insert_all(definition, &drafts, deadline).await?;
        for ((place, change), id) in inserts.into_iter().zip(ids) {
            let result = match id {
                Some(id) => assigned(id),
                None if definition.has_only_unique_names() => Err(Violation::NAME_TAKEN.into()),
                None => apply_separately(connection, definition, change, deadline).await?,
            };
            results.insert(place, result);
        }
    }
    Ok(results.into_values().collect())
}

/// Changes locked robots by few statements, and returns the ids of those that it has changed: all, if they get the
/// same values.
async fn update_together<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    updates: BTreeMap<RobotId, &ValidChanges>,
    deadline: Instant,
) -> QueryResult<HashSet<RobotId>> {
    let is_shared = |values: &&ValidChanges| {
        updates.len() > 1
            && updates.values().all(|other| other == values)
            && definition
                .unique()
                .all(|field| values.value(field).is_none())
    };
    let Some(values) = updates.values().next().copied().filter(is_shared) else {
        return connection.update_free(definition, updates).await;
    };
    let ids: Vec<_> = updates.keys().map(|id| id.get()).collect();
    for ids in ids.chunks(ROWS) {
        check_deadline(deadline)?;
        statements::update(connection, definition, values, has_id_of(ids)).await?;
    }
    Ok(updates.into_keys().collect())
}

/// Applies a change in a transaction, of which a unique value costs nothing but the change.
async fn apply_separately<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    change: &Change,
    deadline: Instant,
) -> QueryResult<Result<RobotId>> {
    check_deadline(deadline)?;
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
    use super::*;
    use crate::{
        catalogue::OpenOptions,
        conformance::scratch_database,
        database::server::connector::Connector,
        model::{Draft, ValidDraft},
    };

    fn valid(name: &str) -> ValidDraft {
        ValidDraft::new(Draft::new(name, "droid", 1977)).unwrap()
    }

    /// Two connections to a new catalogue.
    async fn connections<B: Backend>(variable: &str) -> [Connection<B>; 2] {
        let url = scratch_database(variable);
        let connector = Connector::open(&url, &OpenOptions::default()).await;
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
        let result = changes.execute(connection, batch, Kind::ChangeBatch).await;
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
            Change::Update(a, None, valid("c").into()),
            Change::Update(b, None, valid("b2").into()),
            Change::Update(a, None, valid("a2").into()),
            Change::Update(c, None, valid("c").into()),
            Change::Update(RobotId::new(99).unwrap(), None, valid("c").into()),
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
            let robot = statements::get(&mut connection.inner, id)
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
            Change::Update(a, None, valid("b").into()),
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
