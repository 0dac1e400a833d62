//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404 and the route labels are derived from it.
//! To add a route, write a handler and add it here.

use super::{
    export, import, robots,
    route::{
        Handler::{Bodyless, Streamed, Whole},
        Route,
    },
};

static ROUTES: [Route; 5] = [
    Route {
        path: "/api/robots",
        methods: &[
            ("GET", Bodyless(robots::list)),
            ("POST", Whole(robots::create)),
        ],
    },
    Route {
        path: "/api/robots/{id}",
        methods: &[
            ("GET", Bodyless(robots::get)),
            ("PUT", Whole(robots::replace)),
            ("DELETE", Whole(robots::delete)),
        ],
    },
    Route {
        path: "/api/robots/search/{name}",
        methods: &[("GET", Bodyless(robots::list))],
    },
    Route {
        path: "/api/robots/import",
        methods: &[("POST", Streamed(import::start))],
    },
    Route {
        path: "/api/robots/export",
        methods: &[("GET", Bodyless(export::start))],
    },
];

/// The route of a path below the base, and the parameter in the path.
pub(super) fn find(path: &str) -> Option<(&'static Route, Vec<u8>)> {
    ROUTES
        .iter()
        .find_map(|route| Some((route, route.matches(path)?)))
}

/// All paths below a base path, for people.
pub(super) fn paths(base: &str) -> String {
    let paths = ROUTES.iter().map(|route| format!("{base}{}", route.path));
    paths.collect::<Vec<_>>().join(", ")
}
