//! The description of the API, compared with exchanges.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use percent_encoding::percent_decode_str;
use robot_core::conformance::{Answer, Call, Client};
use serde_json::Value;

use super::schema::Validator;

/// The headers of the transport, of the web framework, and for browsers, which a document does not describe.
const TRANSPORT: [&str; 12] = [
    "connection",
    "content-length",
    "content-security-policy",
    "content-type",
    "date",
    "keep-alive",
    "permissions-policy",
    "server",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
    "x-frame-options",
];

const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

/// The statuses of requests that no case sends: without permission, too large, or to a server that refuses them.
const REFUSALS: [&str; 7] = ["401", "403", "408", "413", "421", "500", "503"];

pub(super) struct Document {
    value: Value,
    validator: Validator,
    /// The operations and statuses of answers.
    seen: Mutex<BTreeSet<String>>,
}

impl Document {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let value = serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}"));
        let validator = Validator::new(&value);
        let seen = Mutex::default();
        Self {
            value,
            validator,
            seen,
        }
    }

    /// The path of the document to which a path belongs. One without variables takes precedence.
    fn item(&self, path: &str) -> Option<&Value> {
        let items = || self.value["paths"].as_object().into_iter().flatten();
        let literal = items().find(|(template, _)| *template == path);
        let found = literal.or_else(|| items().find(|(template, _)| is_at(template, path)));
        found.map(|(_, item)| item)
    }

    /// Panics if an exchange does not agree with the document.
    pub(super) fn check(&self, call: &Call, answer: &Answer) {
        self.check_by(&self.validator, call, answer);
    }

    /// As [`check`](Self::check), with the schemas of another definition.
    pub(super) fn check_by(&self, validator: &Validator, call: &Call, answer: &Answer) {
        if let Err(problem) = self.compare(validator, call, answer) {
            panic!(
                "{} {} {:?}: {} {:.500} does not agree with the description: {problem}",
                call.method,
                call.target,
                call.headers,
                answer.status,
                answer.text()
            );
        }
    }

    fn compare(&self, validator: &Validator, call: &Call, answer: &Answer) -> Result<(), String> {
        let path = call.target.split('?').next().unwrap_or_default();
        let item = self.item(path);
        let method = METHODS
            .into_iter()
            .find(|method| call.method == method.to_uppercase());
        let operation = item.zip(method).and_then(|(item, method)| item.get(method));
        let Some(operation) = operation else {
            let expected: &[u16] = match item {
                Some(_) => &[403, 404, 405, 421],
                None => &[404, 421],
            };
            return require(
                expected.contains(&answer.status),
                "there is no such operation",
            );
        };
        let response = self.resolve(&operation["responses"][answer.status.to_string()]);
        require(!response.is_null(), "the operation has no such status")?;
        self.seen()
            .insert(place(operation, &answer.status.to_string()));
        self.compare_headers(response, answer)?;
        let content = &response["content"];
        let mut headers = call.headers.iter();
        if answer.body.is_empty() && headers.any(|(_, value)| value == "return=minimal") {
            return Ok(());
        }
        compare_body(validator, content, answer, call.method == "HEAD")
    }

    fn compare_headers(&self, response: &Value, answer: &Answer) -> Result<(), String> {
        let described = || response["headers"].as_object().into_iter().flatten();
        for (name, _) in &answer.headers {
            let is_described = described().any(|(known, _)| known.eq_ignore_ascii_case(name));
            let is_known = is_described || TRANSPORT.contains(&name.as_str());
            require(is_known, &format!("the header {name} is not described"))?;
        }
        for (name, header) in described() {
            let is_optional = self.resolve(header)["required"] != true;
            let is_there = answer.header(&name.to_ascii_lowercase()).is_some();
            require(
                is_optional || is_there,
                &format!("the header {name} is missing"),
            )?;
        }
        Ok(())
    }

    /// No code panics while it holds the lock.
    fn seen(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is described, and no answer was, except for refusals.
    pub(super) fn missing(&self) -> Vec<String> {
        let members = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let mut described = BTreeSet::new();
        for (_, item) in members(&self.value["paths"]) {
            for operation in METHODS.into_iter().filter_map(|method| item.get(method)) {
                let statuses = members(&operation["responses"]);
                described.extend(statuses.keys().map(|status| place(operation, status)));
            }
        }
        let is_refusal = |place: &String| {
            let mut words = place.split(' ');
            words.any(|word| REFUSALS.contains(&word))
        };
        let seen = self.seen();
        let missing = described.difference(&seen).cloned();
        missing.filter(|place| !is_refusal(place)).collect()
    }

    /// Panics if a service does not know a parameter that the document describes, or answers otherwise.
    /// Changes nothing in an empty catalogue.
    pub(super) fn check_parameters(&self, client: &dyn Client) {
        let send = |method: &str, target: &str| {
            let strict = [("prefer", "handling=strict")];
            let call = Call::new(&method.to_uppercase(), target, &strict, "");
            let answer = client.send(&call);
            let answer = answer.unwrap_or_else(|error| panic!("{error}"));
            self.check(&call, &answer);
            answer.text().contains("is not a parameter")
        };
        let paths = self.value["paths"].as_object().into_iter().flatten();
        for (path, item) in paths {
            let target = path.replace("{id}", "1").replace("{name}", "x");
            for method in METHODS
                .into_iter()
                .filter(|method| item.get(method).is_some())
            {
                if ["get", "head", "options"].contains(&method) {
                    send(method, &target);
                    send(method, &format!("{target}?unknown=1"));
                }
                let lists = [&item["parameters"], &item[method]["parameters"]];
                for parameter in lists.into_iter().filter_map(Value::as_array).flatten() {
                    let parameter = self.resolve(parameter);
                    let name = parameter["name"].as_str().unwrap_or_default();
                    let target = format!("{target}?{name}=1");
                    let is_unknown = parameter["in"] == "query" && send(method, &target);
                    assert!(!is_unknown, "{method} {target}");
                }
            }
        }
    }

    /// The component to which a value refers, or the value.
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let reference = value["$ref"].as_str();
        match reference.and_then(|reference| reference.strip_prefix('#')) {
            Some(pointer) => self.value.pointer(pointer).unwrap_or(&Value::Null),
            None => value,
        }
    }
}

fn compare_body(
    validator: &Validator,
    content: &Value,
    answer: &Answer,
    is_head: bool,
) -> Result<(), String> {
    let Some(content) = content.as_object() else {
        return require(answer.body.is_empty(), "a body is not described");
    };
    require(!is_head, "a body of HEAD is described")?;
    let media_type = answer.header("content-type").unwrap_or_default();
    let Some(described) = content.get(media_type) else {
        return Err(format!("the type {media_type} is not described"));
    };
    let Some(schema) = described["schema"]["$ref"].as_str() else {
        return Ok(());
    };
    let body = serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?;
    validator.check(schema, &body)
}

fn place(operation: &Value, status: &str) -> String {
    let id = operation["operationId"].as_str().unwrap_or_default();
    format!("{id} {status}")
}

fn require(is_met: bool, problem: &str) -> Result<(), String> {
    is_met.then_some(()).ok_or_else(|| problem.to_owned())
}

/// Whether a path may be that of a template. An id may be any text: one that is not a number is 404.
fn is_at(template: &str, path: &str) -> bool {
    let (expected, sent) = (template.split('/'), path.split('/'));
    expected.clone().count() == sent.clone().count()
        && expected.zip(sent).all(|(expected, sent)| {
            let is_variable = expected.starts_with('{');
            is_variable || percent_decode_str(sent).eq(expected.bytes())
        })
}
