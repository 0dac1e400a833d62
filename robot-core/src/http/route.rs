//! Which paths there are, and which methods each allows.
//!
//! This is the place to add a route: a [`Resource`] and its path, its methods, and what
//! `Api` does for it.

use std::{array, borrow::Cow};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

use crate::model::{ParseIdError, RobotId};

/// What is encoded in a path or a query: all but the unreserved characters of RFC 3986.
pub(super) const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

const ROBOTS_PATH: &str = "/api/robots";

/// What a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resource {
    /// `/api/robots`
    Robots,
    /// `/api/robots/{id}`; `None` for an id that no robot ever has.
    Robot(Option<RobotId>),
    /// `/api/robots/import`
    Import,
    /// `/api/robots/export`
    Export,
    /// `/api/robots/search/{name}`; `None` where {name} is not UTF-8.
    Search(Option<String>),
}

impl Resource {
    /// What a path names, if anything.
    ///
    /// Segments are told apart first and percent-decoded then, once: `%2F` is a slash inside
    /// a name, `%31` is the digit 1, and a `+` is a plus. A `%` that two hexadecimal digits
    /// do not follow is itself.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let mut segments = path
            .strip_prefix('/')?
            // One more than the longest path has is enough to tell that it is none.
            .as_bytes()
            .splitn(5, |byte| *byte == b'/')
            .map(|segment| Cow::from(percent_decode(segment)));
        let segments: [Option<Cow<'_, [u8]>>; 5] = array::from_fn(|_| segments.next());
        match segments.each_ref().map(Option::as_deref) {
            [Some(b"api"), Some(b"robots"), None, ..] => Some(Self::Robots),
            [
                Some(b"api"),
                Some(b"robots"),
                Some(b"search"),
                Some(name),
                None,
            ] => Some(Self::Search(str::from_utf8(name).ok().map(str::to_owned))),
            [Some(b"api"), Some(b"robots"), Some(b"import"), None, ..] => Some(Self::Import),
            [Some(b"api"), Some(b"robots"), Some(b"export"), None, ..] => Some(Self::Export),
            [Some(b"api"), Some(b"robots"), Some(id), None, ..] => {
                match str::from_utf8(id).ok()?.parse() {
                    Ok(id) => Some(Self::Robot(Some(id))),
                    Err(ParseIdError::NeverAssigned) => Some(Self::Robot(None)),
                    Err(ParseIdError::NotDigits) => None,
                }
            }
            _ => None,
        }
    }

    /// Whether it allows a method.
    pub(super) fn allows(&self, method: &str) -> bool {
        self.allow().split(", ").any(|allowed| allowed == method)
    }

    /// The methods that it allows, as the header `Allow` lists them.
    pub(super) fn allow(&self) -> &'static str {
        match self {
            Self::Robots => "GET, HEAD, POST, OPTIONS",
            Self::Robot(_) => "GET, HEAD, PUT, DELETE, OPTIONS",
            Self::Import => "POST, OPTIONS",
            Self::Search(_) | Self::Export => "GET, HEAD, OPTIONS",
        }
    }
}

/// The path of the list of robots whose name contains this text, as it is best written.
pub(super) fn list_path(containing: &str) -> String {
    if containing.is_empty() {
        return ROBOTS_PATH.to_owned();
    }
    let name = utf8_percent_encode(containing, ENCODED);
    format!("{ROBOTS_PATH}/search/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_contract_are_known() {
        let robot = |number| Some(Resource::Robot(RobotId::new(number)));
        let search = |name: &str| Some(Resource::Search(Some(name.to_owned())));
        for (path, resource) in [
            ("/api/robots", Some(Resource::Robots)),
            ("/%61pi/robots", Some(Resource::Robots)),
            ("/api/robots/7", robot(7)),
            ("/api/robots/007", robot(7)),
            ("/api/robots/%37", robot(7)),
            ("/api/robots/0", Some(Resource::Robot(None))),
            (
                "/api/robots/99999999999999999999",
                Some(Resource::Robot(None)),
            ),
            ("/api/robots/import", Some(Resource::Import)),
            ("/api/robots/%65xport", Some(Resource::Export)),
            ("/api/robots/search/", search("")),
            ("/api/robots/search/a+b%20c%2Fd", search("a+b c/d")),
            ("/api/robots/search/100%", search("100%")),
            ("/api/robots/search/%252F", search("%2F")),
            ("/api/robots/search/%FF", Some(Resource::Search(None))),
        ] {
            assert_eq!(Resource::of_path(path), resource, "{path}");
        }
    }

    #[test]
    fn other_paths_are_not() {
        for path in [
            "",
            "/",
            "api/robots",
            "/api",
            "/api/",
            "/api/robots/",
            "/api//robots",
            "/API/robots",
            "/api/robot",
            "/api/robots/x",
            "/api/robots/-1",
            "/api/robots/+1",
            "/api/robots/1.0",
            "/api/robots/1/",
            "/api/robots/search",
            "/api/robots/search/a/b",
            "/api/robots/search/a/b/c",
            "/api%2Frobots",
            "/api/robots/%D9%A1",
            "/api/robots/1%00",
        ] {
            assert_eq!(Resource::of_path(path), None, "{path}");
        }
    }
}
