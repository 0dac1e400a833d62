//! Pages and counts of a filter by type and year, from the index `robots_filters`.
//!
//! An entry of the index has the type, the year, the id and the name of a robot, in this order. New robots,
//! about 2,250 at most, are not in it: their own index finds them. So each list has two parts, which
//! are merged.

use std::cmp::Ordering;

use diesel::{
    QueryResult, SqliteConnection,
    dsl::{min, sql},
    prelude::*,
    sql_types::Bool,
    sqlite::Sqlite,
};

use super::search::is_one_of;
use crate::{
    catalogue::{CursorPlace, Direction, Filter, PageRequest, Sort},
    database::{
        schema::robots,
        statements::{Condition, CountQuery, Dialect, PageQuery, restricted, row_limit, sorted},
    },
    model::{Entry, Robot},
};

/// A robot, or a part of it, that can be merged into a list.
pub(super) trait Listed {
    /// Compares two of them.
    fn compare(sort: Sort, one: &Self, other: &Self) -> Ordering;
}

impl Listed for Robot {
    fn compare(sort: Sort, one: &Self, other: &Self) -> Ordering {
        sort.compare(one, other)
    }
}

impl Listed for Entry {
    /// Entries have no year: they are never read in this order.
    fn compare(sort: Sort, one: &Self, other: &Self) -> Ordering {
        sort.compare_as(one, other, |entry| (entry.name(), 0, entry.id()))
    }
}

/// Whether the index can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterIndex {
    Present,
    /// In a file of an earlier version, which is read as it is.
    Missing,
}

impl FilterIndex {
    /// Whether the database has the index.
    pub(super) fn find(connection: &mut SqliteConnection) -> QueryResult<Self> {
        let found = "SELECT EXISTS (SELECT * FROM sqlite_master WHERE name = 'robots_filters')";
        let is_present = sql::<Bool>(found).get_result(connection)?;
        Ok(if is_present {
            Self::Present
        } else {
            Self::Missing
        })
    }
}

/// The condition that a robot is in the index. SQLite uses the index only for queries with this text.
fn in_index() -> Condition<'static, Sqlite> {
    Box::new(sql::<Bool>("robots.is_new = 0"))
}

/// The condition that a robot is not in the index yet.
fn is_new() -> Condition<'static, Sqlite> {
    Box::new(sql::<Bool>("robots.is_new = 1"))
}

/// A condition, and that of the text of a filter.
fn with_text<'a>(
    filter: &'a Filter,
    condition: Condition<'static, Sqlite>,
) -> Condition<'a, Sqlite> {
    match filter.get_containing() {
        "" => condition,
        text => Box::new(condition.and(SqliteConnection::contains(text))),
    }
}

/// The types of a filter, or those of all robots in the index: the index begins with the type.
fn types(connection: &mut SqliteConnection, filter: &Filter) -> QueryResult<Vec<String>> {
    let mut types: Vec<String> = Vec::new();
    if !filter.get_types().is_empty() {
        return Ok(filter.get_types().to_vec());
    }
    // A later version may have further types. Each query reads one entry.
    loop {
        let last = types.last().map_or("", String::as_str);
        let next = robots::table
            .filter(in_index().and(robots::robot_type.gt(last)))
            .select(min(robots::robot_type));
        match next.get_result::<Option<String>>(connection)? {
            Some(next) => types.push(next),
            None => return Ok(types),
        }
    }
}

/// As [`in_index`], with the types of a filter.
fn in_index_with_types(
    connection: &mut SqliteConnection,
    filter: &Filter,
) -> QueryResult<Condition<'static, Sqlite>> {
    let has_type = robots::robot_type.eq_any(types(connection, filter)?);
    Ok(Box::new(in_index().and(has_type)))
}

/// Whether the index has fewer than `limit` robots of a filter.
pub(super) fn has_fewer_than(
    connection: &mut SqliteConnection,
    limit: i64,
    filter: &Filter,
) -> QueryResult<bool> {
    let condition = in_index_with_types(connection, filter)?;
    let ids = robots::table.select(robots::id).into_boxed();
    let last = restricted!(ids, filter, Some(condition))
        .limit(1)
        .offset(limit - 1)
        .get_result::<i64>(connection);
    Ok(last.optional()?.is_none())
}

/// The ids of the robots of a filter, in the index and new.
pub(super) fn ids(connection: &mut SqliteConnection, filter: &Filter) -> QueryResult<Vec<i64>> {
    let indexed = in_index_with_types(connection, filter)?;
    let mut found = Vec::new();
    for condition in [indexed, is_new()] {
        let ids = robots::table.select(robots::id).into_boxed();
        let ids = restricted!(ids, filter, Some(condition)).load::<i64>(connection)?;
        found.extend(ids);
    }
    Ok(found)
}

/// Reads a page in the order of the years. The index has this order for each type, and the names that a
/// text is compared with.
pub(super) fn page_by_year<T: Listed>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    page: PageQuery<SqliteConnection, T>,
) -> QueryResult<Vec<T>> {
    let filter = request.filter;
    let mut found = page(connection, request, Some(with_text(filter, is_new())))?;
    for robot_type in types(connection, filter)? {
        let has_type = robots::robot_type.eq(robot_type);
        let condition = with_text(filter, Box::new(in_index().and(has_type)));
        found.extend(page(connection, request, Some(condition))?);
    }
    Ok(first(found, request))
}

/// Reads a page in another order: sorts all robots of the filter that the index has.
pub(super) fn sorted_page<T: Listed>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    page: PageQuery<SqliteConnection, T>,
) -> QueryResult<Vec<T>> {
    let filter = request.filter;
    let mut found = page(connection, request, Some(with_text(filter, is_new())))?;
    // The ids first, so that only the robots of the page are read.
    let condition = in_index_with_types(connection, filter)?;
    let ids = robots::table.select(robots::id).into_boxed();
    let ids = restricted!(ids, filter, Some(with_text(filter, condition)));
    let ids = ids.limit(row_limit(request.limit));
    let ids = match request.cursor.direction() {
        Direction::Ascending => sorted!(ids, request.cursor, asc, gt, ge),
        Direction::Descending => sorted!(ids, request.cursor, desc, lt, le),
    };
    let ids: Vec<i64> = ids.load(connection)?;
    let filter = &Filter::all();
    let request = PageRequest { filter, ..request };
    found.extend(page(connection, request, Some(is_one_of(&ids)))?);
    Ok(first(found, request))
}

/// The first of these robots, as many as a page has.
fn first<T: Listed>(mut robots: Vec<T>, request: PageRequest<'_>) -> Vec<T> {
    let sort = request.cursor.sort();
    robots.sort_by(|one, other| T::compare(sort, one, other));
    robots.truncate(request.limit);
    robots
}

/// The counts of the robots in the index, and of the new ones.
pub(super) fn counts<T>(
    connection: &mut SqliteConnection,
    filter: &Filter,
    counts: CountQuery<SqliteConnection, T>,
) -> QueryResult<Vec<T>> {
    let condition = in_index_with_types(connection, filter)?;
    Ok(vec![
        counts(connection, filter, Some(condition))?,
        counts(connection, filter, Some(is_new()))?,
    ])
}
