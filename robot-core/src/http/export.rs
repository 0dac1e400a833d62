//! `GET /api/robots/export`: all robots as a file, read page by page.
//!
//! Names are not escaped as in other responses, so that the file is the same as that of
//! [`RobotWriter`]: its type is not HTML, and browsers save it.

use std::{iter, mem, slice, sync::Arc};

use ::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use super::{
    list::{self, PAGE_SIZE, PIECE_SIZE},
    query::Query,
    render::{Envelope, json},
    request_id::RequestId,
    response,
    route::{Call, HandlerResult, Started},
};
use crate::{
    catalogue::{Catalogue, Cursor, Error, Pages, Pending, Result},
    metrics::count_error,
    model::{Field, Robot},
    transfer::{Format, RobotWriter},
};

pub(super) fn start(call: &Call<'_>) -> Started {
    let (query, writer) = Query::of_export(call.query())?;
    let fields = query.fields.unwrap_or_else(|| Field::DEFAULT.to_vec());
    let file = File {
        pages: Pages::new(Arc::clone(&call.service.catalogue), query.filter).page_size(PAGE_SIZE),
        columns: fields.len(),
        writer: writer.fields(fields),
        request_id: call.request_id.clone(),
    };
    Ok(Pending::blocking(move || file.response()))
}

/// A file of all robots.
struct File {
    pages: Pages<Arc<dyn Catalogue>>,
    writer: RobotWriter,
    /// The number of fields.
    columns: usize,
    request_id: RequestId,
}

/// The state of a file that is being sent.
enum Next {
    Page,
    Failure(Error),
    End,
}

impl File {
    /// The response. The first page is read before the response starts, so that the status reports a
    /// failure of the store. A file of one page is not streamed.
    fn response(mut self) -> HandlerResult {
        let first = self.pages.next();
        let opening = piece(first, &mut self.pages, &mut self.writer)?;
        let format = self.writer.format();
        let mut response = if self.pages.is_finished() {
            response::ok(opening)
        } else {
            response::streamed(iter::once(Ok(opening)).chain(self.rest()))
        };
        let name = format!("attachment; filename=\"robots.{format}\"");
        let headers = response.headers_mut();
        response::set(headers, CONTENT_TYPE, format.media_type().to_owned());
        response::set(headers, CONTENT_DISPOSITION, name);
        Ok(response)
    }

    /// The pieces after the first.
    fn rest(mut self) -> impl Iterator<Item = Result<Vec<u8>>> {
        let mut next = Next::Page;
        iter::from_fn(move || match mem::replace(&mut next, Next::End) {
            Next::Page => {
                let page = list::next_page(&mut self.pages);
                Some(Ok(match piece(page, &mut self.pages, &mut self.writer) {
                    Ok(bytes) => {
                        if !self.pages.is_finished() {
                            next = Next::Page;
                        }
                        bytes
                    }
                    Err(error) => {
                        count_error(&error);
                        let (request_id, cause) = (&self.request_id, error.with_cause());
                        tracing::error!(%request_id, "an export was not sent completely: {cause}");
                        next = Next::Failure(error);
                        error_mark(self.writer.format(), self.columns)
                    }
                }))
            }
            Next::Failure(error) => Some(Err(error)),
            Next::End => None,
        })
    }
}

/// The end of an incomplete file: text that no reader accepts as a robot or as the end of the file.
/// Nothing else in a file shows that it is incomplete, and some frontends cannot abort a connection.
fn error_mark(format: Format, columns: usize) -> Vec<u8> {
    const MESSAGE: &str =
        "The export was interrupted, because the service failed; request it again";
    match format {
        // One field too many.
        Format::Csv => format!("\"{MESSAGE}\"{}\n", ",".repeat(columns)).into_bytes(),
        Format::Json | Format::Ndjson => {
            let mut line = json(&Envelope::error(vec![MESSAGE.to_owned()]));
            line.push(b'\n');
            line
        }
    }
}

/// The bytes of a page, or of its first robots if the page is too large, and the end of the file if it
/// is the last one.
fn piece(
    page: Option<Result<Vec<Robot>>>,
    pages: &mut Pages<Arc<dyn Catalogue>>,
    writer: &mut RobotWriter,
) -> Result<Vec<u8>> {
    let robots = page.transpose()?.unwrap_or_default();
    let mut bytes = Vec::with_capacity(PIECE_SIZE.min(64 * robots.len()));
    for (count, robot) in (1..).zip(&robots) {
        // Writing to memory does not fail.
        writer
            .write(slice::from_ref(robot), &mut bytes)
            .map_err(Error::store)?;
        if bytes.len() >= PIECE_SIZE && count < robots.len() {
            pages.resume(Cursor::after(pages.sort(), robot), count);
            break;
        }
    }
    if pages.is_finished() {
        writer.finish(&mut bytes).map_err(Error::store)?;
    }
    bytes.shrink_to_fit();
    Ok(bytes)
}
