//! Lists of any length: read page by page, and sent piece by piece.

use std::{
    iter,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    failure::{Failure, logged},
    render::elements,
    reply::{Body, Chunks, Reply},
};
use crate::{
    catalogue::{Catalogue, Error, PageItem, Pages, Result},
    model::{Field, Visible},
};

/// How many robots of a list are read and sent at a time. A list of fewer is sent as a whole.
const PAGE_SIZE: usize = 2000;

/// How many bytes of a list are enough for a piece of it.
const PIECE_SIZE: usize = 256 * 1024;

/// How often a busy store is asked for a page of a list that has begun.
const PAGE_ATTEMPTS: u32 = 5;

/// For how long it is asked again. What took a database longer would do so again.
const PAGE_PATIENCE: Duration = Duration::from_secs(10);

/// The array of all robots of the pages. The first page is read at once, so that a store
/// which fails is told by the status; a list that ends with it needs no streaming.
pub(super) fn stream<T: Visible + PageItem + 'static>(
    pages: Pages<Arc<dyn Catalogue>, T>,
    fields: Vec<Field>,
) -> std::result::Result<Reply, Failure> {
    let mut pages = pages.page_size(PAGE_SIZE);
    let Some(first) = pages.next().transpose().map_err(logged)? else {
        return Ok(listed(Body::Whole(b"[]".to_vec())));
    };
    let mut opening = piece(&mut pages, &first, &fields, b'[');
    if pages.is_finished() {
        opening.push(b']');
        return Ok(listed(Body::Whole(opening)));
    }
    let mut is_open = true;
    let rest = iter::from_fn(move || {
        is_open.then(|| match next_page(&mut pages) {
            Some(Ok(robots)) => Ok(piece(&mut pages, &robots, &fields, b',')),
            Some(Err(error)) => {
                is_open = false;
                log::error!("a list broke off: {error:?}");
                Err(error)
            }
            None => {
                is_open = false;
                Ok(b"]".to_vec())
            }
        })
    });
    let pieces = iter::once(Ok(opening)).chain(rest);
    Ok(listed(Body::Streamed(Chunks::new(pieces))))
}

/// The next page of a list that has begun, which can no longer be refused: a store that is busy is
/// asked again. Each time it waits as long as it would for anybody.
pub(super) fn next_page<T: Visible + PageItem>(
    pages: &mut Pages<Arc<dyn Catalogue>, T>,
) -> Option<Result<Vec<T>>> {
    let started = Instant::now();
    for _ in 1..PAGE_ATTEMPTS {
        match pages.next() {
            Some(Err(Error::Unavailable(_))) if started.elapsed() < PAGE_PATIENCE => {
                pages.retry();
            }
            page => return page,
        }
    }
    pages.next()
}

/// The bytes of a page, or of its beginning where they are too many: then the pages go on from
/// there, and are as long as that. So a client that stops reading costs little memory.
fn piece<T: Visible + PageItem>(
    pages: &mut Pages<Arc<dyn Catalogue>, T>,
    robots: &[T],
    fields: &[Field],
    before: u8,
) -> Vec<u8> {
    let (bytes, count) = elements(robots, fields, before, PIECE_SIZE);
    if let Some(last) = robots[..count].last().filter(|_| count < robots.len()) {
        pages.resume_after(PageItem::name(last), count);
    }
    bytes
}

fn listed(body: Body) -> Reply {
    Reply {
        status: 200,
        headers: Vec::new(),
        body,
    }
}
