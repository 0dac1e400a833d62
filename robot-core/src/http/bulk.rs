//! `PATCH` and `DELETE` of `/v1/robots`: a change of all robots that meet conditions, or of none.
//!
//! A body `{"ids": […], "revisions": […], "changes": {…}}` has ids as a further condition: more than an address may have. Of
//! these robots, those that were changed since they were read do not have one of the revisions any more.
//!
//! The robots are read, and changed together under the condition that they still have the revisions that were
//! read. Otherwise they are read again.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::{
    changes::Between,
    conditions::{Conditions, repeat},
    failure::Failure,
    query::{check_choices, filter},
    render, response,
    response::Started,
    robots::{check_patch_type, read_patch},
    route::Call,
};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Condition, Cursor, Error, Filter, PageRequest, Pending,
        Sort,
    },
    model::{Definition, Field, Rejection, Robot, RobotId, ValidChanges, Value, Violations},
    transfer::ATOMIC_LIMIT,
};

/// The number of attempts while other clients change the same robots. Fewer, and more requests are rejected
/// meanwhile; more, and each occupies a thread for longer.
const ATTEMPTS: usize = 5;

/// The maximum number of ids that a message about several robots names.
const NAMED: usize = 5;

/// A body with ids. It cannot be a patch, because no field has an array as its value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Selection<'a> {
    #[serde(borrow)]
    ids: Vec<&'a RawValue>,
    revisions: Option<Vec<i64>>,
    changes: Option<&'a RawValue>,
}

/// The selection of a body; `None` if it has no ids, and is a patch.
fn read_selection(body: &[u8]) -> Result<Option<Selection<'_>>, Failure> {
    #[derive(Deserialize)]
    struct Ids {
        ids: Option<Vec<IgnoredAny>>,
    }
    let has_ids = serde_json::from_slice(body).is_ok_and(|Ids { ids }| ids.is_some());
    let selection = has_ids.then(|| serde_json::from_slice(body)).transpose();
    selection.map_err(|_| {
        let message =
            "A body with ids must have nothing else but revisions and changes: {\"ids\":[\"1\"],\"changes\":{…}}";
        Failure::malformed(message)
    })
}

/// The robots that meet the conditions of the query and, if there is a selection, have one of its ids.
fn selected(call: &Call<'_>, selection: Option<&Selection<'_>>) -> Result<Filter, Failure> {
    let filter = filter(&call.arguments, &call.definition)?;
    let Some(Selection { ids, revisions, .. }) = selection else {
        return Ok(filter);
    };
    let is_wrong = |all: &Vec<i64>| all.is_empty() || all.iter().any(|one| *one < 1);
    if revisions.as_ref().is_some_and(is_wrong) {
        return Err(Failure::malformed("revisions must have positive integers"));
    }
    let revisions = revisions.iter().flatten();
    let filter = revisions.fold(filter, |filter, revision| {
        filter.with(Field::REVISION, *revision)
    });
    let limit = Condition::ID.value_limit();
    if !(1..=limit).contains(&ids.len()) || call.arguments.text("id").is_some() {
        let message = format!("ids must have 1 to {limit} ids, and the query none");
        return Err(Failure::malformed(message));
    }
    ids.iter().try_fold(filter, |filter, id| {
        let id = Condition::ID.parse(id.get().trim_matches('"'));
        Ok(filter.and(Condition::ID, id.map_err(Failure::malformed)?))
    })
}

/// `DELETE /v1/robots`.
pub(super) fn delete(call: &Call<'_>, body: &[u8]) -> Started {
    let selection = read_selection(body).ok().flatten();
    let selection = selection.filter(|selection| selection.changes.is_none());
    if selection.is_none() && !body.is_empty() {
        let message = "The body must be empty, or have the ids of robots alone: {\"ids\":[\"1\"]}";
        return Err(Failure::malformed(message));
    }
    start(call, selected(call, selection.as_ref())?, |robots| {
        let deletes = robots.iter();
        Ok(deletes
            .map(|robot| Change::Delete(robot.id(), Some(robot.revision())))
            .collect())
    })
}

