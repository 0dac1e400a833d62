//! Lists of any length, read page by page and sent piece by piece.

use std::{
    iter,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{render::elements, request_id::RequestId, response, route::HandlerResult};
use crate::{
    catalogue::{Catalogue, Error, PageItem, Pages, Result},
    metrics::count_error,
    model::{Field, Visible},
};

/// Maximum number of robots per page; a list of one page is not streamed. Lower, and long lists cost
/// more queries: with 250, a list of 1,000 robots takes twice the CPU time. Higher, and lists that are
/// read at the same time need more memory.
pub(super) const PAGE_SIZE: usize = 1024;

/// Size at which a piece is full, in bytes: a page of usual names. Lower, and pages are split; higher,
/// and each client that reads slowly keeps more memory.
pub(super) const PIECE_SIZE: usize = 48 * 1024;

/// Number of attempts to read a page of a list that has started. Fewer, and a short outage breaks off
/// long lists; more, and a store that fails fast is called more often. With the store's default
/// timeout of 2 s, five attempts take [`RETRY_LIMIT`].
const PAGE_ATTEMPTS: u32 = 5;

/// Time after which there is no further attempt. Shorter, and a restart of the database breaks off
/// lists; longer, and each list occupies a thread for longer during an outage.
const RETRY_LIMIT: Duration = Duration::from_secs(10);

/// The array of all robots of the pages. The first page is read before the response starts, so that the
/// status reports a failure of the store. A list of one page is not streamed. Later failures are logged
/// with the id of the request.
pub(super) fn stream<T: Visible + PageItem + 'static>(
    pages: Pages<Arc<dyn Catalogue>, T>,
    fields: Vec<Field>,
    request_id: RequestId,
) -> HandlerResult {
    let mut pages = pages.page_size(PAGE_SIZE);
    let Some(first) = pages.next().transpose()? else {
        return Ok(response::ok(b"[]".to_vec()));
    };
    let opening = piece(&mut pages, &first, &fields, b'[');
    if pages.is_finished() {
        return Ok(response::ok(opening));
    }
    let rest = iter::from_fn(move || {
        if pages.is_finished() {
            return None;
        }
        Some(match next_page(&mut pages) {
            Some(Ok(robots)) => Ok(piece(&mut pages, &robots, &fields, b',')),
            Some(Err(error)) => {
                count_error(&error);
                let cause = error.with_cause();
                tracing::error!(%request_id, "a list was not sent completely: {cause}");
                Err(error)
            }
            None => Ok(b"]".to_vec()),
        })
    });
    Ok(response::streamed(iter::once(Ok(opening)).chain(rest)))
}

/// The next page of a list that has started, for which a status of 503 comes too late. The store is
/// called again if it is unavailable, each time with its own timeout.
pub(super) fn next_page<T: Visible + PageItem>(
    pages: &mut Pages<Arc<dyn Catalogue>, T>,
) -> Option<Result<Vec<T>>> {
    let started = Instant::now();
    for _ in 1..PAGE_ATTEMPTS {
        match pages.next() {
            Some(Err(Error::Unavailable(_))) if started.elapsed() < RETRY_LIMIT => {
                pages.retry();
            }
            page => return page,
        }
    }
    pages.next()
}

/// The bytes of a page, with the end of the array if it is the last one. If the page is too large, those
/// of its first robots: the next pages then start after the last robot sent, and have as many robots. So
/// a client that stops reading uses little memory.
fn piece<T: Visible + PageItem>(
    pages: &mut Pages<Arc<dyn Catalogue>, T>,
    robots: &[T],
    fields: &[Field],
    before: u8,
) -> Vec<u8> {
    let sort = pages.sort();
    let can_resume = robots
        .first()
        .is_some_and(|robot| robot.cursor(sort).is_some());
    let enough = if can_resume { PIECE_SIZE } else { usize::MAX };
    let (mut bytes, count) = elements(robots, fields, before, enough);
    let last = robots[..count].last().filter(|_| count < robots.len());
    if let Some(cursor) = last.and_then(|last| last.cursor(sort)) {
        pages.resume(cursor, count);
    }
    if pages.is_finished() {
        bytes.push(b']');
    }
    // Kept until the client has read it.
    bytes.shrink_to_fit();
    bytes
}
