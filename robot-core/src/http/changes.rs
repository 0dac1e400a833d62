//! The changes of the catalogue, the history of a robot, and how they are undone: at `/v1` alone.

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant},
};

use ::http::{
    HeaderName,
    header::{ACCEPT, AUTHORIZATION},
};
use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::{
    accept::accepts_events,
    conditions::{ATTEMPTS, Conditions, repeat},
    events::{EventView, Events},
    failure::Failure,
    headers,
    query::{check_choices, filter},
    render,
    reply::Reply,
    response::{self, Response, Started},
    route::Call,
};
use crate::{
    catalogue::{
        By, Catalogue, CatalogueExt, Changes, Error, Event, Extent, Filter, ParsePositionError,
        Pending, Position, Revert, Start,
    },
    model::{Revision, Robot, RobotId},
};

/// The number of changes in a response, unless the client wants fewer or more.
const LIMIT: usize = 100;

/// The number of changes that are read together. Higher, and large robots take more memory; lower, and there are more reads.
const STEP: usize = 200;

/// The size of the robots after which a response has no further ones, in bytes.
const SIZE: usize = 1024 * 1024;

/// The maximum number of seconds that a request waits for changes. Longer, and proxies close the connection.
const WAIT_MAXIMUM: u64 = 60;

/// The header with the position before what a list has.
const CHANGES_CURSOR: HeaderName = HeaderName::from_static("changes-cursor");

/// The header in which a client that continues a stream has the id of the last event.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Adds the position before a list to its response, if the store keeps the changes.
pub(super) fn with_position(mut response: Response, position: Option<&Position>) -> Response {
    if let Some(position) = position {
        response::set(response.headers_mut(), CHANGES_CURSOR, position.to_string());
    }
    response
}

/// Reads the position of the catalogue before its list, for clients of `/v1`.
pub(super) fn position(
    call: &Call<'_>,
) -> impl FnOnce() -> Result<Option<Position>, Failure> + use<> {
    let catalogue = Arc::clone(&call.service.catalogue);
    let is_contract = call.context.behaviour.is_contract();
    move || {
        if is_contract {
            return Ok(None);
        }
        match catalogue.position() {
            Err(Error::NoHistory) => Ok(None),
            position => Ok(Some(position?)),
        }
    }
}

/// The positions before and after changes, and their author: the body of a request that undoes them, and no changes of
/// others.
#[derive(Debug, Serialize)]
pub(super) struct Between {
    after: Position,
    until: Position,
    by: Option<CompactString>,
}

impl Between {
    pub(super) fn new((after, until): (Position, Position), by: Option<&CompactString>) -> Self {
        let by = by.cloned();
        Self { after, until, by }
    }
}

/// Changes in a response.
#[derive(Serialize)]
struct Page<'a, N> {
    changes: Vec<EventView<'a>>,
    /// Where the next page begins.
    next: N,
    /// Whether there are more changes now.
    more: bool,
}

/// The failure of a text that is no position.
fn position_failure(name: &str) -> impl Fn(ParsePositionError) -> Failure {
    move |error| Failure::malformed(format!("{name}: {error}"))
}

