//! Outcome of a call, derived from its answer.

use std::io::{self, ErrorKind};

use robot_core::conformance::Answer;
use serde_json::Value;

/// What a client knows after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Done; a write is durable.
    Done,
    /// Nothing was stored: another robot has the name.
    NameTaken,
    /// Nothing was stored: no robot has the id.
    NotFound,
    /// Nothing was stored; the client should retry (503).
    Unavailable,
    /// Nothing was stored; the service failed.
    Failed,
    /// The service failed, and the write may have been stored.
    Unknown,
    /// The connection was lost, and the write may have been stored.
    ConnectionLost,
    /// No server listens; nothing was stored.
    ConnectionRefused,
}

impl Outcome {
    /// Classifies an answer. Panics if the contract does not allow it.
    pub(crate) fn of(answer: &io::Result<Answer>, request: &str) -> Self {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                return Self::ConnectionRefused;
            }
            Err(_) => return Self::ConnectionLost,
        };
        let text = answer.text();
        if !matches!(answer.status, 200 | 201) {
            assert_error_shape(answer, request);
        }
        match answer.status {
            200 | 201 => Self::Done,
            404 => Self::NotFound,
            409 if text.contains(r#"["The robot name must be unique"]"#) => Self::NameTaken,
            500 if text.contains("whether the change was stored is unknown") => Self::Unknown,
            500 => Self::Failed,
            503 => Self::Unavailable,
            status => panic!("{request}: unexpected status {status}, {text}"),
        }
    }

    /// Whether a write may have been stored although it was not acknowledged.
    pub(crate) fn is_uncertain(self) -> bool {
        matches!(self, Self::Unknown | Self::ConnectionLost)
    }
}

/// Asserts the exact 503 answer of a store that is busy or unreachable.
#[track_caller]
#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) fn assert_unavailable(answer: &Answer) {
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(
        answer.text(),
        r#"{"status":"ERROR","messages":["The catalogue is busy or cannot be reached; try again in a moment"]}"#
    );
}

/// Asserts the contract's shape of an error, which reveals nothing about the store.
fn assert_error_shape(answer: &Answer, request: &str) {
    let text = answer.text();
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let messages = body["messages"].as_array();
    let is_complete = body["status"] == "ERROR"
        && messages.is_some_and(|messages| {
            !messages.is_empty() && messages.iter().all(|message| message.as_str() > Some(""))
        });
    assert!(is_complete, "{request}: {}, {text}", answer.status);
    let content_type = answer.header("content-type");
    assert_eq!(content_type, Some("text/html; charset=UTF-8"), "{request}");
    if answer.status == 503 {
        // After a full disk and a failed checkpoint, an operator has to act.
        let needs_operator = text.contains("disk") || text.contains("operator");
        let seconds = if needs_operator { "60" } else { "1" };
        assert_eq!(answer.header("retry-after"), Some(seconds), "{request}");
    }
    for internal in ["SQL", "sql", "robots.db", "Diesel", "errno"] {
        assert!(!text.contains(internal), "{request} reveals: {text}");
    }
}
