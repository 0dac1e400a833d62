//! Adding, replacing and deleting robots.

use std::collections::HashSet;

use super::{
    Case, NAME_MESSAGE, NO_NAME, NO_TYPE, NO_YEAR, Session, TYPE_MESSAGE, YEAR_MESSAGE,
    assert_answer, assert_failure, assert_messages, assert_ok, draft, json,
};
use crate::conformance::{at_once, cases};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    post_adds_a_robot,
    all_types_and_years_are_accepted,
    violated_rules_are_reported_in_order,
    taken_name_is_rejected,
    name_length_is_limited,
    ids_are_never_reused,
    put_replaces_a_robot,
    put_of_missing_robot_returns_404,
    delete_removes_a_robot,
    concurrent_posts_of_one_name_add_one_robot,
    concurrent_posts_of_different_names_all_succeed,
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

fn all_types_and_years_are_accepted(session: &Session<'_>) {
    for robot_type in ["droid", "mechanical", "virtual"] {
        for year in [0, 1, 1977, 9_007_199_254_740_993, i64::MAX] {
            let name = format!("{robot_type} {year}");
            let answer = session.post(&draft(&name, robot_type, year));
            assert_eq!(answer.status, session.created());
            assert_eq!(json(&answer)["data"]["type"], robot_type);
            assert_eq!(json(&answer)["data"]["year"], year);
        }
    }
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

fn name_length_is_limited(session: &Session<'_>) {
    let mut invalid = ["\0", "a\0", "\0a", "a\0b"].map(str::to_owned).to_vec();
    for character in ["a", "é", "🤖"] {
        session.add(&character.repeat(255));
        invalid.push(character.repeat(256));
    }
    for name in invalid {
        assert_failure(&session.post(&draft(&name, "droid", 1)), session.rejected());
    }
}

fn ids_are_never_reused(session: &Session<'_>) {
    let mut given = HashSet::new();
    for _ in 0..5 {
        let id = session.add("reborn");
        assert_eq!(session.delete(&id).status, 200);
        assert!(given.insert(id));
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

fn concurrent_posts_of_one_name_add_one_robot(session: &Session<'_>) {
    let answers = at_once(24, |_| session.post(&draft("R2-D2", "droid", 1977)));
    let refused = answers
        .iter()
        .filter(|answer| answer.status != session.created());
    let refused: Vec<_> = refused.collect();
    assert_eq!(refused.len(), 23);
    for answer in refused {
        session.assert_rejected(answer, &[NAME_MESSAGE]);
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

fn concurrent_posts_of_different_names_all_succeed(session: &Session<'_>) {
    let ids: HashSet<_> = at_once(100, |number| session.add(&format!("RX-{number}")))
        .into_iter()
        .collect();
    assert_eq!(ids.len(), 100);
    assert_eq!(session.names("/api/robots").len(), 100);
}
