//! `POST /api/robots/import`: a body of many robots, each of which is a change of its own.
//!
//! Valid robots are stored even if others fail, and the reply counts and describes the failures. A
//! failure of the store or of the connection stops the import: the reply has its status, and counts
//! what was stored before. With `atomic=true`, all robots are one change.

mod query;

use std::{
    io::{self, Cursor, Read, Seek},
    sync::Arc,
};

use ::http::header::CONTENT_TYPE;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use self::query::Query;
use super::{
    access::AccessError,
    behaviour::Behaviour,
    failure::{Failure, log},
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
        Columns, Format, ImportCounts, ImportError, ImportOptions, OnConflict, Outcome, Plan,
        PlanError, PlannedColumn, Position, ProposedChange, ReadError, Records, import,
        import_atomically,
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
pub(super) fn start(call: &Call<'_>, pieces: Result<Pieces, BodyError>) -> Started {
    let (query, columns) = Query::read(call)?;
    let media_type = value(call.headers, CONTENT_TYPE).unwrap_or_default();
    let format = call
        .arguments
        .format()?
        .or_else(|| Format::of_media_type(&media_type));
    let format = format.ok_or_else(|| {
        Failure::malformed(
            "The format is not known; send format=csv, json, ndjson or xlsx in the query, or the \
             Content-Type text/csv, application/json or application/x-ndjson",
        )
    })?;
    let limit = if (query.is_dry_run || query.is_atomic) && !query.plan.defines {
        DRY_RUN_LIMIT
    } else {
        IMPORT_LIMIT
    };
    let length = content_length(call.headers).and_then(|length| length.try_into().ok());
    if length.is_some_and(|length: u64| length > limit) {
        return Err(Failure::ImportTooLarge(limit));
    }
    let body = BodyReader {
        pieces: pieces.map_err(Failure::Body)?,
        piece: Cursor::default(),
        room: limit,
    };
    let catalogue = Arc::clone(&call.service.catalogue);
    let behaviour = call.context.behaviour;
    let mut report = Report {
        may_define: call.client.check(Permission::Define),
        limit,
        request_id: call.context.request_id.clone(),
        counts: Counts {
            ids: (!behaviour.is_contract() && !query.is_dry_run).then(Vec::new),
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
        if report.query.plan.defines {
            return report.run_planned(&catalogue, body, format, columns, behaviour);
        }
        let records = Records::new(body, format);
        let records = records
            .with_options(&report.query.reading)
            .with_columns(columns);
        let options = report.query.options;
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
    /// The messages of the reply, unless it is in an envelope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    /// The same messages, for programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Message>,
}

/// A plan, for the client.
#[derive(Serialize)]
struct Planned<'a> {
    /// `None` if no definition fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<&'a Definition>,
    columns: Fields<'a>,
    plan: &'a [PlannedColumn],
    changes: &'a [ProposedChange],
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<ImportCounts>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    failures: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    advice: Vec<String>,
}

/// The fields that the columns of a file stand for, in the order of the file.
struct Fields<'a>(&'a [PlannedColumn]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.0.iter();
        serializer.collect_map(columns.map(|column| (&column.heading, &column.field)))
    }
}

impl<'a> Planned<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self {
            definition: Some(&plan.definition),
            columns: Fields(&plan.listed),
            plan: &plan.listed,
            changes: &plan.changes,
            records: Some(plan.counts),
            failures: &plan.failures,
            advice: plan.advice("match=", "on_conflict=skip", "add_equal=true"),
        }
    }
}

