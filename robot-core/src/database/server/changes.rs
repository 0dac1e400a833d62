//! Changes of robots, executed in batches: those of a batch share a transaction and its commit.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    mem,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use diesel::{QueryResult, result::Error as DieselError};

use super::{
    backend::Backend,
    batcher::{BATCH_LIMIT, Work},
    connection::Connection,
    connector::Connector,
    errors::{ErrorClass, meaning},
    operation::Operation,
};
use crate::{
    catalogue::{Authored, Change, Commit, Error, Filter, Position, Receipt, Result, Room},
    database::{
        conditions::{conditions, has_id_of},
        define::KnownDefinition,
        errors::{is_stale_definition, is_taken, wrap},
        history,
        schema::{NAMED, ROBOT},
        statements::{self, DIVISION, apply_alone, check_current, rejection, select},
    },
    model::{Definition, Field, Revision, Robot, RobotId, ValidDraft, Violation},
};

/// The number of robots that a statement reads, inserts or changes. MariaDB executes one with 1,000 ids differently, and
/// may read the whole table.
const ROWS: usize = 512;

const _: () = assert!(BATCH_LIMIT <= ROWS, "one statement inserts a batch");

/// How often changes are checked again because the definition has changed meanwhile.
const DEFINITION_ATTEMPTS: u32 = 5;

/// Changes of robots, each with this timeout.
pub(super) struct ChangeWork {
    timeout: Duration,
    definition: Arc<KnownDefinition>,
    durable: Arc<AtomicI64>,
}

impl ChangeWork {
    pub(super) fn new<B: Backend>(connector: &Connector<B>) -> Self {
        Self {
            timeout: connector.timeout,
            definition: Arc::clone(&connector.definition),
            durable: Arc::clone(&connector.durable),
        }
    }
}

impl ChangeWork {
    /// Executes all changes, in their order, or none.
    pub(super) async fn commit<B: Backend>(
        &self,
        connection: &mut Connection<B>,
        changes: &[&Authored],
    ) -> QueryResult<Commit> {
        let (results, positions) = self.run(connection, changes, Operation::Write).await?;
        let receipts: Result<_> = results.into_iter().collect();
        let receipts = receipts.map_err(wrap)?;
        Ok(Commit {
            receipts,
            positions,
        })
    }

    /// Executes changes by the present definition. Nothing is stored by another one than that which has checked it.
    async fn run<B: Backend>(
        &self,
        connection: &mut Connection<B>,
        changes: &[&Authored],
        operation: Operation,
    ) -> QueryResult<(Vec<Result<Receipt>>, Positions)> {
        let deadline = Instant::now() + operation.statement_limit(self.timeout);
        for _ in 0..DEFINITION_ATTEMPTS {
            let definition = self.definition.get();
            match execute(connection, &definition, changes, operation, deadline).await {
                Err(error) if is_stale_definition(&error) => {
                    self.definition.refresh(&mut connection.inner).await?;
                }
                Ok((results, positions)) => {
                    let stored = results.iter().flatten();
                    let last = stored.filter_map(|receipt| receipt.revision).max();
                    let last = last.map_or(0, Revision::get);
                    self.durable.fetch_max(last, Ordering::Relaxed);
                    return Ok((results, positions));
                }
                failed => return failed,
            }
        }
        let message = "the definition keeps changing";
        Err(wrap(Error::unavailable(message)))
    }
}

impl<B: Backend> Work<B> for ChangeWork {
    type Item = Authored;
    type Output = Receipt;

    const QUEUE: &'static str = "changes";

    const BATCH: Operation = Operation::ChangeBatch;

    const ALONE: Operation = Operation::Change;

    /// Executes changes, each with a result of its own.
    async fn execute(
        &self,
        connection: &mut Connection<B>,
        changes: &[&Authored],
        operation: Operation,
    ) -> QueryResult<Vec<Result<Receipt>>> {
        let (results, _) = self.run(connection, changes, operation).await?;
        Ok(results)
    }
}

/// The positions before and after changes, if they are applied all or none.
type Positions = Option<(Position, Position)>;

