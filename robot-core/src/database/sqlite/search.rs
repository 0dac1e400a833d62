//! Pages and counts of a filter in SQLite. Each statement names the index that it reads: SQLite does not know how many
//! robots an index finds, and would guess.

use diesel::{Connection, QueryResult, SqliteConnection};

use super::{
    errors::is_missing_index,
    trigram_index::{Candidates, candidates},
};
use crate::{
    catalogue::{Count, Filter, PageRequest, Room},
    database::{
        conditions::{ValueGroup, conditions, of_field},
        execute::Execute,
        fragment::Fragment,
        index::Index,
        search_text::{TextSearch, is_folded},
        statements::{self, after_name, now, of_part, page as read, row_limit, select_by},
    },
    model::{Definition, Field, Member, Robot},
};

/// The maximum number of robots that the index of a field finds, and that are then sorted. Fewer, and a page
/// of which they are the last reads all robots before them; more, and sorting takes longer. So many take
/// about 3 ms.
const SORT_LIMIT: i64 = 16_000;

/// The number of names that are compared in the time of looking up a candidate: 0.1 and 2 us.
const LOOKUP_COST: usize = 16;

/// SQL for a statement that finds robots by their ids, or reads all of them.
const BY_ID: &str = "NOT INDEXED";

/// How a page is read.
enum Plan {
    /// By the index of a field. If that is not the order, the robots are sorted.
    Index(Field),
    /// The robots of the page have these ids.
    Found(Vec<i64>),
    /// The robots that have one of these ids are compared and sorted.
    Ids(Vec<i64>),
    /// Names are compared in their order, up to so many; if they do not fill the page, it is read from the ids.
    Names(usize, Vec<i64>),
}

impl Plan {
    /// The first plan of this table whose condition is met. Times are those of a million robots, pages of 50.
    ///
    /// | The filter has | Plan | Reason |
    /// |---|---|---|
    /// | one value of a unique field | its `Index` | One statement finds the only robot. |
    /// | an indexed field that finds up to [`SORT_LIMIT`] | `Found`, by sorting what its index has | 3 ms; the last row of this table takes 100 ms if the page has robots of the end of the order. |
    /// | a text with up to 20,000 candidates of the search index | `Ids` of them | 2 us for each. |
    /// | such a text, if the first names fill the page sooner | `Names` | 10,000 candidates: 0.5 ms instead of 20. |
    /// | anything else | `Index` of the order | Many robots meet it, so that the page is soon full. |
    fn choose(
        connection: &mut SqliteConnection,
        definition: &Definition,
        request: PageRequest<'_>,
        text: Option<&TextSearch<'_>>,
    ) -> QueryResult<Self> {
        let filter = request.filter;
        for one in filter.fields.iter().filter(|one| one.field.is_indexed()) {
            if one.field.is_unique() && matches!(one.any_of[..], [Some(_)]) {
                return Ok(Self::Index(one.field.clone()));
            }
            if let Some(ids) = sorted_ids(connection, definition, request, text, &one.field)? {
                return Ok(Self::Found(ids));
            }
        }
        let found = text.and_then(|text| candidates(connection, text));
        let Some(Candidates { ids, gap }) = found else {
            return Ok(Self::Index(request.cursor.sort().field.clone()));
        };
        // The index of the names does not have search texts, so that each robot is looked up.
        let cost = if is_folded(filter) { 1 } else { LOOKUP_COST };
        // If the candidates are spread evenly.
        let names = request.limit.saturating_mul(gap);
        let is_by_name = request.cursor.ascending_name().is_some();
        Ok(if is_by_name && ids.len() * cost > names {
            Self::Names(2 * names, ids)
        } else {
            Self::Ids(ids)
        })
    }
}

/// Reads a page of the robots that meet a filter. If another program has dropped an index, SQLite chooses one.
pub(super) fn page(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    room: &mut Room,
) -> QueryResult<Vec<Robot>> {
    let found = if request.filter.containing.is_empty() && after_name(request).is_some() {
        // One statement needs no transaction.
        now(read(
            connection,
            definition,
            request,
            None,
            room,
            &by(&Field::NAME),
        ))
    } else {
        connection.transaction(|connection| planned(connection, definition, request, room))
    };
    match found {
        Err(error) if is_missing_index(&error) => connection.transaction(|connection| {
            let text = now(TextSearch::new(connection, request.filter))?;
            let contains = text.as_ref().map(contains);
            now(read(connection, definition, request, contains, room, ""))
        }),
        found => found,
    }
}

