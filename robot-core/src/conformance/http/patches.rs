//! `PATCH`: changes of some members.

use super::{
    Case, NAME_MESSAGE, NO_NAME, NO_TYPE, NO_YEAR, Session, TYPE_MESSAGE, YEAR_MESSAGE,
    assert_failure, assert_ok,
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
const UNCHANGED: (&str, &str, i64, i64) = ("R2-D2", "droid", 1977, 1);

fn patch_with(session: &Session<'_>, id: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let headers = [&[("Content-Type", TYPE)], headers].concat();
    let target = format!("/api/robots/{id}");
    session.call("PATCH", &target, &headers, body.as_bytes())
}

fn patch(session: &Session<'_>, id: &str, body: &str) -> Answer {
    patch_with(session, id, &[], body)
}

/// Asserts the name, type, year and revision of a robot.
#[track_caller]
fn assert_robot(session: &Session<'_>, id: &str, expected: (&str, &str, i64, i64)) {
    let (name, robot_type, year, revision) = expected;
    let robot =
        format!(r#"{{"name":"{name}","type":"{robot_type}","year":{year},"revision":{revision}}}"#);
    session.get_is(
        &format!("/api/robots/{id}?fields=name,type,year,revision"),
        &format!(r#"{{"status":"FOUND","data":{robot}}}"#),
    );
}

fn patch_changes_only_given_members(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for (body, robot) in [
        (r#"{"year":1980}"#, ("R2-D2", "droid", 1980, 2)),
        (
            r#"{"name":"HAL","id":"9","revision":9,"x":null}"#,
            ("HAL", "droid", 1980, 3),
        ),
        (
            r#"{"type":"virtual","year":2001}"#,
            ("HAL", "virtual", 2001, 4),
        ),
    ] {
        assert_ok(&patch(session, &id, body));
        assert_robot(session, &id, robot);
    }
}

fn patch_checks_the_rules(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.add("C-3PO");
    for (body, messages) in [
        (r#"{"name":"C-3PO"}"#, &[NAME_MESSAGE][..]),
        (r#"{"year":-1}"#, &[YEAR_MESSAGE]),
        (r#"{"name":""}"#, &[NO_NAME]),
        (
            r#"{"year":-1,"type":"toaster","name":"C-3PO"}"#,
            &[TYPE_MESSAGE, NAME_MESSAGE, YEAR_MESSAGE],
        ),
        // Removing a member.
        (r#"{"name":null}"#, &[NO_NAME]),
        (
            r#"{"name":null,"type":null,"year":null}"#,
            &[NO_TYPE, NO_NAME, NO_YEAR],
        ),
        (r#"{"year":null,"name":"C-3PO"}"#, &[NAME_MESSAGE, NO_YEAR]),
        (r#"{"year":-1,"type":null}"#, &[NO_TYPE, YEAR_MESSAGE]),
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
    let patch = |content_type| {
        let headers = [("Content-Type", content_type)];
        session.call("PATCH", &target, &headers, br#"{"year":1}"#)
    };
    for content_type in [
        "application/json",
        "application/json-patch+json",
        "text/plain",
    ] {
        let answer = patch(content_type);
        assert_failure(&answer, 415);
        assert_eq!(answer.header("accept-patch"), Some(TYPE));
    }
    assert_ok(&patch("Application/Merge-Patch+JSON; charset=utf-8"));
    let options = session.call("OPTIONS", &target, &[], b"");
    assert_eq!(options.header("accept-patch"), Some(TYPE));
}

fn malformed_patch_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for body in r#"|[]|null|{|{"year":"1"}|{"year":1,"year":2}"#.split('|') {
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
    assert_robot(session, &id, ("HAL", "virtual", 2001, 4));
}
