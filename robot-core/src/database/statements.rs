//! Statements about robots, which are the same for every backend.

use std::{borrow::Cow, future::Future};

use diesel::{QueryResult, result::Error as DieselError};

use super::{
    conditions::{ValueGroup, conditions, expression, order},
    dialect::Dialect,
    errors::{is_of_index, is_taken, taken, wrap},
    execute::Execute,
    fragment::Fragment,
    history::history,
    schema::{COLUMNS, NAMED, ROBOT, assign, count, named},
    version::{self, VersionRow},
};
use crate::{
    catalogue::{Authored, Change, Count, Error, Filter, PageRequest, Receipt, Result, Room},
    model::{
        Definition, Field, OwnChange, Revision, Robot, RobotId, ValidChanges, Value, Violation,
        Violations,
    },
};

/// The result of a statement that never waits.
#[cfg(feature = "sqlite")]
pub(super) fn now<T>(statement: impl Future<Output = T>) -> T {
    pollster::block_on(statement)
}

/// A query for columns of the robots that meet a condition.
pub(super) fn select(
    columns: impl Into<Cow<'static, str>>,
    condition: Option<Fragment<'_>>,
) -> Fragment<'_> {
    select_by("", columns, condition)
}

/// As [`select`], with SQL that names the index.
pub(super) fn select_by<'a>(
    index: &str,
    columns: impl Into<Cow<'static, str>>,
    condition: Option<Fragment<'a>>,
) -> Fragment<'a> {
    let query = Fragment::new("SELECT ").sql(columns);
    let query = query.sql(" FROM robots ").sql(index.to_owned());
    match condition {
        Some(condition) => query.sql(" WHERE ").then(condition),
        None => query,
    }
}

/// The condition that a robot has an id, and a revision if one is given.
pub(super) fn is_robot(id: RobotId, revision: Option<Revision>) -> Fragment<'static> {
    let has_id = Fragment::new("robots.id = ").number(id.get());
    match revision {
        Some(revision) => has_id.sql(" AND robots.revision = ").number(revision.get()),
        None => has_id,
    }
}

/// The robot with this id.
pub(super) async fn get<C: Execute>(connection: &mut C, id: RobotId) -> QueryResult<Option<Robot>> {
    let query = select(ROBOT, Some(is_robot(id, None)));
    let mut robots = connection.robots(query, &mut Room::of_robots(1)).await?;
    Ok(robots.pop())
}

/// The robot with this name; of several, the one with the lowest id. The sign keeps PostgreSQL from reading all robots in
/// the order of their ids, which looks cheap while there are few.
pub(super) async fn find<C: Execute>(connection: &mut C, name: &str) -> QueryResult<Option<Robot>> {
    let is_named = Fragment::new("robots.name = ").text(name);
    let query = select(ROBOT, Some(is_named)).sql(" ORDER BY +robots.id LIMIT 1");
    let mut robots = connection.robots(query, &mut Room::of_robots(1)).await?;
    Ok(robots.pop())
}

/// A page of the robots that meet the request's filter. The text of the filter is ignored: `condition`, if there is
/// one, replaces it, and `room` replaces its limits. `index` is SQL that names the index; if it is empty, the database
/// chooses one.
pub(super) async fn page<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    request: PageRequest<'_>,
    condition: Option<Fragment<'_>>,
    room: &mut Room,
    index: &str,
) -> QueryResult<Vec<Robot>> {
    // Without a condition, names are read from their index alone.
    let has_names_only = request.has_names_only();
    let has_audit = request.has_audit();
    let columns = match (has_names_only, has_audit) {
        (true, _) => NAMED,
        (false, true) => version::ROBOT,
        (false, false) => ROBOT,
    };
    let mut found = Vec::new();
    for part in ValueGroup::after(definition, request.cursor, request.filter) {
        if room.is_full() {
            break;
        }
        let query = of_part::<C>(request, *part, columns, condition.clone(), index);
        let query = if C::READS_LAZILY && after_name(request).is_some() {
            query
        } else {
            query.limit(room.robots)
        };
        let mut robots = if has_names_only {
            connection.pairs(query.limited(), room, named).await?
        } else if has_audit {
            let versions = connection.versions(query.limited(), room).await?;
            let robots = versions.into_iter().map(VersionRow::robot);
            robots.collect::<QueryResult<_>>()?
        } else {
            connection.robots(query.limited(), room).await?
        };
        if found.is_empty() {
            found = robots;
        } else {
            found.append(&mut robots);
        }
    }
    Ok(found)
}

