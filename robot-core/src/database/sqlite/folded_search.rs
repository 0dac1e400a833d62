//! Search that ignores case and diacritics in SQLite.

use diesel::{Connection, QueryResult, SqliteConnection, sqlite::Sqlite};

use super::{
    filter_index::{has_fewer_than, ids},
    search::{CANDIDATE_LIMIT, SORT_LIMIT, is_one_of, join, scanned},
    trigram_index::IndexQuery,
};
use crate::{
    catalogue::{Filter, PageItem, PageRequest},
    database::{
        folded::{self, Candidates, FoldedCount},
        statements::{Condition, PageQuery},
    },
};

/// The maximum number of candidates of a page. Lower, and more searches read names until the page is full;
/// higher, and more candidates are sorted, of which the page needs few.
const PAGE_CANDIDATE_LIMIT: usize = 5_000;

/// Reads a page of a filter that has a text to fold.
pub(super) fn page<T: PageItem>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    page: PageQuery<SqliteConnection, T>,
    has_filter_index: bool,
) -> QueryResult<Vec<T>> {
    search(
        connection,
        request.filter,
        PAGE_CANDIDATE_LIMIT,
        has_filter_index,
        |connection, filter, candidates| {
            let request = PageRequest { filter, ..request };
            folded::page(connection, request, candidates, page)
        },
    )
}

/// Counts the robots that meet a filter that has a text to fold.
pub(super) fn counts<T>(
    connection: &mut SqliteConnection,
    filter: &Filter,
    counts: FoldedCount<SqliteConnection, T>,
    has_filter_index: bool,
) -> QueryResult<T> {
    search(
        connection,
        filter,
        CANDIDATE_LIMIT,
        has_filter_index,
        counts,
    )
}

/// Calls `read` with the text of a filter, and the other conditions, among them the candidates of an index
/// if there are few.
fn search<T>(
    connection: &mut SqliteConnection,
    filter: &Filter,
    limit: usize,
    has_filter_index: bool,
    read: impl FnOnce(
        &mut SqliteConnection,
        &Filter,
        Candidates<'_, SqliteConnection>,
    ) -> QueryResult<T>,
) -> QueryResult<T> {
    // All statements read one snapshot.
    connection.transaction(|connection| {
        let text = filter.folded_text().unwrap_or_default();
        let mut candidates = IndexQuery::new(connection, &text)
            .and_then(|query| query.candidates(connection, limit));
        let others = filter.without_text();
        if candidates.is_none()
            && has_filter_index
            && others != Filter::all()
            && has_fewer_than(connection, SORT_LIMIT, &others)?
        {
            candidates = Some(ids(connection, &others)?);
        }
        let only_text = Filter::from(text.as_ref()).folded();
        read(
            connection,
            &only_text,
            &|| -> Option<Condition<'_, Sqlite>> {
                join(candidates.as_deref().map(is_one_of), scanned(filter))
            },
        )
    })
}