/// A change, and its place among all.
type Placed<'a> = (usize, &'a Authored);

/// The results of changes, by their places.
type Results = BTreeMap<usize, Result<Receipt>>;

/// Fails if a change has failed, and the others are to be applied only together with it.
fn check_results(results: &Results, operation: Operation) -> QueryResult<()> {
    match results.values().find_map(|result| result.as_ref().err()) {
        Some(error) if operation == Operation::Write => Err(wrap(error.clone())),
        _ => Ok(()),
    }
}

/// Adds the results of some changes.
fn add(results: &mut Results, part: &[Placed<'_>], stored: Vec<Result<Receipt>>) {
    results.extend(part.iter().map(|(place, _)| *place).zip(stored));
}

async fn execute<B: Backend>(
    connection: &mut Connection<B>,
    definition: &Definition,
    changes: &[&Authored],
    operation: Operation,
    deadline: Instant,
) -> QueryResult<(Vec<Result<Receipt>>, Positions)> {
    let mut results = Results::new();
    let mut checked = Vec::with_capacity(changes.len());
    for (place, change) in changes.iter().enumerate() {
        match change.change.check_again(definition) {
            Ok(Cow::Borrowed(_)) => checked.push((place, Cow::Borrowed(*change))),
            Ok(Cow::Owned(again)) => {
                checked.push((place, Cow::Owned(Authored::new(again, change.by()))));
            }
            Err(violations) => _ = results.insert(place, Err(violations.into())),
        }
    }
    check_results(&results, operation)?;
    let changes = checked.iter().map(|(place, change)| (*place, &**change));
    let mut changes: Vec<_> = changes.collect();
    let is_batch = operation != Operation::Write;
    if is_batch
        && (changes.is_empty()
            || execute_directly(connection, definition, &changes, operation, &mut results).await?)
    {
        return Ok((results.into_values().collect(), None));
    }
    if is_batch {
        // None has been acknowledged, so that any order is right. Inserts come last: a name that is taken is then held
        // by a committed row, not by one that this transaction has inserted.
        changes.sort_by_key(|(_, one)| match one.change {
            Change::Delete(..) => 0,
            Change::Update(..) => 1,
            Change::Insert(_) | Change::Undelete(..) => 2,
        });
    }
    connection.begin(B::LOCK_CATALOGUE).await?;
    let inner = &mut connection.inner;
    let applied = async {
        let mut positions = Vec::with_capacity(2);
        if !is_batch {
            positions.push(history::position(inner).await?.0);
            inner.batch(B::IN_ORDER).await?;
        }
        let results = &mut results;
        apply(inner, definition, &changes, operation, deadline, results).await?;
        if !is_batch {
            inner.batch(B::STORE_REVISION).await?;
            positions.push(history::position(inner).await?.0);
        }
        let mut positions = positions.into_iter();
        Ok(positions.next().zip(positions.next()))
    };
    let applied = applied.await;
    let positions = connection.end(applied).await?;
    Ok((results.into_values().collect(), positions))
}

/// Executes changes by one statement without a transaction. Returns whether that is possible: there is one change, or
/// there are only inserts, of which none has a value that another robot has.
async fn execute_directly<B: Backend>(
    connection: &mut Connection<B>,
    definition: &Definition,
    changes: &[Placed<'_>],
    operation: Operation,
    results: &mut Results,
) -> QueryResult<bool> {
    let needs_transaction = match changes {
        // Its author is stored before, or its versions are read.
        [(_, one)] => match one.change {
            Change::Insert(_) => false,
            Change::Update(..) => !B::CHANGES_ALONE,
            Change::Delete(..) => !B::CHANGES_ALONE || one.by.is_some(),
            Change::Undelete(..) => true,
        },
        changes => changes.iter().any(|(_, one)| one.change.id().is_some()),
    };
    if needs_transaction {
        return Ok(false);
    }
    let Some(connection) = connection.autocommit() else {
        return Ok(false);
    };
    let mut part = changes.to_vec();
    loop {
        match store(connection, definition, &part, &HashMap::new()).await {
            Err(error) if is_taken(&error) => {
                let mut parts = divide(connection, definition, &part, error, results).await?;
                match parts.pop() {
                    None => return Ok(true),
                    Some(others) if parts.is_empty() => part = others,
                    Some(_) => return Ok(false),
                }
            }
            // The transaction waits for the lock of the catalogue.
            Err(error) if operation.is_batch() && meaning(&error) == Some(ErrorClass::Locked) => {
                return Ok(false);
            }
            stored => {
                add(results, &part, stored?);
                return Ok(true);
            }
        }
    }
}

/// After changes could not be stored together because of a unique value, rejects those that can be rejected now: a single
/// change, or inserts of names that other robots have or get, if nothing else is unique. Returns the others, in parts of
/// which the last one is stored first.
async fn divide<'a, B: Backend>(
    connection: &mut B,
    definition: &Definition,
    part: &[Placed<'a>],
    error: DieselError,
    results: &mut Results,
) -> QueryResult<Vec<Vec<Placed<'a>>>> {
    if let [(place, change)] = part {
        let rejected = rejection(connection, definition, &change.change, error).await?;
        results.insert(*place, rejected);
        return Ok(Vec::new());
    }
    let drafts = part.iter().filter_map(|(_, one)| one.change.draft());
    let names: Vec<_> = drafts.map(ValidDraft::name).collect();
    if !names.is_empty() && definition.has_only_unique_names() {
        let with_name = |filter: Filter, name: &&str| filter.with(Field::NAME, (*name).to_owned());
        let have_names = names.iter().fold(Filter::all(), with_name);
        let taken = select(NAMED, conditions::<B>(&have_names));
        let room = &mut Room::of_robots(usize::MAX);
        let taken = connection.pairs(taken, room, |(_, name)| Ok(name)).await?;
        let mut others = Vec::with_capacity(part.len());
        let mut taken: HashSet<_> = taken.iter().map(String::as_str).collect();
        for ((place, change), name) in part.iter().zip(names) {
            if taken.insert(name) {
                others.push((*place, *change));
            } else {
                results.insert(*place, Err(Violation::NAME_TAKEN.into()));
            }
        }
        if others.len() < part.len() {
            return Ok(others.chunks(ROWS).map(<[_]>::to_vec).collect());
        }
    }
    let parts = part.chunks(part.len().div_ceil(DIVISION));
    Ok(parts.rev().map(<[_]>::to_vec).collect())
}

/// The robots with these ids, which no other transaction changes before this one ends. They are locked in the order of
/// their ids, which makes deadlocks between servers rare.
async fn lock_robots<B: Backend>(
    connection: &mut B,
    ids: BTreeSet<i64>,
) -> QueryResult<HashMap<RobotId, Robot>> {
    let ids: Vec<_> = ids.into_iter().collect();
    let mut robots = HashMap::new();
    for ids in ids.chunks(ROWS) {
        let query = select(ROBOT, Some(has_id_of(ids))).sql(" ORDER BY robots.id FOR UPDATE");
        let room = &mut Room::of_robots(usize::MAX);
        let locked = connection.robots(query, room).await?.into_iter();
        robots.extend(locked.map(|robot| (robot.id(), robot)));
    }
    Ok(robots)
}

/// Applies changes in a transaction, in their order. Consecutive ones of a kind are stored together, and in smaller parts
/// if one of them has a value that another robot has.
async fn apply<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    changes: &[Placed<'_>],
    operation: Operation,
    deadline: Instant,
    results: &mut Results,
) -> QueryResult<()> {
    if let ([(place, change)], false) = (changes, B::CHANGES_ALONE) {
        // Each further statement would be time in which Galera nodes conflict. The lock has set a savepoint.
        let result = apply_alone(connection, definition, change).await?;
        if result.is_err() {
            connection.batch(B::SAVEPOINT[1]).await?;
        }
        results.insert(*place, result);
        return check_results(results, operation);
    }
    let ids = changes.iter().filter_map(|(_, one)| one.change.id());
    let ids: Vec<_> = ids.map(RobotId::get).collect();
    let distinct: BTreeSet<_> = ids.iter().copied().collect();
    // What becomes of a robot that is changed twice is known only after the first change.
    let are_distinct = ids.len() == distinct.len();
    let robots = lock_robots(connection, distinct).await?;
    let mut possible = Vec::with_capacity(changes.len());
    for (place, change) in changes {
        let is_deleted = matches!(change.change, Change::Undelete(..));
        let id = change.change.id().filter(|_| are_distinct && !is_deleted);
        match id.map(|id| (id, robots.get(&id), change.change.expected())) {
            Some((id, None, _)) => _ = results.insert(*place, Err(Error::NotFound(id))),
            Some((id, Some(robot), Some(expected))) if robot.revision() != expected => {
                results.insert(*place, Err(Error::Stale(id)));
            }
            _ => possible.push((*place, *change)),
        }
    }
    check_results(results, operation)?;
    let runs = possible.chunk_by(|(_, one), (_, next)| {
        let have_one_kind = mem::discriminant(&one.change) == mem::discriminant(&next.change);
        let have_one_author = one.by == next.by || !matches!(one.change, Change::Delete(..));
        let is_alone = matches!(one.change, Change::Undelete(..));
        have_one_kind && have_one_author && !is_alone && (are_distinct || one.change.id().is_none())
    });
    let parts = runs.flat_map(|run| run.chunks(ROWS)).rev();
    let mut parts: Vec<_> = parts.map(<[_]>::to_vec).collect();
    // PostgreSQL would release the robots if the lock had set it.
    let mut has_savepoint = !B::CHANGES_ALONE;
    while let Some(part) = parts.pop() {
        if Instant::now() > deadline {
            let message = "the changes of a batch take too long";
            return Err(wrap(Error::unavailable(message)));
        }
        if !mem::take(&mut has_savepoint) {
            connection.batch(B::SAVEPOINT[0]).await?;
        }
        match store(connection, definition, &part, &robots).await {
            Err(error) if is_taken(&error) => {
                connection.batch(B::SAVEPOINT[1]).await?;
                parts.extend(divide(connection, definition, &part, error, results).await?);
                check_results(results, operation)?;
            }
            stored => add(results, &part, stored?),
        }
    }
    check_results(results, operation)
}

/// Stores a change, or changes of a kind of locked robots by few statements.
async fn store<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    part: &[Placed<'_>],
    robots: &HashMap<RobotId, Robot>,
) -> QueryResult<Vec<Result<Receipt>>> {
    let ids = part.iter().filter_map(|(_, one)| one.change.id());
    let ids: Vec<_> = ids.map(RobotId::get).collect();
    let Some((_, first)) = part.first().filter(|_| part.len() > 1) else {
        let mut results = Vec::with_capacity(1);
        for (_, change) in part {
            results.push(statements::apply(connection, definition, change).await?);
        }
        return Ok(results);
    };
    let receipts = match &first.change {
        Change::Insert(_) => {
            let drafts = part.iter();
            let drafts = drafts.filter_map(|(_, one)| Some((one.change.draft()?, one.by())));
            connection
                .insert(definition, &drafts.collect::<Vec<_>>())
                .await?
        }
        Change::Update(_, _, values) => {
            let updates = part.iter().filter_map(|(_, one)| match &one.change {
                Change::Update(id, _, values) => Some((robots.get(id)?, values, one.by())),
                _ => None,
            });
            let updates: Vec<_> = updates.collect();
            let by = first.by();
            let are_equal = updates
                .iter()
                .all(|update| (update.1, update.2) == (values, by));
            let mut receipts = if are_equal {
                let changes = (values, by);
                statements::update(connection, definition, changes, &ids, has_id_of(&ids)).await?
            } else {
                connection.update_all(definition, &updates).await?
            };
            if receipts.is_empty() {
                check_current(connection, definition).await?;
            }
            let places: HashMap<_, _> = ids.iter().zip(0_usize..).collect();
            receipts.sort_unstable_by_key(|receipt| places.get(&receipt.id.get()));
            receipts
        }
        // One is never a part with others.
        Change::Delete(..) | Change::Undelete(..) => {
            statements::delete(connection, first.by(), has_id_of(&ids)).await?;
            let revision = None;
            let ids = part.iter().filter_map(|(_, one)| one.change.id());
            ids.map(|id| Receipt { id, revision }).collect()
        }
    };
    Ok(receipts.into_iter().map(Ok).collect())
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
    ) -> Vec<Result<Receipt>> {
        // Locks are awaited for seconds.
        let changes = ChangeWork {
            timeout: Duration::from_secs(60),
            durable: Arc::default(),
            definition: Arc::default(),
        };
        let batch = batch.iter();
        let batch = batch.map(|change| Authored::new(change.clone(), Some("test")));
        let batch: Vec<_> = batch.collect();
        let batch: Vec<_> = batch.iter().collect();
        let result = changes
            .execute(connection, &batch, Operation::ChangeBatch)
            .await;
        result.ok().unwrap()
    }

    async fn add<B: Backend, const N: usize>(
        connection: &mut Connection<B>,
        names: [&str; N],
    ) -> [RobotId; N] {
        let inserts = names.map(|name| Change::Insert(valid(name)));
        let added = execute(connection, &inserts).await;
        let ids: Vec<_> = added.into_iter().map(|added| added.unwrap().id).collect();
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

    async fn taken_names_fail_only_their_changes_of_a_large_batch<B: Backend>(variable: &str) {
        let [mut connection, _] = connections::<B>(variable).await;
        add(&mut connection, ["taken"]).await;
        let is_taken = |place: usize| place % 16 == 3 || place >= 36;
        let name = |place: usize| match place % 16 {
            3 => "taken".to_owned(),
            _ => format!("robot {}", place % 36),
        };
        let inserts: Vec<_> = (0..39)
            .map(|place| Change::Insert(valid(&name(place))))
            .collect();
        let added = execute(&mut connection, &inserts).await;
        assert!((0..39).all(|place| added[place].is_err() == is_taken(place)));
        let ids = added.into_iter().filter_map(Result::ok);
        let ids: Vec<_> = ids.map(|receipt| receipt.id).collect();
        assert!(ids.is_sorted());
        // Each has a new name, but for some.
        let renames = ids.iter().enumerate().map(|(place, id)| {
            let name = ["taken".to_owned(), format!("new {place}")];
            Change::Update(*id, None, valid(&name[usize::from(place % 10 > 0)]).into())
        });
        let renamed = execute(&mut connection, &renames.collect::<Vec<_>>()).await;
        for (place, id) in ids.into_iter().enumerate() {
            let robot = statements::get(&mut connection.inner, id).await.unwrap();
            let revision = robot.unwrap().revision();
            match &renamed[place] {
                Ok(receipt) => assert_eq!(receipt.revision, Some(revision)),
                Err(_) => assert_eq!(place % 10, 0),
            }
        }
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
        assert_eq!(results[1].as_ref().unwrap().id, a);
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn postgres_changes_of_a_batch_have_results_of_their_own() {
        type Postgres = diesel_async::AsyncPgConnection;
        let variable = "TEST_POSTGRES_URL";
        taken_name_fails_only_its_change_of_a_batch::<Postgres>(variable).await;
        taken_names_fail_only_their_changes_of_a_large_batch::<Postgres>(variable).await;
        update_to_the_name_of_an_insert_precedes_it::<Postgres>(variable).await;
    }

    #[cfg(feature = "mysql")]
    #[tokio::test]
    async fn mysql_changes_of_a_batch_have_results_of_their_own() {
        type Mysql = diesel_async::AsyncMysqlConnection;
        let variable = "TEST_MYSQL_URL";
        taken_name_fails_only_its_change_of_a_batch::<Mysql>(variable).await;
        taken_names_fail_only_their_changes_of_a_large_batch::<Mysql>(variable).await;
        update_to_the_name_of_an_insert_precedes_it::<Mysql>(variable).await;
    }
}