impl Report {
    /// Plans an import of a file, which is spooled, and does it unless the client wants only the plan.
    fn run_planned(
        mut self,
        catalogue: &Arc<dyn Catalogue>,
        mut body: BodyReader,
        format: Format,
        columns: Columns,
        behaviour: Behaviour,
    ) -> HandlerResult {
        let spooled = tempfile::tempfile().and_then(|mut file| {
            io::copy(&mut body, &mut file)?;
            Ok(file)
        });
        let file = spooled.map_err(|cause| {
            let position = Position::Line(0);
            self.failure(ReadError::Input { position, cause }.into())
        })?;
        let open = || {
            let mut file = file.try_clone()?;
            file.rewind()?;
            Ok(Records::new(file, format).with_options(&self.query.reading))
        };
        let mut failures = Vec::new();
        let mut on_failure = |outcome: &Outcome| {
            if let Err(error) = &outcome.result
                && failures.len() < MESSAGES_LIMIT
            {
                let position = outcome.position;
                let messages = error.messages().into_iter().map(Message::from);
                failures.extend(messages.map(|message| message.at(position, line_of(position))));
            }
        };
        let plan = Plan::new(catalogue, open, columns, self.query.plan, &mut on_failure);
        let plan = plan.map_err(|error| self.unplanned(error))?;
        if self.query.is_proposal || self.query.is_dry_run {
            return Ok(response::ok(render::data(
                behaviour,
                "OK",
                &Planned::new(&plan),
            )));
        }
        if plan.counts.failed > 0 && !self.query.plan.keeps_going {
            let advice = plan.advice("match=", "on_conflict=skip", "add_equal=true");
            failures.extend(advice.into_iter().map(Message::from));
            let kept = "Nothing was stored; to import the other records, add keep_going=true";
            failures.push(kept.into());
            return Err(failed(
                Failure::Malformed(Vec::new()),
                failures,
                render::raw(&Planned::new(&plan)),
            ));
        }
        if let Some(redefinition) = plan.redefinition() {
            self.may_define.map_err(Failure::NotPermitted)?;
            catalogue.define(redefinition)?;
        }
        let records = open().map_err(|cause| {
            let position = Position::Line(0);
            self.failure(ReadError::Input { position, cause }.into())
        })?;
        let options = ImportOptions {
            keeps_going: true,
            ..plan.options
        };
        self.run(
            Arc::clone(catalogue),
            records.with_columns(plan.columns.clone()),
            options,
        );
        let tried = self.counts.tried;
        if tried.added + tried.replaced == 0 && tried.failed > 0 {
            plan.take_back(&**catalogue);
        }
        self.into_response(behaviour)
    }

    /// The failure of a plan, with the columns, so that the client can choose what they stand for.
    fn unplanned(&self, error: PlanError) -> Failure {
        match error {
            PlanError::Unreadable(ReadError::Malformed { position, message }) => {
                Failure::Malformed(vec![format!("{position}: {message}").into()])
            }
            PlanError::Unreadable(error) => self.failure(error.into()),
            PlanError::Store(error) => self.failure(error.into()),
            error @ (PlanError::Options(_) | PlanError::Unknown(_)) => {
                Failure::malformed(error.to_string())
            }
            PlanError::Unfit { error, columns } => {
                let data = render::raw(&Planned {
                    definition: None,
                    columns: Fields(&columns),
                    plan: &columns,
                    changes: &[],
                    records: None,
                    failures: &[],
                    advice: Vec::new(),
                });
                let cause = Failure::Malformed(Vec::new());
                failed(cause, vec![error.to_string().into()], data)
            }
        }
    }

    /// Imports the records, up to the last one or to a failure of the body or the store.
    fn run<R: Read>(
        &mut self,
        catalogue: Arc<dyn Catalogue>,
        mut records: Records<R>,
        options: ImportOptions,
    ) {
        if self.query.is_atomic {
            for outcome in import_atomically(&*catalogue, &mut records, options) {
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
            ImportError::Store(error) => {
                log(&error, &self.request_id);
                Failure::Store(error)
            }
            error @ ImportError::Present => Failure::malformed(error.to_string()),
            error @ ImportError::TooMany => Failure::TooMany(error.to_string()),
            ImportError::Unreadable(ReadError::Malformed { message, .. }) => {
                Failure::Malformed(vec![message.into()])
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
        self.counts.tried.records() > self.counts.tried.failed
    }

    fn into_response(mut self, behaviour: Behaviour) -> HandlerResult {
        let has_counts = self.has_counts();
        if self.omitted > 0 {
            let omitted = self.omitted;
            let text = format!("and {omitted} more messages");
            self.messages.push(Message::from(text).with_code("note"));
        }
        let options = self.query.options;
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

fn line_of(position: Position) -> Option<u64> {
    match position {
        Position::Line(line) => Some(line),
        Position::Record(_) | Position::All => None,
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
    if query.options.is_dry_run || matches!(stop, Failure::ImportTooLarge(_)) {
        return None;
    }
    Some(match query.options.on_conflict {
        OnConflict::Fail if has_added && query.options.key.is_none() => {
            "To import the rest, send the file again with on_conflict=skip in the query"
        }
        _ => "To import the rest, send the file again",
    })
}

/// The body as one stream of bytes.
struct BodyReader {
    pieces: Pieces,
    piece: Cursor<Vec<u8>>,
    /// The number of further bytes that are allowed.
    room: u64,
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
