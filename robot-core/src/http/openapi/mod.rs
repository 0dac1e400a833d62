//! The description of the API: `document.json`, completed for one service.
//!
//! The document is valid `OpenAPI` 3.1 for behaviour A, from which the others follow. Added to it are what other code knows (the fields
//! of a robot, the parameters of queries, the version), what all operations have in common (the `HEAD` of
//! each `GET`, the headers of every reply), and the settings of the service (behaviour and base path).

mod schemas;
mod v1;

use std::{
    mem,
    sync::{Arc, PoisonError},
};

use ::http::{
    HeaderValue,
    header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE},
};
use serde_json::{Map, Value, json};

use super::{
    accept,
    api::{ApiSettings, Apis},
    behaviour::Behaviour,
    headers, render, response,
    route::{Call, Route, Routes, Started},
    token::Permission,
};
use crate::{catalogue::Pending, model::Definition};

const DOCUMENT: &str = include_str!("document.json");

/// The headers of every reply.
const COMMON_HEADERS: [&str; 7] = [
    "Vary",
    "X-Content-Type-Options",
    "Content-Security-Policy",
    "X-Request-Id",
    "Preference-Applied",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
];

/// `GET /openapi.json`. Clients that may not read get that of the built-in definition.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
pub(super) fn get(call: &Call<'_>) -> Started {
    let settings = &call.service.settings;
    let credentials = headers::value(call.headers(), AUTHORIZATION);
    let access = settings
        .access
        .check(credentials.as_deref(), Permission::Read);
    let may_read = access.1.is_ok();
    let definition = if may_read {
        call.definition()
    } else {
        Arc::clone(Definition::built_in())
    };
    let revision = definition.revision();
    let described = &call.service.descriptions;
    let mut described = described.lock().unwrap_or_else(PoisonError::into_inner);
    let described = &mut described[usize::from(may_read)];
    let bytes = match described {
        Some((of, bytes)) if *of == revision => bytes.clone(),
        _ => {
            let bytes = render::json(&describe(call.routes, &definition, settings));
            *described = Some((revision, bytes.clone()));
            bytes
        }
    };
    let mut response = response::ok(bytes);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(accept::JSON));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(Pending::ready(Ok(response)))
}

/// The document for these routes.
fn describe(routes: Routes, definition: &Definition, settings: &ApiSettings) -> Value {
    // A test parses the constant.
    let mut document: Value = serde_json::from_str(DOCUMENT).unwrap_or_default();
    describe_service(&mut document, settings);
    let mut schemas = document["components"]["schemas"].take();
    schemas::add_fields(&mut schemas, definition);

    let mut replies = document["components"]["responses"].take();
    for reply in members(&mut replies) {
        for name in COMMON_HEADERS {
            reply["headers"][name] = reference("headers", name);
        }
    }
    let mut paths = Map::new();
    for route in routes.into_iter().flatten() {
        let mut path = document["paths"][route.path].clone();
        match settings.behaviour_of(route.path) {
            Behaviour::A => {}
            Behaviour::B => {
                members(&mut path).for_each(|one| use_older_statuses(one, &mut replies));
            }
            Behaviour::C => {
                let contract = route.path.replacen("/v1/", "/api/", 1);
                let added = mem::replace(&mut path, document["paths"][contract].clone());
                if added.is_object() {
                    v1::merge(&mut path, added);
                }
                v1::derive(&mut path, &mut replies, &mut schemas);
            }
        }
        add_parameters(&mut path, route, definition);
        add_head(&mut path, &mut replies);
        paths.insert(route.path.to_owned(), path);
    }
    document["paths"] = paths.into();
    document["components"]["schemas"] = schemas;
    document["components"]["responses"] = replies;
    v1::take_patches(&mut document, |_, _| ());
    remove_unused(&mut document);
    document
}

/// Completes what concerns the service as a whole.
fn describe_service(document: &mut Value, settings: &ApiSettings) {
    let ApiSettings { base, apis, .. } = settings;
    document["servers"][0]["url"] = if base.is_empty() { "/" } else { base }.into();
    let info = &mut document["info"];
    info["version"] = env!("CARGO_PKG_VERSION").into();
    let text = |text: &Value| text.as_str().unwrap_or_default().to_owned();
    let behaviour = format!("`/api` has behaviour {}.", settings.behaviour);
    let contract = [text(&info["description"]), behaviour];
    let contract = contract.into_iter().filter(|_| *apis != Apis::V1);
    let v1 = Some(text(&info["x-v1"])).filter(|_| *apis != Apis::Contract);
    let texts: Vec<_> = contract.chain(v1).collect();
    info["description"] = texts.join("\n\n").into();
}

/// Removes components to which nothing refers.
fn remove_unused(document: &mut Value) {
    // Paths refer to replies, and these to headers and schemas, which refer to other schemas.
    for kind in ["responses", "headers", "parameters", "schemas", "schemas"] {
        let text = document.to_string();
        if let Value::Object(components) = &mut document["components"][kind] {
            components.retain(|name, _| text.contains(&format!("/{kind}/{name}\"")));
        }
    }
}

