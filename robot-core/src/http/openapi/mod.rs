//! The description of the API, a document of `OpenAPI` 3.1, derived from the table of routes.
//!
//! The table lists what is peculiar to an operation: its name, parameters, body and replies. What follows
//! from its method, path and permission is added here: `HEAD` and `OPTIONS`, the failures that every such
//! operation has, and the headers of every reply.

mod about;
mod headers;
mod json;
mod operation;
mod requests;
mod responses;
mod schemas;

use std::collections::BTreeMap;

use ::http::{
    HeaderValue,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};

use json::{Json, object};
use operation::{Described, Kind};

use super::{
    accept,
    behaviour::Behaviour,
    render, response,
    route::{Call, Route, Started},
};
use crate::catalogue::Pending;

pub(super) use about::{About, Body, OPTIONS};
pub(super) use responses::{
    CHANGED, CREATED, DELETED, DESCRIPTION, EXPORTED, IMPORTED, NOT_A_PATCH, NOT_MODIFIED,
    REJECTED, ROBOT, ROBOTS, STALE, SUMMARY,
};

/// The licence of this project.
const LICENCE: &str = env!("CARGO_PKG_LICENSE");

/// `GET /openapi.json`.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
pub(super) fn get(call: &Call<'_>) -> Started {
    let service = call.service;
    let bytes = service
        .description
        .get_or_init(|| render::json(&describe(call.routes, service.behaviour, &service.base)));
    let mut response = response::ok(bytes.clone());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(accept::JSON));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(Pending::ready(Ok(response)))
}

/// What the description says about the whole API, for people.
const TEXT: &str = "A catalogue of robots, each with a unique name, a type and a year.\n\nThe API is \
    compatible with an older service, which explains what is unusual: replies have the type `text/html` \
    unless `Accept` prefers `application/json`, although the body is the same JSON; a robot that is \
    missing is a 200 with the status `NOT-FOUND`; a `GET` by id returns only `id` and `name` unless \
    `fields` has more; a body is read as JSON whatever its `Content-Type` is, except that of a `PATCH` \
    and of an import.\n\nA 2xx is on disk. A failure has stored nothing, unless its message says that \
    the outcome is unknown, or it is an import with `data`. Unknown query parameters are ignored, unless \
    the request has the header `Prefer: handling=strict`. A path that is not described is 404, another \
    method 405 with `Allow`.\n\nA token is needed only if the operator of the service has set some.";

/// The document for these routes.
fn describe(routes: &[Route], behaviour: Behaviour, base: &str) -> Json {
    let mut replies = BTreeMap::new();
    let paths = routes.iter().map(|route| {
        let operations = operations(route).map(|(method, operation)| {
            (method.into(), operation.describe(behaviour, &mut replies))
        });
        let parameters = ("parameters".into(), requests::of_path(route.path));
        let members = [parameters].into_iter().chain(operations);
        (route.path.into(), Json::Object(members.collect()))
    });
    let paths = Json::Object(paths.collect());
    let replies = replies
        .into_iter()
        .map(|(name, reply)| (name.into(), reply));
    let document = object! {
        "openapi" => "3.1.0",
        "info" => object! {
            "title" => "Robot Catalogue",
            "version" => env!("CARGO_PKG_VERSION"),
            "description" => format!("{TEXT}\n\nThis service has behaviour {behaviour}."),
            "license" => object! { "name" => LICENCE, "identifier" => LICENCE },
        },
    };
    let server = if base.is_empty() { "/" } else { base };
    let document = document.with("servers", vec![object! { "url" => server.to_owned() }]);
    document.with("paths", paths).with(
        "components",
        object! {
            "schemas" => schemas::all(),
            "parameters" => requests::common(),
            "headers" => headers::all(),
            "responses" => Json::Object(replies.collect()),
            "securitySchemes" => object! {
                "token" => object! { "type" => "http", "scheme" => "bearer" },
            },
        },
    )
}

/// The methods of a route in lower case, with those that are derived.
fn operations(route: &Route) -> impl Iterator<Item = (&'static str, Described<'_>)> {
    let first = route.methods.first();
    let listed = route.methods.iter().flat_map(move |operation| {
        let of = |kind| Described {
            route,
            operation,
            kind,
        };
        let method = match operation.method {
            "GET" => "get",
            "POST" => "post",
            "PUT" => "put",
            "PATCH" => "patch",
            _ => "delete",
        };
        let head = (method == "get").then(|| ("head", of(Kind::Head)));
        [(method, of(Kind::Listed))].into_iter().chain(head)
    });
    let options = first.map(|operation| {
        let kind = Kind::Options;
        (
            "options",
            Described {
                route,
                operation,
                kind,
            },
        )
    });
    listed.chain(options)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use serde_json::Value;

    use super::*;
    use crate::{http::Api, memory::MemoryCatalogue};

    fn document(behaviour: Behaviour, base: &str) -> Value {
        let api = Api::new(Arc::new(MemoryCatalogue::new()));
        // The description is made anew for the second one.
        let get = |path| ::http::Request::get(path).body("").unwrap();
        drop(api.handle(get("/openapi.json".to_owned())));
        let api = api.behaviour(behaviour).under(base);
        let response = api.handle(get(format!("{base}/openapi.json")));
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/json");
        serde_json::from_slice(&response.into_body().into_bytes().unwrap()).unwrap()
    }

    /// Every object in a value.
    fn objects<'a>(value: &'a Value, found: &mut Vec<&'a serde_json::Map<String, Value>>) {
        match value {
            Value::Object(members) => {
                found.push(members);
                members.values().for_each(|member| objects(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
            _ => {}
        }
    }

    #[test]
    fn references_and_components_match() {
        for behaviour in [Behaviour::A, Behaviour::B] {
            let document = document(behaviour, "");
            let mut all = Vec::new();
            objects(&document, &mut all);
            let references = all.iter().filter_map(|object| object.get("$ref")?.as_str());
            let references: BTreeSet<_> = references.map(str::to_owned).collect();
            let components = ["schemas", "parameters", "headers", "responses"].map(|kind| {
                let members = document["components"][kind].as_object().unwrap();
                members
                    .keys()
                    .map(move |name| format!("#/components/{kind}/{name}"))
            });
            let components: BTreeSet<_> = components.into_iter().flatten().collect();
            assert_eq!(references, components);
        }
    }

    #[test]
    fn operations_have_unique_ids() {
        let document = document(Behaviour::A, "");
        let mut all = Vec::new();
        objects(&document["paths"], &mut all);
        let ids: Vec<_> = all
            .iter()
            .filter_map(|object| object.get("operationId"))
            .collect();
        let unique: BTreeSet<_> = ids.iter().map(ToString::to_string).collect();
        assert!(!ids.is_empty());
        assert_eq!(ids.len(), unique.len());
    }

    #[test]
    fn document_follows_behaviour_and_base() {
        let statuses = |document: &Value| {
            let responses = &document["paths"]["/api/robots"]["post"]["responses"];
            let codes = responses.as_object().unwrap().keys();
            codes
                .map(|code| code.parse().unwrap())
                .collect::<Vec<u16>>()
        };
        let a = document(Behaviour::A, "");
        assert_eq!(
            statuses(&a),
            [201, 400, 401, 403, 408, 409, 413, 421, 431, 500, 503]
        );
        assert_eq!(a["servers"][0]["url"], "/");
        let b = document(Behaviour::B, "/some/base");
        assert_eq!(
            statuses(&b),
            [200, 400, 401, 403, 408, 413, 421, 431, 500, 503]
        );
        assert_eq!(b["servers"][0]["url"], "/some/base");
    }
}
