//! Calls to a server.

use std::fmt::Write;

use robot_core::conformance::{Answer, Call, Client};

use crate::process::Server;

/// Sends a call without headers.
pub(crate) fn call(client: &dyn Client, method: &str, target: &str, body: &str) -> Answer {
    let call = Call {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
    };
    client
        .send(&call)
        .unwrap_or_else(|error| panic!("{method} {target} {body}: {error}"))
}

pub(crate) fn draft(name: &str) -> String {
    serde_json::json!({"name": name, "type": "droid", "year": 1977}).to_string()
}

/// The names of all robots.
pub(crate) fn names(server: &Server) -> Vec<String> {
    let answer = call(&server.client(), "GET", "/api/robots", "");
    let robots: Vec<serde_json::Value> = serde_json::from_slice(&answer.body).unwrap();
    robots
        .iter()
        .map(|robot| robot["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Adds 20,000 robots, whose list has 20 MB: more than the buffers of a connection take.
pub(crate) fn add_long_list(server: &Server) {
    let long = "🤖".repeat(240);
    let mut robots = String::new();
    for number in 0..20_000 {
        writeln!(
            robots,
            r#"{{"name":"{number:05} {long}","type":"droid","year":1}}"#
        )
        .unwrap();
    }
    let target = "/api/robots/import?format=ndjson";
    let answer = call(&server.client(), "POST", target, &robots);
    assert_eq!(answer.status, 200, "{}", answer.text());
}
