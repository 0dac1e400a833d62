//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404 and the route labels are derived from it. To add
//! a route, write a handler, add it here, and describe it in `openapi/document.json`.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::{
    behaviour::Behaviour,
    bulk, changes, definition, export, import, openapi,
    parameters::{
        self, BULK, CHANGES, DEFINE, EXPORT, HISTORY, IMPORT, LIST, NONE, Parameters, REVERT,
        ROBOT, SEARCH, SUMMARY,
    },
    permissions,
    response::Started,
    robots,
    route::{
        Call,
        Handler::{self, Bodyless, Streamed, Whole},
        Operation, Route,
    },
    settings::ApiSettings,
    token::Permission::{self, Define, Read, Write},
};

/// The routes of rows. Each has a path below `/v1` and `/api`, the operations at both, and those at `/v1` alone. At
/// `/api`, a path without operations is unknown.
macro_rules! routes {
    ($($path:literal $(both [$($both:expr),+])? $(v1 [$($v1:expr),+])?;)+) => {
        &[
            $(Route {
                path: concat!("/v1", $path),
                name: $path,
                methods: &[$($($both,)+)? $($($v1),+)?],
            },)+
            $(Route {
                path: concat!("/api", $path),
                name: $path,
                methods: &[$($($both),+)?],
            },)+
            Route {
                path: "/openapi.json",
                name: "/openapi.json",
                methods: &[needing(None, read(openapi::get, &NONE))],
            },
        ]
    };
}

pub(super) static TABLE: &[Route] = routes! {
    "/robots"
        both [
            costly(parameters::has_count, read(robots::list, &LIST)),
            write("POST", Whole(robots::create), &NONE)
        ]
        v1 [
            costly(|_| true, write("PATCH", Whole(bulk::patch), &BULK)),
            costly(|_| true, write("DELETE", Whole(bulk::delete), &BULK))
        ];
    "/robots/{id}"
        both [
            read(robots::get, &ROBOT),
            write("PUT", Whole(robots::replace), &NONE),
            write("PATCH", Whole(robots::patch), &NONE),
            write("DELETE", Whole(robots::delete), &NONE)
        ];
    "/robots/{id}/history" v1 [read(changes::history, &HISTORY)];
    "/robots/{id}/revert" v1 [write("POST", Whole(changes::revert_robot), &NONE)];
    "/changes" v1 [read(changes::list, &CHANGES)];
    "/revert" v1 [costly(|_| true, write("POST", Whole(changes::revert), &REVERT))];
    "/robots/search/{name}" both [costly(parameters::has_count, read(robots::search, &SEARCH))];
    "/robots/summary" both [costly(|_| true, read(robots::summary, &SUMMARY))];
    "/robots/import" both [write("POST", Streamed(import::start), &IMPORT)];
    "/robots/import/propose" both [write("POST", Streamed(import::propose), &IMPORT)];
    "/robots/export" both [read(export::start, &EXPORT)];
    "/access" v1 [needing(None, read(permissions::get, &NONE))];
    "/definition"
        both [
            read(definition::get, &NONE),
            needing(Some(Define), write("PUT", Whole(definition::replace), &DEFINE))
        ];
};

const fn needing(needs: Option<Permission>, operation: Operation) -> Operation {
    Operation { needs, ..operation }
}

const fn costly(is_costly: fn(&str) -> bool, operation: Operation) -> Operation {
    Operation {
        is_costly,
        ..operation
    }
}

const fn read(handler: fn(&Call<'_>) -> Started, parameters: &'static Parameters) -> Operation {
    needing(Some(Read), write("GET", Bodyless(handler), parameters))
}

const fn write(
    method: &'static str,
    handler: Handler,
    parameters: &'static Parameters,
) -> Operation {
    Operation {
        method,
        handler,
        parameters,
        needs: Some(Write),
        is_costly: |_| false,
    }
}

/// The route of a path below the base, and the parameter in the path.
///
/// The path is split into segments first, and each is percent-decoded once: `%2F` is a slash inside a name, `%31` is the
/// digit 1, and a `+` is a plus. A `%` without two hexadecimal digits after it stands for itself.
pub(super) fn find(path: &str) -> Option<(&'static Route, Vec<u8>)> {
    let segments = path.split('/');
    let segments = segments.map(|segment| Cow::from(percent_decode(segment.as_bytes())));
    let segments: Vec<_> = segments.collect();
    let mut routes = TABLE.iter().filter(|route| route.is_served());
    routes.find_map(|route| Some((route, route.matches(&segments)?.to_vec())))
}

/// All paths of a service below its base path, for people: those of an API.
pub(super) fn paths(settings: &ApiSettings, behaviour: Behaviour) -> String {
    let base = &settings.base;
    let is_listed =
        |route: &&Route| route.is_served() && settings.behaviour_of(route.path) == behaviour;
    let paths = TABLE
        .iter()
        .filter(is_listed)
        .map(|route| format!("{base}{}", route.path));
    paths.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{http::Api, memory::MemoryCatalogue};

    #[test]
    fn route_only_at_v1_takes_one_row() {
        static OWN: &[Route] = routes! { "/changes" v1 [read(robots::list, &LIST)]; };
        let served = OWN.iter().filter(|route| route.is_served());
        let paths: Vec<_> = served.map(|route| route.path).collect();
        assert_eq!(paths, ["/v1/changes", "/openapi.json"]);
    }

    #[test]
    fn requests_that_read_the_whole_catalogue_are_costly() {
        let api = Api::new(Arc::new(MemoryCatalogue::new()));
        for (method, target, is_costly) in [
            ("GET", "/v1/robots", false),
            ("GET", "/v1/robots?limit=1&c%6funt=true", true),
            ("GET", "/api/robots?count=false", false),
            ("HEAD", "/api/robots/search/x?count=true", true),
            ("OPTIONS", "/api/robots/summary", false),
            ("GET", "/api/robots/summary", true),
            ("POST", "/v1/robots?count=true", false),
            ("DELETE", "/v1/robots", true),
            ("DELETE", "/api/robots", false),
            ("DELETE", "/v1/robots/1", false),
        ] {
            let request = ::http::Request::builder().method(method).uri(target);
            let (head, ()) = request.body(()).unwrap().into_parts();
            let exchange = api.receive(head);
            assert_eq!(exchange.is_costly(), is_costly, "{method} {target}");
        }
    }
}
