//! `POST /api/robots/import`: a body of many robots, each of which is a change of its own.
//!
//! Valid robots are stored even if others fail, and the reply counts and describes the failures. A
//! failure of the store or of the connection stops the import: the reply has its status, and counts
//! what was stored before. With `atomic=true`, all robots are one change.

use std::{
    io::{self, Cursor, Read},
    sync::Arc,
};

use ::http::header::CONTENT_TYPE;
use serde::Serialize;

use super::{
    behaviour::Behaviour,
    failure::{Failure, logged},
    headers::{content_length, value},
    import_query::{ImportQuery, Mode},
    render::{Envelope, json},
    request_body::{BodyError, Pieces},
    request_id::RequestId,
    response::{self, Response},
    route::{Call, Started},
};
use crate::{
    catalogue::{Catalogue, Error, Pending},
    model::Violation,
    transfer::{
        DryRun, Format, ImportError, ImportOptions, OnConflict, Outcome, ReadError, Records,
        Summary, import, import_atomically,
    },
};

/// The maximum number of bytes in the body of an import.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, IMPORT_LIMIT}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let request = http::Request::post("/api/robots/import?format=csv")
///     .header("content-length", IMPORT_LIMIT + 1)
///     .body("")?;
/// assert_eq!(api.handle(request).status(), 413);
/// # http::Result::Ok(())
/// ```
pub const IMPORT_LIMIT: u64 = 1024 * 1024 * 1024;

/// The maximum number of bytes in the body of a dry run (`?dry_run=true`), which keeps all names in
/// memory to detect duplicates.
pub const DRY_RUN_LIMIT: u64 = 16 * 1024 * 1024;

/// The maximum number of messages about records that failed in one reply.
const MESSAGES_LIMIT: usize = 100;

/// The number of robots that are being stored at a time. More would delay the writes of other
/// clients, which share a queue with them.
const IN_FLIGHT: usize = 256;

pub(super) fn start(call: &Call<'_>, pieces: Result<Pieces, BodyError>) -> Started {
    let ImportQuery {
        format,
        mode,
        options,
    } = ImportQuery::parse(call.query())?;
    let media_type = value(call.headers(), CONTENT_TYPE).unwrap_or_default();
    let format = format
        .or_else(|| Format::of_media_type(&media_type))
        .ok_or_else(unknown_format)?;
    let limit = match options.dry_run {
        DryRun::No => IMPORT_LIMIT,
        DryRun::Yes => DRY_RUN_LIMIT,
    };
    let length = content_length(call.headers()).and_then(|length| length.try_into().ok());
    if length.is_some_and(|length: u64| length > limit) {
        return Err(Failure::ImportTooLarge(limit));
    }
    let pieces = pieces.map_err(Failure::Body)?;
    let catalogue = Arc::clone(&call.service.catalogue);
    let behaviour = call.service.behaviour;
    let report = Report::new(limit, mode, call.request_id.clone());
    Ok(Pending::blocking(move || {
        let records = Records::new(BodyReader::new(pieces, limit), format);
        let report = match mode {
            Mode::Each => run(catalogue, records, options, report),
            Mode::Atomic => run_atomically(&*catalogue, records, options, report),
        };
        Ok(report.into_response(options, behaviour)?)
    }))
}

/// Imports the records, up to the last one or to a failure of the body or the store.
fn run(
    catalogue: Arc<dyn Catalogue>,
    records: Records<BodyReader>,
    options: ImportOptions,
    mut report: Report,
) -> Report {
    let mut outcomes = import(catalogue, records, options).in_flight(IN_FLIGHT);
    for outcome in outcomes.by_ref() {
        report.add(outcome);
    }
    // Otherwise the reply has no counts, and the rest of the body need not be read.
    if report.stop.is_some() && report.has_counts() {
        report.not_tried = outcomes.not_tried();
    }
    report
}

/// Imports all records, or none.
fn run_atomically(
    catalogue: &dyn Catalogue,
    records: Records<BodyReader>,
    options: ImportOptions,
    mut report: Report,
) -> Report {
    for outcome in import_atomically(catalogue, records, options) {
        report.add(outcome);
    }
    report
}

/// The outcome of an import for the reply.
struct Report {
    /// The maximum number of bytes in the body.
    limit: u64,
    request_id: RequestId,
    summary: Summary,
    /// The first failure of a record.
    first: Option<Failure>,
    /// The failure that ended the import, and its messages.
    stop: Option<(Failure, Vec<String>)>,
    not_tried: Option<u64>,
    messages: Vec<String>,
    /// The maximum number of messages.
    messages_limit: usize,
    /// The number of messages beyond it.
    omitted: u64,
    has_name_conflict: bool,
}

/// The numbers of records by their outcome, in JSON.
#[derive(Serialize)]
struct Counts {
    added: u64,
    replaced: u64,
    skipped: u64,
    failed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_tried: Option<u64>,
}

impl Report {
    fn new(limit: u64, mode: Mode, request_id: RequestId) -> Self {
        Self {
            limit,
            request_id,
            summary: Summary::default(),
            first: None,
            stop: None,
            not_tried: None,
            messages: Vec::new(),
            messages_limit: match mode {
                Mode::Each => MESSAGES_LIMIT,
                // The number of records is limited.
                Mode::Atomic => usize::MAX,
            },
            omitted: 0,
            has_name_conflict: false,
        }
    }

