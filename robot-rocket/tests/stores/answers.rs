//! What the server says, in the terms of the tests.

use std::{collections::HashMap, time::Duration};

use robot_core::conformance::Answer;

use crate::{
    calls::{call, draft},
    process::{Server, wait_for},
};

/// What a client was told of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Done,
    /// Nothing was stored; it is to try again.
    Refused,
    /// Whether it was stored is unknown.
    Unknown,
}

impl Told {
    /// What an answer tells. One that must not be fails the test.
    pub(crate) fn by(answer: &Answer, method: &str, target: &str) -> Self {
        let text = answer.text();
        match answer.status {
            200 | 201 => Self::Done,
            503 => {
                is_a_refusal(answer);
                Self::Refused
            }
            500 if text.contains("whether this was stored is unknown") => Self::Unknown,
            status => panic!("{method} {target}: {status}, {text}"),
        }
    }
}

/// Fails unless an answer is a refusal to the letter of the contract.
pub(crate) fn is_a_refusal(answer: &Answer) {
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(
        answer.text(),
        r#"{"status":"ERROR","messages":["The catalogue is busy or cannot be reached; try again in a moment"]}"#
    );
}

/// Waits until the server reaches its database; how long that took.
pub(crate) fn recovers(server: &Server) -> Duration {
    wait_for("the service recovers", Duration::from_secs(10), || {
        let answer = call(&server.client(), "GET", "/api/robots?limit=1", "");
        Told::by(&answer, "GET", "/api/robots") == Told::Done
    })
}

/// Adds a robot; its id.
pub(crate) fn add(server: &Server, name: &str) -> u64 {
    let answer = call(&server.client(), "POST", "/api/robots", &draft(name));
    assert_eq!(answer.status, 201, "{name}: {}", answer.text());
    id(&answer).parse().unwrap()
}

/// The id in the answer to the adding of a robot.
pub(crate) fn id(answer: &Answer) -> String {
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    answer["data"]["id"].as_str().unwrap().to_owned()
}

/// The robots that a server lists: their ids by their names.
pub(crate) fn robots(server: &Server) -> HashMap<String, String> {
    let answer = call(&server.client(), "GET", "/api/robots", "");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let listed: Vec<HashMap<String, String>> = serde_json::from_slice(&answer.body).unwrap();
    let count = listed.len();
    let robots: HashMap<_, _> = listed
        .into_iter()
        .map(|mut robot| (robot.remove("name").unwrap(), robot.remove("id").unwrap()))
        .collect();
    assert_eq!(robots.len(), count, "a name is listed twice");
    robots
}
