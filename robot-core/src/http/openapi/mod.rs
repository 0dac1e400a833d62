//! The description of the API: `document.json`, completed for one service.
//!
//! The document has each operation and response as it is at `/v1`, with what `/api` has instead (`contract`), and behaviour
//! B of it (`older`). It names parameters, headers and responses, which become references, and has what operations have in
//! common (`common`). `HEAD`, `OPTIONS`, paths, permissions and parameters of the query follow from the table of routes
//! (`operations`), and some schemas and parameters from the definition (`schemas`). The address of the service is relative
//! to that of the document.

mod operations;
mod responses;
mod schemas;

use std::sync::Arc;

use ::http::{
    HeaderValue,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use serde::{Serialize, Serializer};
use serde_json::Value;

use self::responses::Responses;
use super::{
    accept, render, response,
    response::Started,
    route::{Call, Route},
    settings::ApiSettings,
    token::Permission,
};
use crate::{catalogue::Pending, model::Definition};

const DOCUMENT: &str = include_str!("document.json");

/// `GET /openapi.json`. Clients that may not read get that of the built-in definition.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
pub(super) fn get(call: &Call<'_>) -> Started {
    let may_read = call.client.check(Permission::Read).is_ok();
    let definition = if may_read {
        Arc::clone(&call.definition)
    } else {
        Arc::clone(Definition::built_in())
    };
    let (service, routes) = (Arc::clone(call.service), call.routes);
    Ok(Pending::blocking(move || {
        let document = describe(routes, &definition, &service.settings);
        let mut response = response::ok(render::json(&document));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(accept::JSON));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Ok(response)
    }))
}

/// The document, in the order in which it is served.
#[derive(Serialize)]
struct Document {
    openapi: Value,
    info: Value,
    servers: Value,
    security: Value,
    #[serde(serialize_with = "as_map")]
    paths: Vec<(&'static str, Value)>,
    components: Value,
}

fn as_map<S: Serializer>(paths: &[(&str, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(paths.iter().map(|(path, item)| (path, item)))
}

/// The document for these routes.
fn describe(routes: &'static [Route], definition: &Definition, settings: &ApiSettings) -> Document {
    // A test parses the constant.
    let mut file: Value = serde_json::from_str(DOCUMENT).unwrap_or_default();
    let mut components = file["components"].clone();
    schemas::add_fields(&mut components["schemas"], definition);
    schemas::complete_parameters(&mut components["parameters"], definition);
    let mut responses = Responses {
        file: &file,
        has_origins: !settings.origins.is_empty(),
        components: Value::default(),
    };
    let paths = routes.iter().filter(|route| route.is_served());
    let paths = paths.map(|route| {
        let behaviour = settings.behaviour_of(route.path);
        let item = operations::describe(route, behaviour, definition, &mut responses);
        (route.path, item)
    });
    let paths = paths.collect();
    components["responses"] = responses.components;
    describe_service(&mut file["info"], settings);
    let mut document = Document {
        openapi: file["openapi"].take(),
        info: file["info"].take(),
        servers: file["servers"].take(),
        security: file["security"].take(),
        paths,
        components,
    };
    remove_unused(&mut document);
    document
}

/// Completes what concerns the service as a whole.
fn describe_service(info: &mut Value, settings: &ApiSettings) {
    info["version"] = env!("CARGO_PKG_VERSION").into();
    let text = |api: &str| info["description"][api].as_str().unwrap_or_default();
    let texts = ["all", "v1", "contract"].map(text).join("\n\n");
    let behaviour = settings.behaviour;
    info["description"] = format!("{texts}\n\n`/api` has behaviour {behaviour}.").into();
}

/// Removes components to which nothing refers.
fn remove_unused(document: &mut Document) {
    // Paths and responses refer to these, and schemas to other schemas.
    for kind in ["headers", "parameters", "schemas", "schemas"] {
        let text = serde_json::to_string(document).unwrap_or_default();
        if let Value::Object(components) = &mut document.components[kind] {
            components.retain(|name, _| text.contains(&format!("/{kind}/{name}\"")));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use serde_json::Value;

    use super::*;
    use crate::{
        http::{Api, Behaviour, routes},
        memory::MemoryCatalogue,
    };

    fn document(behaviour: Behaviour, base: &str) -> Value {
        let settings = ApiSettings {
            behaviour,
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
    fn file_has_the_operations_of_the_routes() {
        let file: Value = serde_json::from_str(DOCUMENT).unwrap();
        let paths = file["paths"].as_object().unwrap();
        let described = paths.iter().flat_map(|(path, operations)| {
            let methods = operations.as_object().unwrap().keys();
            let methods = methods.filter(|method| *method != "options");
            methods.map(move |method| format!("{path} {}", method.to_ascii_uppercase()))
        });
        let routes = routes::TABLE.iter();
        let routes = routes.filter(|route| route.is_served());
        let routes = routes.flat_map(|route| {
            let path = route.name;
            let methods = route.methods.iter();
            methods.map(move |operation| format!("{path} {}", operation.method))
        });
        assert_eq!(
            described.collect::<BTreeSet<_>>(),
            routes.collect::<BTreeSet<_>>()
        );
    }

    #[test]
    fn v1_is_first_in_a_small_document() {
        let (definition, settings) = (Definition::built_in(), ApiSettings::default());
        let document = describe(routes::TABLE, definition, &settings);
        let text = serde_json::to_string(&document).unwrap();
        assert!(text.find("\"/v1/") < text.find("\"/api/"));
        assert!(text.len() <= 131_000, "{}", text.len());
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
            [201, 400, 401, 403, 408, 409, 413, 415, 421, 500, 503]
        );
        assert_eq!(a["servers"][0]["url"], ".");
        let b = document(Behaviour::B, "/some/base");
        assert_eq!(
            statuses(&b),
            [200, 204, 400, 401, 403, 408, 413, 415, 421, 500, 503]
        );
        assert_eq!(b["servers"][0]["url"], ".");
    }
}
