//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404 and the route labels are derived from it. To add
//! a route, write a handler, add it here, and describe it in `openapi/document.json`.

use super::{
    behaviour::Behaviour,
    bulk, definition, export, import, openapi,
    parameters::{BULK, DEFINE, EXPORT, IMPORT, LIST, NONE, Parameters, ROBOT, SEARCH, SUMMARY},
    response::Started,
    robots,
    route::{
        Call,
        Handler::{self, Bodyless, Streamed, Whole},
        Operation, Route, Routes,
    },
    settings::{ApiSettings, Apis},
    token::Permission::{self, Define, Read, Write},
};

/// The routes of an API at a prefix, where the list of robots has more operations.
macro_rules! api {
    ($prefix:literal $(, $more:expr)*) => {
        &[
            route(concat!($prefix, "/robots"), &[
                read(robots::list, &LIST),
                write("POST", Whole(robots::create), &NONE),
                $($more,)*
            ]),
            route(concat!($prefix, "/robots/{id}"), &[
                read(robots::get, &ROBOT),
                write("PUT", Whole(robots::replace), &NONE),
                write("PATCH", Whole(robots::patch), &NONE),
                write("DELETE", Whole(robots::delete), &NONE),
            ]),
            route(concat!($prefix, "/robots/search/{name}"), &[read(robots::list, &SEARCH)]),
            route(concat!($prefix, "/robots/summary"), &[read(robots::summary, &SUMMARY)]),
            route(concat!($prefix, "/robots/import"), &[write("POST", Streamed(import::start), &IMPORT)]),
            route(concat!($prefix, "/robots/import/propose"), &[write("POST", Streamed(import::start), &IMPORT)]),
            route(concat!($prefix, "/robots/export"), &[read(export::start, &EXPORT)]),
            route(concat!($prefix, "/definition"), &[
                read(definition::get, &NONE),
                needing(Some(Define), write("PUT", Whole(definition::replace), &DEFINE)),
            ]),
        ]
    };
}

static CONTRACT: &[Route] = api!("/api");

static V1: &[Route] = api!(
    "/v1",
    write("PATCH", Whole(bulk::patch), &BULK),
    write("DELETE", Whole(bulk::delete), &BULK)
);

static OTHERS: &[Route] = &[route(
    "/openapi.json",
    &[needing(None, read(openapi::get, &NONE))],
)];

/// The routes of a service with these APIs.
pub(super) fn of(apis: Apis) -> Routes {
    let contract = if apis == Apis::V1 { &[] } else { CONTRACT };
    let v1 = if apis == Apis::Contract { &[] } else { V1 };
    [v1, contract, OTHERS]
}

const fn route(path: &'static str, methods: &'static [Operation]) -> Route {
    Route { path, methods }
}

const fn needing(needs: Option<Permission>, operation: Operation) -> Operation {
    Operation { needs, ..operation }
}

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
pub(super) fn find(apis: Apis, path: &str) -> Option<(&'static Route, Vec<u8>)> {
    let mut routes = of(apis).into_iter().flatten();
    routes.find_map(|route| Some((route, route.matches(path)?)))
}

/// All paths of a service below its base path, for people: those of an API.
pub(super) fn paths(settings: &ApiSettings, behaviour: Behaviour) -> String {
    let base = &settings.base;
    let routes = of(settings.apis).into_iter().flatten();
    let paths = routes
        .filter(|route| settings.behaviour_of(route.path) == behaviour)
        .map(|route| format!("{base}{}", route.path));
    paths.collect::<Vec<_>>().join(", ")
}
