//! Revisions as entity tags, and conditional requests.

use super::{
    Case, NAME_MESSAGE, Session, TYPE_MESSAGE, assert_answer, assert_failure, assert_messages,
    draft, json,
};
use crate::conformance::{Answer, at_once, cases};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    get_of_a_robot_has_its_etag,
    conditions_of_reads_are_checked,
    conditions_of_changes_are_checked,
    change_with_current_etag_succeeds_once,
    missing_robot_takes_precedence_over_conditions,
    conditions_take_precedence_over_the_rules,
    malformed_body_takes_precedence_over_conditions,
    lists_ignore_conditions,
    concurrent_conditional_puts_succeed_once,
];

/// The message of a 412.
const STALE_MESSAGE: &str = "Another client has made a change since the ETag in If-Match was read; \
                             read again, and send the request with the new ETag";

const HAL: &str = r#"{"name":"HAL","type":"virtual","year":2001}"#;

/// Sends a request for a robot, with a line for each header.
fn send(session: &Session<'_>, method: &str, id: &str, headers: &str, body: &str) -> Answer {
    let lines = headers.lines().filter_map(|line| line.split_once(": "));
    let merge_patch = ("Content-Type", "application/merge-patch+json");
    let headers: Vec<_> = lines.chain([merge_patch]).collect();
    let target = format!("/api/robots/{id}");
    session.call(method, &target, &headers, body.as_bytes())
}

fn etag(session: &Session<'_>, id: &str) -> String {
    let answer = send(session, "GET", id, "", "");
    answer.header("etag").unwrap_or_default().to_owned()
}

fn get_of_a_robot_has_its_etag(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for target in [
        format!("/api/robots/{id}"),
        format!("/api/robots/{id}?fields=year"),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = session.call(method, &target, &[], b"");
            assert_eq!((answer.status, answer.header("etag")), (200, Some("\"1\"")));
        }
    }
    assert_eq!(session.put(&id, HAL).status, 200);
    assert_eq!(etag(session, &id), "\"2\"");
    session.get_is(
        &format!("/api/robots/{id}?fields=revision,name"),
        r#"{"status":"FOUND","data":{"revision":2,"name":"HAL"}}"#,
    );
    session.get_is(
        "/api/robots?fields=name,revision",
        r#"[{"name":"HAL","revision":2}]"#,
    );
    session.delete(&id);
    assert_eq!(etag(session, &id), "");
}

/// Robots have no times of changes, for which RFC 9110 requires to ignore conditions about them.
const TIMES: &str = "If-Unmodified-Since: Sat, 01 Jan 2000 00:00:00 GMT\n\
                     If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT\n";