/// Reads a page by a plan. All statements must see the same snapshot.
fn planned(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    room: &mut Room,
) -> QueryResult<Vec<Robot>> {
    let text = now(TextSearch::new(connection, request.filter))?;
    let contains = || text.as_ref().map(contains);
    let among = |ids: &[i64]| contains().into_iter().fold(is_one_of(ids), Fragment::and);
    let (condition, index) = match Plan::choose(connection, definition, request, text.as_ref())? {
        Plan::Index(field) => (contains(), by(&field)),
        Plan::Found(ids) => {
            let filter = &Filter::all();
            let request = PageRequest { filter, ..request };
            let ids = Some(is_one_of(&ids));
            return now(read(connection, definition, request, ids, room, BY_ID));
        }
        Plan::Ids(ids) => (Some(among(&ids)), BY_ID.into()),
        Plan::Names(count, ids) => {
            let first = is_among_first(request, count);
            let first = contains().into_iter().fold(first, Fragment::and);
            let index = by(&request.cursor.sort().field);
            let found = now(read(
                connection,
                definition,
                request,
                Some(first),
                room,
                &index,
            ))?;
            if room.is_full() {
                return Ok(found);
            }
            *room = request.room();
            (Some(among(&ids)), BY_ID.into())
        }
    };
    now(read(
        connection, definition, request, condition, room, &index,
    ))
}

/// Counts the robots that meet a filter. All statements must see the same snapshot.
pub(super) fn counts(
    connection: &mut SqliteConnection,
    filter: &Filter,
    by: &[Field],
    limit: Option<usize>,
) -> QueryResult<Vec<Count>> {
    let text = now(TextSearch::new(connection, filter))?;
    let found = text.as_ref().and_then(|text| candidates(connection, text));
    let contains = text.as_ref().map(contains);
    let Some(Candidates { ids, .. }) = found else {
        return now(statements::counts(connection, filter, contains, by, limit));
    };
    let fields = conditions::<SqliteConnection>(filter).into_iter();
    let all = fields.chain(contains).fold(is_one_of(&ids), Fragment::and);
    let ids = select_by(BY_ID, "robots.id", Some(all));
    let is_found = Fragment::new("robots.id IN (").then(ids).sql(")");
    let (filter, is_found) = (&Filter::all(), Some(is_found));
    now(statements::counts(connection, filter, is_found, by, limit))
}

/// SQL for a statement that reads the index of a field, or all robots if there is none.
fn by(field: &Field) -> String {
    match field.member() {
        Member::Year => "INDEXED BY robots_year".to_owned(),
        Member::Name | Member::Own if field.is_indexed() || !field.is_own() => {
            format!("INDEXED BY {}", Index::of(field).name)
        }
        _ => BY_ID.to_owned(),
    }
}

/// The ids of a page in its order, by the index of a field; `None` if that finds too many robots.
fn sorted_ids(
    connection: &mut SqliteConnection,
    definition: &Definition,
    request: PageRequest<'_>,
    text: Option<&TextSearch<'_>>,
    indexed: &Field,
) -> QueryResult<Option<Vec<i64>>> {
    let index = by(indexed);
    // Other columns are compared without reading the robot.
    let is_in_index = |field: &Field| field.is(indexed) || !(field.is_own() || indexed.is_own());
    let fields = request.filter.fields.iter();
    let of_index = fields.filter(|one| is_in_index(&one.field));
    let of_index = of_index.flat_map(of_field::<SqliteConnection>);
    let of_index = of_index.reduce(Fragment::and);
    let beyond = select_by(&index, "robots.id", of_index).sql(" LIMIT 1 OFFSET ");
    let beyond = beyond.number(SORT_LIMIT).limited();
    if !now(connection.numbers(beyond))?.is_empty() {
        return Ok(None);
    }
    let mut sorted = Vec::new();
    for part in ValueGroup::after(definition, request.cursor, request.filter) {
        let contains = text.map(contains);
        let ids = of_part::<SqliteConnection>(request, *part, "robots.id", contains, &index);
        let limit = row_limit(request.limit - sorted.len());
        let ids = ids.sql(" LIMIT ").number(limit);
        sorted.extend(now(connection.numbers(ids.limited()))?);
    }
    Ok(Some(sorted))
}

/// The condition that a robot is among so many after the place of the cursor, in the order of the names.
fn is_among_first(request: PageRequest<'_>, count: usize) -> Fragment<'_> {
    let (after, _) = request.cursor.ascending_name().unwrap_or_default();
    let name = Fragment::new("robots.name <= (SELECT name FROM robots WHERE name > ").text(after);
    let name = name.sql(" ORDER BY name LIMIT 1 OFFSET ");
    name.number(row_limit(count)).sql(")")
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
