//! A service on an in-memory catalogue that checks every answer.

use std::sync::Arc;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use robot_core::{
    Catalogue, CatalogueExt, Draft, MemoryCatalogue, Revision, Robot,
    http::{Api, ApiSettings, Behaviour, BodyError, Response},
};
use serde_json::Value;

/// The status codes of the contract, except those for a failure of the store or the service.
const STATUSES: [u16; 15] = [
    200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 421,
];

/// A request with its body.
pub(crate) type Request = http::Request<Vec<u8>>;

/// A request without headers and body; `None` if HTTP does not allow this method or target.
pub(crate) fn request(method: &str, target: &str) -> Option<Request> {
    let request = http::Request::builder().method(method).uri(target);
    let request = request.body(Vec::new()).ok()?;
    let is_sent = request.uri().path_and_query()?.as_str() == target;
    is_sent.then_some(request)
}

pub(crate) struct Service {
    catalogue: Arc<MemoryCatalogue>,
    settings: ApiSettings,
    api: Api,
}

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Service {
    /// A service with one robot for each name; their ids start at 1.
    pub(crate) fn of<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Self {
        let catalogue = Arc::new(MemoryCatalogue::new());
        for name in names {
            catalogue
                .add(Draft::new(name.as_ref(), "droid", 1977))
                .unwrap();
        }
        Self {
            api: Api::new(Arc::clone(&catalogue) as Arc<dyn Catalogue>),
            catalogue,
            settings: ApiSettings::default(),
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut ApiSettings)) -> Self {
        change(&mut self.settings);
        let catalogue = Arc::clone(&self.catalogue) as Arc<dyn Catalogue>;
        self.api = Api::with_settings(catalogue, self.settings.clone());
        self
    }

    /// All robots, by name.
    pub(crate) fn robots(&self) -> Vec<Robot> {
        self.catalogue.search("").unwrap()
    }

    /// Gets a target, in which bytes are encoded that HTTP does not allow.
    pub(crate) fn get(&self, target: &str) -> Answer {
        const NOT_ALLOWED: &AsciiSet = &CONTROLS
            .add(b' ')
            .add(b'"')
            .add(b'#')
            .add(b'<')
            .add(b'>')
            .add(b'`');
        let target = utf8_percent_encode(target, NOT_ALLOWED).to_string();
        self.send(request("GET", &target).unwrap())
    }

    /// Sends a request, and checks that the answer has the shape of the contract, and that an error
    /// has changed nothing.
    pub(crate) fn send(&self, request: Request) -> Answer {
        self.check(|api| api.handle(request))
    }

    /// As [`send`](Self::send), with a body that was read, or could not be.
    pub(crate) fn exchange(&self, request: Request, body: Result<Vec<u8>, BodyError>) -> Answer {
        let pieces = [body, Ok(Vec::new())];
        self.check(|api| api.receive(request.into_parts().0).answer(pieces).wait())
    }

    fn check(&self, respond: impl FnOnce(&Api) -> Response) -> Answer {
        let before = self.robots();
        let answer = Answer::of(respond(&self.api));
        answer.assert_in_shape(self.settings.behaviour);
        if answer.status >= 400 {
            assert_eq!(self.robots(), before, "{answer:?}");
        }
        answer
    }
}

impl Answer {
    fn of(response: Response) -> Self {
        let headers = response.headers().iter();
        Self {
            status: response.status().as_u16(),
            headers: headers
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
            body: String::from_utf8(response.into_body().into_bytes().unwrap()).unwrap(),
        }
    }

    /// The value of a header, which must not be repeated.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| *known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{self:?}");
        value
    }

    /// Whether this is a successful import.
    pub(crate) fn is_import(&self) -> bool {
        let counts = r#"{"status":"OK","data":{"added":"#;
        self.body.starts_with(counts)
    }

    /// Whether this is a successful export.
    fn is_a_file(&self) -> bool {
        let disposition = self.header("content-disposition");
        assert!(disposition.is_none() || self.status == 200, "{self:?}");
        disposition.is_some()
    }

    fn assert_in_shape(&self, behaviour: Behaviour) {
        // In behaviour B, 500 is also the status for a violated rule, with other messages.
        let is_rule = behaviour == Behaviour::B && !self.body.contains("The service failed");
        assert!(
            STATUSES.contains(&self.status) || (is_rule && self.status == 500),
            "{self:?}"
        );
        self.assert_headers();
        if self.is_a_file() {
            return;
        }
        assert!(!self.body.contains(['<', '>', '&']), "{self:?}");
        if matches!(self.status, 204 | 304) {
            assert!(self.body.is_empty(), "{self:?}");
            return;
        }
        let body: Value = serde_json::from_str(&self.body).unwrap();
        if self.status >= 400 {
            assert_failure(&body);
        }
    }

    fn assert_headers(&self) {
        for (name, value) in &self.headers {
            let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            assert!(is_plain, "{name}: {value:?}");
        }
        let content_type = self.header("content-type").unwrap();
        let types: &[&str] = if self.is_a_file() {
            &FILE_TYPES
        } else {
            &["text/html; charset=UTF-8", "application/json"]
        };
        assert!(types.contains(&content_type), "{content_type}");
        assert!(["Accept", "Accept, Origin"].contains(&self.header("vary").unwrap()));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        let policy = self.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        let may_allow = matches!(self.status, 204 | 405);
        assert_eq!(self.header("allow").is_some(), may_allow, "{self:?}");
        if let Some(etag) = self.header("etag") {
            assert!(matches!(self.status, 200 | 304), "{self:?}");
            let revision = etag
                .strip_prefix('"')
                .and_then(|etag| etag.strip_suffix('"'));
            assert!(revision.unwrap().parse::<Revision>().is_ok(), "{self:?}");
        }
    }
}

/// The content types of an export.
const FILE_TYPES: [&str; 3] = [
    "application/x-ndjson",
    "application/json",
    "text/csv; charset=utf-8; header=present",
];

/// Asserts the form `{"status":"ERROR","messages":[…]}` with at least one message.
fn assert_failure(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    assert!(!messages.is_empty(), "{body}");
    let is_text = |message: &Value| message.as_str().is_some_and(|text| !text.is_empty());
    assert!(messages.iter().all(is_text), "{body}");
    assert_eq!(body["status"], "ERROR");
    assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
}
