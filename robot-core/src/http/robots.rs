//! Handlers of the contract's operations: list, search, get, create, replace, delete.

use std::sync::Arc;

use percent_encoding::utf8_percent_encode;

use super::{
    failure::Failure,
    list,
    query::{ENCODED, Query},
    render::{Envelope, array, json},
    reply::Reply,
    request_id::RequestId,
    route::{Call, HandlerResult, Started},
    service::Service,
};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Filter, PageItem, PageRequest, Pages, Pending, Result,
        SortKey,
    },
    model::{
        Draft, Entry, Field, NAME_LENGTH_LIMIT, Robot, View, Visible,
        draft_json::{self, Place},
    },
};

/// `GET /api/robots` and `GET /api/robots/search/{name}`.
pub(super) fn list(call: &Call<'_>) -> Started {
    let name = call.name()?;
    let query = Query::of_list(call.request.query())?;
    // A text longer than every name: no store needs to search for it.
    if name.chars().count() > NAME_LENGTH_LIMIT {
        return Ok(Pending::ready(Ok(Reply::whole(200, b"[]".to_vec()))));
    }
    let fields = query.fields.as_deref().unwrap_or(Field::DEFAULT_VIEW);
    let is_entry = fields.iter().all(|field| field.is_in_entry());
    let list = List {
        service: Arc::clone(call.service),
        filter: query.filter.clone().containing(name),
        query,
        request_id: call.request_id.clone(),
    };
    // A list by year needs the year of each robot.
    Ok(
        if is_entry && list.query.cursor.sort().key != SortKey::Year {
            list.start::<Entry>()
        } else {
            list.start::<Robot>()
        },
    )
}

/// A list or a search.
struct List {
    service: Arc<Service>,
    filter: Filter,
    query: Query,
    request_id: RequestId,
}

impl List {
    fn start<T: Visible + PageItem + 'static>(self) -> Pending<HandlerResult> {
        Pending::blocking(move || {
            let count = self
                .query
                .count
                .then(|| self.service.catalogue.count(&self.filter));
            let count = count.transpose()?;
            let mut reply = match self.query.limit {
                Some(limit) => self.page::<T>(limit.get()),
                None => self.all::<T>(),
            }?;
            if let Some(count) = count {
                reply
                    .headers
                    .push(("x-total-count", count.to_string().into()));
            }
            Ok(reply)
        })
    }

    fn all<T: Visible + PageItem + 'static>(self) -> HandlerResult {
        let Query { fields, cursor, .. } = self.query;
        let fields = fields.unwrap_or_else(|| Field::DEFAULT_VIEW.to_vec());
        let pages = Pages::<_, T>::of(Arc::clone(&self.service.catalogue), self.filter, cursor);
        list::stream(pages, fields, self.request_id)
    }

    fn page<T: Visible + PageItem>(&self, limit: usize) -> HandlerResult {
        let query = &self.query;
        let request = PageRequest {
            filter: &self.filter,
            cursor: &query.cursor,
            // One more than is returned shows whether there is a next page.
            limit: limit + 1,
        };
        let mut robots = T::page(&self.service.catalogue, request)?.items;
        let has_next = robots.len() > limit;
        robots.truncate(limit);
        let fields = query.fields.as_deref().unwrap_or(Field::DEFAULT_VIEW);
        let mut reply = Reply::whole(200, array(&robots, fields));
        let end = robots
            .last()
            .and_then(|last| last.cursor(query.cursor.sort()));
        if let (true, Some(end)) = (has_next, end) {
            let path = list_path(&self.service.base, self.filter.get_containing());
            let next = format!("<{path}?{}>; rel=\"next\"", query.next(&end));
            reply.headers.push(("link", next.into()));
        }
        Ok(reply)
    }
}

/// `GET /api/robots/summary`.
pub(super) fn summary(call: &Call<'_>) -> Started {
    let query = Query::of_summary(call.request.query())?;
    let service = Arc::clone(call.service);
    Ok(Pending::blocking(move || {
        let summary = service.catalogue.summary(&query.filter)?;
        Ok(Reply::whole(200, json(&Envelope::ok(summary))))
    }))
}

fn list_path(base: &str, containing: &str) -> String {
    if containing.is_empty() {
        return format!("{base}/api/robots");
    }
    let name = utf8_percent_encode(containing, ENCODED);
    format!("{base}/api/robots/search/{name}")
}

/// `GET /api/robots/{id}`.
pub(super) fn get(call: &Call<'_>) -> Started {
    let query = Query::of_robot(call.request.query())?;
    let Some(id) = call.id() else {
        return Ok(Pending::ready(Ok(found(None, &query))));
    };
    let robot = call.service.catalogue.start_get(id);
    Ok(robot.map(move |robot| Ok(found(robot?.as_ref(), &query))))
}

fn found(robot: Option<&Robot>, query: &Query) -> Reply {
    let fields = query.fields.as_deref().unwrap_or(Field::DEFAULT_VIEW);
    let bytes = match robot {
        Some(robot) => json(&Envelope::found(View { robot, fields })),
        None => json(&Envelope::NOT_FOUND),
    };
    Reply::whole(200, bytes)
}

/// `POST /api/robots`.
pub(super) fn create(call: &Call<'_>, body: &[u8]) -> Started {
    let status = call.service.behaviour.created();
    let robot = call.service.catalogue.start_add(draft(body)?);
    Ok(robot.map(move |robot| {
        let robot = &robot?;
        let fields = Field::CREATED_VIEW;
        let bytes = json(&Envelope::ok(View { robot, fields }));
        Ok(Reply::whole(status, bytes))
    }))
}

/// `PUT /api/robots/{id}`.
pub(super) fn replace(call: &Call<'_>, body: &[u8]) -> Started {
    let draft = draft(body)?;
    let id = call.id().ok_or(Failure::NoSuchRobot(None))?;
    let replaced = call.service.catalogue.start_replace(id, draft);
    Ok(replaced.map(confirm))
}

/// `DELETE /api/robots/{id}`. The body has no meaning, but is read, because a request that ends
/// early must not delete anything.
pub(super) fn delete(call: &Call<'_>, _body: &[u8]) -> Started {
    let id = call.id().ok_or(Failure::NoSuchRobot(None))?;
    let deleted = call.service.catalogue.start(Change::Delete(id));
    Ok(deleted.map(|deleted| confirm(deleted.map(drop))))
}

fn draft(body: &[u8]) -> std::result::Result<Draft, Failure> {
    let place = |Place { line, column }| format!("line {line}, column {column}");
    draft_json::read(body).map_err(|error| Failure::Malformed(error.messages("The body", place)))
}

fn confirm(changed: Result<()>) -> HandlerResult {
    changed?;
    Ok(Reply::whole(200, json(&Envelope::OK)))
}