/// A query for a part of a list, in its order. The parameters are those of [`page`].
pub(super) fn of_part<'a, C: Dialect>(
    request: PageRequest<'_>,
    part: ValueGroup,
    columns: &'static str,
    condition: Option<Fragment<'a>>,
    index: &str,
) -> Fragment<'a> {
    let PageRequest { filter, cursor, .. } = request;
    let of_part = part.condition::<C>(cursor).into_iter();
    let of_fields = conditions::<C>(filter);
    let all = of_part.chain(of_fields).chain(condition);
    let query = select_by(index, columns, all.reduce(Fragment::and));
    query.sql(format!(" ORDER BY {}", order::<C>(cursor.sort(), part)))
}

/// The maximum size of the values that are read, in bytes.
const VALUES_LIMIT: usize = 1 << 20;

/// Counts the robots that [`page`] reads without a limit, by their values of these fields. With a limit, there is one
/// field, and so many rows: that of no value first, then the greatest numbers. Each has also the number of all robots, and
/// that of all values.
pub(super) async fn counts<C: Dialect>(
    connection: &mut C,
    filter: &Filter,
    condition: Option<Fragment<'_>>,
    by: &[Field],
    limit: Option<usize>,
) -> QueryResult<Vec<Count>> {
    let names = (0..by.len()).map(|place| format!("value_{place}"));
    let names: Vec<_> = names.collect();
    let columns = by.iter().zip(&names);
    let columns = columns.map(|(field, name)| format!("{} AS {name}, ", expression::<C>(field)));
    let (columns, names) = (columns.collect::<String>(), names.join(", "));
    let (before, after) = C::JSON_ARRAY;
    let all = conditions::<C>(filter).into_iter().chain(condition);
    let groups = select(
        format!("{columns}count(*) AS robots"),
        all.reduce(Fragment::and),
    );
    let totals = limit.map(|_| format!(", sum(robots) OVER (), count({names}) OVER ()"));
    let totals = totals.unwrap_or_default();
    let query = format!("SELECT robots, {before}{names}{totals}{after} FROM (");
    let query = Fragment::new(query).then(groups);
    let query = match by {
        [] => query,
        _ => query.sql(format!(" GROUP BY {names}")),
    };
    let query = query.sql(") AS counted");
    let (mut fields, mut room) = (by.to_vec(), Room::of_robots(usize::MAX));
    let query = match limit {
        None => query,
        Some(rows) => {
            fields.extend([Field::REVISION, Field::REVISION]);
            room.bytes = VALUES_LIMIT;
            let order = format!(" ORDER BY {names} IS NOT NULL, robots DESC, {names}");
            query.sql(order).limit(rows)
        }
    };
    let read = |row| count(&fields, row);
    connection.pairs(query.limited(), &mut room, read).await
}

/// The ids of robots that meet a condition, in the order of the ids: so many at most.
pub(super) async fn ids<C: Execute>(
    connection: &mut C,
    condition: Fragment<'_>,
    limit: usize,
) -> QueryResult<Vec<i64>> {
    let query =
        select("robots.id", Some(condition)).sql(format!(" ORDER BY robots.id LIMIT {limit}"));
    connection.numbers(query).await
}

/// The greatest id that was assigned, as far as the database knows; 0 if none was.
pub(super) async fn last_id<C: Dialect>(connection: &mut C) -> QueryResult<i64> {
    let ids = connection.numbers(Fragment::new(C::LAST_ID)).await?;
    Ok(ids.first().copied().unwrap_or(0))
}

/// The columns that other programs have added.
pub(super) async fn foreign_columns<C: Dialect>(connection: &mut C) -> QueryResult<Vec<String>> {
    let mut columns = connection.texts(C::COLUMNS).await?;
    columns.retain(|name| !COLUMNS.contains(&name.as_str()) && !is_of_index(name));
    Ok(columns)
}

/// The revision and the document of the definition, unless it has this revision.
pub(super) async fn other_definition<C: Execute>(
    connection: &mut C,
    revision: i64,
) -> QueryResult<Option<(i64, String)>> {
    let query = "SELECT revision, document FROM robots_definition WHERE id = 1 AND revision <> ";
    let query = Fragment::new(query).number(revision);
    let mut pairs = connection.pairs(query, &mut Room::of_robots(1), Ok).await?;
    Ok(pairs.pop())
}

/// The number of parts into which robots are divided if a unique value keeps them from being stored together. Fewer, and
/// finding one among many takes more levels; more, and it takes more statements.
pub(super) const DIVISION: usize = 8;

/// The robots that the search index does not have: so many at most.
pub(super) async fn unindexed<C: Execute>(
    connection: &mut C,
    limit: i64,
) -> QueryResult<Vec<Robot>> {
    let limited = Fragment::new(UNINDEXED).sql(" LIMIT ").number(limit);
    let query = select(ROBOT, Some(limited));
    let room = &mut Room::of_robots(usize::MAX);
    connection.robots(query, room).await
}

