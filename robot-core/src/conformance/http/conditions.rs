//! Revisions as entity tags, and conditional requests.

use super::{
    Case, NAME_MESSAGE, Session, TYPE_MESSAGE, assert_answer, assert_failure, assert_messages,
    assert_ok, draft, json,
};
use crate::conformance::{Answer, at_once, cases};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    get_of_a_robot_has_its_etag,
    fields_can_include_the_revision,
    get_with_current_etag_returns_304,
    get_with_stale_if_match_returns_412,
    put_with_current_etag_succeeds_once,
    put_with_stale_etag_returns_412,
    put_expects_one_of_its_etags,
    if_none_match_excludes_changes,
    if_match_takes_precedence_over_if_none_match,
    conditions_about_times_are_ignored,
    range_returns_the_whole_robot,
    malformed_if_match_returns_400,
    missing_robot_takes_precedence_over_conditions,
    conditions_take_precedence_over_the_rules,
    malformed_body_takes_precedence_over_conditions,
    delete_with_stale_etag_returns_412,
    lists_ignore_conditions,
    concurrent_conditional_puts_succeed_once,
];

/// The message of a 412.
const STALE_MESSAGE: &str = "The robot was changed since it was read; read it again, and send the \
                             change with its new ETag in If-Match";

/// A time before any robot was added.
const PAST: &str = "Sat, 01 Jan 2000 00:00:00 GMT";

/// A time after any change.
const FUTURE: &str = "Fri, 31 Dec 9999 23:59:59 GMT";

const HAL: &str = r#"{"name":"HAL","type":"virtual","year":2001}"#;

fn send(
    session: &Session<'_>,
    method: &str,
    id: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let target = format!("/api/robots/{id}");
    session.call(method, &target, headers, body.as_bytes())
}

fn put_if(session: &Session<'_>, id: &str, tags: &str) -> Answer {
    send(session, "PUT", id, &[("If-Match", tags)], HAL)
}

fn etag(session: &Session<'_>, id: &str) -> String {
    let answer = send(session, "GET", id, &[], "");
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
    session.delete(&id);
    assert_eq!(etag(session, &id), "");
}

fn fields_can_include_the_revision(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.put(&id, HAL);
    session.get_is(
        &format!("/api/robots/{id}?fields=revision,name"),
        r#"{"status":"FOUND","data":{"revision":2,"name":"HAL"}}"#,
    );
    session.get_is(
        "/api/robots?fields=name,revision",
        r#"[{"name":"HAL","revision":2}]"#,
    );
}