/// `GET /v1/changes`.
pub(super) fn list(call: &Call<'_>) -> Started {
    let filter = filter(&call.arguments, &call.definition)?;
    let start = call.arguments.parse("after", |text| {
        let start = text.parse::<Start>();
        start.map_err(|error| format!("after: {error}"))
    })?;
    let wait = call.arguments.integer("wait", 0..=WAIT_MAXIMUM)?;
    let extent = if call.arguments.flag("every")? {
        Extent::Every
    } else {
        Extent::Latest
    };
    let limit = call.arguments.limit()?.unwrap_or(LIMIT);
    let (service, definition) = (Arc::clone(call.service), Arc::clone(&call.definition));
    if accepts_events(headers::value(call.headers, ACCEPT).as_deref()) {
        let last = headers::value(call.headers, LAST_EVENT_ID).filter(|last| !last.is_empty());
        let last = last.map(|last| last.parse().map_err(position_failure("Last-Event-ID")));
        let start = last.transpose()?.map(Start::After).or(start);
        let credentials = headers::value(call.headers, AUTHORIZATION);
        let credentials = credentials.map(Cow::into_owned);
        let until = wait.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        return Ok(Pending::blocking(move || {
            check_choices(&*service.catalogue, &filter)?;
            let after = match start {
                Some(start) => start.find(&*service.catalogue)?,
                None => service.catalogue.position()?,
            };
            service.catalogue.changes(&after, extent, 1)?;
            Ok(response::events(Events {
                definition: definition.revision(),
                service,
                credentials,
                filter,
                after,
                extent,
                until,
                sent: None,
            }))
        }));
    }
    let Some(start) = start else {
        return Ok(Pending::blocking(move || {
            let now = service.catalogue.position()?;
            let (changes, more) = (Vec::new(), false);
            let page = render::json(&Page {
                changes,
                next: now,
                more,
            });
            Ok(response::not_stored(page))
        }));
    };
    let wait = Duration::from_secs(wait.unwrap_or(0));
    let has_unknown = filter.unknown_choices().next().is_some();
    let start = match start {
        Start::After(after) if !wait.is_zero() && !has_unknown => {
            let changes = service.watch.changes(after, extent, limit.min(STEP), wait);
            return Ok(Pending::awaited(async move {
                Ok(page(changes.await?, extent, &*service.catalogue, &filter))
            }));
        }
        start => start,
    };
    Ok(Pending::blocking(move || {
        check_choices(&*service.catalogue, &filter)?;
        let after = start.find(&*service.catalogue)?;
        if !wait.is_zero() {
            // Not for longer: it has a thread.
            let wait = wait.min(Duration::from_secs(1));
            Pending::awaited(service.watch.changes(after.clone(), extent, 1, wait)).wait()?;
        }
        let changes = changes(&*service.catalogue, &after, extent, limit)?;
        Ok(page(changes.into(), extent, &*service.catalogue, &filter))
    }))
}

/// Whether a response has room for further changes.
fn has_room(events: &[Event], limit: usize) -> bool {
    let robots = events
        .iter()
        .flat_map(|event| [&event.robot, &event.before]);
    events.len() < limit && robots.flatten().map(Robot::size).sum::<usize>() < SIZE
}

/// Some changes after a position.
fn changes(
    catalogue: &dyn Catalogue,
    after: &Position,
    extent: Extent,
    limit: usize,
) -> Result<Changes, Error> {
    let read = |after: &Position, limit: usize| catalogue.changes(after, extent, limit.min(STEP));
    let mut changes = read(after, limit)?;
    while !changes.is_last && has_room(&changes.events, limit) {
        let more = read(&changes.next, limit - changes.events.len())?;
        let is_latest = |event: &Event| more.events.iter().all(|later| later.id != event.id);
        let is_wanted = |event: &Event| extent == Extent::Every || is_latest(event);
        changes.events.retain(is_wanted);
        changes.events.extend(more.events);
        (changes.next, changes.is_last) = (more.next, more.is_last);
    }
    Ok(changes)
}

fn page(
    mut changes: Arc<Changes>,
    extent: Extent,
    catalogue: &dyn Catalogue,
    filter: &Filter,
) -> Response {
    let definition = catalogue.definition();
    EventView::convert_changes(&mut changes, extent, &definition);
    response::not_stored(render::json(&Page {
        changes: EventView::all(&changes, extent, &definition, filter).collect(),
        next: &changes.next,
        more: !changes.is_last,
    }))
}

