//! Cases for frontends: the contract from the view of a client. Each starts with an empty catalogue.

mod atomic_import;
mod bodies;
#[cfg(test)]
mod broken_frontends;
mod changes;
mod conditions;
mod deadlines;
mod export;
mod faults;
mod faulty;
mod filters;
mod history;
mod import;
mod own_fields;
mod paging;
mod patches;
mod protocol;
mod reading;
mod sizes;
mod stopped_import;
mod v1;

use std::{io, thread};

pub(super) use faulty::Faulty;

use super::{Answer, Call, Case, Client, Configuration, Framing, Pace};
use crate::http::{BODY_DEADLINE, Behaviour, RequestId};

/// Runs a case.
pub(super) type Run = fn(&Session<'_>);

/// Every case, with the configuration of its service.
pub(super) fn cases() -> Vec<(Configuration, &'static str, Run)> {
    let contract = |behaviour| Configuration {
        behaviour,
        body_deadline: BODY_DEADLINE,
    };
    let late = Configuration {
        body_deadline: deadlines::DEADLINE,
        ..contract(Behaviour::A)
    };
    let cases = [
        reading::CASES,
        changes::CASES,
        conditions::CASES,
        patches::CASES,
        bodies::CASES,
        sizes::CASES,
        paging::CASES,
        filters::CASES,
        protocol::CASES,
        import::CASES,
        atomic_import::CASES,
        stopped_import::CASES,
        export::CASES,
        faults::CASES,
        own_fields::CASES,
        v1::CASES,
        history::CASES,
    ]
    .concat();
    let cases = [Behaviour::A, Behaviour::B]
        .into_iter()
        .flat_map(|behaviour| cases.iter().map(move |case| (contract(behaviour), *case)));
    // Behaviours have the same deadlines, and these cases take long.
    let late = deadlines::CASES.iter().map(|case| (late, *case));
    cases
        .chain(late)
        .map(|(configuration, (name, run))| (configuration, name, run))
        .collect()
}

/// Whether a case needs a store whose definition can be changed.
pub(super) fn needs_definitions(case: &str) -> bool {
    own_fields::CASES.iter().any(|(name, _)| *name == case)
}

/// A case's connection to the service.
pub(super) struct Session<'a> {
    client: &'a dyn Client,
    configuration: Configuration,
    /// The store of the service.
    store: &'a Faulty,
}

const TYPE_MESSAGE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual";
const NAME_MESSAGE: &str = "The robot name must be unique";
const YEAR_MESSAGE: &str = "The year cannot be less than zero";
const NO_NAME: &str = "name is required";
const NO_TYPE: &str = "type is required";
const NO_YEAR: &str = "year is required";

impl<'a> Session<'a> {
    pub(super) fn new(
        client: &'a dyn Client,
        configuration: Configuration,
        store: &'a Faulty,
    ) -> Self {
        Self {
            client,
            configuration,
            store,
        }
    }

    /// Sends a call and checks what all answers have in common.
    fn call(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let answer = self
            .client
            .send(&Call::new(method, target, headers, body))
            .unwrap_or_else(|error| panic!("{method} {target}: {error}"));
        assert_common_headers(&answer, &format!("{method} {target}"));
        answer
    }

    /// Sends a call whose body arrives in this way.
    fn deliver(
        &self,
        (method, target): (&str, &str),
        body: &str,
        framing: Framing,
        pace: Pace,
    ) -> io::Result<Answer> {
        let call = Call::new(method, target, &[], body);
        let answer = self.client.deliver(&call, framing, pace)?;
        assert_common_headers(&answer, &format!("{method} {target} {framing:?} {pace:?}"));
        Ok(answer)
    }

    fn try_get(&self, target: &str) -> io::Result<Answer> {
        self.client.send(&Call::new("GET", target, &[], ""))
    }

    fn get(&self, target: &str) -> Answer {
        self.call("GET", target, &[], b"")
    }

    /// Asserts that a `GET` returns these bytes.
    #[track_caller]
    fn get_is(&self, target: &str, body: &str) {
        assert_answer(&self.get(target), 200, body);
    }

    fn post(&self, body: &str) -> Answer {
        self.call("POST", "/api/robots", &[], body.as_bytes())
    }

    fn put(&self, id: impl std::fmt::Display, body: &str) -> Answer {
        self.call("PUT", &format!("/api/robots/{id}"), &[], body.as_bytes())
    }

    fn delete(&self, id: impl std::fmt::Display) -> Answer {
        self.call("DELETE", &format!("/api/robots/{id}"), &[], b"")
    }

    /// The status for a created robot.
    fn created(&self) -> u16 {
        match self.configuration.behaviour {
            Behaviour::A | Behaviour::C => 201,
            Behaviour::B => 200,
        }
    }

