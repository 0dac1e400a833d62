//! Bodies at and over the limit, and bodies that end early.

use std::time::Duration;

use super::{Case, Session, assert_failure, draft};
use crate::{
    conformance::{Framing, Pace, cases},
    http::{BODY_LIMIT, DRY_RUN_LIMIT},
};

pub(super) const CASES: &[Case<super::Run>] = cases![
    body_at_the_limit_is_accepted,
    body_over_64_kib_returns_413,
    announced_body_over_the_limit_returns_413_at_once,
    body_that_is_cut_off_changes_nothing,
    body_that_arrives_byte_by_byte_is_accepted,
];

const FRAMINGS: [Framing; 2] = [Framing::Length, Framing::Chunked];

/// A robot in a body of this length.
fn padded(name: &str, length: usize) -> String {
    let robot = draft(name, "droid", 1);
    format!("{robot}{}", " ".repeat(length - robot.len()))
}

fn body_at_the_limit_is_accepted(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    for framing in FRAMINGS {
        for length in [BODY_LIMIT - 1, BODY_LIMIT] {
            let name = format!("{framing:?} {length}");
            let body = padded(&name, length);
            let post = session.deliver(("POST", "/api/robots"), &body, framing, Pace::AtOnce);
            assert_eq!(
                post.map(|answer| answer.status).ok(),
                Some(session.created())
            );
            let body = padded(&format!("PUT {name}"), length);
            let put = session.deliver(("PUT", &by_id), &body, framing, Pace::AtOnce);
            assert_eq!(put.map(|answer| answer.status).ok(), Some(200));
        }
    }
    assert_eq!(session.names("/api/robots").len(), 5);
}

fn body_over_64_kib_returns_413(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    for framing in FRAMINGS {
        for length in [BODY_LIMIT + 1, 20 * BODY_LIMIT] {
            for call in [("POST", "/api/robots"), ("PUT", &by_id)] {
                let answer = session.deliver(call, &padded("x", length), framing, Pace::AtOnce);
                let answer = answer.unwrap_or_else(|error| panic!("{framing:?} {length}: {error}"));
                assert_failure(&answer, 413);
            }
        }
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

/// The client waits for the answer with the rest of the body, which a frontend must not wait for.
fn announced_body_over_the_limit_returns_413_at_once(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    let dry_run = "/api/robots/import?format=csv&dry_run=true";
    let import_length = usize::try_from(DRY_RUN_LIMIT).map_or(usize::MAX, |limit| limit + 1);
    for (method, target, length) in [
        ("POST", "/api/robots", BODY_LIMIT + 1),
        ("PUT", &by_id, BODY_LIMIT + 1),
        ("POST", "/api/robots", 20 * BODY_LIMIT),
        ("POST", dry_run, import_length),
    ] {
        let body = padded("x", length);
        for sent in [0, 100] {
            let pace = Pace::StopAfter(sent);
            let answer = session.deliver((method, target), &body, Framing::Length, pace);
            let answer = answer.unwrap_or_else(|error| panic!("{target} {length}: {error}"));
            assert_failure(&answer, 413);
        }
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

fn body_that_is_cut_off_changes_nothing(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    let robot = draft("x", "droid", 1);
    let body = format!("{robot}{}", " ".repeat(100));
    for framing in FRAMINGS {
        for call in [("POST", "/api/robots"), ("PUT", &by_id)] {
            // What arrives is nothing, not JSON, or a valid robot in JSON.
            for sent in [0, 20, robot.len(), robot.len() + 50] {
                let pace = Pace::CutOffAfter(sent);
                // A client that has closed its side may not get an answer.
                if let Ok(answer) = session.deliver(call, &body, framing, pace) {
                    assert_failure(&answer, 400);
                }
            }
        }
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

fn body_that_arrives_byte_by_byte_is_accepted(session: &Session<'_>) {
    let pace = Pace::ByteByByte(Duration::from_millis(2));
    for framing in FRAMINGS {
        let body = draft(&format!("{framing:?}"), "droid", 1);
        let answer = session.deliver(("POST", "/api/robots"), &body, framing, pace);
        let answer = answer.unwrap_or_else(|error| panic!("{framing:?}: {error}"));
        assert_eq!(answer.status, session.created(), "{}", answer.text());
    }
    assert_eq!(session.names("/api/robots"), ["Chunked", "Length"]);
}
