//! Requests, converted for the application.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use hyper::{
    body::Incoming,
    header::{COOKIE, HOST, HeaderName},
    http::request::Parts,
};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use robot_core::http::RequestId;
use rocket::{
    Request,
    http::{
        Cookie, Header, Method,
        uri::{Host, Origin},
    },
    local::asynchronous::{Client, LocalRequest},
};

use super::record::{Labels, RequestRecord};

/// Start of the name of each route whose handler reads the body from the connection
/// ([`Received::take_body`]). Rocket names routes after functions, whose names have no blanks.
pub(crate) const READS_FROM_CONNECTION: &str = "robot-rocket: ";

/// The bytes that hyper permits in a path or query, but Rocket does not.
const REQUEST_ID: HeaderName = HeaderName::from_static(RequestId::HEADER);

const NOT_PERMITTED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A request as it was received. Requests that come from [`serve`](crate::serve) have it; Rocket's
/// request has copies of the headers in UTF-8 only.
pub(crate) struct Received {
    /// Until the core has the request.
    parts: Mutex<Option<Parts>>,
    body: Mutex<Option<Incoming>>,
    request_id: RequestId,
    labels: Arc<OnceLock<Labels>>,
}

impl Received {
    /// Without the body if it was buffered: Rocket's request has it then.
    pub(super) fn new(parts: Parts, body: Option<Incoming>, record: &RequestRecord) -> Self {
        Self {
            request_id: record.request_id().clone(),
            labels: record.labels(),
            parts: Mutex::new(Some(parts)),
            body: Mutex::new(body),
        }
    }

    /// What was received as this request.
    pub(crate) fn of<'r>(request: &'r Request<'_>) -> Option<&'r Self> {
        request.local_cache(|| None::<Self>).as_ref()
    }

    /// Attaches it to a request.
    pub(super) fn attach(self, request: &Request<'_>) {
        request.local_cache(|| Some(self));
    }

    /// The head with this method. `None` if it was taken or released.
    pub(crate) fn take_head(&self, method: &str) -> Option<Parts> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = parts.take()?;
        parts.method = method.parse().unwrap_or(parts.method);
        let id = self.request_id.as_str().parse();
        parts.headers.extend(id.map(|id| (REQUEST_ID, id)));
        Some(parts)
    }

    pub(crate) fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// Sets what the log says about the request, unless it was set before.
    pub(crate) fn set_labels(&self, labels: impl FnOnce() -> Labels) {
        self.labels.get_or_init(labels);
    }

    /// Frees the head, with the buffer of 8 KiB into which hyper read it.
    pub(crate) fn release_head(&self) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        *parts = None;
    }

    /// The body. `None` if it was buffered, or has been taken.
    pub(crate) fn take_body(&self) -> Option<Incoming> {
        self.body
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

fn target(parts: &Parts) -> &str {
    parts
        .uri
        .path_and_query()
        .map_or("", |target| target.as_str())
}

/// The application's request. If Rocket does not know the method, or if there is no path, dispatching it
/// returns the response of the catcher for 400.
pub(super) fn local<'c>(client: &'c Client, parts: &Parts, remote: SocketAddr) -> LocalRequest<'c> {
    let mut local = match (method(parts), origin(target(parts))) {
        (Some(method), Some(origin)) => {
            let mut local = client.req(method, "/");
            local.inner_mut().set_uri(origin);
            local
        }
        _ => invalid(client, parts.uri.path()),
    };
    for cookies in parts.headers.get_all(COOKIE) {
        for cookie in Cookie::split_parse_encoded(cookies.to_str().unwrap_or_default()).flatten() {
            local = local.cookie(cookie.into_owned());
        }
    }
    let request = local.inner_mut();
    request.set_remote(remote);
    if let Some(host) = text(parts.headers.get(HOST))
        && let Ok(host) = Host::parse_owned(host)
    {
        request.set_host(host);
    }
    for (name, value) in &parts.headers {
        if let Some(value) = text(Some(value)) {
            request.add_header(Header::new(name.as_str().to_owned(), value));
        }
    }
    local
}

/// A request that Rocket rejects with the catcher for 400 of this path, since a path has no blanks.
pub(super) fn invalid<'c>(client: &'c Client, path: &str) -> LocalRequest<'c> {
    client.req(Method::Get, format!("{}/ ", path.trim_end_matches('/')))
}

fn text(value: Option<&hyper::header::HeaderValue>) -> Option<String> {
    str::from_utf8(value?.as_bytes()).ok().map(str::to_owned)
}

fn method(parts: &Parts) -> Option<Method> {
    let method: Method = parts.method.as_str().parse().ok()?;
    // Rocket ignores the case, but methods are case-sensitive.
    (method.as_str() == parts.method.as_str()).then_some(method)
}

/// The target for Rocket, with bytes encoded that it does not permit.
fn origin(target: &str) -> Option<Origin<'static>> {
    Origin::parse_owned(target.to_owned())
        .or_else(|_| {
            let encoded = percent_encode(target.as_bytes(), NOT_PERMITTED);
            Origin::parse_owned(encoded.to_string())
        })
        .ok()
}
