//! Pages of a filter in SQLite. A page fills soonest by reading all robots in its order if many of them
//! meet the filter, and by an index if few do: the index for filters by type and year, or that of the
//! trigrams of names. A search for a text reads names until it expects the index to be faster.

use diesel::{
    SqliteConnection,
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
    sqlite::Sqlite,
};

use super::{
    filter_index::{FilterIndex, Listed, has_fewer_than, page_by_year, sorted_page},
    trigram_index::IndexQuery,
};
use crate::{
    catalogue::{Cursor, Filter, PageRequest, SortKey},
    database::{
        schema::robots,
        statements::{Condition, Dialect, PageQuery},
    },
};

/// The number of names that are read first. Each further chunk is twice as long. Too low, and a page of
/// a frequent text takes more statements; too high, and a rare text waits for names that do not contain
/// it. This many take 45 µs, less than the creation of an [`IndexQuery`].
const FIRST_CHUNK: usize = 512;

/// The number of names that are read in the time in which an [`IndexQuery`] is created. Too low, and
/// queries are created for pages that reading would have filled earlier; too high, and rare texts are
/// looked up later. Measured with 500,000 names: 950 for a text of 3 trigrams, 4,800 for one of 11.
const PLANNING_COST: usize = 2_000;

/// The number of names that are read in the time in which a candidate is found and compared. Too low,
/// and candidates are compared although reading would be faster; too high, and texts with some hundred
/// matches are not looked up. Measured with 500,000 names: 5 for 200 candidates, 16 for 2,000, 8 for
/// 20,000, with the file in memory; more, if a row has to be read from disk.
const CANDIDATE_COST: usize = 20;

/// The index is used if reading is expected to cost at least this many times as much, since both are
/// estimates. Lower, and queries are created for frequent texts, whose pages reading would fill earlier;
/// higher, and rare ones are looked up later.
const ADVANTAGE: usize = 4;

/// The maximum cost of the index for each name that was read. Higher, and a text takes longer if its
/// matches follow each other a little further on; lower, and rare texts of frequent trigrams take longer.
const COST_PER_NAME_READ: usize = 4;

/// The maximum number of candidates of a count, and of a page in another order than that of the names.
/// Lower, and more of them read all names; higher, and those of frequent texts take longer than reading.
pub(super) const CANDIDATE_LIMIT: usize = 20_000;

/// The number of robots from which a page of a filter is found by reading all robots in the order of the
/// page. Fewer are found by the index for filters, and sorted. Lower, and a page that many robots must be
/// read for is not found by the index; higher, and more robots are sorted. Measured with 1,000,000 robots:
/// 10,000 are found and sorted in 3 ms. Reading takes about 1 µs per robot, so that a filter that one of
/// 70 robots meets fills a page of 50 in 3.5 ms.
pub(super) const SORT_LIMIT: i64 = 15_000;

/// Reads a page of the robots that meet a filter.
pub(super) fn search<T: Listed>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    page: PageQuery<SqliteConnection, T>,
    index: FilterIndex,
) -> QueryResult<Vec<T>> {
    let filter = request.filter;
    let text = filter.get_containing();
    let has_text = !text.is_empty();
    if index == FilterIndex::Missing || filter.get_name().is_some() {
        let contains = has_text.then(|| SqliteConnection::contains(text));
        return page(connection, request, contains);
    }
    let is_by_year = request.cursor.sort().key == SortKey::Year;
    if is_by_year && !has_text {
        return page_by_year(connection, request, page);
    }
    if !filter.has_only_text() && has_fewer_than(connection, SORT_LIMIT, filter)? {
        return sorted_page(connection, request, page);
    }
    if let Some(after) = request.cursor.ascending_name().filter(|_| has_text) {
        return search_by_name(connection, request, after, page);
    }
    let candidates = candidates(connection, text);
    if is_by_year && candidates.is_none() {
        return page_by_year(connection, request, page);
    }
    let condition = join(matching(text, candidates), scanned(filter));
    let filter = &Filter::all();
    page(connection, PageRequest { filter, ..request }, condition)
}

/// The conditions of a filter besides its text, in a form for which SQLite uses no index (`+`).
pub(super) fn scanned(filter: &Filter) -> Option<Condition<'_, Sqlite>> {
    let mut condition: Option<Condition<'_, Sqlite>> = None;
    if let Some(name) = filter.get_name() {
        condition = join(condition, Some(Box::new(robots::name.eq(name))));
    }
    if !filter.get_types().is_empty() {
        let types = filter.get_types().iter().map(String::as_str);
        let is_one = sql::<Text>("+robots.type").eq_any(types.collect::<Vec<_>>());
        condition = join(condition, Some(Box::new(is_one)));
    }
    let year = || sql::<BigInt>("+robots.year");
    if let Some(first) = filter.get_first_year() {
        condition = join(condition, Some(Box::new(year().ge(first))));
    }
    if let Some(last) = filter.get_last_year() {
        condition = join(condition, Some(Box::new(year().le(last))));
    }
    condition
}