/// `PATCH /v1/robots`.
pub(super) fn patch(call: &Call<'_>, body: &[u8]) -> Started {
    check_patch_type(call)?;
    let definition = Arc::clone(&call.definition);
    let selection = read_selection(body)?;
    let selected_changes = selection.as_ref().and_then(|selection| selection.changes);
    let filter = selected(call, selection.as_ref())?;
    let patch = selected_changes.map_or(body, |changes| changes.get().as_bytes());
    let changes = read_patch(call, patch)?;
    let catalogue = Arc::clone(&call.service.catalogue);
    start(call, filter, move |robots| {
        let changes = check(&*catalogue, &definition, robots, changes.clone())?;
        let changed = robots.iter().filter(|_| !changes.is_empty());
        Ok(changed
            .map(|robot| Change::Update(robot.id(), Some(robot.revision()), changes.clone()))
            .collect())
    })
}

/// The reply.
#[derive(Serialize)]
struct Done {
    count: usize,
    ids: Vec<RobotId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Between>,
}

/// Reads the robots and makes the changes that `plan` returns for them.
fn start(
    call: &Call<'_>,
    filter: Filter,
    plan: impl Fn(&[Robot]) -> Result<Vec<Change>, Failure> + Send + 'static,
) -> Started {
    let is_dry_run = call.arguments.flag("dry_run")?;
    if filter.is_met_by_all() {
        return Err(Failure::malformed(
            "This would change every robot; give at least one condition, such as id=1",
        ));
    }
    if Conditions::of_change(call.headers)? != Conditions::default() {
        return Err(Failure::malformed(
            "If-Match and If-None-Match are about a single robot; send the request without them",
        ));
    }
    let (catalogue, author) = (call.catalogue(), call.author());
    let by_id = Cursor::start(Sort::BY_ID);
    Ok(Pending::blocking(move || {
        check_choices(&*catalogue, &filter)?;
        repeat(ATTEMPTS, || {
            let page = catalogue.page(PageRequest {
                limit: ATOMIC_LIMIT + 1,
                ..PageRequest::new(&filter, &by_id)
            })?;
            let robots = page.items;
            if robots.len() > ATOMIC_LIMIT {
                let message = format!(
                    "More than {ATOMIC_LIMIT} robots meet the conditions; add conditions, and send \
                     several requests"
                );
                return Err(Failure::TooMany(message));
            }
            let changes = plan(&robots)?;
            let mut positions = None;
            if !is_dry_run && !changes.is_empty() {
                let committed = catalogue.commit(changes, None);
                let committed = committed.map_err(|error| match error {
                    Error::NotFound(id) => Error::Stale(id).into(),
                    Error::Rejected(violations) => of_robots(violations, &robots),
                    error => error.into(),
                });
                positions = committed?.positions;
            }
            let ids: Vec<_> = robots.iter().map(Robot::id).collect();
            let done = Done {
                count: ids.len(),
                ids,
                changes: positions.map(|positions| Between::new(positions, author.as_ref())),
            };
            Ok(response::ok(render::json(&done)))
        })
    }))
}

/// The changes, if none of these robots violates a rule after them. Several robots cannot have the same unique
/// value.
fn check(
    catalogue: &dyn Catalogue,
    definition: &Definition,
    robots: &[Robot],
    changes: Result<ValidChanges, Rejection>,
) -> Result<ValidChanges, Failure> {
    let id = match robots {
        [robot] => Some(robot.id()),
        _ => None,
    };
    let changes = match changes {
        Ok(changes) => changes,
        Err(rejection) => return Err(of_robots(catalogue.violations(rejection, id)?, robots)),
    };
    let value = |field: &Field| changes.value(field).map(Value::into_owned);
    let taken = match robots {
        [] => Vec::new(),
        [_] => catalogue.taken(definition, value, id)?,
        _ => {
            let unique = definition.unique().filter(|field| value(field).is_some());
            unique.cloned().collect()
        }
    };
    match &*taken {
        [] => Ok(changes),
        taken => Err(of_robots(Violations::taken(taken), robots)),
    }
}

/// The failure of a change of these robots.
fn of_robots(violations: Violations, robots: &[Robot]) -> Failure {
    let ids = robots.iter().map(|robot| robot.id().to_string());
    let ids = ids.take(NAMED).collect::<Vec<_>>().join(", ");
    let robots = match robots.len() {
        0 => String::new(),
        1 => format!(" (robot {ids})"),
        2..=NAMED => format!(" (robots {ids})"),
        count => format!(" (robots {ids} and {} others)", count - NAMED),
    };
    Failure::OfRobots(violations, robots)
}
