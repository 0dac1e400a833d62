//! Responses as components: those of the file, with the headers and the body that they have in an API.

use serde_json::{Map, Value, json};

use crate::http::behaviour::Behaviour;

/// The responses to which operations refer.
pub(super) struct Responses<'a> {
    pub(super) file: &'a Value,
    /// Whether the service has headers for pages of other origins.
    pub(super) has_origins: bool,
    pub(super) components: Value,
}

impl Responses<'_> {
    /// Replaces names of responses, by their statuses, by references to components. A response that differs at `/v1`,
    /// or has no body, is a component of its own.
    pub(super) fn refer(&mut self, names: &mut Value, behaviour: Behaviour, has_body: bool) {
        for (status, name) in names.as_object_mut().into_iter().flatten() {
            let known = name.as_str().unwrap_or_default();
            let complete = |behaviour, has_body| self.complete(status, known, behaviour, has_body);
            let response = complete(behaviour, has_body);
            let suffix = |is_other, suffix| if is_other { suffix } else { "" };
            let version = suffix(response != complete(Behaviour::A, has_body), "V1");
            let head = suffix(response != complete(behaviour, true), "Head");
            let component = format!("{known}{version}{head}");
            *name = reference("responses", &component);
            self.components[component] = response;
        }
    }

    /// A response of the file with all headers, and as a failure with its body.
    fn complete(&self, status: &str, name: &str, behaviour: Behaviour, has_body: bool) -> Value {
        let common = &self.file["common"];
        let mut response = Map::new();
        if status.starts_with(['4', '5']) {
            response = adapt(&common["failure"], behaviour);
        }
        let in_file = &self.file["components"]["responses"][name];
        response.extend(adapt(in_file, behaviour));
        let own = response.remove("headers").unwrap_or_default();
        let headers = names(&common["headers"]).chain(names(&own));
        let is_for_pages = |name: &str| name.starts_with("Access-Control-");
        let headers = headers.filter(|name| self.has_origins || !is_for_pages(name));
        let headers = headers.map(|name| (name, reference("headers", name)));
        response.insert("headers".to_owned(), headers.collect());
        if !has_body {
            response.remove("content");
        }
        response.into()
    }
}

/// The entry of the file for `/v1`, overlaid by `contract`, and then by `older`.
pub(super) fn adapt(entry: &Value, behaviour: Behaviour) -> Map<String, Value> {
    let mut adapted = entry.as_object().cloned().unwrap_or_default();
    let contract = adapted.remove("contract");
    let older = adapted.remove("older");
    let contract = contract.filter(|_| behaviour.is_contract());
    let older = older.filter(|_| behaviour == Behaviour::B);
    for instead in [contract, older].into_iter().flatten() {
        adapted.extend(instead.as_object().cloned().unwrap_or_default());
    }
    adapted
}

/// The names in a list of the file.
pub(super) fn names(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// A reference to a component.
pub(super) fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}
