//! Bodies of requests to the application's own routes, which are buffered.
//!
//! Rocket's local client needs the body before it dispatches a request. The routes of the catalogue
//! read the body from the connection instead.

use std::{collections::HashMap, time::Duration};

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{
    body::{Body, Incoming},
    http::request::Parts,
};
use percent_encoding::percent_decode_str;
use rocket::{Orbit, Request, Rocket, Route, data::ByteUnit, http::Method, tokio::time::timeout};

use super::{refusal::Refusal, request::READS_FROM_CONNECTION};

/// How long a client may take to send a body. Shorter, and large bodies over slow networks are
/// rejected; longer, and slow clients occupy memory.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The routes whose requests are buffered.
pub(super) struct Buffering {
    routes: Vec<BufferingRoute>,
    /// The maximum size of a body: the greatest of Rocket's limits.
    limit: usize,
}

struct BufferingRoute {
    method: Method,
    /// The path up to its first parameter, decoded and without empty segments.
    start: Vec<u8>,
    has_parameters: bool,
}

impl Buffering {
    pub(super) fn of(rocket: &Rocket<Orbit>) -> Self {
        let limits: HashMap<String, ByteUnit> =
            rocket.figment().extract_inner("limits").unwrap_or_default();
        let limit = limits.values().max().map_or(0, |limit| limit.as_u64());
        Self {
            routes: rocket.routes().filter_map(BufferingRoute::of).collect(),
            limit: limit.try_into().unwrap_or(usize::MAX),
        }
    }

    /// Reads the body if a route may need it; otherwise, returns it unread.
    pub(super) async fn read(
        &self,
        parts: &Parts,
        request: &Request<'_>,
        body: Incoming,
    ) -> Result<BufferedBody, Refusal> {
        if body.is_end_stream() || !self.applies(parts, request) {
            return Ok(BufferedBody::Unread(body));
        }
        match timeout(TIMEOUT, Limited::new(body, self.limit).collect()).await {
            Ok(Ok(body)) => Ok(BufferedBody::Read(body.to_bytes().into())),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::BODY_TOO_LARGE),
            Ok(Err(_)) => Err(Refusal::MALFORMED),
            Err(_) => Err(Refusal::BODY_TOO_SLOW),
        }
    }

    fn applies(&self, parts: &Parts, request: &Request<'_>) -> bool {
        if self.routes.is_empty() {
            return false;
        }
        let is_form = request.content_type().is_some_and(|kind| kind.is_form());
        let path = normalized(parts.uri.path());
        self.routes.iter().any(|route| {
            // A field of a form may change the method.
            let has_method = route.method.as_str() == parts.method.as_str()
                || is_form && route.method.supports_payload();
            has_method && route.matches(&path)
        })
    }
}

/// The body of a request.
pub(super) enum BufferedBody {
    Read(Vec<u8>),
    Unread(Incoming),
}

impl BufferingRoute {
    /// `None` for a route whose handler reads from the connection.
    fn of(route: &Route) -> Option<Self> {
        let name = route.name.as_deref().unwrap_or_default();
        let path = route.uri.path();
        let start = path.split('<').next().unwrap_or_default();
        (!name.starts_with(READS_FROM_CONNECTION)).then(|| Self {
            method: route.method,
            start: normalized(start),
            has_parameters: start.len() < path.len(),
        })
    }

    /// Whether a normalized path may be one of this route.
    fn matches(&self, path: &[u8]) -> bool {
        path.strip_prefix(self.start.as_slice())
            .is_some_and(|rest| rest.is_empty() || self.has_parameters && rest[0] == b'/')
    }
}

/// A path, decoded and without empty segments.
fn normalized(path: &str) -> Vec<u8> {
    let mut normalized = Vec::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        normalized.push(b'/');
        normalized.extend(percent_decode_str(segment));
    }
    normalized
}
