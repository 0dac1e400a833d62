//! Pages and counts of a filter in SQLite. A page fills soonest by reading all robots in its order if many
//! of them meet the filter, and by an index if few do: the index of a field, or the trigrams of search
//! texts. Without an upper limit of what an index finds, SQLite's planner would have to guess this.

use std::borrow::Cow;

use diesel::{QueryResult, SqliteConnection};

use super::trigram_index::candidates;
use crate::{
    catalogue::{Count, Cursor, FieldFilter, Filter, PageRequest, Room},
    database::{
        conditions::{conditions, of_field},
        execute::Execute,
        fragment::Fragment,
        schema::NAMED,
        search_text::TextSearch,
        statements::{self, now, row_limit, select},
    },
    model::{Definition, Field, Robot},
};

/// The maximum number of robots that the index of a field finds, and that are then sorted. Fewer, and a page
/// of which they are the last reads all robots before them; more, and sorting takes longer. So many take
/// about 3 ms.
const SORT_LIMIT: i64 = 16_000;

/// The number of names that a search reads first, in their order. Fewer, and a page of a frequent text takes
/// more statements; more, and a rare text waits longer for the index.
const FIRST_CHUNK: usize = 500;

/// A search reads names as long as it expects to fill its page with so many. Fewer, and the index looks up
/// frequent texts; more, and rare texts wait for it longer.
const NAME_LIMIT: usize = 40_000;

/// The maximum number of candidates of the index for texts. Fewer, and more texts read all names; more, and
/// looking them up takes longer than reading.
const CANDIDATE_LIMIT: usize = 20_000;

/// Reads a page of the robots that meet a filter. All statements must see the same snapshot.
pub(super) fn page(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    room: &mut Room,
) -> QueryResult<Vec<Robot>> {
    let filter = request.filter;
    let text = now(TextSearch::new(connection, filter))?;
    let text = text.as_ref();
    let is_unique = |field: &FieldFilter| field.field.is_unique() && field.any_of.len() == 1;
    if filter.fields.iter().any(is_unique) {
        return read(connection, definition, request, text.map(contains), room);
    }
    if let Some(ids) = sorted_ids(connection, definition, request, text, room.robots)? {
        return read_scanned(connection, definition, request, None, Some(&ids), room);
    }
    let mut found = Vec::new();
    let mut cursor = Cow::Borrowed(request.cursor);
    let mut ids = None;
    if let Some(text) = text {
        if request.cursor.ascending_name().is_some() {
            let (names, end) = read_names(connection, definition, request, text, room)?;
            if room.is_full() {
                return Ok(names);
            }
            found = names;
            cursor = Cow::Owned(end);
        }
        ids = candidates(connection, text, CANDIDATE_LIMIT);
    }
    let rest = PageRequest {
        cursor: &cursor,
        ..request
    };
    let ids = ids.as_deref();
    found.extend(read_scanned(connection, definition, rest, text, ids, room)?);
    Ok(found)
}

/// Counts the robots that meet a filter. All statements must see the same snapshot.
pub(super) fn counts(
    connection: &mut SqliteConnection,
    filter: &Filter,
    by: &[Field],
) -> QueryResult<Vec<Count>> {
    let text = now(TextSearch::new(connection, filter))?;
    let ids = text
        .as_ref()
        .and_then(|text| candidates(connection, text, CANDIDATE_LIMIT));
    let all = Filter::all();
    let (filter, condition) = match &ids {
        None => (filter, text.as_ref().map(contains)),
        Some(ids) => (&all, condition(filter, text.as_ref(), Some(ids))),
    };
    now(statements::counts(connection, filter, condition, by))
}

/// The ids of a page in its order, by the index of a field; `None` if that finds too many robots.
fn sorted_ids(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    text: Option<&TextSearch<'_>>,
    limit: usize,
) -> QueryResult<Option<Vec<i64>>> {
    let filter = request.filter;
    let mut fields = filter.fields.iter();
    let Some(indexed) = fields.find(|field| field.field.is_indexed()) else {
        return Ok(None);
    };
    // Other columns are compared without reading the robot.
    let of_index = filter.fields.iter().filter(|field| {
        field.field.is(&indexed.field) || !(field.field.is_own() || indexed.field.is_own())
    });
    let of_index = of_index.flat_map(|field| of_field::<SqliteConnection>(field, ""));
    let Some(of_index) = of_index.reduce(Fragment::and) else {
        return Ok(None);
    };
    let beyond = select("robots.id", Some(of_index)).sql(" LIMIT 1 OFFSET ");
    let beyond = beyond.number(SORT_LIMIT).limited();
    if !now(connection.numbers(beyond))?.is_empty() {
        return Ok(None);
    }
    // Not by the index of the order, which would read all robots.
    let room = &mut Room::of_robots(limit);
    let text = text.map(contains);
    let page = statements::page(connection, definition, request, text, room, "+");
    let found = now(page)?;
    Ok(Some(found.iter().map(|robot| robot.id().get()).collect()))
}

