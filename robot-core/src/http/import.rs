//! `POST /api/robots/import`: a body of many robots, of which each is a change of its own.
//!
//! What of the body is good is stored, whatever the rest is, and the reply counts and names what
//! failed. So an error means here, too, that nothing was stored.

use std::{
    io::{self, Cursor, Read},
    sync::Arc,
};

use serde::Serialize;

use super::{
    api::{Answer, whole},
    failure::{Failure, logged},
    query,
    render::{Envelope, json},
    request::{BodyError, Request},
};
use crate::{
    catalogue::{Catalogue, Pending},
    transfer::{
        DryRun, Format, ImportError, ImportOptions, Outcome, ReadError, Records, Summary, import,
    },
};

/// The most bytes that the body of an import may have.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, IMPORT_LIMIT, Request}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let mut request = Request::new("POST", "/api/robots/import?format=csv");
/// request.header("Content-Length", (IMPORT_LIMIT + 1).to_string().as_bytes());
/// assert_eq!(api.handle(request).status, 413);
/// ```
pub const IMPORT_LIMIT: u64 = 1024 * 1024 * 1024;

/// The most bytes that it may have where nothing is stored (`?dry_run=true`), since its names have
/// to be remembered.
///
/// ```
/// # use std::sync::Arc;
/// # use robot_core::{MemoryCatalogue, http::{Api, Request}};
/// use robot_core::http::DRY_RUN_LIMIT;
///
/// # let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let mut request = Request::new("POST", "/api/robots/import?format=csv&dry_run=true");
/// request.header("Content-Length", (DRY_RUN_LIMIT + 1).to_string().as_bytes());
/// assert_eq!(api.handle(request).status, 413);
/// ```
pub const DRY_RUN_LIMIT: u64 = 16 * 1024 * 1024;

/// The most messages that a reply has about records that failed.
const MESSAGES_LIMIT: usize = 100;

/// How many robots are under way at a time, so that there is room for what others send.
const IN_FLIGHT: usize = 256;

/// The pieces of a body that is streamed. An empty one is its end.
pub(super) type Pieces = Box<dyn Iterator<Item = Result<Vec<u8>, BodyError>> + Send>;

/// Begins an import. The body is in the request where a frontend has not streamed it.
pub(super) fn begin(
    catalogue: Arc<dyn Catalogue>,
    request: Request,
    pieces: Option<Pieces>,
) -> Result<Pending<Answer>, Failure> {
    let (format, options) = query::of_import(request.query())?;
    let of_the_body = request.headers.content_type.as_deref();
    let format = format
        .or_else(|| Format::of_media_type(of_the_body.unwrap_or_default()))
        .ok_or_else(unknown_format)?;
    let limit = match options.dry_run {
        DryRun::No => IMPORT_LIMIT,
        DryRun::Yes => DRY_RUN_LIMIT,
    };
    let length = request
        .content_length()
        .and_then(|length| length.try_into().ok());
    if length.is_some_and(|length: u64| length > limit) {
        return Err(Failure::ImportTooLarge(limit));
    }
    let pieces = if let Some(pieces) = pieces {
        pieces
    } else {
        let body = request.into_body().map_err(Failure::Body)?;
        Box::new([Ok(body), Ok(Vec::new())].into_iter())
    };
    Ok(Pending::blocking(move || {
        let body = Body::new(pieces, limit);
        run(catalogue, Records::new(body, format), options, limit)
    }))
}

/// Brings the records in, to the last one or to where the body or the store fails.
fn run(
    catalogue: Arc<dyn Catalogue>,
    records: Records<Body>,
    options: ImportOptions,
    limit: u64,
) -> Answer {
    let mut report = Report::default();
    for outcome in import(catalogue, records, options).in_flight(IN_FLIGHT) {
        report.take(outcome, limit);
    }
    report.into_answer()
}

/// What an import came to, as the reply tells it.
#[derive(Default)]
struct Report {
    summary: Summary,
    first: Option<Failure>,
    messages: Vec<String>,
    unsaid: u64,
}

/// How many records came to what, in JSON.
#[derive(Serialize)]
struct Counts {
    added: u64,
    replaced: u64,
    skipped: u64,
    failed: u64,
}

impl Report {
    fn take(&mut self, outcome: Outcome, limit: u64) {
        self.summary.count(&outcome);
        let Err(error) = outcome.result else {
            return;
        };
        let failure = failure(error, limit);
        for message in failure.messages() {
            if self.messages.len() < MESSAGES_LIMIT {
                self.messages
                    .push(format!("line {}: {message}", outcome.line));
            } else {
                self.unsaid = self.unsaid.saturating_add(1);
            }
        }
        self.first.get_or_insert(failure);
    }

    fn into_answer(mut self) -> Answer {
        if self.unsaid > 0 {
            let unsaid = self.unsaid;
            self.messages.push(format!("and {unsaid} more messages"));
        }
        let Summary {
            added,
            replaced,
            skipped,
            failed,
        } = self.summary;
        let is_anything_stored = added > 0 || replaced > 0;
        match self.first {
            Some(first) if !is_anything_stored => {
                Err(Failure::NothingImported(Box::new(first), self.messages))
            }
            _ => {
                let counts = Counts {
                    added,
                    replaced,
                    skipped,
                    failed,
                };
                let envelope = Envelope::ok(counts).with_messages(self.messages);
                Ok(whole(200, json(&envelope)))
            }
        }
    }
}

/// What a client is told of a record, a body or a store that failed.
fn failure(error: ImportError, limit: u64) -> Failure {
    match error {
        ImportError::Malformed(messages) => Failure::Malformed(messages),
        ImportError::Refused(error) => logged(error),
        ImportError::Unreadable(ReadError::Malformed { message, .. }) => {
            Failure::Malformed(vec![message])
        }
        ImportError::Unreadable(ReadError::Input { cause, .. }) => {
            let body_error = cause.get_ref().and_then(|cause| cause.downcast_ref());
            match body_error {
                Some(BodyError::TooLarge) => Failure::ImportTooLarge(limit),
                Some(error) => Failure::Body(*error),
                None => Failure::Body(BodyError::Incomplete),
            }
        }
    }
}

fn unknown_format() -> Failure {
    Failure::Malformed(vec![
        "The format is not known; send format=csv, json or ndjson in the query, or the \
         Content-Type text/csv, application/json or application/x-ndjson"
            .into(),
    ])
}

/// The body as one stream of bytes.
struct Body {
    pieces: Pieces,
    piece: Cursor<Vec<u8>>,
    /// How many more bytes it may have.
    room: u64,
}

impl Body {
    fn new(pieces: Pieces, limit: u64) -> Self {
        Self {
            pieces,
            piece: Cursor::default(),
            room: limit,
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            // A frontend that is gone, with the connection, says no more. What has arrived of the
            // last record must not pass for a whole one then.
            let piece = self.pieces.next().unwrap_or(Err(BodyError::Incomplete));
            let piece = piece.map_err(io::Error::other)?;
            if piece.is_empty() {
                return Ok(0);
            }
            let length = piece.len().try_into().unwrap_or(u64::MAX);
            let Some(room) = self.room.checked_sub(length) else {
                return Err(io::Error::other(BodyError::TooLarge));
            };
            self.room = room;
            self.piece = Cursor::new(piece);
        }
    }
}
