//! Routes: a path template, and the handler of each method.

use std::{borrow::Cow, sync::Arc};

use ::http::{HeaderMap, Method};
use compact_str::CompactString;

use super::{
    access::Client,
    context::ResponseContext,
    failure::Failure,
    parameters::{Arguments, Parameters},
    request_body::Pieces,
    response::Started,
    settings::Service,
    token::Permission,
};
use crate::{
    catalogue::{AuthoredCatalogue, Catalogue},
    model::{Definition, RobotId, draft_json::Subject, excerpt},
};

/// A path template, and the handler of each method that it takes.
pub(super) struct Route {
    /// The path below the base, with `{id}` and `{name}` as parameters. Also the label of the route
    /// in metrics.
    pub(super) path: &'static str,
    /// The path without the prefix of an API, by which the description has it.
    pub(super) name: &'static str,
    /// `HEAD` is handled like `GET`; every route allows `OPTIONS`.
    pub(super) methods: &'static [Operation],
}

/// A method of a route.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) handler: Handler,
    /// The query parameters that have a meaning.
    pub(super) parameters: &'static Parameters,
    /// The permission that a client needs; `None` if every client may call it.
    pub(super) needs: Option<Permission>,
    /// Whether the answer to a query takes a read of the whole catalogue.
    pub(super) is_costly: fn(&str) -> bool,
}

/// The function that answers a request, by how it takes the body.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// The body is not read.
    Bodyless(fn(&Call<'_>) -> Started),
    /// The body is read first.
    Whole(fn(&Call<'_>, &[u8]) -> Started),
    /// The body is read piece by piece while the request is answered.
    Streamed(fn(&Call<'_>, Pieces) -> Started),
}

/// A request to one route, for its handler.
pub(super) struct Call<'a> {
    pub(super) service: &'a Arc<Service>,
    pub(super) headers: &'a HeaderMap,
    /// What the response follows from: behaviour, id of the request, preferences.
    pub(super) context: &'a ResponseContext,
    pub(super) client: &'a Client,
    pub(super) route: &'static Route,
    /// The definition at the time of the request.
    pub(super) definition: Arc<Definition>,
    /// The query.
    pub(super) arguments: Arguments,
    /// The table of routes.
    pub(super) routes: &'static [Route],
    /// The decoded parameter in the path.
    pub(super) parameter: &'a [u8],
}

impl<'a> Call<'a> {
    /// The `{id}` of the path; an error if no robot can have it.
    pub(super) fn id(&self) -> Result<RobotId, Failure> {
        let text = String::from_utf8_lossy(self.parameter);
        let id = text.parse();
        id.map_err(|_| Failure::NoSuchRobot(excerpt(&text).into_owned()))
    }

    /// The catalogue, for changes by this client.
    pub(super) fn catalogue(&self) -> Arc<dyn Catalogue> {
        let catalogue = Arc::clone(&self.service.catalogue);
        match self.client.name() {
            Some(name) => Arc::new(AuthoredCatalogue::new(catalogue, name)),
            None => catalogue,
        }
    }

    /// The author of the client's changes.
    pub(super) fn author(&self) -> Option<CompactString> {
        self.client.name().map(CompactString::from)
    }

    /// The body, for the parser.
    pub(super) fn subject(&self) -> Subject<'a> {
        Subject::Body {
            is_strict: self.context.is_strict,
            id: (!self.context.behaviour.is_contract())
                .then(|| str::from_utf8(self.parameter).unwrap_or_default()),
        }
    }

    /// The `{name}` of the path; empty on a route without.
    pub(super) fn name(&self) -> Result<&str, Failure> {
        str::from_utf8(self.parameter)
            .map_err(|_| Failure::malformed("The name to search for is not UTF-8"))
    }
}

impl Route {
    /// Whether a service has the route.
    pub(super) fn is_served(&self) -> bool {
        !self.methods.is_empty()
    }

    /// A method, if the route takes it.
    pub(super) fn operation(&self, method: &Method) -> Option<&'static Operation> {
        let method = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let mut methods = self.methods.iter();
        methods.find(|known| method == known.method)
    }

    /// The value of the header `Allow`.
    pub(super) fn allow(&self) -> String {
        let mut allow = String::new();
        for Operation { method, .. } in self.methods {
            allow.push_str(method);
            allow.push_str(if *method == "GET" { ", HEAD, " } else { ", " });
        }
        allow + "OPTIONS"
    }

    /// The parameter in a path with these segments, empty if it has none, if the path is of this route.
    pub(super) fn matches<'a>(&self, segments: &'a [Cow<'_, [u8]>]) -> Option<&'a [u8]> {
        let mut parameter: &[u8] = &[];
        let mut segments = segments.iter();
        for expected in self.path.split('/') {
            let segment = segments.next()?.as_ref();
            let is_id = || !segment.is_empty() && segment.iter().all(u8::is_ascii_digit);
            match expected {
                "{id}" if !is_id() => return None,
                "{id}" | "{name}" => parameter = segment,
                literal if literal.as_bytes() != segment => return None,
                _ => {}
            }
        }
        segments.next().is_none().then_some(parameter)
    }
}
