//! Search that ignores case and diacritics in SQLite.

use diesel::{Connection, QueryResult, SqliteConnection, sqlite::Sqlite};

use super::search::{has_few_robots, is_in_order_of_index, is_one_of, join, scanned};
use crate::{
    catalogue::{Filter, PageItem, PageRequest},
    database::{
        folded::{self, Candidates, FoldedCount},
        statements::{Condition, PageQuery},
    },
};

/// The ids of the robots whose folded names may contain a folded text; `None` to read every name.
fn candidates(connection: &mut SqliteConnection, text: &str) -> Option<Vec<i64>> {
    // The search index has names as they are written.
    let _ = (connection, text);
    None
}

/// Reads a page of a filter that has a text to fold.
pub(super) fn page<T: PageItem>(
    connection: &mut SqliteConnection,
    request: PageRequest<'_>,
    page: PageQuery<SqliteConnection, T>,
) -> QueryResult<Vec<T>> {
    let by_index = is_in_order_of_index(request);
    search(
        connection,
        request.filter,
        by_index,
        |connection, filter, candidates| {
            folded::page(
                connection,
                PageRequest { filter, ..request },
                candidates,
                page,
            )
        },
    )
}

/// Counts the robots that meet a filter that has a text to fold.
pub(super) fn counts<T>(
    connection: &mut SqliteConnection,
    filter: &Filter,
    counts: FoldedCount<SqliteConnection, T>,
) -> QueryResult<T> {
    search(connection, filter, false, counts)
}

/// Calls `read` with a filter and a condition that are equal to this filter, apart from other candidates.
/// SQLite uses indexes for the conditions of the filter, but not for those of the condition.
fn search<T>(
    connection: &mut SqliteConnection,
    filter: &Filter,
    by_index: bool,
    read: impl FnOnce(
        &mut SqliteConnection,
        &Filter,
        Candidates<'_, SqliteConnection>,
    ) -> QueryResult<T>,
) -> QueryResult<T> {
    // All statements read one snapshot.
    connection.transaction(|connection| {
        let text = filter.folded_text().unwrap_or_default();
        let ids = candidates(connection, &text);
        let is_candidate = || -> Option<Condition<'_, Sqlite>> { ids.as_deref().map(is_one_of) };
        if by_index || has_few_robots(connection, &filter.without_text())? {
            return read(connection, filter, &is_candidate);
        }
        let only_text = Filter::from(text.as_ref()).folded();
        read(connection, &only_text, &|| {
            join(is_candidate(), scanned(filter))
        })
    })
}
