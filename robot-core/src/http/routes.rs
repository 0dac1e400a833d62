//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404, the route labels and the description of the API
//! are derived from it. To add a route, write a handler and add it here.

use super::{
    export, import,
    openapi::{self, About, Body},
    parameters, robots,
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
                parameters: parameters::LIST,
                needs: Some(Read),
                about: About {
                    id: "listRobots",
                    summary: "List robots",
                    text: "All robots, streamed, or one page of them. Follow `Link` for the next page.",
                    body: Body::None,
                    responses: &[openapi::ROBOTS],
                },
            },
            Operation {
                method: "POST",
                handler: Whole(robots::create),
                parameters: &[],
                needs: Some(Write),
                about: About {
                    id: "addRobot",
                    summary: "Add a robot",
                    text: "The service assigns the id.",
                    body: Body::Draft,
                    responses: &[openapi::CREATED, openapi::REJECTED],
                },
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
                needs: Some(Read),
                about: About {
                    id: "getRobot",
                    summary: "Get a robot",
                    text: "A robot that is missing is a 200 with the status `NOT-FOUND`.",
                    body: Body::None,
                    responses: &[openapi::ROBOT, openapi::NOT_MODIFIED, openapi::STALE],
                },
            },
            Operation {
                method: "PUT",
                handler: Whole(robots::replace),
                parameters: &[],
                needs: Some(Write),
                about: About {
                    id: "replaceRobot",
                    summary: "Replace a robot",
                    text: "All three members are required.",
                    body: Body::Draft,
                    responses: &[openapi::CHANGED, openapi::STALE, openapi::REJECTED],
                },
            },
            Operation {
                method: "PATCH",
                handler: Whole(robots::amend),
                parameters: &[],
                needs: Some(Write),
                about: About {
                    id: "changeRobot",
                    summary: "Change some members of a robot",
                    text: "Only the members that are given. A patch without members changes nothing.",
                    body: Body::Patch,
                    responses: &[
                        openapi::CHANGED,
                        openapi::STALE,
                        openapi::NOT_A_PATCH,
                        openapi::REJECTED,
                    ],
                },
            },
            Operation {
                method: "DELETE",
                handler: Whole(robots::delete),
                parameters: &[],
                needs: Some(Write),
                about: About {
                    id: "deleteRobot",
                    summary: "Delete a robot",
                    text: "Its id is never used again.",
                    body: Body::None,
                    responses: &[openapi::DELETED, openapi::STALE],
                },
            },
        ],
    },
    Route {
        path: "/api/robots/search/{name}",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(robots::search),
            parameters: parameters::SEARCH,
            needs: Some(Read),
            about: About {
                id: "searchRobots",
                summary: "Search names",
                text: "As the list, but only robots whose name contains a text.",
                body: Body::None,
                responses: &[openapi::ROBOTS],
            },
        }],
    },
    Route {
        path: "/api/robots/summary",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(robots::summary),
            parameters: parameters::SUMMARY,
            needs: Some(Read),
            about: About {
                id: "summarizeRobots",
                summary: "Count robots by type and decade",
                text: "A group without robots is missing.",
                body: Body::None,
                responses: &[openapi::SUMMARY],
            },
        }],
    },
    Route {
        path: "/api/robots/import",
        methods: &[Operation {
            method: "POST",
            handler: Streamed(import::start),
            parameters: parameters::IMPORT,
            needs: Some(Write),
            about: About {
                id: "importRobots",
                summary: "Add many robots",
                text: "Each record is a change of its own, and every valid one is stored. The first \
                       line of CSV names the columns.",
                body: Body::Import,
                responses: &[openapi::IMPORTED, openapi::REJECTED],
            },
        }],
    },
    Route {
        path: "/api/robots/export",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(export::start),
            parameters: parameters::EXPORT,
            needs: Some(Read),
            about: About {
                id: "exportRobots",
                summary: "Get all robots as a file",
                text: "An import accepts the file.",
                body: Body::None,
                responses: &[openapi::EXPORTED],
            },
        }],
    },
    Route {
        path: "/openapi.json",
        methods: &[Operation {
            method: "GET",
            handler: Bodyless(openapi::get),
            parameters: &[],
            needs: None,
            about: About {
                id: "describeApi",
                summary: "Get this document",
                text: "It needs no token.",
                body: Body::None,
                responses: &[openapi::DESCRIPTION],
            },
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
