//! Handlers of the contract's operations: list, search, get, create, replace, patch, delete.

use std::{collections::BTreeMap, sync::Arc};

use ::http::{
    HeaderName,
    header::{CONTENT_TYPE, LINK},
};
use serde::Serialize;

use super::{
    accept,
    behaviour::Behaviour,
    changes,
    conditions::{ATTEMPTS, Conditions, repeat},
    failure::{Failure, PATCH_TYPE},
    headers, list,
    query::{ListQuery, check_choices, fields, filter, view},
    render::{self, Array, envelope},
    reply::{Reply, done},
    response::{self, HandlerResult, Started},
    route::Call,
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Error, Pages, Pending},
    model::{Definition, Field, Rejection, Robot, RobotId, ValidChanges, Value, View, draft_json},
};

/// The number of values in a summary by a field that may have endless ones, by default.
const FREQUENT: usize = 100;

const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");

/// `GET /api/robots`.
pub(super) fn list(call: &Call<'_>) -> Started {
    let query = ListQuery::read(&call.arguments, &call.definition, call.context.behaviour)?;
    start_list(call, query)
}

/// `GET /api/robots/search/{name}`.
pub(super) fn search(call: &Call<'_>) -> Started {
    let query = ListQuery::read(&call.arguments, &call.definition, call.context.behaviour)?;
    start_list(call, query.containing(call.name()?))
}

#[expect(clippy::unnecessary_wraps, reason = "the result of handlers")]
fn start_list(call: &Call<'_>, query: ListQuery) -> Started {
    let fields = view(
        query.fields.clone(),
        &call.definition,
        call.context.behaviour,
    );
    let catalogue = Arc::clone(&call.service.catalogue);
    let request_id = call.context.request_id.clone();
    let position = changes::position(call);
    Ok(Pending::blocking(move || {
        check_choices(&*catalogue, &query.filter)?;
        let position = position()?;
        let count = query.has_count.then(|| catalogue.count(&query.filter));
        let count = count.transpose()?;
        let array = Array::new(&fields);
        let pages = Pages::new(catalogue, query.filter.clone()).starting_at(query.cursor.clone());
        let pages = pages.with_fields(fields);
        let (mut response, next) = match query.limit {
            Some(limit) => list::page(pages, limit, array, request_id)?,
            None => (list::stream(pages, array, request_id)?, None),
        };
        let headers = response.headers_mut();
        if let Some(next) = next {
            let next = format!("<{}>; rel=\"next\"", query.next(&next));
            response::set(headers, LINK, next);
        }
        headers.extend(count.map(|count| (TOTAL_COUNT, count.into())));
        Ok(changes::with_position(response, position.as_ref()))
    }))
}

/// `GET /api/robots/summary`.
pub(super) fn summary(call: &Call<'_>) -> Started {
    let (arguments, definition) = (&call.arguments, &call.definition);
    let filter = filter(arguments, definition)?;
    let by = arguments.parse("by", |name| field_of(name, definition))?;
    let given = arguments.limit()?;
    let limit = given.unwrap_or(FREQUENT);
    let is_countable = |by: &Field| definition.countable().any(|field| field.is(by));
    let counts_all = given.is_none() && by.as_ref().is_some_and(is_countable);
    let (service, behaviour) = (Arc::clone(call.service), call.context.behaviour);
    Ok(Pending::blocking(move || {
        check_choices(&*service.catalogue, &filter)?;
        if let Some(field) = by {
            let (counts, count, others) = if counts_all {
                let counts = service.catalogue.value_counts(&filter, &field)?;
                let count = counts.iter().map(|(_, count)| count).sum();
                (counts, count, None)
            } else {
                let found = service.catalogue.frequent_values(&filter, &field, limit)?;
                let (values, count) = found.others;
                let others = [("values", values), ("count", count)].into();
                (found.groups, found.count, Some(others))
            };
            let groups = counts.iter().map(|(value, count)| ValueGroup {
                value: [(field.name(), value)].into(),
                count: *count,
            });
            let groups = groups.collect();
            let counts = ValueCounts {
                count,
                groups,
                others,
            };
            return Ok(response::ok(render::data(behaviour, "OK", &counts)));
        }
        let summary = service.catalogue.summary(&filter)?;
        Ok(response::ok(render::data(behaviour, "OK", &summary)))
    }))
}

fn field_of(name: &str, definition: &Definition) -> Result<Field, String> {
    let fields = definition.settable();
    let found = fields.iter().find(|field| field.name() == name).cloned();
    found.ok_or_else(|| format!("by must be one of: {}", Field::names(fields)))
}

/// The reply to a summary by the values of a field.
#[derive(Serialize)]
struct ValueCounts<'a> {
    count: u64,
    groups: Vec<ValueGroup<'a>>,
    /// The number of other values than the most frequent ones, and of their robots.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<BTreeMap<&'a str, u64>>,
}

/// The number of robots with a value; `null` is none.
#[derive(Serialize)]
struct ValueGroup<'a> {
    /// The value, by the name of its field.
    #[serde(flatten)]
    value: BTreeMap<&'a str, &'a Option<Value<'static>>>,
    count: u64,
}

/// `GET /api/robots/{id}`.
pub(super) fn get(call: &Call<'_>) -> Started {
    let behaviour = call.context.behaviour;
    let named = fields(&call.arguments, &call.definition)?;
    let fields = view(named, &call.definition, behaviour);
    let conditions = Conditions::of_read(call.headers)?;
    let id = match call.id() {
        Ok(id) => id,
        Err(failure) => return Ok(Pending::ready(not_found(failure, behaviour))),
    };
    let catalogue = &call.service.catalogue;
    let robot = if fields.iter().any(Field::is_audit) {
        let (catalogue, fields) = (Arc::clone(catalogue), fields.clone());
        Pending::blocking(move || catalogue.get_with(id, &fields))
    } else {
        catalogue.start_get(id)
    };
    Ok(robot.map(move |robot| match robot? {
        Some(robot) => conditions.reply(robot.revision(), || {
            let view = View {
                robot: &robot,
                fields: &fields,
            };
            render::data(behaviour, "FOUND", &view)
        }),
        None => not_found(Error::NotFound(id).into(), behaviour),
    }))
}

