//! Calls to a server.

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
