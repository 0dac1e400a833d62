//! Lists of any length, read page by page and sent piece by piece.

use std::{
    io, iter,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    failure::of_disk,
    request_id::RequestId,
    response::{self, HandlerResult, Response},
};
use crate::{
    catalogue::{Catalogue, Cursor, Error, Pages, Result},
    metrics::count_error,
    model::{Robot, RobotId},
};

/// Maximum number of robots per page; a list of one page is not streamed. Lower, and long lists cost
/// more queries: with 250, a list of 1,000 robots takes twice the CPU time. Higher, and lists that are
/// read at the same time need more memory.
const PAGE_SIZE: usize = 1024;

/// Number of bytes after which a page ends. Lower, and lists of large robots take more queries; higher, and each client
/// that reads slowly keeps more memory.
const PAGE_BYTES: usize = 64 * 1024;

/// The same for the first page of a `limit`. Lower, and more of them are read twice: see [`page`].
const FIRST_PAGE_BYTES: usize = 100 * 1024;

/// Size at which a piece is full, in bytes, if its texts are longer in JSON than in the catalogue. Lower, and pages
/// are split; higher, and each client that reads slowly keeps more memory.
const PIECE_SIZE: usize = 192 * 1024;

/// Number of attempts to read a page of a list that has started. Fewer, and a short outage breaks off
/// long lists; more, and a store that fails fast is called more often. With the store's default
/// timeout of 2 s, five attempts take [`RETRY_LIMIT`].
const PAGE_ATTEMPTS: u32 = 5;

/// Time after which there is no further attempt. Shorter, and a restart of the database breaks off
/// lists; longer, and each list occupies a thread for longer during an outage.
const RETRY_LIMIT: Duration = Duration::from_secs(10);

/// What writes the robots of a list, one after the other.
pub(super) trait ListWriter {
    /// What the list is, for the log.
    const NAME: &str;

    fn write(&mut self, robot: &Robot, bytes: &mut Vec<u8>) -> io::Result<()>;

    fn finish(&mut self, bytes: &mut Vec<u8>) -> io::Result<()>;

    /// The end of an incomplete list, if it shows that the list is incomplete.
    fn error_mark(&self) -> Option<Vec<u8>> {
        None
    }
}

/// All robots of the pages. The first page is read before the response starts, so that the status
/// reports a failure of the store. A list of one page is not streamed. Later failures are logged with the
/// id of the request.
pub(super) fn stream(
    pages: Pages<Arc<dyn Catalogue>>,
    writer: impl ListWriter + Send + 'static,
    request_id: RequestId,
) -> HandlerResult {
    let mut pages = pages.page_size(PAGE_SIZE).max_bytes(PAGE_BYTES);
    let first = pages.next().transpose()?.unwrap_or_default();
    let list = List::new(pages, writer);
    Ok(list.into_response(&first, None, request_id)?)
}

/// The first robots of the pages, and the place after them if there are more. If they do not fit into one page of the
/// catalogue, they are read twice: to find the last one, and while they are sent.
pub(super) fn page(
    pages: Pages<Arc<dyn Catalogue>>,
    limit: usize,
    writer: impl ListWriter + Send + 'static,
    request_id: RequestId,
) -> Result<(Response, Option<Cursor>)> {
    let sort = pages.cursor.sort().clone();
    // One more than is returned shows whether there is a next page.
    let mut walk = pages.page_size(limit + 1).max_bytes(FIRST_PAGE_BYTES);
    let mut page = walk.next().transpose()?.unwrap_or_default();
    walk = walk.max_bytes(PAGE_BYTES);
    let mut pages = walk.clone();
    let (mut first, mut ids, mut place) = (None, Vec::new(), None);
    let has_next = loop {
        let room = limit - ids.len();
        let has_next = page.len() > room;
        page.truncate(room);
        ids.extend(page.iter().map(Robot::id));
        let end = page.last().map(|last| Cursor::after(sort.clone(), last));
        place = end.or(place);
        first.get_or_insert(page);
        if has_next || walk.is_finished() {
            break has_next;
        }
        page = walk.next().transpose()?.unwrap_or_default();
    };
    let first = first.unwrap_or_default();
    pages.finished = first.len() == ids.len();
    let next = place.clone().filter(|_| has_next);
    let end = place.map(|place| End { place, ids });
    let list = List::new(pages, writer);
    Ok((list.into_response(&first, end, request_id)?, next))
}

struct List<W> {
    pages: Pages<Arc<dyn Catalogue>>,
    /// `None` if all robots are sent.
    end: Option<End>,
    writer: W,
}

/// The end of a list that was read before it is sent.
struct End {
    /// The place after its last robot.
    place: Cursor,
    /// The ids of its robots. Others are added meanwhile.
    ids: Vec<RobotId>,
}

impl<W: ListWriter + Send + 'static> List<W> {
    fn new(pages: Pages<Arc<dyn Catalogue>>, writer: W) -> Self {
        let end = None;
        Self { pages, end, writer }
    }

    /// The response with the robots of the first page, and of those after it up to an end.
    fn into_response(
        mut self,
        first: &[Robot],
        end: Option<End>,
        request_id: RequestId,
    ) -> Result<Response> {
        let opening = self.piece(first)?;
        self.end = end;
        if self.pages.is_finished() {
            return Ok(response::ok(opening));
        }
        let pieces = iter::once(Ok(opening)).chain(self.rest(request_id));
        // The robots of a workbook are written at its end.
        let pieces = pieces.filter(|piece| !piece.as_ref().is_ok_and(Vec::is_empty));
        Ok(response::streamed(pieces))
    }

    fn rest(mut self, request_id: RequestId) -> impl Iterator<Item = Result<Vec<u8>>> {
        let mut failure = None;
        iter::from_fn(move || {
            if self.pages.is_finished() {
                return failure.take().map(Err);
            }
            let page = self.next_page().transpose();
            let error = match page.and_then(|page| self.piece(&page.unwrap_or_default())) {
                Ok(piece) => return Some(Ok(piece)),
                Err(error) => error,
            };
            self.pages.finished = true;
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
    fn next_page(&mut self) -> Option<Result<Vec<Robot>>> {
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

    /// The bytes of a page, with the end of the list if it is the last one. If they are too many, those of its first
    /// robots: the next page then starts after the last robot sent.
    fn piece(&mut self, robots: &[Robot]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (count, robot) in (1..).zip(robots) {
            if let Some(End { place, ids }) = &self.end {
                self.pages.finished |= place.precedes(robot) || ids.last() == Some(&robot.id());
                if !ids.contains(&robot.id()) {
                    continue;
                }
            }
            self.writer.write(robot, &mut bytes).map_err(of_disk)?;
            if bytes.len() >= PIECE_SIZE && count < robots.len() {
                self.pages.cursor = Cursor::after(self.pages.cursor.sort().clone(), robot);
                self.pages.limit = count;
                self.pages.finished = false;
                break;
            }
        }
        if self.pages.is_finished() {
            self.writer.finish(&mut bytes).map_err(of_disk)?;
        }
        // Kept until the client has read it.
        bytes.shrink_to_fit();
        Ok(bytes)
    }
}