fn conditions_of_reads_are_checked(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let whole = send(session, "GET", &id, "", "").text();
    for (headers, status) in [
        ("If-None-Match: \"1\"", 304),
        ("If-None-Match: W/\"1\"", 304),
        ("If-None-Match: \"x\", \"1\"", 304),
        ("If-None-Match: *", 304),
        ("If-None-Match: \"2\"", 200),
        ("If-None-Match: \"01\"", 200),
        ("If-None-Match: malformed", 200),
        ("If-Match: \"1\"", 200),
        ("If-Match: *", 200),
        ("If-Match: \"2\"", 412),
        ("If-None-Match: \"1\"\nIf-Match: \"2\"", 412),
        ("If-None-Match: \"1\"\nIf-Match: \"1\"", 304),
        ("Range: bytes=0-4\nIf-Range: \"1\"", 200),
        ("Range: bytes=0-4\nIf-Range: \"2\"", 200),
        ("If-Match: 1", 400),
        ("If-Match: \"1\" \"2\"", 400),
    ] {
        for headers in [headers.to_owned(), format!("{TIMES}{headers}")] {
            let get = send(session, "GET", &id, &headers, "");
            match status {
                200 => assert_answer(&get, 200, &whole),
                304 => assert_eq!((get.status, &*get.text()), (304, ""), "{headers}"),
                412 => assert_messages(&get, 412, &[STALE_MESSAGE]),
                _ => assert_failure(&get, status),
            }
            let etag = (status < 400).then_some("\"1\"");
            assert_eq!(get.header("etag"), etag, "{headers}");
            let head = send(session, "HEAD", &id, &headers, "");
            assert_eq!((head.status, head.header("etag")), (status, etag));
        }
    }
    session.delete(&id);
    let answer = send(session, "GET", &id, "If-None-Match: *", "");
    assert_answer(&answer, 200, r#"{"status":"NOT-FOUND"}"#);
}

fn conditions_of_changes_are_checked(session: &Session<'_>) {
    // `$` is the present revision.
    let conditions = [
        ("If-Match: \"$\"", 200),
        // A proxy that compresses replies weakens their tags.
        ("If-Match: W/\"$\"", 200),
        ("If-Match: \"1\", W/\"$\",, \"x,y\"", 200),
        ("If-Match: \"1\"\nIf-Match: \"$\"", 200),
        ("If-Match: *", 200),
        ("If-None-Match: \"1\"", 200),
        (TIMES, 200),
        ("If-Match: \"1\"", 412),
        ("If-Match: \"$0\"", 412),
        ("If-Match: \"0$\"", 412),
        ("If-Match: \"\"", 412),
        ("If-Match: \"two\"", 412),
        ("If-Match: \"1\", \"$0\"", 412),
        ("If-Match: \"1\"\nIf-None-Match: \"$\"", 412),
        ("If-None-Match: *", 412),
        ("If-None-Match: \"$\"", 412),
        ("If-None-Match: W/\"$\", \"1\"", 412),
        ("If-None-Match: \"$\"\nIf-Match: \"$\"", 412),
        ("If-Match: 1", 400),
        ("If-Match: \"1", 400),
        ("If-Match: *, \"1\"", 400),
        ("If-Match: w/\"$\"", 400),
        ("If-Match: \"1\" \"$\"", 400),
        ("If-Match: ,", 400),
        ("If-None-Match: 1", 400),
        ("If-None-Match: *, \"1\"", 400),
    ];
    for (headers, status) in conditions {
        for method in ["PUT", "PATCH", "DELETE"] {
            let id = session.add("R2-D2");
            session.put(&id, &draft("R2-D2", "droid", 1));
            let present = etag(session, &id);
            let headers = headers.replace('$', present.trim_matches('"'));
            let answer = send(session, method, &id, &headers, HAL);
            assert_eq!(answer.status, status, "{method} {headers}");
            if status == 412 && headers.starts_with("If-Match") {
                assert_messages(&answer, 412, &[STALE_MESSAGE]);
            }
            let left = etag(session, &id);
            assert_eq!(left != present, status == 200, "{method} {headers}");
            let shown = answer.header("etag").filter(|_| status == 200);
            assert!(
                shown.is_none_or(|shown| shown == left),
                "{method} {headers}"
            );
            session.delete(&id);
        }
    }
}

fn change_with_current_etag_succeeds_once(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for (method, tag, next) in [("PUT", "\"1\"", "\"2\""), ("PATCH", "\"2\"", "\"3\"")] {
        let condition = format!("If-Match: {tag}");
        let answer = send(session, method, &id, &condition, HAL);
        assert_eq!((answer.status, answer.header("etag")), (200, Some(next)));
        let again = send(session, method, &id, &condition, HAL);
        assert_messages(&again, 412, &[STALE_MESSAGE]);
        assert_eq!(etag(session, &id), next);
    }
}

fn missing_robot_takes_precedence_over_conditions(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.delete(&id);
    for id in [id.as_str(), "0", "99999999999999999999"] {
        for header in [
            "If-Match: \"1\"",
            "If-Match: \"1\", \"2\"",
            "If-Match: *",
            "If-None-Match: *",
        ] {
            for body in [HAL, r#"{"name":"HAL","type":"toaster","year":2001}"#] {
                for method in ["PUT", "PATCH", "DELETE"] {
                    assert_failure(&send(session, method, id, header, body), 404);
                }
            }
            assert_eq!(send(session, "GET", id, header, "").status, 200);
        }
    }
}

fn conditions_take_precedence_over_the_rules(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.add("C-3PO");
    let wrong = draft("C-3PO", "toaster", 1);
    let taken = draft("C-3PO", "droid", 1);
    for (body, messages) in [
        (&wrong, &[TYPE_MESSAGE, NAME_MESSAGE][..]),
        (&taken, &[NAME_MESSAGE]),
    ] {
        let put = |tags: &str| send(session, "PUT", &id, &format!("If-Match: {tags}"), body);
        for tags in ["\"2\"", "\"2\", \"3\""] {
            assert_messages(&put(tags), 412, &[STALE_MESSAGE]);
        }
        for tags in ["\"1\"", "\"1\", \"2\""] {
            session.assert_rejected(&put(tags), messages);
        }
    }
    assert_eq!(etag(session, &id), "\"1\"");
}

fn malformed_body_takes_precedence_over_conditions(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for body in ["", "[]", r#"{"year":"x"}"#] {
        for method in ["PUT", "PATCH"] {
            let answer = send(session, method, &id, "If-Match: \"2\"", body);
            assert_failure(&answer, 400);
        }
    }
}

fn lists_ignore_conditions(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for headers in [
        [("If-Match", "\"9\"")],
        [("If-None-Match", "*")],
        [("If-Match", "malformed")],
    ] {
        let list = session.call("GET", "/api/robots", &headers, b"");
        assert_eq!((list.status, list.header("etag")), (200, None));
        let body = draft(headers[0].1, "droid", 1);
        let added = session.call("POST", "/api/robots", &headers, body.as_bytes());
        assert_eq!(added.status, session.created());
        session.delete(json(&added)["data"]["id"].as_str().unwrap_or_default());
    }
    assert_eq!(etag(session, &id), "\"1\"");
}

fn concurrent_conditional_puts_succeed_once(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for revision in 1..=5 {
        let condition = format!("If-Match: \"{revision}\"");
        let answers = at_once(4, |_| send(session, "PUT", &id, &condition, HAL).status);
        let succeeded = answers.iter().filter(|status| **status == 200).count();
        assert_eq!(succeeded, 1, "{answers:?}");
        assert!(answers.iter().all(|status| [200, 412].contains(status)));
    }
}
