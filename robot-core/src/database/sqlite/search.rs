//! Search in SQLite. If many names contain a text, a page fills soonest by reading all names in their
//! order; if few do, by comparing the candidates of the search index. A search reads names until it
//! expects the index to be faster.

use diesel::{
    SqliteConnection,
    dsl::sql,
    prelude::*,
    sql_types::{Bool, Text},
    sqlite::Sqlite,
};

use super::trigram_index::IndexQuery;
use crate::{
    catalogue::PageRequest,
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

/// Reads a page of the robots whose names contain the text of the request.
pub(super) fn search<T>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    page: PageQuery<SqliteConnection, T>,
) -> QueryResult<Vec<T>> {
    let contains = || SqliteConnection::contains(request.containing);
    let mut found = Vec::new();
    let mut after = request.after.to_owned();
    let mut missing = request.limit;
    let mut names_read = 0;
    let mut query = None;
    let condition = loop {
        let chunk = names_read + FIRST_CHUNK;
        let Some(last) = nth_name(connection, &after, chunk)? else {
            break contains();
        };
        let in_chunk = Box::new(contains().and(robots::name.le(last.clone())));
        let matches = page(connection, part(request, &after, missing), Some(in_chunk))?;
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
        let query = query.get_or_insert_with(|| IndexQuery::new(connection, request.containing));
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
    let request = part(request, &after, missing);
    found.extend(page(connection, request, Some(condition))?);
    Ok(found)
}

/// The part of a request that is left after a name.
fn part<'a>(request: PageRequest<'a>, after: &'a str, limit: usize) -> PageRequest<'a> {
    PageRequest {
        after,
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
fn is_one_of(ids: &[i64]) -> Condition<'static, Sqlite> {
    let json = serde_json::Value::from(ids).to_string();
    let condition = sql::<Bool>("robots.id IN (SELECT value FROM json_each(");
    Box::new(condition.bind::<Text, _>(json).sql("))"))
}