/// The number of robots that are rewritten in one step. Fewer, and all take longer; more, and changes of these robots
/// wait longer.
const STEP: i64 = 1000;

/// The greatest id of the next robots after an id, of a step; `None` if there are none.
pub(super) async fn end_of_step<C: Execute>(
    connection: &mut C,
    after: i64,
) -> QueryResult<Option<i64>> {
    let ids = Fragment::new("SELECT coalesce(max(id), 0) FROM (SELECT id FROM robots WHERE id > ");
    let ids = ids.number(after).sql(" ORDER BY id LIMIT ");
    let ids = ids.number(STEP).sql(") AS step");
    let end = connection.numbers(ids).await?.pop();
    Ok(end.filter(|end| *end > 0))
}

/// The condition that the search index does not have a robot.
pub(super) const UNINDEXED: &str = "robots.search_text IS NULL";

/// Changes the robots with these ids that meet a condition.
pub(super) async fn update<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    (changes, by): (&ValidChanges, Option<&str>),
    ids: &[i64],
    condition: Fragment<'_>,
) -> QueryResult<Vec<Receipt>> {
    let update = update_of::<C>(definition, (changes, by), condition);
    let receipts = connection.update(update, ids).await?;
    if receipts.is_empty() {
        check_current(connection, definition).await?;
    }
    Ok(receipts)
}

/// The statement that changes the robots that meet a condition.
pub(super) fn update_of<'a, C: Dialect>(
    definition: &Definition,
    (changes, by): (&'a ValidChanges, Option<&'a str>),
    condition: Fragment<'a>,
) -> Fragment<'a> {
    let update = Fragment::new(format!("UPDATE robots SET {}", C::CHANGE));
    let update = assign(update, definition, changes, by);
    let update = match changes.own(definition) {
        OwnChange::None => update,
        OwnChange::Set(json) => update.sql(", own = ").text_or_null(json),
        OwnChange::Merge(patch, removed) => {
            let (before, after) = C::merge(&removed);
            let update = update.sql(format!(", own = {before}"));
            update.text(patch).sql(after)
        }
    };
    let update = update.sql(" WHERE ").then(condition);
    by_definition::<C>(update, definition).limited()
}

/// A statement with a condition, which changes rows only if the definition of the database is this one. It holds what it
/// needs to stay so until its transaction ends: on PostgreSQL its lock of the table, which it takes before it reads the
/// revision, and on MariaDB a shared lock of the row that it reads. A change of the definition takes the opposite
/// (`Backend::LOCK_WRITES`).
pub(super) fn by_definition<'a, C: Dialect>(
    statement: Fragment<'a>,
    definition: &Definition,
) -> Fragment<'a> {
    if C::FOR_UPDATE.is_empty() {
        // The transaction has read the definition, and no other one can write.
        return statement;
    }
    let revision = "(SELECT revision FROM robots_definition WHERE id = 1) = ";
    let statement = statement.sql(" AND ").sql(revision);
    statement.number(definition.revision().get())
}

/// Fails with [`Error::DefinitionStale`] unless the definition of the database is this one.
pub(super) async fn check_current<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
) -> QueryResult<()> {
    let query = Fragment::new("SELECT revision FROM robots_definition WHERE id = 1");
    let revisions = connection.numbers(query.sql(C::FOR_SHARE)).await?;
    if revisions == [definition.revision().get()] {
        return Ok(());
    }
    Err(wrap(Error::DefinitionStale))
}

/// Stores who changes robots in the transaction of the caller, for the triggers; `None` before it ends.
pub(super) async fn set_author<C: Dialect>(
    connection: &mut C,
    by: Option<&str>,
) -> QueryResult<()> {
    let update = author::<C>().text_or_null(by);
    connection.change(update).await.map(drop)
}

/// The statement before the author.
pub(super) fn author<C: Dialect>() -> Fragment<'static> {
    let guard = C::IN_TRANSACTION;
    let update = format!("UPDATE robots_catalogue SET revision = revision{guard}, actor = ");
    Fragment::new(update)
}

/// Deletes the robots that meet a condition, and returns how many there were. If it has an author, it needs a transaction.
pub(super) async fn delete<C: Dialect>(
    connection: &mut C,
    by: Option<&str>,
    condition: Fragment<'_>,
) -> QueryResult<usize> {
    if by.is_some() {
        set_author(connection, by).await?;
    }
    let delete = Fragment::new("DELETE FROM robots WHERE ");
    let deleted = connection.change(delete.then(condition)).await?;
    if by.is_some() {
        set_author(connection, None).await?;
    }
    Ok(deleted)
}

/// Whether a robot with this id exists now, also if another transaction has changed that since this one began.
pub(super) async fn exists<C: Dialect>(connection: &mut C, id: RobotId) -> QueryResult<bool> {
    let query = select("robots.id", Some(is_robot(id, None))).sql(C::FOR_UPDATE);
    Ok(!connection.numbers(query).await?.is_empty())
}