/// `GET /v1/robots/{id}/history`.
pub(super) fn history(call: &Call<'_>) -> Started {
    let (id, limit) = (call.id()?, call.arguments.limit()?.unwrap_or(LIMIT));
    let before = call.arguments.parse("before", str::parse::<Revision>)?;
    let (service, definition) = (Arc::clone(call.service), Arc::clone(&call.definition));
    Ok(Pending::blocking(move || {
        let (mut events, mut more) = (Vec::new(), true);
        while more && has_room(&events, limit + 1) {
            let step = STEP.min(limit + 1 - events.len());
            let before = events.last().map(|event: &Event| event.revision).or(before);
            let earlier = service.catalogue.history(id, before, step)?;
            more = earlier.len() == step;
            events.extend(earlier);
        }
        if events.is_empty() && before.is_none() {
            return Err(Error::NotFound(id).into());
        }
        events.truncate(limit);
        EventView::convert(&mut events, &definition);
        let next = events.last().filter(|_| more);
        let next = next.map(|event| event.revision);
        let changes = events.iter();
        let changes = changes.map(|event| EventView::new(event, &definition, true));
        let changes = changes.collect();
        Ok(response::ok(render::json(&Page {
            changes,
            next,
            more,
        })))
    }))
}

fn parse<'b, T: Deserialize<'b>>(body: &'b [u8], example: &str) -> Result<T, Failure> {
    let parsed = serde_json::from_slice(body);
    parsed.map_err(|_| Failure::malformed(format!("The body must be an object, such as {example}")))
}

/// `POST /v1/robots/{id}/revert`.
pub(super) fn revert_robot(call: &Call<'_>, body: &[u8]) -> Started {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Version {
        revision: i64,
    }
    let example = r#"{"revision":812}"#;
    let Version { revision } = parse(body, example)?;
    let revision = Revision::new(revision);
    let revision = revision.ok_or_else(|| Failure::malformed("revision must be positive"))?;
    let conditions = Conditions::of_change(call.headers)?;
    let (id, catalogue, reply) = (call.id()?, call.catalogue(), Reply::to(call));
    Ok(Pending::blocking(move || {
        repeat(ATTEMPTS, || {
            let expected = if conditions.permit_all() {
                None
            } else {
                // A deleted robot has no revision.
                let now = catalogue.get(id)?.ok_or(Failure::Stale)?.revision();
                conditions.permit_change(now)?;
                Some(now)
            };
            Ok(reply.robot(&catalogue.revert_to(id, revision, expected)?))
        })
    }))
}

/// `POST /v1/revert`.
pub(super) fn revert(call: &Call<'_>, body: &[u8]) -> Started {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Changes {
        after: String,
        until: String,
        #[serde(default)]
        by: By,
    }
    #[derive(Serialize)]
    struct Left {
        id: RobotId,
        reason: &'static str,
    }
    #[derive(Serialize)]
    struct Done {
        count: usize,
        ids: Vec<RobotId>,
        left: Vec<Left>,
        changes: Option<Between>,
    }
    let example = r#"{"after":"…","until":"…","by":"ci"}"#;
    let Changes { after, until, by } = parse(body, example)?;
    let position = |name: &'static str, text: String| {
        let position = text.parse::<Position>();
        position.map_err(position_failure(name))
    };
    let revert = Revert {
        by,
        is_dry_run: call.arguments.flag("dry_run")?,
        ..Revert::new(position("after", after)?, position("until", until)?)
    };
    let (catalogue, author) = (call.catalogue(), call.author());
    let undo = move || {
        let reverted = catalogue.revert(&revert)?;
        let left = reverted.left.into_iter().map(|id| Left {
            id,
            reason: "Other changes have followed",
        });
        Ok(response::ok(render::json(&Done {
            count: reverted.ids.len(),
            left: left.collect(),
            changes: (reverted.positions).map(|positions| Between::new(positions, author.as_ref())),
            ids: reverted.ids,
        })))
    };
    Ok(Pending::blocking(move || repeat(ATTEMPTS, undo)))
}