/// The answer without conditions: a robot that does not exist has no entity tag.
fn not_found(failure: Failure, behaviour: Behaviour) -> HandlerResult {
    if behaviour.is_contract() {
        Ok(response::ok(envelope("NOT-FOUND", None::<()>, Vec::new())))
    } else {
        Err(failure)
    }
}

/// `POST /api/robots`.
pub(super) fn create(call: &Call<'_>, body: &[u8]) -> Started {
    let reply = Reply::to(call);
    let read = draft_json::read(&call.definition, body, call.subject());
    let (draft, _) = read.map_err(Failure::Malformed)?;
    let robot = call.catalogue().start_add(draft);
    Ok(robot.map(move |robot| Ok(reply.created(&robot?))))
}

/// `PUT /api/robots/{id}`.
pub(super) fn replace(call: &Call<'_>, body: &[u8]) -> Started {
    let conditions = Conditions::of_change(call.headers)?;
    let read = draft_json::read(&call.definition, body, call.subject());
    let (draft, _) = read.map_err(Failure::Malformed)?;
    let id = call.id()?;
    let changes = call.definition.validate(draft).map(ValidChanges::from);
    Ok(update(call, id, conditions, changes))
}

/// `PATCH /api/robots/{id}`. A patch without members changes nothing, the revision included.
pub(super) fn patch(call: &Call<'_>, body: &[u8]) -> Started {
    check_patch_type(call)?;
    let conditions = Conditions::of_change(call.headers)?;
    let changes = read_patch(call, body)?;
    let id = call.id()?;
    match changes {
        Ok(changes) if changes.is_empty() => {
            let reply = Reply::to(call);
            Ok(change(call, id, conditions, move |_, robot| {
                Ok(reply.robot(robot))
            }))
        }
        changes => Ok(update(call, id, conditions, changes)),
    }
}

/// An error unless the content type is that of a patch.
pub(super) fn check_patch_type(call: &Call<'_>) -> Result<(), Failure> {
    let content_type = headers::value(call.headers, CONTENT_TYPE).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default();
    let is_json = || essence.trim().eq_ignore_ascii_case(accept::JSON);
    if essence.trim().eq_ignore_ascii_case(PATCH_TYPE)
        || !call.context.behaviour.is_contract() && is_json()
    {
        Ok(())
    } else {
        Err(Failure::NotAPatch)
    }
}

/// The changes of a patch, or the rules that it violates.
pub(super) fn read_patch(
    call: &Call<'_>,
    body: &[u8],
) -> Result<Result<ValidChanges, Rejection>, Failure> {
    let read = draft_json::read(&call.definition, body, call.subject());
    let (draft, removed) = read.map_err(Failure::Malformed)?;
    Ok(call.definition.validate_patch(draft, &removed))
}

/// `DELETE /api/robots/{id}`. The body has no meaning, but is read, because a request that ends
/// early must not delete anything.
pub(super) fn delete(call: &Call<'_>, _body: &[u8]) -> Started {
    let conditions = Conditions::of_change(call.headers)?;
    let id = call.id()?;
    let reply = Reply::to(call);
    if conditions.permit_all() {
        let deleted = call.catalogue().start(Change::Delete(id, None), None);
        return Ok(deleted.map(move |deleted| Ok(deleted.map(|_| reply.deleted())?)));
    }
    Ok(change(call, id, conditions, move |catalogue, robot| {
        catalogue.apply(Change::Delete(id, Some(robot.revision())))?;
        Ok(reply.deleted())
    }))
}

/// Changes a robot under conditions. Of the reasons to reject the request, that the robot is missing
/// takes precedence over the conditions, and these take precedence over the rules.
fn update(
    call: &Call<'_>,
    id: RobotId,
    conditions: Conditions,
    changes: Result<ValidChanges, Rejection>,
) -> Pending<HandlerResult> {
    let reply = Reply::to(call);
    if let Ok(changes) = &changes
        && conditions.permit_all()
        && !reply.needs_robot()
    {
        let update = Change::Update(id, None, changes.clone());
        let updated = call.catalogue().start(update, None);
        return updated.map(|updated| Ok(updated.map(|_| done())?));
    }
    change(call, id, conditions, move |catalogue, robot| {
        let changes = match changes.clone() {
            Ok(changes) => changes,
            Err(rejection) => catalogue.changes_of(robot, rejection)?,
        };
        let update = Change::Update(id, Some(robot.revision()), changes.clone());
        let receipt = catalogue.apply(update)?;
        Ok(reply.robot(&receipt.changed_robot(changes, robot)))
    })
}

/// A change of a robot that is read before, if the conditions permit it.
fn change(
    call: &Call<'_>,
    id: RobotId,
    conditions: Conditions,
    change: impl Fn(&dyn Catalogue, &Robot) -> HandlerResult + Send + 'static,
) -> Pending<HandlerResult> {
    let catalogue = call.catalogue();
    Pending::blocking(move || {
        repeat(ATTEMPTS, || {
            let robot = catalogue.get(id)?.ok_or(Error::NotFound(id))?;
            conditions.permit_change(robot.revision())?;
            change(&*catalogue, &robot)
        })
    })
}
