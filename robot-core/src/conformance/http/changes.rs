//! Adding, replacing and deleting robots.

use super::{
    Case, NAME_MESSAGE, NO_NAME, NO_TYPE, NO_YEAR, Session, TYPE_MESSAGE, YEAR_MESSAGE,
    assert_answer, assert_messages, assert_ok, draft, json,
};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    post_adds_a_robot,
    violated_rules_are_reported_in_order,
    taken_name_is_rejected,
    put_replaces_a_robot,
    put_of_missing_robot_returns_404,
    delete_removes_a_robot,
];

fn post_adds_a_robot(session: &Session<'_>) {
    let answer = session.post(r#"{"name":"R2-D2","type":"droid","year":1977}"#);
    let body = json(&answer);
    let id = body["data"]["id"].as_str().unwrap_or_default();
    assert!(id.parse::<u64>().is_ok(), "{body}");
    let data = format!(r#"{{"name":"R2-D2","type":"droid","year":1977,"id":"{id}"}}"#);
    let body = format!(r#"{{"status":"OK","data":{data}}}"#);
    assert_answer(&answer, session.created(), &body);
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

/// Every rule, for `POST` and `PUT`. Nothing is stored.
fn violated_rules_are_reported_in_order(session: &Session<'_>) {
    let (id, _) = (session.add("mine"), session.add("taken"));
    let mut bodies: Vec<(String, &[&str])> = vec![
        (draft("x", "x", -1), &[TYPE_MESSAGE, YEAR_MESSAGE]),
        (draft("taken", "x", 1), &[TYPE_MESSAGE, NAME_MESSAGE]),
        (draft("taken", "droid", -1), &[NAME_MESSAGE, YEAR_MESSAGE]),
        (
            draft("taken", "x", -1),
            &[TYPE_MESSAGE, NAME_MESSAGE, YEAR_MESSAGE],
        ),
        (draft("", "x", -1), &[TYPE_MESSAGE, NO_NAME, YEAR_MESSAGE]),
    ];
    let all: &[_] = &[NO_TYPE, NO_NAME, NO_YEAR];
    let invalid: [(&str, &[&str]); 8] = [
        ("{}", all),
        (r#"{"name":null,"type":null,"year":null}"#, all),
        (r#"{"type":"droid","year":1}"#, &[NO_NAME]),
        (r#"{"name":"","type":"droid","year":1}"#, &[NO_NAME]),
        (r#"{"name":"x","year":1}"#, &[NO_TYPE]),
        (r#"{"name":"x","type":"droid"}"#, &[NO_YEAR]),
        (r#"{"name":"x","type":"y"}"#, &[TYPE_MESSAGE, NO_YEAR]),
        (
            r#"{"Name":"x","type":"droid","year":-1}"#,
            &[NO_NAME, YEAR_MESSAGE],
        ),
    ];
    bodies.extend(invalid.map(|(body, messages)| (body.to_owned(), messages)));
    for robot_type in ["", "Droid", "droid ", "robot", "droid,mechanical", "0"] {
        bodies.push((draft("x", robot_type, 1), &[TYPE_MESSAGE]));
    }
    for year in [-1, -1977, i64::MIN] {
        bodies.push((draft("x", "droid", year), &[YEAR_MESSAGE]));
    }
    for (body, messages) in &bodies {
        session.assert_rejected(&session.post(body), messages);
        session.assert_rejected(&session.put(&id, body), messages);
    }
    let robots = r#"[{"name":"mine","year":1977},{"name":"taken","year":1977}]"#;
    session.get_is("/api/robots?fields=name,year", robots);
}

fn taken_name_is_rejected(session: &Session<'_>) {
    session.add("R2-D2");
    let answer = session.post(&draft("R2-D2", "virtual", 2001));
    session.assert_rejected(&answer, &[NAME_MESSAGE]);
    for name in ["r2-d2", "R2-D2 ", " R2-D2", "R2-D\u{200b}2"] {
        session.add(name);
    }
}

fn put_replaces_a_robot(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for (name, robot_type, year) in [("HAL", "virtual", 2001), ("HAL", "virtual", 2002)] {
        assert_ok(&session.put(&id, &draft(name, robot_type, year)));
        let data =
            format!(r#"{{"name":"{name}","type":"{robot_type}","year":{year},"id":"{id}"}}"#);
        let found = format!(r#"{{"status":"FOUND","data":{data}}}"#);
        session.get_is(
            &format!("/api/robots/{id}?fields=name,type,year,id"),
            &found,
        );
    }
    assert_eq!(session.names("/api/robots"), ["HAL"]);
}

fn put_of_missing_robot_returns_404(session: &Session<'_>) {
    session.add("a");
    let id = session.add("b");
    session.delete(&id);
    let message = format!("No robot has the id {id}");
    for (name, robot_type, year) in [("c", "droid", 1), ("a", "droid", 1), ("c", "x", -1)] {
        let body = draft(name, robot_type, year);
        assert_messages(&session.put(&id, &body), 404, &[&message]);
    }
    assert_eq!(session.names("/api/robots"), ["a"]);
}

fn delete_removes_a_robot(session: &Session<'_>) {
    let id = session.add("a");
    session.add("b");
    assert_ok(&session.delete(&id));
    assert_eq!(session.names("/api/robots"), ["b"]);
    session.get_is(&format!("/api/robots/{id}"), r#"{"status":"NOT-FOUND"}"#);
    let message = format!("No robot has the id {id}");
    assert_messages(&session.delete(&id), 404, &[&message]);
}
