//! `GET /api/robots/export`: all robots as a file, page after page.

use std::{iter, mem, sync::Arc};

use super::{
    api::{Answer, whole},
    failure::{Failure, logged},
    list,
    query::Query,
    render::{Envelope, json},
    reply::{Body, Chunks, Reply},
};
use crate::{
    catalogue::{Catalogue, Error, Pages, Pending, Result as StoreResult},
    model::{Field, Robot},
    transfer::{Format, RobotWriter},
};

/// How many robots are read and sent at a time.
const PAGE_SIZE: usize = 1000;

/// Begins an export.
pub(super) fn begin(
    catalogue: Arc<dyn Catalogue>,
    query: &str,
) -> Result<Pending<Answer>, Failure> {
    let (query, format) = Query::of_export(query)?;
    let file = File {
        pages: Pages::new(catalogue, "").page_size(PAGE_SIZE),
        format: format.unwrap_or(Format::Ndjson),
        fields: query.fields.unwrap_or_else(|| Field::ALL.to_vec()),
    };
    Ok(Pending::blocking(move || file.begin()))
}

/// A file of all robots of some pages.
struct File {
    pages: Pages<Arc<dyn Catalogue>>,
    format: Format,
    fields: Vec<Field>,
}

/// What of a file comes next.
enum Next {
    Page,
    Failure(Error),
    Nothing,
}

impl File {
    /// The reply. The first page is read at once, so that a store which fails is told by the
    /// status; a file that ends with it needs no streaming.
    fn begin(mut self) -> Answer {
        let mut writer = RobotWriter::new(self.format).fields(self.fields.clone());
        let first = self.pages.next();
        let opening = piece(first, &self.pages, &mut writer).map_err(logged)?;
        let format = self.format;
        let mut reply = if self.pages.is_finished() {
            whole(200, opening)
        } else {
            let rest = self.rest(writer);
            Reply {
                status: 200,
                headers: Vec::new(),
                body: Body::Streamed(Chunks::new(iter::once(Ok(opening)).chain(rest))),
            }
        };
        let name = format!("attachment; filename=\"robots.{format}\"");
        reply.headers.extend([
            ("content-type", format.media_type().into()),
            ("content-disposition", name.into()),
        ]);
        Ok(reply)
    }

    /// The pieces behind the first.
    fn rest(mut self, mut writer: RobotWriter) -> impl Iterator<Item = StoreResult<Vec<u8>>> {
        let mut next = Next::Page;
        iter::from_fn(move || match mem::replace(&mut next, Next::Nothing) {
            Next::Page => {
                let page = list::next_page(&mut self.pages);
                Some(Ok(match piece(page, &self.pages, &mut writer) {
                    Ok(bytes) => {
                        if !self.pages.is_finished() {
                            next = Next::Page;
                        }
                        bytes
                    }
                    Err(error) => {
                        log::error!("an export broke off: {error:?}");
                        next = Next::Failure(error);
                        broken_off(self.format, self.fields.len())
                    }
                }))
            }
            Next::Failure(error) => Some(Err(error)),
            Next::Nothing => None,
        })
    }
}

/// The end of a file of which the rest cannot be read. Nothing else in a file tells that it is
/// not whole, and some frontends cannot break a connection off. So this is what no reader takes
/// for a robot, nor for an end.
fn broken_off(format: Format, columns: usize) -> Vec<u8> {
    const MESSAGE: &str = "The export broke off, because the service failed; ask for it again";
    match format {
        // It has one field too many.
        Format::Csv => format!("\"{MESSAGE}\"{}\n", ",".repeat(columns)).into_bytes(),
        Format::Json | Format::Ndjson => {
            let mut line = json(&Envelope::error(vec![MESSAGE.to_owned()]));
            line.push(b'\n');
            line
        }
    }
}

/// The bytes of a page that was read of these, and what comes behind the last one.
fn piece(
    page: Option<StoreResult<Vec<Robot>>>,
    pages: &Pages<Arc<dyn Catalogue>>,
    writer: &mut RobotWriter,
) -> StoreResult<Vec<u8>> {
    let robots = page.transpose()?.unwrap_or_default();
    let mut bytes = Vec::with_capacity(64 * robots.len());
    let mut written = writer.write(&robots, &mut bytes);
    if pages.is_finished() {
        written = written.and_then(|()| writer.finish(&mut bytes));
    }
    // Memory takes whatever is written to it.
    written.map_err(Error::store)?;
    Ok(bytes)
}