/// Adds the parameters of queries.
fn add_parameters(path: &mut Value, route: &Route, definition: &Definition) {
    for operation in route.methods {
        let described = &mut path[operation.method.to_ascii_lowercase()];
        let parameters = operation.parameters.all(definition);
        let parameters = parameters.map(|parameter| schemas::parameter(&parameter, definition));
        let headers = described["parameters"].as_array().into_iter().flatten();
        described["parameters"] = parameters.chain(headers.cloned()).collect();
    }
}

/// Replaces the statuses of an operation that behaviour B has others for.
fn use_older_statuses(operation: &mut Value, replies: &mut Value) {
    let responses = operation.get_mut("responses");
    let Some(statuses) = responses.and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(created) = statuses.remove(Behaviour::A.created().as_str()) {
        statuses.insert(Behaviour::B.created().as_str().to_owned(), created);
        statuses.insert("204".to_owned(), reference("responses", "Minimal"));
    }
    if let Some(rejected) = statuses.remove(Behaviour::A.rejected(true).as_str())
        && let Some(failed) = statuses.get_mut(Behaviour::B.rejected(true).as_str())
    {
        let name = format!("{}OrFailed", component(&rejected));
        let texts = [&rejected, failed].map(|reply| &replies[component(reply)]["description"]);
        let text = texts.map(|text| text.as_str().unwrap_or_default());
        let mut merged = replies[component(failed)].clone();
        merged["description"] = text.join(" Or: ").into();
        *failed = reference("responses", &name);
        replies[name] = merged;
    }
}

/// Adds the `HEAD` of the `GET` of a path, whose replies have no bodies.
fn add_head(path: &mut Value, replies: &mut Value) {
    let Some(mut head) = path.get("get").cloned() else {
        return;
    };
    let id = head["operationId"].as_str().unwrap_or_default();
    head["operationId"] = format!("{id}Head").into();
    head["summary"] = "The headers of the reply to GET".into();
    if let Value::Object(members) = &mut head {
        members.remove("description");
    }
    for reply in members(&mut head["responses"]) {
        let name = component(reply);
        let mut described = replies[name].clone();
        if described
            .as_object_mut()
            .and_then(|reply| reply.remove("content"))
            .is_some()
        {
            let name = format!("{name}WithoutBody");
            *reply = reference("responses", &name);
            replies[name] = described;
        }
    }
    path["head"] = head;
}

fn members(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.as_object_mut().into_iter().flat_map(Map::values_mut)
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// The name of the component that a reference refers to.
fn component(reference: &Value) -> &str {
    let path = reference["$ref"].as_str().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use serde_json::Value;

    use super::*;
    use crate::{
        http::{Api, ApiSettings, routes},
        memory::MemoryCatalogue,
    };

    fn document(behaviour: Behaviour, base: &str) -> Value {
        document_of(Apis::Both, behaviour, base)
    }

    fn document_of(apis: Apis, behaviour: Behaviour, base: &str) -> Value {
        let settings = ApiSettings {
            behaviour,
            apis,
            base: base.to_owned(),
            ..ApiSettings::default()
        };
        let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
        let request = ::http::Request::get(format!("{base}/openapi.json"));
        let response = api.handle(request.body("").unwrap());
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
        for (apis, behaviour) in [
            (Apis::Both, Behaviour::A),
            (Apis::Both, Behaviour::B),
            (Apis::Contract, Behaviour::A),
            (Apis::V1, Behaviour::A),
        ] {
            let document = document_of(apis, behaviour, "");
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
    fn operations_are_those_of_the_routes() {
        let document = document(Behaviour::A, "");
        let paths = document["paths"].as_object().unwrap();
        let described = paths.iter().flat_map(|(path, operations)| {
            let names = operations.as_object().unwrap().keys();
            names.map(move |name| format!("{path} {}", name.to_ascii_uppercase()))
        });
        let routes = routes::of(Apis::Both)
            .into_iter()
            .flatten()
            .flat_map(|route| {
                let allowed = route.allow() + ", PARAMETERS";
                let names: Vec<_> = allowed.split(", ").map(str::to_owned).collect();
                names
                    .into_iter()
                    .map(move |name| format!("{} {name}", route.path))
            });
        assert_eq!(
            described.collect::<BTreeSet<_>>(),
            routes.collect::<BTreeSet<_>>()
        );
    }

    #[test]
    fn operations_that_need_a_permission_take_a_token() {
        let document = document(Behaviour::A, "");
        for route in routes::of(Apis::Both).into_iter().flatten() {
            for operation in route.methods {
                let method = operation.method.to_ascii_lowercase();
                let described = &document["paths"][route.path][method];
                let is_secured = described["security"] == json!([{}, { "token": [] }]);
                assert_eq!(is_secured, operation.needs.is_some(), "{}", route.path);
            }
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
            [200, 204, 400, 401, 403, 408, 413, 421, 431, 500, 503]
        );
        assert_eq!(b["servers"][0]["url"], "/some/base");
    }
}