    /// The status for a draft that violates a rule.
    fn rejected(&self) -> u16 {
        match self.configuration.behaviour {
            Behaviour::A | Behaviour::C => 409,
            Behaviour::B => 500,
        }
    }

    /// Asserts that an answer reports exactly these violated rules.
    #[track_caller]
    fn assert_rejected(&self, answer: &Answer, messages: &[&str]) {
        assert_messages(answer, self.rejected(), messages);
    }

    /// Adds a robot and returns its id.
    fn add(&self, name: &str) -> String {
        let answer = self.post(&draft(name, "droid", 1977));
        assert_eq!(answer.status, self.created(), "{name}: {}", answer.text());
        let id = &json(&answer)["data"]["id"];
        id.as_str()
            .unwrap_or_else(|| panic!("the id {id} is not a string"))
            .to_owned()
    }

    /// Adds this number of robots and returns their names, in order.
    fn add_many(&self, count: usize) -> Vec<String> {
        let names: Vec<_> = (0..count).map(|number| format!("RX-{number:04}")).collect();
        self.add_all(&names);
        names
    }

    /// Adds robots, several at a time.
    fn add_all(&self, names: &[String]) {
        thread::scope(|scope| {
            for part in names.chunks(names.len() / 8 + 1) {
                scope.spawn(move || part.iter().for_each(|name| drop(self.add(name))));
            }
        });
    }

    /// The names in the answer to a list or a search.
    fn names(&self, target: &str) -> Vec<String> {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        names(&answer)
    }

    /// Asserts the names that lists return. Each is a line: what follows the path, and the names,
    /// separated by `|`.
    #[track_caller]
    fn assert_lists(&self, path: &str, lists: &str) {
        for (query, expected) in lists.lines().filter_map(|line| line.split_once(" ->")) {
            let found = self.names(&format!("{path}{}", query.trim()));
            assert_eq!(found.join("|"), expected.trim(), "{query}");
        }
    }
}

/// Asserts the headers of every answer, and that a browser finds no markup in it.
fn assert_common_headers(answer: &Answer, call: &str) {
    for (name, value) in [("vary", "Accept"), ("x-content-type-options", "nosniff")] {
        assert_eq!(answer.header(name), Some(value), "{call}: {name}");
    }
    let id = answer
        .header(RequestId::HEADER.as_str())
        .unwrap_or_default();
    assert!(id.parse::<RequestId>().is_ok(), "{call}: request id '{id}'");
    let policy = answer.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("default-src 'none'"), "{call}: {policy}");
    let unsafe_bytes = answer.body.iter().filter(|byte| b"<>&".contains(byte));
    assert_eq!(unsafe_bytes.count(), 0, "{call}: markup");
}

/// A request body.
fn draft(name: &str, robot_type: &str, year: i64) -> String {
    serde_json::json!({"name": name, "type": robot_type, "year": year}).to_string()
}

/// The path of a search, with every byte of the name encoded.
fn search(name: &str) -> String {
    format!("/api/robots/search/{}", encoded(name))
}

/// A text, every byte of it percent-encoded.
fn encoded(text: &str) -> String {
    let digits = |byte| char::from_digit(u32::from(byte), 16).unwrap_or_default();
    text.bytes()
        .flat_map(|byte| ['%', digits(byte >> 4), digits(byte & 15)])
        .collect()
}

fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body)
        .unwrap_or_else(|error| panic!("{error} in {}", answer.text()))
}

fn names(answer: &Answer) -> Vec<String> {
    let list = json(answer);
    let robots = list
        .as_array()
        .unwrap_or_else(|| panic!("{list} is not an array"));
    robots
        .iter()
        .map(|robot| robot["name"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Asserts the status, the contract's type and the exact bytes.
#[track_caller]
fn assert_answer(answer: &Answer, status: u16, body: &str) {
    assert_eq!((answer.status, answer.text().as_str()), (status, body));
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=UTF-8")
    );
}

#[track_caller]
fn assert_ok(answer: &Answer) {
    assert_answer(answer, 200, r#"{"status":"OK"}"#);
}

/// Asserts the status and exactly these messages.
#[track_caller]
fn assert_messages(answer: &Answer, status: u16, messages: &[&str]) {
    let messages = serde_json::json!(messages);
    let body = format!(r#"{{"status":"ERROR","messages":{messages}}}"#);
    assert_answer(answer, status, &body);
}

/// Asserts the status and that there are messages.
#[track_caller]
fn assert_failure(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=UTF-8")
    );
    let body = json(answer);
    assert_eq!(body["status"], "ERROR");
    let messages = body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    assert!(!messages.is_empty(), "no messages");
    assert!(
        messages
            .iter()
            .all(|message| message.as_str().is_some_and(|text| text.len() > 5))
    );
    let members = body.as_object().map_or(0, serde_json::Map::len);
    assert_eq!(members, 2, "{body}");
}
