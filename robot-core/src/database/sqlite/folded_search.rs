//! Search that ignores case and diacritics in SQLite.

use diesel::{Connection, QueryResult, SqliteConnection, sqlite::Sqlite};

use super::{
    filter_index::{FilterIndex, Listed, has_fewer_than, ids, page_by_year},
    search::{CANDIDATE_LIMIT, SORT_LIMIT, is_one_of, join, scanned},
    trigram_index::IndexQuery,
};
use crate::{
    catalogue::{Filter, PageItem, PageRequest, SortKey},
    database::{
        folded::{self, FoldedCount},
        statements::{Condition, PageQuery},
    },
};

/// The maximum number of candidates of a page. Lower, and more searches read names until the page is full;
/// higher, and more candidates are sorted, of which the page needs few.
const PAGE_CANDIDATE_LIMIT: usize = 5_000;

/// Reads a page of a filter that has a text to fold.
pub(super) fn page<T: PageItem + Listed>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    page: PageQuery<SqliteConnection, T>,
    index: FilterIndex,
) -> QueryResult<Vec<T>> {
    let filter = request.filter;
    // All statements read one snapshot.
    connection.transaction(|connection| {
        let candidates = candidates(connection, filter, PAGE_CANDIDATE_LIMIT, index)?;
        let is_by_year = request.cursor.sort().key == SortKey::Year;
        if is_by_year && candidates.is_none() && index == FilterIndex::Present {
            return folded::page(connection, request, &|| None, |connection, chunk, _| {
                page_by_year(connection, chunk, page)
            });
        }
        let request = PageRequest {
            filter: &only_text(filter),
            ..request
        };
        let conditions = || conditions(filter, candidates.as_deref());
        folded::page(connection, request, &conditions, page)
    })
}

/// Counts the robots that meet a filter that has a text to fold.
pub(super) fn counts<T>(
    connection: &mut SqliteConnection,
    filter: &Filter,
    counts: FoldedCount<SqliteConnection, T>,
    index: FilterIndex,
) -> QueryResult<T> {
    // All statements read one snapshot.
    connection.transaction(|connection| {
        let candidates = candidates(connection, filter, CANDIDATE_LIMIT, index)?;
        let conditions = || conditions(filter, candidates.as_deref());
        counts(connection, &only_text(filter), &conditions)
    })
}

/// The ids of the robots that may meet a filter, from the index of trigrams or the index for filters;
/// `None` if neither has few.
fn candidates(
    connection: &mut SqliteConnection,
    filter: &Filter,
    limit: usize,
    index: FilterIndex,
) -> QueryResult<Option<Vec<i64>>> {
    let text = filter.folded_text().unwrap_or_default();
    let candidates =
        IndexQuery::new(connection, &text).and_then(|query| query.candidates(connection, limit));
    let others = filter.without_text();
    if candidates.is_none()
        && index == FilterIndex::Present
        && others != Filter::all()
        && has_fewer_than(connection, SORT_LIMIT, &others)?
    {
        return ids(connection, &others).map(Some);
    }
    Ok(candidates)
}

/// The candidates, and the conditions of a filter besides its text.
fn conditions<'a>(filter: &'a Filter, candidates: Option<&[i64]>) -> Option<Condition<'a, Sqlite>> {
    join(candidates.map(is_one_of), scanned(filter))
}

/// A filter with the text alone, for which SQLite uses no index for filters.
fn only_text(filter: &Filter) -> Filter {
    let text = filter.folded_text().unwrap_or_default();
    Filter::from(text.as_ref()).folded()
}
