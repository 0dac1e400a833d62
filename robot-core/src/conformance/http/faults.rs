//! Answers while the store fails: useful for clients, without internal details.

use super::{
    Case, Session, assert_failure, draft,
    faulty::{Fault, SECRET},
};
use crate::conformance::{Answer, cases};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    unavailable_store_returns_503_with_retry_after,
    failed_store_returns_500_without_details,
    panic_fails_only_its_request,
    failed_list_is_recognisably_incomplete,
    started_list_retries_an_unavailable_store,
    failed_export_is_recognisably_incomplete,
];

/// Sends every request that uses the store while it has a fault.
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
        ("GET", "/api/robots/summary"),
        ("GET", "/api/robots/export"),
        ("POST", "/api/robots"),
        ("POST", "/api/robots/import?format=ndjson"),
        ("PUT", &by_id),
        ("PATCH", &by_id),
        ("DELETE", &by_id),
    ]
    .map(|(method, target)| {
        // Only a patch needs its type.
        let headers = [("content-type", "application/merge-patch+json")];
        let answer = session.call(method, target, &headers, body.as_bytes());
        assert!(!answer.text().contains(SECRET), "{}", answer.text());
        answer
    });
    // Requests that need no store succeed.
    assert_eq!(session.call("OPTIONS", "/api/robots", &[], b"").status, 204);
    assert_failure(&session.get("/nothing"), 404);
    session.store.fail(None);
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
    answers.into()
}

fn unavailable_store_returns_503_with_retry_after(session: &Session<'_>) {
    for answer in answers(session, Fault::Unavailable) {
        assert_failure(&answer, 503);
        let after = answer.header("retry-after").unwrap_or_default();
        assert!(after.parse::<u32>().is_ok(), "Retry-After: {after}");
    }
}

fn failed_store_returns_500_without_details(session: &Session<'_>) {
    for answer in answers(session, Fault::Broken) {
        assert_failure(&answer, 500);
        assert_eq!(answer.header("retry-after"), None);
    }
}

fn panic_fails_only_its_request(session: &Session<'_>) {
    for answer in answers(session, Fault::Panic) {
        assert_failure(&answer, 500);
    }
}

fn failed_list_is_recognisably_incomplete(session: &Session<'_>) {
    session.add_many(2100);
    session.store.fail(Fault::AllButFirstPage);
    // Either the connection was aborted, or the JSON is incomplete.
    if let Ok(answer) = session.try_get("/api/robots") {
        assert_eq!(answer.status, 200);
        assert!(answer.text().starts_with(r#"[{"id":"#));
        let whole = serde_json::from_slice::<serde_json::Value>(&answer.body);
        assert!(whole.is_err(), "an incomplete list is valid JSON");
    }
    session.store.fail(None);
    assert_eq!(session.names("/api/robots").len(), 2100);
}

fn started_list_retries_an_unavailable_store(session: &Session<'_>) {
    session.add_many(2100);
    session.store.fail(Fault::SecondPageOnce);
    assert_eq!(session.names("/api/robots").len(), 2100);
}

fn failed_export_is_recognisably_incomplete(session: &Session<'_>) {
    session.add_many(1100);
    session.store.fail(Fault::AllButFirstPage);
    let mut half_files = Vec::new();
    for format in ["csv", "json", "ndjson"] {
        // Either the connection was aborted, or the file ends with an error.
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
        assert!(
            end.contains("The export was interrupted"),
            "{format}: {end}"
        );
    }
    let answer = session.get("/api/robots/export");
    assert_eq!(answer.text().lines().count(), 1100);
}
