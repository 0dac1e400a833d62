//! The description of the API: `document.json`, completed for one service.
//!
//! The document describes all operations of `/api` and `/v1`, and the replies of behaviour B that differ
//! (`x-older-responses`). Added to it are the headers that every reply has, what follows from the definition, and
//! the settings of the service (APIs and behaviour). The address of the service is relative to that of the document.

mod schemas;

use std::{
    slice,
    sync::{Arc, PoisonError},
};

use ::http::{
    HeaderValue,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use serde_json::{Map, Value, json};

use super::{
    accept,
    behaviour::Behaviour,
    render, response,
    response::Started,
    route::{Call, Routes},
    settings::{ApiSettings, Apis},
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
    let may_read = call.client.check(Permission::Read).is_ok();
    let definition = if may_read {
        Arc::clone(&call.definition)
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
    let components = &mut document["components"];
    schemas::add_fields(&mut components["schemas"], definition);
    schemas::complete_parameters(&mut components["parameters"], definition);
    for reply in members(&mut components["responses"]) {
        for name in COMMON_HEADERS {
            reply["headers"][name] = json!({ "$ref": format!("#/components/headers/{name}") });
        }
    }
    let mut all = document["paths"].take();
    let parameters = &document["components"]["parameters"];
    let mut paths = Map::new();
    for route in routes.into_iter().flatten() {
        // With `/v1` alone, this document is described as the rest is.
        let of_v1 = format!("/v1{}", route.path);
        let is_of_v1 = settings.apis == Apis::V1 && all.get(&of_v1).is_some();
        let mut path = all[if is_of_v1 { &of_v1 } else { route.path }].take();
        for operation in members(&mut path).filter_map(Value::as_object_mut) {
            let older = operation.remove("x-older-responses");
            if let (Behaviour::B, Some(older)) = (settings.behaviour, older) {
                operation.insert("responses".to_owned(), older);
            }
            if let Some(Value::Array(sent)) = operation.get_mut("parameters") {
                *sent = write_out(sent, parameters);
            }
        }
        paths.insert(route.path.to_owned(), path);
    }
    document["paths"] = paths.into();
    remove_unused(&mut document);
    document
}

/// The parameters to which these references refer, because generators of clients name types by them. The
/// component `conditions` is many parameters.
fn write_out(references: &[Value], parameters: &Value) -> Vec<Value> {
    let named = references.iter().map(|reference| {
        let path = reference["$ref"].as_str().unwrap_or_default();
        &parameters[path.rsplit('/').next().unwrap_or_default()]
    });
    let named = named.flat_map(|named| match named {
        Value::Array(conditions) => conditions.as_slice(),
        parameter => slice::from_ref(parameter),
    });
    named.cloned().collect()
}

/// Completes what concerns the service as a whole.
fn describe_service(document: &mut Value, settings: &ApiSettings) {
    let apis = settings.apis;
    let info = &mut document["info"];
    info["version"] = env!("CARGO_PKG_VERSION").into();
    let text = |api: &str| info["description"][api].as_str().unwrap_or_default();
    let contract = format!(
        "{}\n\n`/api` has behaviour {}.",
        text("contract"),
        settings.behaviour
    );
    let of_apis = match apis {
        Apis::Both => format!("{}\n\n{contract}", text("v1")),
        Apis::Contract => contract,
        Apis::V1 => text("v1").to_owned(),
    };
    info["description"] = format!("{}\n\n{of_apis}", text("all")).into();
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

fn members(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.as_object_mut().into_iter().flat_map(Map::values_mut)
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
    fn operations_have_parameters_and_permissions_of_their_routes() {
        let document = document(Behaviour::A, "");
        for route in routes::of(Apis::Both).into_iter().flatten() {
            for operation in route.methods {
                let method = operation.method.to_ascii_lowercase();
                let described = &document["paths"][route.path][method];
                let parameters = described["parameters"].as_array().into_iter().flatten();
                let parameters = parameters.filter(|parameter| parameter["in"] == "query");
                let parameters: BTreeSet<_> = parameters
                    .filter_map(|parameter| parameter["name"].as_str())
                    .collect();
                let all = operation.parameters.all(Definition::built_in());
                let known: BTreeSet<_> = all.map(|(name, _)| name).collect();
                assert_eq!(parameters, known, "{} {}", operation.method, route.path);
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
            [201, 400, 401, 403, 408, 409, 413, 415, 421, 431, 500, 503]
        );
        assert_eq!(a["servers"][0]["url"], ".");
        let b = document(Behaviour::B, "/some/base");
        assert_eq!(
            statuses(&b),
            [200, 204, 400, 401, 403, 408, 413, 415, 421, 431, 500, 503]
        );
        assert_eq!(b["servers"][0]["url"], ".");
    }
}