fn get_with_current_etag_returns_304(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for method in ["GET", "HEAD"] {
        for tags in ["\"1\"", "W/\"1\"", "\"x\", \"1\"", "*"] {
            let answer = send(session, method, &id, &[("If-None-Match", tags)], "");
            assert_eq!((answer.status, answer.text().as_str()), (304, ""), "{tags}");
            assert_eq!(answer.header("etag"), Some("\"1\""));
        }
        for tags in ["\"2\"", "\"01\"", "malformed"] {
            let answer = send(session, method, &id, &[("If-None-Match", tags)], "");
            assert_eq!(answer.status, 200, "{tags}");
        }
    }
    session.delete(&id);
    let answer = send(session, "GET", &id, &[("If-None-Match", "*")], "");
    assert_answer(&answer, 200, r#"{"status":"NOT-FOUND"}"#);
}

fn get_with_stale_if_match_returns_412(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let get = |tags| send(session, "GET", &id, &[("If-Match", tags)], "");
    assert_messages(&get("\"2\""), 412, &[STALE_MESSAGE]);
    assert_eq!(get("\"1\"").status, 200);
    assert_eq!(get("*").status, 200);
}

fn put_with_current_etag_succeeds_once(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let answer = put_if(session, &id, "\"1\"");
    assert_ok(&answer);
    assert_eq!(answer.header("etag"), Some("\"2\""));
    assert_messages(&put_if(session, &id, "\"1\""), 412, &[STALE_MESSAGE]);
    assert_eq!(etag(session, &id), "\"2\"");
}

fn put_with_stale_etag_returns_412(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.put(&id, &draft("C-3PO", "droid", 1977));
    for tags in [
        "\"1\"",
        "\"3\"",
        "\"02\"",
        "\"\"",
        "\"two\"",
        "\"1\", \"3\"",
    ] {
        assert_messages(&put_if(session, &id, tags), 412, &[STALE_MESSAGE]);
    }
    assert_eq!(session.names("/api/robots"), ["C-3PO"]);
}

fn put_expects_one_of_its_etags(session: &Session<'_>) {
    let id = session.add("R2-D2");
    // A proxy that compresses replies weakens their tags.
    for tags in ["W/\"1\"", "\"7\", W/\"2\",, \"xy\"", "*"] {
        assert_eq!(put_if(session, &id, tags).status, 200, "{tags}");
    }
    for tags in ["W/\"1\"", "\"7\", \"1\""] {
        assert_eq!(put_if(session, &id, tags).status, 412, "{tags}");
    }
    let lines = [("If-Match", "\"7\""), ("If-Match", "\"4\"")];
    let answer = send(session, "PUT", &id, &lines, HAL);
    assert_eq!((answer.status, answer.header("etag")), (200, Some("\"5\"")));
    session.delete(&id);
    assert_failure(&put_if(session, &id, "*"), 404);
}

fn if_none_match_excludes_changes(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for tags in ["*", "\"1\"", "W/\"1\", \"5\""] {
        for method in ["PUT", "DELETE"] {
            let answer = send(session, method, &id, &[("If-None-Match", tags)], HAL);
            assert_failure(&answer, 412);
        }
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
    let other = [("If-None-Match", "\"5\"")];
    assert_eq!(send(session, "PUT", &id, &other, HAL).status, 200);
    assert_eq!(send(session, "DELETE", &id, &other, "").status, 200);
}

fn if_match_takes_precedence_over_if_none_match(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let both = |if_match| [("If-None-Match", "\"1\""), ("If-Match", if_match)];
    let stale = send(session, "GET", &id, &both("\"2\""), "");
    assert_messages(&stale, 412, &[STALE_MESSAGE]);
    let stale = send(session, "PUT", &id, &both("\"2\""), HAL);
    assert_messages(&stale, 412, &[STALE_MESSAGE]);
    assert_eq!(send(session, "GET", &id, &both("\"1\""), "").status, 304);
    assert_failure(&send(session, "PUT", &id, &both("\"1\""), HAL), 412);
}

/// Robots have no times of changes: RFC 9110 requires to ignore conditions about them.
fn conditions_about_times_are_ignored(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let (unmodified, modified) = (("If-Unmodified-Since", PAST), ("If-Modified-Since", FUTURE));
    for (method, tags, time, status) in [
        (
            "PUT",
            ("If-Match", "\"2\""),
            ("If-Unmodified-Since", FUTURE),
            412,
        ),
        (
            "GET",
            ("If-None-Match", "\"1\""),
            ("If-Modified-Since", PAST),
            304,
        ),
        ("GET", ("If-None-Match", "\"2\""), modified, 200),
        ("PUT", ("If-Match", "\"1\""), unmodified, 200),
        ("GET", ("X", ""), unmodified, 200),
        ("GET", ("X", ""), modified, 200),
        ("PUT", ("X", ""), unmodified, 200),
        ("PUT", ("X", ""), modified, 200),
        ("DELETE", ("X", ""), unmodified, 200),
    ] {
        let answer = send(session, method, &id, &[tags, time], HAL);
        assert_eq!(answer.status, status, "{method} {tags:?} {time:?}");
    }
}

fn range_returns_the_whole_robot(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let whole = send(session, "GET", &id, &[], "");
    for tag in ["\"1\"", "\"2\""] {
        let headers = [("Range", "bytes=0-4"), ("If-Range", tag)];
        let answer = send(session, "GET", &id, &headers, "");
        assert_answer(&answer, 200, &whole.text());
    }
}

fn malformed_if_match_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for tags in ["1", "\"1", "*, \"1\"", "w/\"1\"", "\"1\" \"2\"", ","] {
        for name in ["If-Match", "If-None-Match"] {
            for method in ["PUT", "DELETE"] {
                assert_failure(&send(session, method, &id, &[(name, tags)], HAL), 400);
            }
        }
        assert_failure(&send(session, "GET", &id, &[("If-Match", tags)], ""), 400);
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

fn missing_robot_takes_precedence_over_conditions(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.delete(&id);
    for id in [id.as_str(), "0", "99999999999999999999"] {
        for header in [
            ("If-Match", "\"1\""),
            ("If-Match", "\"1\", \"2\""),
            ("If-None-Match", "*"),
        ] {
            for body in [HAL, r#"{"name":"HAL","type":"toaster","year":2001}"#] {
                assert_failure(&send(session, "PUT", id, &[header], body), 404);
            }
            assert_failure(&send(session, "DELETE", id, &[header], ""), 404);
            assert_eq!(send(session, "GET", id, &[header], "").status, 200);
        }
    }
}

fn conditions_take_precedence_over_the_rules(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.add("C-3PO");
    let wrong = draft("C-3PO", "toaster", 1);
    let taken = draft("C-3PO", "droid", 1);
    let put = |tags, body| send(session, "PUT", &id, &[("If-Match", tags)], body);
    for body in [&wrong, &taken] {
        for tags in ["\"2\"", "\"2\", \"3\""] {
            assert_messages(&put(tags, body), 412, &[STALE_MESSAGE]);
        }
    }
    for tags in ["\"1\"", "\"1\", \"2\""] {
        let rejected = session.rejected();
        assert_messages(&put(tags, &wrong), rejected, &[TYPE_MESSAGE, NAME_MESSAGE]);
        assert_messages(&put(tags, &taken), rejected, &[NAME_MESSAGE]);
    }
    assert_eq!(etag(session, &id), "\"1\"");
}

fn malformed_body_takes_precedence_over_conditions(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for body in ["", "[]", r#"{"year":"x"}"#] {
        let answer = send(session, "PUT", &id, &[("If-Match", "\"2\"")], body);
        assert_failure(&answer, 400);
    }
}

fn delete_with_stale_etag_returns_412(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.put(&id, HAL);
    let delete = |tags| send(session, "DELETE", &id, &[("If-Match", tags)], "");
    assert_messages(&delete("\"1\""), 412, &[STALE_MESSAGE]);
    assert_messages(&delete("\"1\", \"3\""), 412, &[STALE_MESSAGE]);
    assert_eq!(session.names("/api/robots"), ["HAL"]);
    assert_ok(&delete("\"1\", \"2\""));
    assert_failure(&delete("\"2\""), 404);
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
        let tag = format!("\"{revision}\"");
        let answers = at_once(4, |_| put_if(session, &id, &tag).status);
        let succeeded = answers.iter().filter(|status| **status == 200).count();
        assert_eq!(succeeded, 1, "{answers:?}");
        assert!(answers.iter().all(|status| [200, 412].contains(status)));
    }
}
