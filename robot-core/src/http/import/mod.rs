//! `POST /api/robots/import`: a body of many robots, each of which is a change of its own.
//!
//! Valid robots are stored even if others fail, and the reply counts and describes the failures. A
//! failure of the store or of the connection stops the import: the reply has its status, and counts
//! what was stored before. With `atomic=true`, all robots are one change.

mod body;
mod planned;
mod query;

use std::{io::Read, sync::Arc};

use ::http::header::CONTENT_TYPE;
use compact_str::CompactString;
use serde::Serialize;
use serde_json::value::RawValue;

use self::{body::BodyReader, query::Query};
use super::{
    access::AccessError,
    behaviour::Behaviour,
    changes::Between,
    failure::{Failure, log, of_disk},
    headers::{content_length, value},
    render::{self, envelope},
    request_body::{BodyError, Pieces},
    request_id::RequestId,
    response::{self, HandlerResult, Started},
    route::Call,
    token::Permission,
};
use crate::{
    catalogue::{Catalogue, Error, Pending},
    model::{Definition, Message, RobotId, Violation},
    transfer::{
        FileFormat, ImportCounts, ImportError, ImportOptions, OnConflict, Outcome, ReadError,
        RecordPosition, Records, import, import_atomically,
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
/// memory to detect duplicates, and of an import of all robots or none (`?atomic=true`), which keeps all robots.
pub const DRY_RUN_LIMIT: u64 = 16 * 1024 * 1024;

/// The maximum number of messages about records that failed in one reply.
const MESSAGES_LIMIT: usize = 100;

/// The maximum number of records whose ids are in the reply.
const IDS_LIMIT: usize = 1000;

/// The number of robots that are being stored at a time. More would delay the writes of other
/// clients, which share a queue with them.
const IN_FLIGHT: usize = 256;

/// `POST /api/robots/import`.
pub(super) fn start(call: &Call<'_>, pieces: Pieces) -> Started {
    run(call, pieces, false)
}

/// `POST /api/robots/import/propose`.
pub(super) fn propose(call: &Call<'_>, pieces: Pieces) -> Started {
    run(call, pieces, true)
}

/// Imports the body, or only plans it.
fn run(call: &Call<'_>, pieces: Pieces, is_proposal: bool) -> Started {
    let (query, columns) = Query::read(call, is_proposal)?;
    let media_type = value(call.headers, CONTENT_TYPE).unwrap_or_default();
    let format = call
        .arguments
        .format()?
        .or_else(|| FileFormat::of_media_type(&media_type));
    let format = format.ok_or_else(|| {
        Failure::malformed(
            "The format is not known; send format=csv, json, ndjson or xlsx in the query, or the \
             Content-Type text/csv, application/json or application/x-ndjson",
        )
    })?;
    let is_dry_run = query.options.import.is_dry_run && !query.options.defines;
    let limit = if is_dry_run || query.is_atomic {
        DRY_RUN_LIMIT
    } else {
        IMPORT_LIMIT
    };
    let length = content_length(call.headers).and_then(|length| length.try_into().ok());
    if length.is_some_and(|length: u64| length > limit) {
        return Err(Failure::ImportTooLarge(limit));
    }
    let body = BodyReader::new(pieces, limit);
    let catalogue = call.catalogue();
    let behaviour = call.context.behaviour;
    let mut report = Report {
        may_define: call.client.check(Permission::Define),
        limit,
        request_id: call.context.request_id.clone(),
        has_positions: !behaviour.is_contract() && !query.options.import.is_dry_run,
        author: call.author(),
        counts: Counts {
            ids: (!behaviour.is_contract() && !query.options.import.is_dry_run).then(Vec::new),
            ..Counts::default()
        },
        definition: Arc::clone(&call.definition),
        query,
        first: None,
        stop: None,
        messages: Vec::new(),
        omitted: 0,
        has_name_conflict: false,
    };
    Ok(Pending::blocking(move || {
        if report.query.options.defines {
            return report.run_planned(&catalogue, body, format, columns, behaviour);
        }
        let records = Records::new(body, format);
        let records = records
            .with_options(&report.query.reading)
            .with_columns(columns);
        let options = report.query.options.import.clone();
        report.run(catalogue, records, options);
        report.into_response(behaviour)
    }))
}

/// The outcome of an import for the reply.
struct Report {
    query: Query,
    /// What the owner calls the robots.
    definition: Arc<Definition>,
    /// Whether the client may change the definition.
    may_define: Result<(), AccessError>,
    /// The maximum number of bytes in the body.
    limit: u64,
    request_id: RequestId,
    counts: Counts,
    /// Whether the reply says how to undo the import.
    has_positions: bool,
    author: Option<CompactString>,
    /// The first failure of a record.
    first: Option<Failure>,
    /// The failure that ended the import, and its messages.
    stop: Option<(Failure, Vec<Message>)>,
    messages: Vec<Message>,
    /// The number of messages that are not in the reply.
    omitted: u64,
    has_name_conflict: bool,
}

/// The numbers of records by their outcome, in JSON.
#[derive(Default, Serialize)]
struct Counts {
    #[serde(flatten)]
    tried: ImportCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_tried: Option<u64>,
    /// The columns that are not stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
    /// The ids of the robots that the records have added or found, if there are few records; `None` for a record that
    /// failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Option<RobotId>>>,
    /// The positions before and after the import, by which it can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Between>,
    /// The messages of the reply, unless it is in an envelope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    /// The same messages, for programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Message>,
}

impl Report {
    /// Imports the records, up to the last one or to a failure of the body or the store.
    fn run<R: Read>(
        &mut self,
        catalogue: Arc<dyn Catalogue>,
        mut records: Records<R>,
        options: ImportOptions,
    ) {
        let before = self.has_positions.then(|| catalogue.position().ok());
        let before = before.flatten();
        let present = Arc::clone(&catalogue);
        if self.query.is_atomic {
            for outcome in import_atomically(&*catalogue, &mut records, &options) {
                self.add(outcome);
            }
        } else {
            let mut outcomes = import(catalogue, &mut records, options).in_flight(IN_FLIGHT);
            for outcome in outcomes.by_ref() {
                self.add(outcome);
            }
            // Otherwise the reply has no counts, and the rest of the body need not be read.
            if self.stop.is_some() && self.has_counts() {
                self.counts.not_tried = outcomes.not_tried();
            }
        }
        self.counts.ignored = records.unknown_columns().to_vec();
        let after = before.is_some().then(|| present.position().ok());
        let positions = before.zip(after.flatten());
        self.counts.changes =
            positions.map(|positions| Between::new(positions, self.author.as_ref()));
    }

    fn add(&mut self, outcome: Outcome) {
        self.counts.tried.count(&outcome);
        if let Some(ids) = &mut self.counts.ids {
            ids.push(outcome.id);
        }
        self.counts.ids.take_if(|ids| ids.len() > IDS_LIMIT);
        let Err(error) = outcome.result else {
            return;
        };
        if let ImportError::Store(Error::Rejected(violations)) = &error {
            let mut violations = violations.iter();
            self.has_name_conflict |= violations.any(|one| *one == Violation::NAME_TAKEN);
        }
        // The store or the connection failed, not a record or the content of the body.
        let is_of_content = matches!(error, ImportError::Unreadable(ReadError::Malformed { .. }));
        let is_stop = self.stop.is_none() && !is_of_content && !error.is_record_error();
        let failure = self.failure(error);
        if let Failure::Store(error) = &failure {
            log(error, &self.request_id);
        }
        let position = outcome.position;
        let messages = failure.errors().into_iter();
        let messages = messages.map(|message| message.at(position, line_of(position)));
        if is_stop {
            self.stop = Some((failure.clone(), messages.collect()));
            return;
        }
        for message in messages {
            // The number of records of an atomic import is limited.
            if self.query.is_atomic || self.messages.len() < MESSAGES_LIMIT {
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
            ImportError::Store(error) => Failure::Store(error),
            error @ ImportError::Present => Failure::malformed(error.to_string()),
            error @ ImportError::TooMany => Failure::TooMany(error.to_string()),
            ImportError::Unreadable(ReadError::Malformed { message, .. }) => {
                Failure::malformed(message)
            }
            ImportError::Unreadable(ReadError::Input { cause, .. }) => {
                let body_error = cause.get_ref().and_then(|cause| cause.downcast_ref());
                match body_error {
                    Some(BodyError::TooLarge) => Failure::ImportTooLarge(self.limit),
                    Some(error) => Failure::Body(*error),
                    None => Failure::Store(of_disk(cause)),
                }
            }
        }
    }

    /// Whether the reply has the counts even if the import was stopped.
    fn has_counts(&self) -> bool {
        self.counts.tried.records() > self.counts.tried.failed
    }

    fn into_response(mut self, behaviour: Behaviour) -> HandlerResult {
        let has_counts = self.has_counts();
        if self.omitted > 0 {
            let omitted = self.omitted;
            let text = format!("and {omitted} more messages");
            self.messages.push(Message::from(text).with_code("note"));
        }
        let options = &self.query.options.import;
        if self.has_name_conflict && options.on_conflict == OnConflict::Fail {
            let hint = "To skip names that are taken, add on_conflict=skip to the query; to update \
                        their robots, on_conflict=replace";
            self.messages.push(Message::from(hint).with_code("note"));
        }
        let tried = self.counts.tried;
        let is_anything_stored = tried.added + tried.replaced + tried.unchanged > 0;
        let mut messages = self.messages;
        let texts = |messages: &[Message]| messages.iter().map(Message::to_string).collect();
        match (self.stop, self.first) {
            (Some((stop, reasons)), _) => {
                messages.extend(reasons);
                if !has_counts {
                    return Err(failed(stop, messages, None));
                }
                let advice = advice(&stop, &self.query, tried.added > 0);
                messages.extend(advice.map(Message::from));
                Err(failed(stop, messages, render::raw(&self.counts)))
            }
            (None, Some(first)) if !is_anything_stored => Err(failed(first, messages, None)),
            _ if behaviour.is_contract() => Ok(response::ok(envelope(
                "OK",
                Some(self.counts),
                texts(&messages),
            ))),
            _ => {
                let messages = messages.into_iter();
                let messages: Vec<_> = messages
                    .map(|one| one.with(|text| self.definition.worded(text)))
                    .collect();
                self.counts.messages = texts(&messages);
                self.counts.errors = messages;
                Ok(response::ok(render::json(&self.counts)))
            }
        }
    }
}

fn line_of(position: RecordPosition) -> Option<u64> {
    match position {
        RecordPosition::Line(line) => Some(line),
        RecordPosition::Record(_) | RecordPosition::All => None,
    }
}

fn failed(cause: Failure, messages: Vec<Message>, data: Option<Box<RawValue>>) -> Failure {
    Failure::Import {
        cause: Box::new(cause),
        messages,
        data,
    }
}

/// How the client can import the rest.
fn advice(stop: &Failure, query: &Query, has_added: bool) -> Option<&'static str> {
    if query.options.import.is_dry_run || matches!(stop, Failure::ImportTooLarge(_)) {
        return None;
    }
    Some(match query.options.import.on_conflict {
        OnConflict::Fail if has_added && query.options.import.key.is_none() => {
            "To import the rest, send the file again with on_conflict=skip in the query"
        }
        _ => "To import the rest, send the file again",
    })
}
