//! Routes: a path template, and the handler of each method.

use std::{borrow::Cow, sync::Arc};

use percent_encoding::percent_decode;

use super::{
    failure::Failure,
    reply::Reply,
    request::{BodyError, Pieces, Request},
    service::Service,
};
use crate::{
    catalogue::Pending,
    model::{ParseIdError, RobotId},
};

/// A path template, and the handler of each method that it takes.
pub(super) struct Route {
    /// The path below the base, with `{id}` and `{name}` as parameters. Also the label of the route
    /// in metrics.
    pub(super) path: &'static str,
    /// `HEAD` comes with `GET`, and every route takes `OPTIONS`.
    pub(super) methods: &'static [(&'static str, Handler)],
}

/// The function that answers a request, by how it takes the body.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// The body is not read.
    Bodyless(fn(&Call<'_>) -> Started),
    /// The body is read first.
    Whole(fn(&Call<'_>, &[u8]) -> Started),
    /// The body is read piece by piece while the request is answered. It is an error if the
    /// frontend has read it as a whole, and failed.
    Streamed(fn(&Call<'_>, Result<Pieces, BodyError>) -> Started),
}

/// The outcome of a request.
pub(super) type Answer = Result<Reply, Failure>;

/// The outcome of a request that may take work which blocks. A failure is one that needed none.
pub(super) type Started = Result<Pending<Answer>, Failure>;

/// A request to one route, for its handler.
pub(super) struct Call<'a> {
    pub(super) service: &'a Arc<Service>,
    pub(super) request: &'a Request,
    pub(super) route: &'static Route,
    pub(super) parameter: &'a Parameter,
}

/// The parameter in the path of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parameter {
    None,
    /// `{id}`; `None` for an id that is never assigned.
    Id(Option<RobotId>),
    /// `{name}`; `None` if it is not UTF-8.
    Name(Option<String>),
}

impl Call<'_> {
    /// The `{id}` of the path; `None` if it is never assigned.
    pub(super) fn id(&self) -> Option<RobotId> {
        match self.parameter {
            Parameter::Id(id) => *id,
            _ => None,
        }
    }

    /// The `{name}` of the path; empty on a route without.
    pub(super) fn name(&self) -> Result<&str, Failure> {
        match self.parameter {
            Parameter::Name(Some(name)) => Ok(name),
            Parameter::Name(None) => Err(Failure::Malformed(vec![
                "The name to search for is not UTF-8".into(),
            ])),
            _ => Ok(""),
        }
    }
}

impl Route {
    /// The handler of a method, if the route takes it.
    pub(super) fn handler(&self, method: &str) -> Option<Handler> {
        let method = if method == "HEAD" { "GET" } else { method };
        let mut methods = self.methods.iter();
        let found = methods.find(|(known, _)| *known == method);
        found.map(|(_, handler)| *handler)
    }

    /// The value of the header `Allow`.
    pub(super) fn allow(&self) -> String {
        let mut allow = String::new();
        for (method, _) in self.methods {
            allow.push_str(method);
            allow.push_str(if *method == "GET" { ", HEAD, " } else { ", " });
        }
        allow + "OPTIONS"
    }

    /// The parameter of a path, if it matches the template.
    ///
    /// The path is split into segments first, and each is percent-decoded once: `%2F` is a slash
    /// inside a name, `%31` is the digit 1, and a `+` is a plus. A `%` without two hexadecimal
    /// digits after it stands for itself.
    pub(super) fn matches(&self, path: &str) -> Option<Parameter> {
        let mut parameter = Parameter::None;
        let mut segments = path.split('/');
        for expected in self.path.split('/') {
            let segment = Cow::from(percent_decode(segments.next()?.as_bytes()));
            match expected {
                "{id}" => parameter = id(&segment)?,
                "{name}" => {
                    let name = String::from_utf8(segment.into_owned());
                    parameter = Parameter::Name(name.ok());
                }
                literal if literal.as_bytes() == segment.as_ref() => {}
                _ => return None,
            }
        }
        segments.next().is_none().then_some(parameter)
    }
}

/// The parameter `{id}`; `None` for text that is no id.
fn id(segment: &[u8]) -> Option<Parameter> {
    match str::from_utf8(segment).ok()?.parse() {
        Ok(id) => Some(Parameter::Id(Some(id))),
        Err(ParseIdError::NeverAssigned) => Some(Parameter::Id(None)),
        Err(ParseIdError::NotDigits) => None,
    }
}