    fn add(&mut self, outcome: Outcome) {
        self.summary.count(&outcome);
        let Err(error) = outcome.result else {
            return;
        };
        self.has_name_conflict |= is_name_conflict(&error);
        let is_stop = self.stop.is_none() && is_stop(&error);
        let failure = self.failure(error);
        let messages = failure.messages().into_iter();
        let messages = messages.map(|message| format!("{}: {message}", outcome.position));
        if is_stop {
            self.stop = Some((failure.clone(), messages.collect()));
            return;
        }
        for message in messages {
            if self.messages.len() < self.messages_limit {
                self.messages.push(message);
            } else {
                self.omitted = self.omitted.saturating_add(1);
            }
        }
        self.first.get_or_insert(failure);
    }

    /// The failure of a record, the body or the store, for the client.
    fn failure(&self, error: ImportError) -> Failure {
        match error {
            ImportError::Malformed(messages) => Failure::Malformed(messages),
            ImportError::Store(error) => logged(error, &self.request_id),
            error @ ImportError::TooMany => Failure::TooManyRecords(error.to_string()),
            ImportError::Unreadable(ReadError::Malformed { message, .. }) => {
                Failure::Malformed(vec![message])
            }
            ImportError::Unreadable(ReadError::Input { cause, .. }) => {
                let body_error = cause.get_ref().and_then(|cause| cause.downcast_ref());
                match body_error {
                    Some(BodyError::TooLarge) => Failure::ImportTooLarge(self.limit),
                    Some(error) => Failure::Body(*error),
                    None => Failure::Body(BodyError::Incomplete),
                }
            }
        }
    }

    /// Whether the reply has the counts even if the import was stopped.
    fn has_counts(&self) -> bool {
        self.summary.records() > self.summary.failed
    }

    fn into_response(
        mut self,
        options: ImportOptions,
        behaviour: Behaviour,
    ) -> Result<Response, Failure> {
        let has_counts = self.has_counts();
        if self.omitted > 0 {
            let omitted = self.omitted;
            self.messages.push(format!("and {omitted} more messages"));
        }
        if self.has_name_conflict && options.on_conflict == OnConflict::Fail {
            self.messages.push(
                "To skip names that are taken, add on_conflict=skip to the query; to update \
                 their robots, on_conflict=replace"
                    .to_owned(),
            );
        }
        let Summary {
            added,
            replaced,
            skipped,
            failed,
        } = self.summary;
        let counts = Counts {
            added,
            replaced,
            skipped,
            failed,
            not_tried: self.not_tried,
        };
        let is_anything_stored = added > 0 || replaced > 0;
        let mut messages = self.messages;
        match (self.stop, self.first) {
            (Some((stop, reasons)), _) => {
                messages.extend(reasons);
                if !has_counts {
                    return Err(Failure::NothingImported(Box::new(stop), messages));
                }
                messages.extend(advice(&stop, options).map(str::to_owned));
                Ok(stopped(&stop, counts, messages, behaviour))
            }
            (None, Some(first)) if !is_anything_stored => {
                Err(Failure::NothingImported(Box::new(first), messages))
            }
            _ => {
                let envelope = Envelope::ok(counts).with_messages(messages);
                Ok(response::ok(json(&envelope)))
            }
        }
    }
}

/// Whether the error is that the name is taken.
fn is_name_conflict(error: &ImportError) -> bool {
    match error {
        ImportError::Store(Error::Rejected(violations)) => {
            violations.iter().any(|one| one == Violation::NAME_TAKEN)
        }
        _ => false,
    }
}

/// Whether the store or the connection failed, not a record or the content of the body.
fn is_stop(error: &ImportError) -> bool {
    let is_content_error = matches!(error, ImportError::Unreadable(ReadError::Malformed { .. }));
    !is_content_error && !error.is_record_error()
}

/// How the client can import the rest.
fn advice(stop: &Failure, options: ImportOptions) -> Option<&'static str> {
    match (stop, options.dry_run, options.on_conflict) {
        (Failure::ImportTooLarge(_), ..) | (_, DryRun::Yes, _) => None,
        (_, DryRun::No, OnConflict::Fail) => {
            Some("To import the rest, send the file again with on_conflict=skip in the query")
        }
        (_, DryRun::No, OnConflict::Skip | OnConflict::Replace) => {
            Some("To import the rest, send the file again")
        }
    }
}

/// The reply to an import that was stopped after it had stored some robots.
fn stopped(
    stop: &Failure,
    counts: Counts,
    messages: Vec<String>,
    behaviour: Behaviour,
) -> Response {
    let body = json(&Envelope::stopped(counts, messages));
    let mut response = response::whole(stop.status(behaviour), body);
    response.headers_mut().extend(stop.header());
    response
}

fn unknown_format() -> Failure {
    Failure::Malformed(vec![
        "The format is not known; send format=csv, json or ndjson in the query, or the \
         Content-Type text/csv, application/json or application/x-ndjson"
            .into(),
    ])
}

/// The body as one stream of bytes.
struct BodyReader {
    pieces: Pieces,
    piece: Cursor<Vec<u8>>,
    /// The number of further bytes that are allowed.
    room: u64,
}

impl BodyReader {
    fn new(pieces: Pieces, limit: u64) -> Self {
        Self {
            pieces,
            piece: Cursor::default(),
            room: limit,
        }
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            // The pieces end without a mark if the frontend lost the connection. A part of the last
            // record must not be taken for a whole one then.
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
