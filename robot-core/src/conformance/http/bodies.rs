//! Invalid and unusual request bodies.

use super::{Case, Session, assert_answer, assert_failure, assert_ok, draft, json};
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
    encoded_body_returns_415,
];

/// Asserts that both `POST` and `PUT` reject the body, and that nothing was stored.
fn assert_malformed(session: &Session<'_>, id: &str, body: &[u8]) {
    assert_failure(&session.call("POST", "/api/robots", &[], body), 400);
    assert_failure(
        &session.call("PUT", &format!("/api/robots/{id}"), &[], body),
        400,
    );
    session.get_is(
        "/api/robots?fields=id,name,type,year",
        &format!(r#"[{{"id":"{id}","name":"R2-D2","type":"droid","year":1977}}]"#),
    );
}

fn body_must_be_a_json_object(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let bodies = r#"null true 5 "x" [] [{}] { } {}{} {}, {,} {'name':'x'} {name:"x"} {"name":"x",}
        name=x&type=droid&year=1 <xml/> {"name"} {"year":01} {"year":+1} {"year":.5} {"year":NaN}
        {"year":Infinity} {"year":0x10} {"name":"\x"}"#;
    let with_blanks = [
        "",
        " ",
        "\n",
        "{} x",
        "{\"name\":\"x\" \"type\":\"droid\"}",
        "{\"name\":\"\n\"}",
        "// comment\n{}",
        "{} // comment",
    ];
    for body in bodies.split_whitespace().chain(with_blanks) {
        assert_malformed(session, &id, body.as_bytes());
    }
}

fn body_must_be_utf_8(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let robot = draft("x", "droid", 1);
    for text in [
        &b"\xff"[..],
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf4\x90\x80\x80",
    ] {
        let body = [b"{\"name\":\"", text, b"\",\"type\":\"droid\",\"year\":1}"].concat();
        assert_malformed(session, &id, &body);
        let unread = [b"{\"other\":\"", text, b"\",", &robot.as_bytes()[1..]].concat();
        assert_malformed(session, &id, &unread);
    }
    let with_mark = [b"\xef\xbb\xbf", robot.as_bytes()].concat();
    assert_malformed(session, &id, &with_mark);
    let utf_16: Vec<u8> = robot.bytes().flat_map(|byte| [byte, 0]).collect();
    assert_malformed(session, &id, &utf_16);
}

fn member_of_wrong_type_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for wrong in r#"5 true [] {} ["x"] {"x":1} 1e400 "\ud800" "\udc00" "\ud800x""#.split(' ') {
        let name = format!(r#"{{"name":{wrong},"type":"droid","year":1}}"#);
        assert_malformed(session, &id, name.as_bytes());
        let robot_type = format!(r#"{{"name":"x","type":{wrong},"year":1}}"#);
        assert_malformed(session, &id, robot_type.as_bytes());
    }
    let text = session.post(r#"{"name":1,"type":2,"year":"3"}"#).text();
    let members = ["name", "type", "year"];
    assert!(members.iter().all(|member| text.contains(member)), "{text}");
}

fn year_must_be_a_64_bit_integer(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let years = "\"1977\" 1977.5 1e3 1E3 -1.5 1e400 true [] {} \"\" 9223372036854775808 \
                 -9223372036854775809 99999999999999999999999999999999";
    for year in years.split(' ') {
        let body = format!(r#"{{"name":"x","type":"droid","year":{year}}}"#);
        assert_malformed(session, &id, body.as_bytes());
    }
    for (sent, stored) in [("-0", 0), ("9223372036854775807", i64::MAX)] {
        let body = format!(r#"{{"name":"{sent}","type":"droid","year":{sent}}}"#);
        let answer = session.post(&body);
        assert_eq!(answer.status, session.created(), "{}", answer.text());
        assert_eq!(json(&answer)["data"]["year"], stored);
    }
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
    let id = json(&answer)["data"]["id"].clone();
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
    let types =
        "application/json;application/x-www-form-urlencoded;text/plain;application/xml;nonsense;";
    for content_type in types.split(';').chain(["multipart/form-data; boundary=x"]) {
        let body = draft(&format!("a {content_type}"), "droid", 1);
        let headers = [("Content-Type", content_type)];
        let answer = session.call("POST", "/api/robots", &headers, body.as_bytes());
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
    assert_ok(&answer);
}

fn encoded_body_returns_415(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    let body = draft("x", "droid", 1);
    for coding in ["gzip", "identity, BR"] {
        for (method, target) in [
            ("POST", "/api/robots"),
            ("PUT", &by_id),
            ("PATCH", &by_id),
            ("PUT", "/api/definition"),
            ("POST", "/api/robots/import?format=ndjson"),
        ] {
            let headers = [("Content-Encoding", coding)];
            let answer = session.call(method, target, &headers, body.as_bytes());
            assert_failure(&answer, 415);
            assert_eq!(answer.header("accept-encoding"), Some("identity"));
        }
    }
    let headers = [("Content-Encoding", "Identity")];
    let answer = session.call("POST", "/api/robots", &headers, body.as_bytes());
    assert_eq!(answer.status, session.created());
    assert_eq!(session.names("/api/robots"), ["R2-D2", "x"]);
}
