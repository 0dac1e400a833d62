//! Lists of any length, read page by page and sent piece by piece.

use std::{
    iter,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{request_id::RequestId, response, route::HandlerResult};
use crate::{
    catalogue::{Catalogue, Error, PageItem, Pages, Result},
    metrics::count_error,
};

/// Maximum number of robots per page; a list of one page is not streamed. Lower, and long lists cost
/// more queries: with 250, a list of 1,000 robots takes twice the CPU time. Higher, and lists that are
/// read at the same time need more memory.
const PAGE_SIZE: usize = 1024;

/// Size at which a piece is full, in bytes: a page of usual names. Lower, and pages are split; higher,
/// and each client that reads slowly keeps more memory.
const PIECE_SIZE: usize = 48 * 1024;

/// Number of attempts to read a page of a list that has started. Fewer, and a short outage breaks off
/// long lists; more, and a store that fails fast is called more often. With the store's default
/// timeout of 2 s, five attempts take [`RETRY_LIMIT`].
const PAGE_ATTEMPTS: u32 = 5;

/// Time after which there is no further attempt. Shorter, and a restart of the database breaks off
/// lists; longer, and each list occupies a thread for longer during an outage.
const RETRY_LIMIT: Duration = Duration::from_secs(10);

/// What writes the robots of a list, one after the other.
pub(super) trait ListWriter<T> {
    /// What the list is, for the log.
    const NAME: &str;

    fn write(&mut self, robot: &T, bytes: &mut Vec<u8>);

    fn finish(&mut self, bytes: &mut Vec<u8>);

    /// The end of an incomplete list, if it shows that the list is incomplete.
    fn error_mark(&self) -> Option<Vec<u8>> {
        None
    }
}

/// All robots of the pages. The first page is read before the response starts, so that the status
/// reports a failure of the store. A list of one page is not streamed. Later failures are logged with the
/// id of the request.
pub(super) fn stream<T: PageItem + 'static>(
    pages: Pages<Arc<dyn Catalogue>, T>,
    writer: impl ListWriter<T> + Send + 'static,
    request_id: RequestId,
) -> HandlerResult {
    let pages = pages.page_size(PAGE_SIZE);
    let mut list = List { pages, writer };
    let first = list.pages.next();
    let opening = list.piece(first)?;
    if list.pages.is_finished() {
        return Ok(response::ok(opening));
    }
    let pieces = iter::once(Ok(opening)).chain(list.rest(request_id));
    Ok(response::streamed(pieces))
}

struct List<T, W> {
    pages: Pages<Arc<dyn Catalogue>, T>,
    writer: W,
}

impl<T: PageItem, W: ListWriter<T>> List<T, W> {
    fn rest(mut self, request_id: RequestId) -> impl Iterator<Item = Result<Vec<u8>>> {
        let mut failure = None;
        iter::from_fn(move || {
            if self.pages.is_finished() {
                return failure.take().map(Err);
            }
            let page = self.next_page();
            let error = match self.piece(page) {
                Ok(bytes) => return Some(Ok(bytes)),
                Err(error) => error,
            };
            count_error(&error);
            let cause = error.with_cause();
            tracing::error!(%request_id, "{} was not sent completely: {cause}", W::NAME);
            let Some(mark) = self.writer.error_mark() else {
                return Some(Err(error));
            };
            failure = Some(error);
            Some(Ok(mark))
        })
    }

    /// The next page of a list that has started, for which a status of 503 comes too late. The store is
    /// called again if it is unavailable, each time with its own timeout.
    fn next_page(&mut self) -> Option<Result<Vec<T>>> {
        let started = Instant::now();
        for _ in 1..PAGE_ATTEMPTS {
            match self.pages.next() {
                Some(Err(Error::Unavailable(_))) if started.elapsed() < RETRY_LIMIT => {
                    // The page that could not be read is read again.
                    self.pages.finished = false;
                }
                page => return page,
            }
        }
        self.pages.next()
    }

    /// The bytes of a page, with the end of the list if it is the last one. If the page is too large, those
    /// of its first robots: the next pages then start after the last robot sent, and have as many robots.
    /// So a client that stops reading uses little memory.
    fn piece(&mut self, page: Option<Result<Vec<T>>>) -> Result<Vec<u8>> {
        let robots = page.transpose()?.unwrap_or_default();
        let mut bytes = Vec::with_capacity(PIECE_SIZE.min(64 * robots.len()));
        for (count, robot) in (1..).zip(&robots) {
            self.writer.write(robot, &mut bytes);
            if bytes.len() >= PIECE_SIZE && count < robots.len() {
                self.pages.cursor = robot.cursor(self.pages.cursor.sort());
                self.pages.page_size = count;
                self.pages.finished = false;
                break;
            }
        }
        if self.pages.is_finished() {
            self.writer.finish(&mut bytes);
        }
        // Kept until the client has read it.
        bytes.shrink_to_fit();
        Ok(bytes)
    }
}
