//! `PATCH`: changes of some members.

use super::{
    Case, NAME_MESSAGE, Session, TYPE_MESSAGE, YEAR_MESSAGE, assert_answer, assert_failure,
    assert_ok, json,
};
use crate::conformance::{Answer, at_once, cases};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    patch_changes_only_given_members,
    patch_checks_the_rules,
    patch_without_members_changes_nothing,
    patch_of_missing_robot_returns_404,
    patch_with_another_content_type_returns_415,
    malformed_patch_returns_400,
    concurrent_patches_of_different_members_are_kept,
];

const TYPE: &str = "application/merge-patch+json";
const UNCHANGED: &str = r#"{"name":"R2-D2","type":"droid","year":1977,"revision":1}"#;
const ALL: &str = "?fields=name,type,year,revision";

fn patch_with(session: &Session<'_>, id: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let headers = [&[("Content-Type", TYPE)], headers].concat();
    let target = format!("/api/robots/{id}");
    session.call("PATCH", &target, &headers, body.as_bytes())
}

fn patch(session: &Session<'_>, id: &str, body: &str) -> Answer {
    patch_with(session, id, &[], body)
}

#[track_caller]
fn assert_robot(session: &Session<'_>, id: &str, expected: &str) {
    let answer = session.get(&format!("/api/robots/{id}{ALL}"));
    let found = format!(r#"{{"status":"FOUND","data":{expected}}}"#);
    assert_answer(&answer, 200, &found);
}

fn patch_changes_only_given_members(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for (body, robot) in [
        (
            r#"{"year":1980}"#,
            r#"{"name":"R2-D2","type":"droid","year":1980,"revision":2}"#,
        ),
        (
            r#"{"name":"HAL","id":"9","revision":9,"x":null}"#,
            r#"{"name":"HAL","type":"droid","year":1980,"revision":3}"#,
        ),
        (
            r#"{"type":"virtual","year":2001}"#,
            r#"{"name":"HAL","type":"virtual","year":2001,"revision":4}"#,
        ),
    ] {
        assert_ok(&patch(session, &id, body));
        assert_robot(session, &id, robot);
    }
}

fn patch_checks_the_rules(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.add("C-3PO");
    let (no_name, no_type, no_year) = ("name is required", "type is required", "year is required");
    let all = r#"{"year":-1,"type":"toaster","name":"C-3PO"}"#;
    for (body, messages) in [
        (r#"{"name":"C-3PO"}"#, &[NAME_MESSAGE][..]),
        (r#"{"year":-1}"#, &[YEAR_MESSAGE]),
        (r#"{"name":""}"#, &[no_name]),
        (all, &[TYPE_MESSAGE, NAME_MESSAGE, YEAR_MESSAGE]),
        // Removing a member.
        (r#"{"name":null}"#, &[no_name]),
        (
            r#"{"name":null,"type":null,"year":null}"#,
            &[no_type, no_name, no_year],
        ),
        (r#"{"year":null,"name":"C-3PO"}"#, &[NAME_MESSAGE, no_year]),
        (r#"{"year":-1,"type":null}"#, &[no_type, YEAR_MESSAGE]),
    ] {
        session.assert_rejected(&patch(session, &id, body), messages);
    }
    assert_robot(session, &id, UNCHANGED);
    assert_eq!(patch(session, &id, r#"{"name":"R2-D2"}"#).status, 200);
}

fn patch_without_members_changes_nothing(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for body in ["{}", r#"{"x":1}"#] {
        let answer = patch(session, &id, body);
        assert_ok(&answer);
        assert_eq!(answer.header("etag"), Some("\"1\""));
        let stale = patch_with(session, &id, &[("If-Match", "\"2\"")], body);
        assert_failure(&stale, 412);
    }
    assert_robot(session, &id, UNCHANGED);
}

fn patch_of_missing_robot_returns_404(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.delete(&id);
    for id in [id.as_str(), "0"] {
        for body in ["{}", r#"{"year":1}"#, r#"{"year":-1}"#, r#"{"year":null}"#] {
            assert_failure(&patch(session, id, body), 404);
            let headers = [("If-Match", "\"1\"")];
            assert_failure(&patch_with(session, id, &headers, body), 404);
        }
    }
}

fn patch_with_another_content_type_returns_415(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let target = format!("/api/robots/{id}");
    for content_type in [
        "application/json",
        "application/json-patch+json",
        "text/plain",
    ] {
        let headers = [("Content-Type", content_type)];
        let answer = session.call("PATCH", &target, &headers, br#"{"year":1}"#);
        assert_failure(&answer, 415);
        assert_eq!(answer.header("accept-patch"), Some(TYPE));
    }
    let headers = [(
        "Content-Type",
        "Application/Merge-Patch+JSON; charset=utf-8",
    )];
    let answer = session.call("PATCH", &target, &headers, br#"{"year":1}"#);
    assert_eq!(answer.status, 200);
    let options = session.call("OPTIONS", &target, &[], b"");
    assert_eq!(options.header("accept-patch"), Some(TYPE));
}

fn malformed_patch_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for body in [
        "",
        "[]",
        "null",
        "{",
        r#"{"year":"1"}"#,
        r#"{"year":1,"year":2}"#,
    ] {
        assert_failure(&patch(session, &id, body), 400);
        assert_failure(&patch(session, "0", body), 400);
    }
}

fn concurrent_patches_of_different_members_are_kept(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let bodies = [
        r#"{"name":"HAL"}"#,
        r#"{"type":"virtual"}"#,
        r#"{"year":2001}"#,
    ];
    let statuses = at_once(3, |number| patch(session, &id, bodies[number]).status);
    assert_eq!(statuses, [200; 3]);
    let robot = json(&session.get(&format!("/api/robots/{id}{ALL}")));
    let expected = serde_json::json!({
        "name": "HAL", "type": "virtual", "year": 2001, "revision": 4
    });
    assert_eq!(robot["data"], expected);
}
