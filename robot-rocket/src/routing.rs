//! Where a request goes, and how its body is read.
//!
//! Rocket's router goes by the ranks of routes. [`serve`](crate::serve) goes by the same table, because Rocket's local
//! client takes a body as a whole, and costs time:
//!
//! | Routes | Rank | Answered by | Body |
//! |---|---|---|---|
//! | of the application | others, such as 1000 | Rocket | whole |
//! | health checks | 1500 | Rocket | not read |
//! | static files | 2000 - depth | Rocket | not read |
//! | the page of a catalogue | 3000 - depth | the catalogue | not read |
//! | the API of a catalogue | 3000 - depth | the catalogue | by [`Exchange::body_mode`](robot_core::http::Exchange) |
//! | none | | Rocket's catchers | whole |
//!
//! The depth is that of the base, so that a catalogue can be mounted below another. Static files may not exist, and
//! guards of the application may forward a request: then Rocket passes it to the catalogue. A route of the application
//! may also match a path that is written in another way, so that Rocket gets each request outside of catalogues.

use std::collections::HashMap;

use hyper::{Method, http::request::Parts};
use rocket::{Orbit, Rocket, Route, data::ByteUnit};

use crate::mounted::{Catalogues, Mounted};

/// The rank of the health checks.
pub(crate) const HEALTH: isize = 1500;
const FILES: isize = 2000;
const CATALOGUE: isize = 3000;

/// The maximum depth of a base that counts.
const DEPTH: isize = 256;
const FIRST_FILES: isize = FILES - DEPTH;
const FIRST_CATALOGUE: isize = CATALOGUE - DEPTH;

/// The rank of the static files of a catalogue.
pub(crate) fn files_rank(base: &str) -> isize {
    FILES - depth(base)
}

/// The rank of the routes of a catalogue.
pub(crate) fn catalogue_rank(base: &str) -> isize {
    CATALOGUE - depth(base)
}

fn depth(base: &str) -> isize {
    let depth = base.matches('/').count();
    isize::try_from(depth).map_or(DEPTH, |depth| depth.min(DEPTH))
}

/// Where a request goes.
pub(crate) enum Destination<'a> {
    /// A mounted catalogue, which reads as much of the body as it needs.
    Catalogue(&'a Mounted),
    /// The launched application, with a body of up to so many bytes; `None` if the body is not read.
    Rocket(Option<usize>),
}

/// The routes and catalogues of a launched application.
pub(crate) struct Routing {
    /// Routes that take precedence over the catalogues.
    routes: Vec<OtherRoute>,
    /// The deepest first.
    catalogues: Vec<Mounted>,
    /// The maximum size of a body for Rocket: the greatest of its limits.
    body_limit: usize,
}

/// A route that takes precedence over a catalogue.
struct OtherRoute {
    method: String,
    /// The path up to its first parameter, without a slash at its end.
    start: String,
    has_parameters: bool,
    reads_body: bool,
}

impl Routing {
    pub(crate) fn of(rocket: &Rocket<Orbit>) -> Self {
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

    /// Ends the requests that wait for changes.
    pub(crate) fn stop_waiting(&self) {
        self.catalogues.iter().for_each(|it| it.api.stop_waiting());
    }

    pub(crate) fn destination(&self, head: &Parts) -> Destination<'_> {
        let routes = self.routes.iter();
        let mut matching = routes.filter(|route| route.may_match(head)).peekable();
        let is_other = matching.peek().is_some();
        let mut catalogues = self.catalogues.iter();
        if !is_other && let Some(it) = catalogues.find(|it| it.is_above(head.uri.path())) {
            return Destination::Catalogue(it);
        }
        let reads_body = !is_other || matching.any(|route| route.reads_body);
        Destination::Rocket(reads_body.then_some(self.body_limit))
    }
}

impl OtherRoute {
    /// `None` for the routes of a catalogue.
    fn of(route: &Route) -> Option<Self> {
        let reads_body = match route.rank {
            HEALTH | FIRST_FILES..=FILES => false,
            FIRST_CATALOGUE.. => return None,
            _ => true,
        };
        let path = route.uri.path();
        let start = path.split('<').next().unwrap_or_default();
        Some(Self {
            method: route.method.as_str().to_owned(),
            start: start.trim_end_matches('/').to_owned(),
            has_parameters: start.len() < path.len(),
            reads_body,
        })
    }

    /// Whether the request may be one of this route. Its path is compared as it is written: below a catalogue, a
    /// needlessly encoded path is one of the catalogue.
    fn may_match(&self, head: &Parts) -> bool {
        let is_read = matches!(self.method.as_str(), "GET" | "HEAD");
        // Rocket answers `HEAD` by `GET`, and a field of a form may change the method.
        let has_method = head.method == self.method.as_str()
            || head.method == Method::HEAD && is_read
            || head.method == Method::POST && !is_read;
        let rest = head.uri.path().strip_prefix(&self.start);
        has_method
            && rest.is_some_and(|rest| match rest {
                "" | "/" => true,
                rest => self.has_parameters && rest.starts_with('/'),
            })
    }
}
