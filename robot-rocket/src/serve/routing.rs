//! Which requests Rocket answers, and which the catalogues that are mounted in its application.
//!
//! Rocket's local client needs the body before it dispatches a request, and copies each request. So a
//! catalogue answers its requests itself, unless another route takes precedence.

use std::{borrow::Cow, collections::HashMap};

use hyper::{Method, header::CONTENT_TYPE, http::request::Parts};
use percent_encoding::percent_decode_str;
use rocket::{Orbit, Rocket, Route, data::ByteUnit};

use crate::{
    health,
    mounted::{Catalogues, Mounted},
    routes,
};

/// The receivers of requests.
pub(super) struct Routing {
    routes: Vec<OtherRoute>,
    /// The deepest first.
    catalogues: Vec<Mounted>,
    /// The maximum size of a body for Rocket: the greatest of its limits.
    pub(super) body_limit: usize,
}

/// What answers a request.
pub(super) enum Receiver<'a> {
    Catalogue(&'a Mounted),
    Rocket {
        /// Whether a route may read the body.
        reads_body: bool,
    },
}

/// A route that takes precedence over a catalogue.
struct OtherRoute {
    method: String,
    /// The path up to its first parameter, decoded and without empty segments.
    start: Vec<u8>,
    has_parameters: bool,
    /// Whether it is a route of an application. The other routes of this crate, which come after those, read no
    /// bodies.
    reads_body: bool,
}

impl Routing {
    pub(super) fn of(rocket: &Rocket<Orbit>) -> Self {
        let limits: HashMap<String, ByteUnit> =
            rocket.figment().extract_inner("limits").unwrap_or_default();
        let limit = limits.values().max().map_or(0, |limit| limit.as_u64());
        let catalogues = rocket.state().map(Catalogues::all);
        Self {
            routes: rocket.routes().filter_map(OtherRoute::of).collect(),
            catalogues: catalogues.unwrap_or_default(),
            body_limit: limit.try_into().unwrap_or(usize::MAX),
        }
    }

    pub(super) fn receiver(&self, head: &Parts) -> Receiver<'_> {
        let path = normalized(head.uri.path());
        let mut others = self
            .routes
            .iter()
            .filter(|route| route.has_method(head) && route.matches(&path));
        if let Some(first) = others.next() {
            let reads_body = first.reads_body || others.any(|route| route.reads_body);
            return Receiver::Rocket { reads_body };
        }
        let path = head.uri.path();
        let mut catalogues = self.catalogues.iter();
        match catalogues.find(|catalogue| catalogue.is_above(path)) {
            Some(catalogue) => Receiver::Catalogue(catalogue),
            None => Receiver::Rocket { reads_body: false },
        }
    }
}

impl OtherRoute {
    /// `None` for the routes of a catalogue.
    fn of(route: &Route) -> Option<Self> {
        let path = route.uri.path();
        let start = path.split('<').next().unwrap_or_default();
        (route.rank < routes::FIRST_RANK).then(|| Self {
            method: route.method.as_str().to_owned(),
            start: normalized(start).into_owned(),
            has_parameters: start.len() < path.len(),
            reads_body: route.rank < health::RANK,
        })
    }

    fn has_method(&self, head: &Parts) -> bool {
        let method = head.method.as_str();
        // Rocket answers `HEAD` by `GET`, and a field of a form may change the method.
        self.method == method
            || head.method == Method::HEAD && self.method == "GET"
            || head.method == Method::POST
                && !matches!(self.method.as_str(), "GET" | "HEAD")
                && is_form(head)
    }

    /// Whether a normalized path may be one of this route.
    fn matches(&self, path: &[u8]) -> bool {
        path.strip_prefix(self.start.as_slice())
            .is_some_and(|rest| rest.is_empty() || self.has_parameters && rest[0] == b'/')
    }
}

fn is_form(head: &Parts) -> bool {
    let content_type = head.headers.get(CONTENT_TYPE);
    content_type.is_some_and(|kind| {
        let form: &[u8] = b"application/x-www-form-urlencoded";
        let kind = kind.as_bytes().get(..form.len());
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case(form))
    })
}

/// A path, decoded and without empty segments.
fn normalized(path: &str) -> Cow<'_, [u8]> {
    if !path.contains('%') && !path.contains("//") {
        return Cow::Borrowed(path.trim_end_matches('/').as_bytes());
    }
    let mut normalized = Vec::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        normalized.push(b'/');
        normalized.extend(percent_decode_str(segment));
    }
    Cow::Owned(normalized)
}
