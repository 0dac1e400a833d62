//! Invalid and unusual request bodies.

use super::{Case, Session, assert_answer, assert_failure, draft};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    body_must_be_a_json_object,
    body_must_be_utf_8,
    member_of_wrong_type_returns_400,
    year_must_be_a_64_bit_integer,
    repeated_member_returns_400,
    unknown_members_are_ignored,
    escapes_and_white_space_are_parsed,
    content_type_of_a_draft_is_ignored,
    deep_nesting_is_accepted,
    body_of_a_get_is_ignored,
];

/// Asserts that both `POST` and `PUT` reject the body, and that nothing was stored.
fn assert_malformed(session: &Session<'_>, id: &str, body: &[u8]) {
    assert_failure(&session.call("POST", "/api/robots", &[], body), 400);
    assert_failure(
        &session.call("PUT", &format!("/api/robots/{id}"), &[], body),
        400,
    );
    assert_answer(
        &session.get("/api/robots?fields=id,name,type,year"),
        200,
        &format!(r#"[{{"id":"{id}","name":"R2-D2","type":"droid","year":1977}}]"#),
    );
}

fn body_must_be_a_json_object(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for body in [
        "",
        " ",
        "\n",
        "null",
        "true",
        "5",
        "\"x\"",
        "[]",
        "[{}]",
        "{",
        "}",
        "{}{}",
        "{},",
        "{} x",
        "{,}",
        "{'name':'x'}",
        "{name:\"x\"}",
        "{\"name\":\"x\",}",
        "name=x&type=droid&year=1",
        "<xml/>",
        "{\"name\":\"x\" \"type\":\"droid\"}",
        "{\"name\"}",
        "{\"year\":01}",
        "{\"year\":+1}",
        "{\"year\":.5}",
        "{\"year\":NaN}",
        "{\"year\":Infinity}",
        "{\"year\":0x10}",
        "{\"name\":\"\n\"}",
        "{\"name\":\"\\x\"}",
        "// comment\n{}",
        "{} // comment",
    ] {
        assert_malformed(session, &id, body.as_bytes());
    }
}

fn body_must_be_utf_8(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for name in [
        &b"\xff"[..],
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf4\x90\x80\x80",
    ] {
        let body = [b"{\"name\":\"", name, b"\",\"type\":\"droid\",\"year\":1}"].concat();
        assert_malformed(session, &id, &body);
        let unread = [
            b"{\"other\":\"",
            name,
            b"\",\"name\":\"x\",\"type\":\"droid\",\"year\":1}",
        ]
        .concat();
        assert_malformed(session, &id, &unread);
    }
    let with_mark = [b"\xef\xbb\xbf", draft("x", "droid", 1).as_bytes()].concat();
    assert_malformed(session, &id, &with_mark);
    let utf_16: Vec<u8> = draft("x", "droid", 1)
        .bytes()
        .flat_map(|byte| [byte, 0])
        .collect();
    assert_malformed(session, &id, &utf_16);
}

fn member_of_wrong_type_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for wrong in ["5", "true", "[]", "{}", "[\"x\"]", "{\"x\":1}", "1e400"] {
        assert_malformed(
            session,
            &id,
            format!(r#"{{"name":{wrong},"type":"droid","year":1}}"#).as_bytes(),
        );
        assert_malformed(
            session,
            &id,
            format!(r#"{{"name":"x","type":{wrong},"year":1}}"#).as_bytes(),
        );
    }
    for wrong in [r#""\ud800""#, r#""\udc00""#, r#""\ud800x""#] {
        assert_malformed(
            session,
            &id,
            format!(r#"{{"name":{wrong},"type":"droid","year":1}}"#).as_bytes(),
        );
    }
    let answer = session.post(r#"{"name":1,"type":2,"year":"3"}"#);
    assert_failure(&answer, 400);
    let text = answer.text();
    assert!(
        ["name", "type", "year"]
            .iter()
            .all(|member| text.contains(member)),
        "{text}"
    );
}

fn year_must_be_a_64_bit_integer(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for year in [
        "\"1977\"",
        "1977.0",
        "1977.5",
        "1e3",
        "1E3",
        "-1.5",
        "1e400",
        "true",
        "[]",
        "{}",
        "\"\"",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999999999999999",
    ] {
        let body = format!(r#"{{"name":"x","type":"droid","year":{year}}}"#);
        assert_malformed(session, &id, body.as_bytes());
    }
    let answer = session.post(r#"{"name":"zero","type":"droid","year":-0}"#);
    assert_eq!(answer.status, session.created(), "{}", answer.text());
}

fn repeated_member_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for body in [
        r#"{"name":"x","name":"x","type":"droid","year":1}"#,
        r#"{"name":"x","type":"droid","type":"droid","year":1}"#,
        r#"{"name":"x","type":"droid","year":1,"year":2}"#,
        r#"{"name":"x","type":"droid","year":1,"n\u0061me":"y"}"#,
        r#"{"name":"x","type":"droid","year":1,"other":1,"other":2}"#,
    ] {
        assert_malformed(session, &id, body.as_bytes());
    }
}

fn unknown_members_are_ignored(session: &Session<'_>) {
    let answer = session.post(
        r#"{"id":"999","name":"x","type":"droid","year":1,"colour":[{"x":1e400},null],"":{},"status":"OK"}"#,
    );
    assert_eq!(answer.status, session.created(), "{}", answer.text());
    let id = super::json(&answer)["data"]["id"].clone();
    assert_answer(
        &answer,
        session.created(),
        &format!(r#"{{"status":"OK","data":{{"name":"x","type":"droid","year":1,"id":{id}}}}}"#),
    );
    assert_ne!(id, "999");
}

fn escapes_and_white_space_are_parsed(session: &Session<'_>) {
    let answer = session.post(
        " \r\n\t{ \"n\\u0061me\" : \"\\ud83e\\udd16\\/\\\"\" ,\n\"type\":\"dr\\u006fid\", \"year\" : 1 }\n ",
    );
    assert_eq!(answer.status, session.created(), "{}", answer.text());
    assert_eq!(session.names("/api/robots"), ["🤖/\""]);
}

fn content_type_of_a_draft_is_ignored(session: &Session<'_>) {
    for (number, content_type) in [
        "application/json",
        "application/x-www-form-urlencoded",
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/xml",
        "nonsense",
        "",
    ]
    .iter()
    .enumerate()
    {
        let body = draft(&number.to_string(), "droid", 1);
        let answer = session.call(
            "POST",
            "/api/robots",
            &[("Content-Type", content_type)],
            body.as_bytes(),
        );
        assert_eq!(
            answer.status,
            session.created(),
            "{content_type}: {}",
            answer.text()
        );
    }
}

fn deep_nesting_is_accepted(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for bracket in ["[", "{\"x\":"] {
        let deep = bracket.repeat(10_000);
        assert_malformed(session, &id, deep.as_bytes());
        assert_malformed(session, &id, format!("{{\"name\":{deep}").as_bytes());
    }
    let deep = format!("{}{}", "[".repeat(30_000), "]".repeat(30_000));
    let body = format!(r#"{{"name":{deep},"type":"droid","year":1}}"#);
    assert_malformed(session, &id, body.as_bytes());
}

fn body_of_a_get_is_ignored(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let target = format!("/api/robots/{id}");
    let answer = session.call("GET", &target, &[], b"{nonsense");
    assert_eq!(answer.status, 200);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let answer = session.call("GET", &target, &form, b"_method=x");
    assert_eq!(answer.status, 200);
    let answer = session.call("DELETE", &target, &form, b"_method=x");
    assert_answer(&answer, 200, r#"{"status":"OK"}"#);
}
