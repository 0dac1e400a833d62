//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404 and the route labels are derived from it. To add
//! a route, write a handler, add it here, and describe it in `openapi/document.json`.

use super::{
    export, import, openapi, parameters, robots,
    route::{
        Handler::{Bodyless, Streamed, Whole},
        Operation, Route,
    },
    token::Permission::{Read, Write},
};

pub(super) static ALL: &[Route] = &[
    Route {
        path: "/api/robots",
        methods: &[
            Operation {
                method: "GET",
                handler: Bodyless(robots::list),
                parameters: &parameters::LIST,
                needs: Some(Read),
            },
            Operation {
                method: "POST",
                handler: Whole(robots::create),
                parameters: &parameters::NONE,
                needs: Some(Write),
            },
        ],
    },
    Route {
        path: "/api/robots/{id}",
        methods: &[
            Operation {
                method: "GET",
                handler: Bodyless(robots::get),
                parameters: &parameters::ROBOT,
                needs: Some(Read),
            },
            Operation {
                method: "PUT",
                handler: Whole(robots::replace),
                parameters: &parameters::NONE,
                needs: Some(Write),
            },
            Operation {
                method: "PATCH",
                handler: Whole(robots::patch),
                parameters: &parameters::NONE,
                needs: Some(Write),
            },
            Operation {
                method: "DELETE",
                handler: Whole(robots::delete),
                parameters: &parameters::NONE,
                needs: Some(Write),
            },
        ],
    },
    Route {
        path: "/api/robots/search/{name}",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(robots::search),
            parameters: &parameters::SEARCH,
            needs: Some(Read),
        }],
    },
    Route {
        path: "/api/robots/summary",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(robots::summary),
            parameters: &parameters::SUMMARY,
            needs: Some(Read),
        }],
    },
    Route {
        path: "/api/robots/import",
        methods: &[Operation {
            method: "POST",
            handler: Streamed(import::start),
            parameters: &parameters::IMPORT,
            needs: Some(Write),
        }],
    },
    Route {
        path: "/api/robots/export",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(export::start),
            parameters: &parameters::EXPORT,
            needs: Some(Read),
        }],
    },
    Route {
        path: "/openapi.json",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(openapi::get),
            parameters: &parameters::NONE,
            needs: None,
        }],
    },
];

/// The route of a path below the base, and the parameter in the path.
pub(super) fn find(path: &str) -> Option<(&'static Route, Vec<u8>)> {
    ALL.iter()
        .find_map(|route| Some((route, route.matches(path)?)))
}

/// All paths below a base path, for people.
pub(super) fn paths(base: &str) -> String {
    let paths = ALL.iter().map(|route| format!("{base}{}", route.path));
    paths.collect::<Vec<_>>().join(", ")
}
