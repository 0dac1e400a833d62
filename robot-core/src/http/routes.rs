//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404 and the route labels are derived from it. To add
//! a route, write a handler, add it here, and describe it in `openapi/document.json`.

use super::{
    definition, export, import, openapi,
    parameters::{DEFINE, EXPORT, IMPORT, LIST, NONE, Parameters, ROBOT, SEARCH, SUMMARY},
    robots,
    route::{
        Call,
        Handler::{self, Bodyless, Streamed, Whole},
        Operation, Route, Started,
    },
    token::Permission::{Define, Read, Write},
};

/// All routes.
pub(super) static ALL: &[Route] = &[
    Route {
        path: "/api/robots",
        methods: &[
            read(robots::list, &LIST),
            write("POST", Whole(robots::create), &NONE),
        ],
    },
    Route {
        path: "/api/robots/{id}",
        methods: &[
            read(robots::get, &ROBOT),
            write("PUT", Whole(robots::replace), &NONE),
            write("PATCH", Whole(robots::patch), &NONE),
            write("DELETE", Whole(robots::delete), &NONE),
        ],
    },
    Route {
        path: "/api/robots/search/{name}",
        methods: &[read(robots::search, &SEARCH)],
    },
    Route {
        path: "/api/robots/summary",
        methods: &[read(robots::summary, &SUMMARY)],
    },
    Route {
        path: "/api/robots/import",
        methods: &[write("POST", Streamed(import::start), &IMPORT)],
    },
    Route {
        path: "/api/robots/export",
        methods: &[read(export::start, &EXPORT)],
    },
    Route {
        path: "/api/definition",
        methods: &[
            read(definition::get, &NONE),
            Operation {
                needs: Some(Define),
                ..write("PUT", Whole(definition::replace), &DEFINE)
            },
        ],
    },
    Route {
        path: "/openapi.json",
        methods: &[Operation {
            needs: None,
            ..read(openapi::get, &NONE)
        }],
    },
];

const fn read(handler: fn(&Call<'_>) -> Started, parameters: &'static Parameters) -> Operation {
    Operation {
        method: "GET",
        handler: Bodyless(handler),
        parameters,
        needs: Some(Read),
    }
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
    }
}

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
