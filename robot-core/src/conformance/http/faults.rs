//! What clients are told when the store fails: enough to act on, and nothing of its insides.

use super::{
    Case, Session, assert_failure, draft,
    faulty::{Fault, SECRET},
};
use crate::conformance::{Answer, cases};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    a_store_that_is_unavailable_is_to_be_tried_again,
    a_store_that_is_broken_reveals_nothing,
    a_bug_costs_the_request_that_met_it,
    a_list_that_breaks_off_does_not_look_whole,
    a_list_that_has_begun_waits_for_a_store_that_is_busy,
    an_export_that_breaks_off_does_not_look_whole,
];

/// Sends every request that reaches the store while it fails so.
fn answers(session: &Session<'_>, fault: Fault) -> Vec<Answer> {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    let body = draft("C-3PO", "droid", 1977);
    session.store.fail(fault);
    let answers = [
        ("GET", "/api/robots"),
        ("GET", "/api/robots?limit=1"),
        ("GET", "/api/robots/search/R"),
        ("GET", &by_id),
        ("GET", "/api/robots/export"),
        ("POST", "/api/robots"),
        ("POST", "/api/robots/import?format=ndjson"),
        ("PUT", &by_id),
        ("DELETE", &by_id),
    ]
    .map(|(method, target)| {
        let answer = session.call(method, target, &[], body.as_bytes());
        assert!(!answer.text().contains(SECRET), "{}", answer.text());
        answer
    });
    // What needs no store is answered all the same.
    assert_eq!(session.call("OPTIONS", "/api/robots", &[], b"").status, 204);
    assert_failure(&session.get("/nothing"), 404);
    session.store.fail(None);
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
    answers.into()
}

fn a_store_that_is_unavailable_is_to_be_tried_again(session: &Session<'_>) {
    for answer in answers(session, Fault::Unavailable) {
        assert_failure(&answer, 503);
        let after = answer.header("retry-after").unwrap_or_default();
        assert!(after.parse::<u32>().is_ok(), "Retry-After: {after}");
    }
}

fn a_store_that_is_broken_reveals_nothing(session: &Session<'_>) {
    for answer in answers(session, Fault::Broken) {
        assert_failure(&answer, 500);
        assert_eq!(answer.header("retry-after"), None);
    }
}

fn a_bug_costs_the_request_that_met_it(session: &Session<'_>) {
    for answer in answers(session, Fault::Panic) {
        assert_failure(&answer, 500);
    }
}

fn a_list_that_breaks_off_does_not_look_whole(session: &Session<'_>) {
    session.add_many(2100);
    session.store.fail(Fault::AfterTheFirstPage);
    // Either the client sees that the connection broke off, or there is no whole JSON.
    if let Ok(answer) = session.try_get("/api/robots") {
        assert_eq!(answer.status, 200);
        assert!(answer.text().starts_with(r#"[{"id":"#));
        let whole = serde_json::from_slice::<serde_json::Value>(&answer.body);
        assert!(whole.is_err(), "half a list passes for a whole one");
    }
    session.store.fail(None);
    assert_eq!(session.names("/api/robots").len(), 2100);
}

fn a_list_that_has_begun_waits_for_a_store_that_is_busy(session: &Session<'_>) {
    session.add_many(2100);
    session.store.fail(Fault::OnceAfterTheFirstPage);
    assert_eq!(session.names("/api/robots").len(), 2100);
}

fn an_export_that_breaks_off_does_not_look_whole(session: &Session<'_>) {
    session.add_many(1100);
    session.store.fail(Fault::AfterTheFirstPage);
    let mut half_files = Vec::new();
    for format in ["csv", "json", "ndjson"] {
        // Either the client sees that the connection broke off, or the file says so.
        let target = format!("/api/robots/export?format={format}&fields=name,type,year");
        half_files.extend(session.try_get(&target).map(|answer| (format, answer)));
    }
    session.store.fail(None);
    for (format, half) in half_files {
        let target = format!("/api/robots/import?format={format}&on_conflict=skip");
        let answer = session.call("POST", &target, &[], &half.body);
        assert_failure(
            &answer,
            if format == "ndjson" {
                session.rejected()
            } else {
                400
            },
        );
        let text = half.text();
        let end = text.lines().last().unwrap_or_default();
        assert!(end.contains("The export broke off"), "{format}: {end}");
    }
    let answer = session.get("/api/robots/export");
    assert_eq!(answer.text().lines().count(), 1100);
}
