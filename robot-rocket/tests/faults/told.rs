//! What an answer tells of a call.

use std::io::{self, ErrorKind};

use robot_core::conformance::Answer;
use serde_json::Value;

/// What a client was told of a call, if only by silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Told {
    /// It was done, and a write is durable.
    Done,
    /// Nothing was stored, for another robot has the name.
    Taken,
    /// Nothing was stored, for there is no such robot.
    Missing,
    /// Nothing was stored; it is to try again.
    Refused,
    /// Nothing was stored; the service failed.
    Failed,
    /// The service failed, and whether it was stored is unknown.
    Unknown,
    /// The connection was lost: whether it was stored is unknown.
    Lost,
    /// Nobody listens, so that nothing was stored.
    Away,
}

impl Told {
    /// What came of a call. Anything else than the contract has fails the test.
    pub(crate) fn by(answer: &io::Result<Answer>, what: &str) -> Self {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Self::Away,
            Err(_) => return Self::Lost,
        };
        if !matches!(answer.status, 200 | 201) {
            is_an_error(answer, what);
        }
        let text = answer.text();
        match answer.status {
            200 | 201 => Self::Done,
            404 => Self::Missing,
            409 if text.contains(r#"["The robot name must be unique"]"#) => Self::Taken,
            500 if text.contains("whether this was stored is unknown") => Self::Unknown,
            500 => Self::Failed,
            503 => Self::Refused,
            status => panic!("{what}: nobody expects {status}, {text}"),
        }
    }

    /// Whether a write may have been stored although nobody said so.
    pub(crate) fn is_doubtful(self) -> bool {
        matches!(self, Self::Unknown | Self::Lost)
    }
}

/// Fails unless an answer is an error to the letter of the contract, and tells nothing of how the
/// store is built.
fn is_an_error(answer: &Answer, what: &str) {
    let text = answer.text();
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let messages = body["messages"].as_array();
    let is_whole = body["status"] == "ERROR"
        && messages.is_some_and(|messages| {
            !messages.is_empty() && messages.iter().all(|message| message.as_str() > Some(""))
        });
    assert!(is_whole, "{what}: {}, {text}", answer.status);
    let content_type = answer.header("content-type");
    assert_eq!(content_type, Some("text/html; charset=UTF-8"), "{what}");
    if answer.status == 503 {
        let patience = answer.header("retry-after");
        assert!(patience.is_some(), "{what}: a 503 without Retry-After");
    }
    for internal in ["SQL", "sql", "robots.db", "Diesel", "errno"] {
        assert!(!text.contains(internal), "{what} reveals: {text}");
    }
}