/// Both conditions.
pub(super) fn join<'a>(
    one: Option<Condition<'a, Sqlite>>,
    other: Option<Condition<'a, Sqlite>>,
) -> Option<Condition<'a, Sqlite>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Box::new(one.and(other))),
        (one, other) => one.or(other),
    }
}

/// Reads a page, in the order of the names, of the robots whose names contain a text.
fn search_by_name<T>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    after: &str,
    page: PageQuery<SqliteConnection, T>,
) -> QueryResult<Vec<T>> {
    let filter = request.filter;
    let text = filter.get_containing();
    let contains = || {
        let text: Condition<'_, Sqlite> = SqliteConnection::contains(text);
        match scanned(filter) {
            Some(others) => Box::new(text.and(others)),
            None => text,
        }
    };
    let only_text = &Filter::from(text);
    let request = PageRequest {
        filter: only_text,
        ..request
    };
    let mut found = Vec::new();
    let mut after = after.to_owned();
    let mut missing = request.limit;
    let mut names_read = 0;
    let mut query = None;
    let condition = loop {
        let chunk = names_read + FIRST_CHUNK;
        let Some(last) = nth_name(connection, &after, chunk)? else {
            break contains();
        };
        let in_chunk = Box::new(contains().and(robots::name.le(last.clone())));
        let cursor = Cursor::after_name(after);
        let matches = page(connection, part(request, &cursor, missing), Some(in_chunk))?;
        missing -= matches.len();
        found.extend(matches);
        if missing == 0 {
            return Ok(found);
        }
        after = last;
        names_read += chunk;
        // The names to read until the page is full, if its matches are spread evenly.
        let expected_cost = (names_read / (found.len() + 1)).saturating_mul(missing);
        if expected_cost < ADVANTAGE * PLANNING_COST {
            continue;
        }
        let query = query.get_or_insert_with(|| IndexQuery::new(connection, text));
        let Some(query) = query else {
            break contains();
        };
        if query.cost <= (expected_cost / ADVANTAGE).min(names_read * COST_PER_NAME_READ) {
            break match query.candidates(connection, expected_cost / CANDIDATE_COST) {
                Some(ids) => Box::new(is_one_of(&ids).and(contains())),
                None => contains(),
            };
        }
    };
    let cursor = Cursor::after_name(after);
    let request = part(request, &cursor, missing);
    found.extend(page(connection, request, Some(condition))?);
    Ok(found)
}

/// The candidates of the index for a text, if there are few.
pub(super) fn candidates(connection: &mut SqliteConnection, text: &str) -> Option<Vec<i64>> {
    if text.is_empty() {
        return None;
    }
    IndexQuery::new(connection, text)?.candidates(connection, CANDIDATE_LIMIT)
}

/// The condition for a text and its candidates; `None` for an empty text.
pub(super) fn matching(text: &str, candidates: Option<Vec<i64>>) -> Option<Condition<'_, Sqlite>> {
    if text.is_empty() {
        return None;
    }
    let contains = SqliteConnection::contains(text);
    Some(match candidates {
        Some(ids) => Box::new(is_one_of(&ids).and(contains)),
        None => contains,
    })
}

/// The part of a request that is left from a place on.
fn part<'a>(request: PageRequest<'a>, cursor: &'a Cursor, limit: usize) -> PageRequest<'a> {
    PageRequest {
        cursor,
        limit,
        ..request
    }
}

/// The name at this position, from 1, among those that are greater than `after`.
fn nth_name(
    connection: &mut SqliteConnection,
    after: &str,
    position: usize,
) -> QueryResult<Option<String>> {
    let name = robots::table
        .select(robots::name)
        .filter(robots::name.gt(after));
    let name = name.order(robots::name.asc()).limit(1);
    let offset = i64::try_from(position).unwrap_or(i64::MAX) - 1;
    name.offset(offset).get_result(connection).optional()
}

/// The condition that the id of a robot is one of these.
pub(super) fn is_one_of(ids: &[i64]) -> Condition<'static, Sqlite> {
    let json = serde_json::Value::from(ids).to_string();
    let condition = sql::<Bool>("robots.id IN (SELECT value FROM json_each(");
    Box::new(condition.bind::<Text, _>(json).sql("))"))
}