/// Reads names in their order while that is expected to fill the page soon. Returns what was found, and the
/// last name that was read.
fn read_names(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    text: &TextSearch<'_>,
    room: &mut Room,
) -> QueryResult<(Vec<Robot>, Cursor)> {
    let mut found = Vec::new();
    let mut cursor = request.cursor.clone();
    let mut names_read = 0;
    loop {
        let chunk = names_read + FIRST_CHUNK;
        let (after, _) = cursor.ascending_name().unwrap_or_default();
        let Some(last) = nth_name(connection, after, chunk)? else {
            return Ok((found, cursor));
        };
        let part = PageRequest {
            filter: &Filter::all(),
            cursor: &cursor,
            ..request
        };
        let in_chunk = Fragment::new("robots.name <= ").text(last.clone());
        let all = condition(request.filter, Some(text), None);
        let condition = all.into_iter().fold(in_chunk, Fragment::and);
        found.extend(read(connection, definition, part, Some(condition), room)?);
        cursor = cursor.after_text(last);
        names_read += chunk;
        // If the matches are spread evenly.
        let expected = (names_read / (found.len() + 1)).saturating_mul(room.robots);
        if room.is_full() || expected.max(names_read) > NAME_LIMIT {
            return Ok((found, cursor));
        }
    }
}

/// The name at this position, from 1, among those that are greater than `after`.
fn nth_name(
    connection: &mut SqliteConnection,
    after: &str,
    position: usize,
) -> QueryResult<Option<String>> {
    let is_after = Fragment::new("robots.name > ").text(after);
    let name = select(NAMED, Some(is_after)).sql(" ORDER BY robots.name LIMIT 1 OFFSET ");
    let query = name.number(row_limit(position) - 1);
    Ok(now(connection.pairs(query, &mut Room::of_robots(1), |(_, name)| Ok(name)))?.pop())
}

/// Reads a page in its order, or the robots of it that have one of these ids.
fn read_scanned(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    text: Option<&TextSearch<'_>>,
    ids: Option<&[i64]>,
    room: &mut Room,
) -> QueryResult<Vec<Robot>> {
    let sort = &request.cursor.sort().field;
    let mut fields = request.filter.fields.iter();
    if ids.is_none() && sort.is_indexed() && fields.any(|field| field.field.is(sort)) {
        // The order and the condition have one index.
        return read(connection, definition, request, text.map(contains), room);
    }
    let condition = condition(request.filter, text, ids);
    let filter = &Filter::all();
    let request = PageRequest { filter, ..request };
    read(connection, definition, request, condition, room)
}

/// Reads a page in its order, by the index that SQLite chooses.
fn read(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    condition: Option<Fragment<'_>>,
    room: &mut Room,
) -> QueryResult<Vec<Robot>> {
    now(statements::page(
        connection, definition, request, condition, room, "",
    ))
}

/// The conditions for the text, the ids, and the fields: these in a form for which SQLite uses no index (`+`).
fn condition<'a>(
    filter: &Filter,
    text: Option<&'a TextSearch<'_>>,
    ids: Option<&[i64]>,
) -> Option<Fragment<'a>> {
    let ids = ids.map(is_one_of).into_iter();
    let fields = conditions::<SqliteConnection>(filter, "+");
    let all = ids.chain(fields).chain(text.map(contains));
    all.reduce(Fragment::and)
}

/// The condition for the text.
fn contains<'a>(text: &'a TextSearch<'_>) -> Fragment<'a> {
    text.condition::<SqliteConnection>()
}

/// The condition that the id of a robot is one of these.
fn is_one_of(ids: &[i64]) -> Fragment<'static> {
    let json = serde_json::Value::from(ids).to_string();
    Fragment::new("robots.id IN (SELECT value FROM json_each(")
        .text(json)
        .sql("))")
}
