//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404 and the route labels are derived from it.
//! To add a route, write a handler and add it here.

use super::{
    export, import, parameters, robots,
    route::{
        Handler::{Bodyless, Streamed, Whole},
        Operation, Route,
    },
};

static ROUTES: [Route; 6] = [
    Route {
        path: "/api/robots",
        methods: &[
            Operation {
                method: "GET",
                handler: Bodyless(robots::list),
                parameters: parameters::LIST,
            },
            Operation {
                method: "POST",
                handler: Whole(robots::create),
                parameters: &[],
            },
        ],
    },
    Route {
        path: "/api/robots/{id}",
        methods: &[
            Operation {
                method: "GET",
                handler: Bodyless(robots::get),
                parameters: parameters::ROBOT,
            },
            Operation {
                method: "PUT",
                handler: Whole(robots::replace),
                parameters: &[],
            },
            Operation {
                method: "PATCH",
                handler: Whole(robots::amend),
                parameters: &[],
            },
            Operation {
                method: "DELETE",
                handler: Whole(robots::delete),
                parameters: &[],
            },
        ],
    },
    Route {
        path: "/api/robots/search/{name}",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(robots::list),
            parameters: parameters::LIST,
        }],
    },
    Route {
        path: "/api/robots/summary",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(robots::summary),
            parameters: parameters::SUMMARY,
        }],
    },
    Route {
        path: "/api/robots/import",
        methods: &[Operation {
            method: "POST",
            handler: Streamed(import::start),
            parameters: parameters::IMPORT,
        }],
    },
    Route {
        path: "/api/robots/export",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(export::start),
            parameters: parameters::EXPORT,
        }],
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
