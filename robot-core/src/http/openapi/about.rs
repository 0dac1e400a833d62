//! What the table of routes says about an operation, for its description.

use super::responses::{METHODS, Response};

/// What the table of routes says about one operation.
pub(in crate::http) struct About {
    /// Its name in programs, unique.
    pub(in crate::http) id: &'static str,
    /// A line about it.
    pub(in crate::http) summary: &'static str,
    /// More about it.
    pub(in crate::http) text: &'static str,
    pub(in crate::http) body: Body,
    /// Its replies, besides the failures that follow from its method, path and permission.
    pub(in crate::http) responses: &'static [Response],
}

/// The body of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Body {
    None,
    Draft,
    Patch,
    Import,
}

/// The operation that every route has.
pub(in crate::http) const OPTIONS: About = About {
    id: "options",
    summary: "Get the methods of this path",
    text: "",
    body: Body::None,
    responses: &[METHODS],
};