/// Executes a change. After the error of a unique value, [`rejection`] finds all such values.
pub(super) async fn apply<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    Authored { change, by }: &Authored,
) -> QueryResult<Result<Receipt>> {
    let by = by.as_deref();
    let (id, mut receipts) = match change {
        Change::Undelete(id, draft) => {
            let versions = history(connection, *id, None, 2).await?;
            let is_present = versions.first().is_some_and(|event| event.robot.is_some());
            let last = versions.into_iter().find_map(|event| event.robot);
            let Some(last) = last else {
                return Ok(Err(Error::NotFound(*id)));
            };
            if is_present {
                return Ok(Err(Violation::ID_TAKEN.into()));
            }
            check_current(connection, definition).await?;
            let mut audit = last.audit().cloned().unwrap_or_default();
            (audit.updated_at, audit.updated_by) = (None, by.map(Into::into));
            let robot = draft.clone().with_id(*id).with_audit(audit);
            connection.insert_robots(definition, &[robot]).await?;
            let revision = get(connection, *id).await?.map(|robot| robot.revision());
            let id = *id;
            (id, vec![Receipt { id, revision }])
        }
        Change::Insert(draft) => {
            let receipt = connection.insert(definition, &[(draft, by)]).await?.pop();
            return Ok(receipt.ok_or_else(|| Error::unknown("no receipt")));
        }
        Change::Update(id, expected, changes) => {
            let (ids, condition) = ([id.get()], is_robot(*id, *expected));
            let updated = update(connection, definition, (changes, by), &ids, condition);
            (*id, updated.await?)
        }
        Change::Delete(id, expected) => {
            let deleted = delete(connection, by, is_robot(*id, *expected)).await?;
            let (id, revision) = (*id, None);
            (id, vec![Receipt { id, revision }; deleted])
        }
    };
    if let Some(receipt) = receipts.pop() {
        return Ok(Ok(receipt));
    }
    // The statement has decided. This look only finds out why it changed nothing.
    let is_stale = change.expected().is_some() && exists(connection, id).await?;
    Ok(Err(if is_stale {
        Error::Stale(id)
    } else {
        Error::NotFound(id)
    }))
}

/// As [`apply`], with all values that other robots have.
pub(super) async fn apply_alone<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    change: &Authored,
) -> QueryResult<Result<Receipt>> {
    match apply(connection, definition, change).await {
        Err(error) if is_taken(&error) => {
            rejection(connection, definition, &change.change, error).await
        }
        result => result,
    }
}

/// The rejection of a change by the error of a unique value: because of all values that other robots have.
pub(super) async fn rejection<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    change: &Change,
    error: DieselError,
) -> QueryResult<Result<Receipt>> {
    let violation = taken(&error).filter(|one| *one != Violation::ID_TAKEN);
    let violation = violation.ok_or(error)?;
    if definition.has_only_unique_names() {
        return Ok(Err(violation.into()));
    }
    let taken = taken_fields(
        connection,
        definition,
        |field| change.value(field),
        change.id(),
    );
    let taken = taken.await?;
    Ok(Err(match taken[..] {
        [] => violation.into(),
        _ => Violations::taken(&taken).into(),
    }))
}

/// The fields of which other robots than the one with this id have the value.
pub(super) async fn taken_fields<'v, C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    value: impl Fn(&Field) -> Option<Value<'v>>,
    id: Option<RobotId>,
) -> QueryResult<Vec<Field>> {
    let mut taken = Vec::new();
    for field in definition.unique() {
        let filter =
            value(field).map(|value| Filter::all().with(field.clone(), value.into_owned()));
        let condition = filter.and_then(|filter| conditions::<C>(&filter));
        if let Some(condition) = condition {
            let holders = ids(connection, condition, 2).await?;
            if holders.into_iter().any(|holder| RobotId::new(holder) != id) {
                taken.push(field.clone());
            }
        }
    }
    Ok(taken)
}

/// The text after which the names of a page follow, if it is in ascending order of the names, and has no
/// other condition than a part of them.
pub(super) fn after_name(request: PageRequest<'_>) -> Option<&str> {
    let (after, _) = request.cursor.ascending_name()?;
    let is_unique = request.cursor.sort().field.is_unique();
    (is_unique && request.filter.has_only_text()).then_some(after)
}

/// The LIMIT of a statement.
pub(super) fn row_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Whether no robot meets a filter, because no name contains NUL, which PostgreSQL does not accept.
pub(super) fn has_nul(filter: &Filter) -> bool {
    let mut words = filter.words().iter();
    filter.containing.contains('\0') || words.any(|word| word.contains('\0'))
}
