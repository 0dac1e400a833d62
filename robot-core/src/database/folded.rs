//! Search that ignores case and diacritics: reads the robots that meet the other conditions of a filter, in
//! chunks, and compares their folded names here, so that every database gives the same results. A
//! condition of the backend may exclude most of the others before.
//!
//! The chunks must be read in one snapshot: a robot that is renamed between them would be missed.

use std::{collections::HashMap, ops::ControlFlow};

use compact_str::CompactString;
use diesel::{Connection, QueryResult};

use super::statements::{Condition, Statements};
use crate::{
    catalogue::{Cursor, Filter, PageItem, PageRequest, Sort, SortKey, Summary},
    model::Robot,
};

/// The minimum number of robots in the first chunk, which has as many as the page otherwise. Lower, and small
/// pages take more statements; higher, and they read more robots than they return.
const FIRST_CHUNK: usize = 16;

/// How many times longer each further chunk is. Lower, and rare texts take more statements without an index;
/// higher, and frequent texts read more robots than they return.
const GROWTH: usize = 4;

/// The maximum number of robots in a chunk. Lower, and a search without an index takes more statements;
/// higher, and it takes more memory. So many take about 2 MB.
const LAST_CHUNK: usize = 16 * 1024;

/// A condition that every robot meets whose folded name contains a text; `None` if there is none. Robots
/// that do not match may meet it, too.
pub(super) type Candidates<'a, C> =
    &'a dyn Fn() -> Option<Condition<'a, <C as Connection>::Backend>>;

/// [`count`] or [`summary`].
pub(super) type FoldedCount<C, T> =
    for<'a> fn(&mut C, &Filter, Candidates<'a, C>) -> QueryResult<T>;

/// Whether entries are too little to read a page: they do not have the year by which it continues.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn needs_robots(request: PageRequest<'_>) -> bool {
    request.filter.is_folded() && request.cursor.sort().key == SortKey::Year
}

/// Reads a page of a filter that has a text to fold. `page` reads each chunk.
pub(super) fn page<C: Statements, T: PageItem>(
    connection: &mut C,
    request: PageRequest<'_>,
    candidates: Candidates<'_, C>,
    page: impl for<'a> Fn(
        &mut C,
        PageRequest<'a>,
        Option<Condition<'a, C::Backend>>,
    ) -> QueryResult<Vec<T>>,
) -> QueryResult<Vec<T>> {
    let mut found = Vec::new();
    if request.limit == 0 {
        return Ok(found);
    }
    read(connection, request, candidates, page, |item| {
        found.push(item);
        if found.len() < request.limit {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    Ok(found)
}

/// The number of robots that meet a filter that has a text to fold.
pub(super) fn count<C: Statements>(
    connection: &mut C,
    filter: &Filter,
    candidates: Candidates<'_, C>,
) -> QueryResult<u64> {
    let mut count = 0;
    let cursor = by_id();
    let request = all(filter, &cursor);
    read(connection, request, candidates, Statements::entries, |_| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(count)
}

/// The summary of the robots that meet a filter that has a text to fold.
pub(super) fn summary<C: Statements>(
    connection: &mut C,
    filter: &Filter,
    candidates: Candidates<'_, C>,
) -> QueryResult<Summary> {
    let mut counts: HashMap<(CompactString, i64), u64> = HashMap::new();
    let cursor = by_id();
    let request = all(filter, &cursor);
    let count = |robot: Robot| {
        *counts
            .entry((robot.robot_type().into(), robot.year()))
            .or_default() += 1;
        ControlFlow::Continue(())
    };
    read(connection, request, candidates, Statements::page, count)?;
    let counts = counts.into_iter();
    Ok(Summary::new(counts.map(|((robot_type, year), count)| {
        (robot_type, year, count)
    })))
}

/// The order in which tables are stored.
fn by_id() -> Cursor {
    Cursor::start(Sort {
        key: SortKey::Id,
        ..Sort::default()
    })
}

fn all<'a>(filter: &'a Filter, cursor: &'a Cursor) -> PageRequest<'a> {
    PageRequest {
        filter,
        cursor,
        limit: usize::MAX,
    }
}

/// Passes the robots of a request to `take`, in its order, until that breaks off.
fn read<C: Statements, T: PageItem>(
    connection: &mut C,
    request: PageRequest<'_>,
    candidates: Candidates<'_, C>,
    page: impl for<'a> Fn(
        &mut C,
        PageRequest<'a>,
        Option<Condition<'a, C::Backend>>,
    ) -> QueryResult<Vec<T>>,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) -> QueryResult<()> {
    let PageRequest { filter, cursor, .. } = request;
    let matcher = filter.matcher();
    let filter = filter.without_text();
    let mut cursor = cursor.clone();
    let mut limit = request.limit.clamp(FIRST_CHUNK, LAST_CHUNK);
    loop {
        let chunk = PageRequest {
            filter: &filter,
            cursor: &cursor,
            limit,
        };
        let items = page(connection, chunk, candidates())?;
        let is_last = items.len() < limit;
        let end = items.last().and_then(|last| last.cursor(cursor.sort()));
        for item in items {
            if matcher.matches_name(item.name()) && take(item).is_break() {
                return Ok(());
            }
        }
        match end {
            Some(end) if !is_last => cursor = end,
            _ => return Ok(()),
        }
        limit = (GROWTH * limit).min(LAST_CHUNK);
    }
}
