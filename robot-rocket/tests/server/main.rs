//! The server binary, run as a person would run it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod faults;
mod files;
mod hosts;
mod process;
mod readme;
mod start;

use process::Server;
use robot_core::conformance::{Answer, Call, Client};

/// Sends a call without headers.
fn call(client: &dyn Client, method: &str, target: &str, body: &str) -> Answer {
    client
        .send(&Call {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        })
        .unwrap()
}

fn draft(name: &str) -> String {
    serde_json::json!({"name": name, "type": "droid", "year": 1977}).to_string()
}

/// The names in the catalogue.
fn names(server: &Server) -> Vec<String> {
    let answer = call(&server.client(), "GET", "/api/robots", "");
    let robots: Vec<serde_json::Value> = serde_json::from_slice(&answer.body).unwrap();
    robots
        .iter()
        .map(|robot| robot["name"].as_str().unwrap().to_owned())
        .collect()
}
