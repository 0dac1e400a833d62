//! Bodies that do not arrive in time, and the clients that are served meanwhile.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use super::{Answer, Case, Session, assert_failure, assert_ok, draft};
use crate::{
    conformance::{Framing, Pace, cases},
    http::BODY_DEADLINE,
};

pub(super) const CASES: &[Case<super::Run>] =
    cases![late_bodies_return_408_and_block_no_other_clients];

/// The deadline for bodies in these cases. Other clients are served before it, which needs a
/// fraction of it; a shorter one could fail on a busy machine.
pub(super) const DEADLINE: Duration = Duration::from_secs(5);

/// How long after the deadline an answer may arrive, at most.
const TOLERANCE: Duration = Duration::from_secs(20);

/// The number of clients that send each body late: together more than a frontend has threads.
const CLIENTS: usize = 8;

fn late_bodies_return_408_and_block_no_other_clients(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    let body = draft("late", "droid", 1);
    let started = Instant::now();
    let (served, late) = thread::scope(|scope| {
        let calls = late_calls(session, &by_id, body.len());
        let late: Vec<_> = calls
            .into_iter()
            .map(|(call, framing, pace)| {
                let body = &body;
                scope.spawn(move || {
                    let answer = session.deliver(call, body, framing, pace);
                    (
                        answer,
                        Instant::now(),
                        format!("{call:?} {framing:?} {pace:?}"),
                    )
                })
            })
            .collect();
        let served = serve_others(session, &by_id);
        let late = late.into_iter().map(thread::ScopedJoinHandle::join);
        let late = late.map(|late| late.unwrap_or_else(|_| panic!("a late client panicked")));
        (served, late.collect::<Vec<_>>())
    });
    let duration = served - started;
    let deadline = session.configuration.body_deadline;
    assert!(
        duration < deadline,
        "other clients are served after {duration:?}"
    );
    let bound = deadline.max(BODY_DEADLINE) + TOLERANCE;
    for (answer, answered, call) in late {
        assert_late(answer, &call);
        let duration = answered - started;
        assert!(duration < bound, "{call} is answered after {duration:?}");
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2", "quick"]);
}

type LateCall<'a> = ((&'a str, &'a str), Framing, Pace);

/// Calls whose bodies of this length never arrive, or take several times the deadline.
fn late_calls<'a>(session: &Session<'_>, by_id: &'a str, length: usize) -> Vec<LateCall<'a>> {
    let post = ("POST", "/api/robots");
    let put = ("PUT", by_id);
    let import = ("POST", "/api/robots/import?format=ndjson");
    let slowly = Pace::ByteByByte(session.configuration.body_deadline / 10);
    let draft_calls = [
        (post, Framing::Length, Pace::StopAfter(0)),
        (put, Framing::Length, Pace::StopAfter(length - 1)),
        (put, Framing::Chunked, Pace::StopAfter(0)),
        // The JSON is complete, the body is not.
        (post, Framing::Chunked, Pace::StopAfter(length)),
        // Something arrives all the time.
        (post, Framing::Length, slowly),
        (put, Framing::Chunked, slowly),
    ];
    let imports = [
        (import, Framing::Length, Pace::StopAfter(0)),
        (import, Framing::Chunked, Pace::StopAfter(0)),
    ];
    // One client each, because a frontend may limit the number of imports at a time.
    let mut calls = draft_calls.repeat(CLIENTS);
    calls.extend(imports);
    calls
}

/// Sends some calls, and returns when they were all answered.
fn serve_others(session: &Session<'_>, by_id: &str) -> Instant {
    session.add("quick");
    assert_eq!(session.names("/api/robots/search/2-D"), ["R2-D2"]);
    assert_eq!(session.get(by_id).status, 200);
    let answer = session.put(
        by_id.trim_start_matches("/api/robots/"),
        &draft("R2-D2", "droid", 2),
    );
    assert_ok(&answer);
    Instant::now()
}

fn assert_late(answer: io::Result<Answer>, call: &str) {
    let answer = answer.unwrap_or_else(|error| panic!("{call}: {error}"));
    assert_eq!(answer.status, 408, "{call}: {}", answer.text());
    assert_failure(&answer, 408);
}
