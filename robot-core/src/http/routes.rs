//! The table of all routes: the only place that lists paths and methods.
//!
//! Dispatch, `Allow`, 405, `OPTIONS`, the paths in a 404 and the route labels are derived from it.
//! To add a route, write a handler and add it here.

use super::{
    export, import, robots,
    route::{
        Handler::{Bodyless, Streamed, Whole},
        Parameter, Route,
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
pub(super) fn find(path: &str) -> Option<(&'static Route, Parameter)> {
    ROUTES
        .iter()
        .find_map(|route| Some((route, route.matches(path)?)))
}

/// All paths below a base path, for people.
pub(super) fn paths(base: &str) -> String {
    let paths = ROUTES.iter().map(|route| format!("{base}{}", route.path));
    paths.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RobotId;

    fn found(path: &str) -> Option<(&'static str, Parameter)> {
        find(path).map(|(route, parameter)| (route.path, parameter))
    }

    #[test]
    fn known_paths_lead_to_their_routes() {
        let id = |number| ("/api/robots/{id}", Parameter::Id(RobotId::new(number)));
        let search = |name: Option<&str>| {
            let name = name.map(str::to_owned);
            ("/api/robots/search/{name}", Parameter::Name(name))
        };
        let plain = |path| (path, Parameter::None);
        for (path, expected) in [
            ("/api/robots", plain("/api/robots")),
            ("/%61pi/robots", plain("/api/robots")),
            ("/api/robots/7", id(7)),
            ("/api/robots/007", id(7)),
            ("/api/robots/%37", id(7)),
            ("/api/robots/0", id(0)),
            ("/api/robots/99999999999999999999", id(0)),
            ("/api/robots/import", plain("/api/robots/import")),
            ("/api/robots/%65xport", plain("/api/robots/export")),
            ("/api/robots/search/", search(Some(""))),
            ("/api/robots/search/a+b%20c%2Fd", search(Some("a+b c/d"))),
            ("/api/robots/search/100%", search(Some("100%"))),
            ("/api/robots/search/%252F", search(Some("%2F"))),
            ("/api/robots/search/%FF", search(None)),
        ] {
            assert_eq!(found(path), Some(expected), "{path}");
        }
    }

    #[test]
    fn other_paths_have_no_route() {
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
            assert_eq!(found(path), None, "{path}");
        }
    }

    #[test]
    fn allow_lists_the_methods_of_the_table() {
        let allow: Vec<_> = ROUTES.iter().map(Route::allow).collect();
        assert_eq!(
            allow,
            [
                "GET, HEAD, POST, OPTIONS",
                "GET, HEAD, PUT, DELETE, OPTIONS",
                "GET, HEAD, OPTIONS",
                "POST, OPTIONS",
                "GET, HEAD, OPTIONS",
            ]
        );
    }
}
