//! The document of a service: comparison of exchanges with it, and what they have produced of it.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use percent_encoding::percent_decode_str;
use robot_core::conformance::{Answer, Call};
use serde_json::Value;

use super::schema::Validator;

/// The headers of the transport and of the web framework, which a document does not describe.
const TRANSPORT: [&str; 9] = [
    "connection",
    "content-length",
    "content-type",
    "date",
    "keep-alive",
    "permissions-policy",
    "server",
    "transfer-encoding",
    "x-frame-options",
];

const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

pub(super) struct Document {
    value: Value,
    validator: Validator,
    /// What exchanges have produced.
    seen: Mutex<BTreeSet<String>>,
}

/// An operation of the document.
#[derive(Clone)]
pub(super) struct Operation<'a> {
    pub(super) path: &'a str,
    pub(super) method: &'static str,
    pub(super) value: &'a Value,
}

impl Document {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let value = serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}"));
        Self {
            validator: Validator::new(&value),
            value,
            seen: Mutex::default(),
        }
    }

    /// All operations.
    pub(super) fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        let paths = self.value["paths"].as_object().into_iter().flatten();
        paths.flat_map(|(path, item)| {
            METHODS.into_iter().filter_map(move |method| {
                let value = item.get(method)?;
                Some(Operation {
                    path,
                    method,
                    value,
                })
            })
        })
    }

    /// The operations of a path. One without variables takes precedence.
    fn at(&self, path: &str) -> Vec<Operation<'_>> {
        let found: Vec<_> = self
            .operations()
            .filter(|operation| operation.is_at(path))
            .collect();
        let literal = found.iter().find(|operation| !operation.path.contains('{'));
        let chosen = literal.or(found.first()).map(|operation| operation.path);
        found
            .into_iter()
            .filter(|operation| Some(operation.path) == chosen)
            .collect()
    }

    /// Panics if an exchange does not agree with the document. Notes what it produces.
    pub(super) fn check(&self, call: &Call, answer: &Answer) {
        if let Err(problem) = self.compare(call, answer) {
            let Call {
                method,
                target,
                headers,
                ..
            } = call;
            panic!(
                "{method} {target} {headers:?}: {} {} does not agree with the description: {problem}",
                answer.status,
                answer.text().chars().take(500).collect::<String>()
            );
        }
    }

    fn compare(&self, call: &Call, answer: &Answer) -> Result<(), String> {
        let (path, query) = call.target.split_once('?').unwrap_or((&call.target, ""));
        let known = self.at(path);
        let method = call.method.to_ascii_lowercase();
        let called = known
            .iter()
            .find(|known| known.method == method && call.method != method);
        let Some(operation) = called else {
            let expected: &[u16] = if known.is_empty() {
                &[404, 421]
            } else {
                &[403, 404, 405, 421]
            };
            return if expected.contains(&answer.status) {
                Ok(())
            } else {
                Err("there is no such operation".to_owned())
            };
        };
        let id = operation.id();
        let response = &operation.value["responses"][answer.status.to_string()];
        let response = self.resolve(response);
        if response.is_null() {
            return Err(format!("{id} has no such status"));
        }
        let place = format!("{id} {}", answer.status);
        self.note(place.clone());
        self.compare_headers(&place, response, answer)?;
        self.compare_body(&place, response, answer, call.method == "HEAD")?;
        if answer.status < 400 {
            self.note_parameters(operation, query, call);
        }
        Ok(())
    }

    fn compare_headers(
        &self,
        place: &str,
        response: &Value,
        answer: &Answer,
    ) -> Result<(), String> {
        let described = || response["headers"].as_object().into_iter().flatten();
        for (name, _) in &answer.headers {
            let found = described().find(|(known, _)| known.eq_ignore_ascii_case(name));
            match found {
                Some((name, _)) => {
                    self.note(format!("{place} {name}"));
                    self.note(name.clone());
                }
                None if TRANSPORT.contains(&name.as_str()) => {}
                None => return Err(format!("the header {name} is not described")),
            }
        }
        let mut required =
            described().filter(|(_, header)| self.resolve(header)["required"] == true);
        match required.find(|(name, _)| answer.header(&name.to_ascii_lowercase()).is_none()) {
            Some((name, _)) => Err(format!("the header {name} is missing")),
            None => Ok(()),
        }
    }

    fn compare_body(
        &self,
        place: &str,
        response: &Value,
        answer: &Answer,
        is_head: bool,
    ) -> Result<(), String> {
        let Some(content) = response["content"].as_object() else {
            let is_empty = answer.body.is_empty();
            return is_empty
                .then_some(())
                .ok_or("a body is not described".to_owned());
        };
        if is_head {
            return Err("a body of HEAD is described".to_owned());
        }
        let media_type = answer.header("content-type").unwrap_or_default();
        let Some(described) = content.get(media_type) else {
            return Err(format!("the type {media_type} is not described"));
        };
        self.note(format!("{place} {media_type}"));
        let Some(schema) = described["schema"]["$ref"].as_str() else {
            return Ok(());
        };
        let name = schema.rsplit('/').next().unwrap_or_default();
        let body = serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?;
        self.validator.check(name, &body)?;
        for member in self.validator.members_of(name, &body) {
            self.note(member);
        }
        Ok(())
    }

    fn note_parameters(&self, operation: &Operation<'_>, query: &str, call: &Call) {
        let id = operation.id();
        let queried = query
            .split('&')
            .map(|parameter| parameter.split('=').next());
        let queried: Vec<_> = queried.flatten().collect();
        let has_header = |name: &str| {
            call.headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        for parameter in self.parameters(operation) {
            let name = parameter["name"].as_str().unwrap_or_default();
            let is_sent = match parameter["in"].as_str() {
                Some("query") => queried.contains(&name),
                Some("header") => has_header(name),
                _ => true,
            };
            if is_sent {
                self.note(place_of(id, parameter));
            }
        }
        let content_type = call
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some((_, media_type)) = content_type {
            self.note(format!("{id} body {media_type}"));
        }
    }

    /// The parameters of an operation, and of its path.
    pub(super) fn parameters(&self, operation: &Operation<'_>) -> impl Iterator<Item = &Value> {
        let item = &self.value["paths"][operation.path];
        let lists = [&item["parameters"], &item[operation.method]["parameters"]];
        let all = lists.into_iter().filter_map(Value::as_array).flatten();
        all.map(|parameter| self.resolve(parameter))
    }

    /// What the document has, and no exchange has produced.
    pub(super) fn missing(&self) -> Vec<String> {
        let mut expected = BTreeSet::new();
        let mut schemas = BTreeSet::new();
        for operation in self.operations() {
            let id = operation.id();
            expected.extend(
                self.parameters(&operation)
                    .map(|parameter| place_of(id, parameter)),
            );
            let content = operation.value["requestBody"]["content"].as_object();
            let types = content.into_iter().flat_map(|content| content.keys());
            expected.extend(types.map(|name| format!("{id} body {name}")));
            for (status, response) in operation.value["responses"]
                .as_object()
                .into_iter()
                .flatten()
            {
                let place = format!("{id} {status}");
                let response = self.resolve(response);
                for (name, _) in response["headers"].as_object().into_iter().flatten() {
                    expected.insert(if is_own(name) {
                        format!("{place} {name}")
                    } else {
                        name.clone()
                    });
                }
                for (name, content) in response["content"].as_object().into_iter().flatten() {
                    expected.insert(format!("{place} {name}"));
                    let schema = content["schema"]["$ref"].as_str().unwrap_or_default();
                    schemas.extend(schema.rsplit('/').next().filter(|name| !name.is_empty()));
                }
                expected.insert(place);
            }
        }
        expected.extend(self.validator.members(schemas.into_iter()));
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        expected.difference(&seen).cloned().collect()
    }

    /// The component to which a value refers, or the value.
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"]
            .as_str()
            .and_then(|reference| reference.strip_prefix('#'))
        {
            Some(pointer) => self.value.pointer(pointer).unwrap_or(&Value::Null),
            None => value,
        }
    }

    fn note(&self, produced: String) {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(produced);
    }
}

/// Whether a header belongs to particular replies. The others are the same for all of them.
fn is_own(header: &str) -> bool {
    const OWN: [&str; 9] = [
        "Accept-Patch",
        "Allow",
        "Cache-Control",
        "Content-Disposition",
        "ETag",
        "Link",
        "Retry-After",
        "WWW-Authenticate",
        "X-Total-Count",
    ];
    OWN.contains(&header)
}

fn place_of(id: &str, parameter: &Value) -> String {
    format!("{id} {} {}", parameter["in"], parameter["name"])
}

impl Operation<'_> {
    pub(super) fn id(&self) -> &str {
        self.value["operationId"].as_str().unwrap_or_default()
    }

    /// Whether a path may be this one. An id may be any text: one that is not a number is 404.
    fn is_at(&self, path: &str) -> bool {
        let (expected, sent) = (self.path.split('/'), path.split('/'));
        expected.clone().count() == sent.clone().count()
            && expected.zip(sent).all(|(expected, sent)| {
                let sent = percent_decode_str(sent).collect::<Vec<_>>();
                match expected {
                    "{id}" | "{name}" => true,
                    literal => literal.as_bytes() == sent,
                }
            })
    }
}
