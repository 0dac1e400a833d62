//! The description of the API, compared with exchanges.

use percent_encoding::percent_decode_str;
use robot_core::conformance::{Answer, Call, Client};
use serde_json::Value;

use super::{call, schema::Validator};

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
}

impl Document {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let value = serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}"));
        let validator = Validator::new(&value);
        Self { value, validator }
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
        if let Err(problem) = self.compare(call, answer) {
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

    fn compare(&self, call: &Call, answer: &Answer) -> Result<(), String> {
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
        self.compare_headers(response, answer)?;
        self.compare_body(response, answer, call.method == "HEAD")
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

    fn compare_body(&self, response: &Value, answer: &Answer, is_head: bool) -> Result<(), String> {
        let Some(content) = response["content"].as_object() else {
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
        self.validator.check(schema, &body)
    }

    /// Panics if a service does not know a parameter that the document describes. Changes nothing in an
    /// empty catalogue.
    pub(super) fn check_parameters(&self, client: &dyn Client) {
        let paths = self.value["paths"].as_object().into_iter().flatten();
        for (path, item) in paths {
            let target = path.replace("{id}", "1").replace("{name}", "x");
            for method in METHODS
                .into_iter()
                .filter(|method| item.get(method).is_some())
            {
                let lists = [&item["parameters"], &item[method]["parameters"]];
                for parameter in lists.into_iter().filter_map(Value::as_array).flatten() {
                    let parameter = self.resolve(parameter);
                    if parameter["in"] != "query" {
                        continue;
                    }
                    let target = format!(
                        "{target}?{}=1",
                        parameter["name"].as_str().unwrap_or_default()
                    );
                    let strict = [("prefer", "handling=strict")];
                    let call = call(&method.to_uppercase(), &target, &strict);
                    let answer = client.send(&call).unwrap_or_else(|error| panic!("{error}"));
                    assert!(
                        !answer.text().contains("is not a parameter"),
                        "{method} {target}"
                    );
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
