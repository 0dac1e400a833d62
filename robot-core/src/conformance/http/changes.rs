//! Adding, replacing and deleting robots.

use std::collections::HashSet;

use super::{
    Case, NAME_MESSAGE, Session, TYPE_MESSAGE, YEAR_MESSAGE, assert_answer, assert_failure,
    assert_messages, draft, json,
};
use crate::conformance::{at_once, cases};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    post_adds_a_robot,
    all_types_and_years_are_accepted,
    unknown_type_is_rejected,
    taken_name_is_rejected,
    negative_year_is_rejected,
    all_violated_rules_are_reported_in_order,
    missing_members_are_reported,
    name_length_is_limited,
    rejected_robot_is_not_stored,
    ids_are_never_reused,
    put_replaces_a_robot,
    put_can_keep_the_name,
    put_checks_the_rules,
    put_of_missing_robot_returns_404,
    delete_removes_a_robot,
    delete_of_missing_robot_returns_404,
    concurrent_posts_of_one_name_add_one_robot,
    concurrent_posts_of_different_names_all_succeed,
];

fn post_adds_a_robot(session: &Session<'_>) {
    let answer = session.post(r#"{"name":"R2-D2","type":"droid","year":1977}"#);
    let id = json(&answer)["data"]["id"].clone();
    let id = id
        .as_str()
        .unwrap_or_else(|| panic!("the id {id} is not a string"));
    assert!(id.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
    assert_answer(
        &answer,
        session.created(),
        &format!(
            r#"{{"status":"OK","data":{{"name":"R2-D2","type":"droid","year":1977,"id":"{id}"}}}}"#
        ),
    );
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

fn unknown_type_is_rejected(session: &Session<'_>) {
    for robot_type in ["", "Droid", "droid ", "robot", "droid,mechanical", "0"] {
        assert_messages(
            &session.post(&draft("x", robot_type, 1)),
            session.rejected(),
            &[TYPE_MESSAGE],
        );
    }
}

fn taken_name_is_rejected(session: &Session<'_>) {
    session.add("R2-D2");
    assert_messages(
        &session.post(&draft("R2-D2", "virtual", 2001)),
        session.rejected(),
        &[NAME_MESSAGE],
    );
    for name in ["r2-d2", "R2-D2 ", " R2-D2", "R2-D\u{200b}2"] {
        session.add(name);
    }
}

fn negative_year_is_rejected(session: &Session<'_>) {
    for year in [-1, -1977, i64::MIN] {
        assert_messages(
            &session.post(&draft("x", "droid", year)),
            session.rejected(),
            &[YEAR_MESSAGE],
        );
    }
}

fn all_violated_rules_are_reported_in_order(session: &Session<'_>) {
    session.add("R2-D2");
    for (name, robot_type, year, messages) in [
        (
            "R2-D2",
            "x",
            -1,
            &[TYPE_MESSAGE, NAME_MESSAGE, YEAR_MESSAGE][..],
        ),
        ("new", "x", -1, &[TYPE_MESSAGE, YEAR_MESSAGE]),
        ("R2-D2", "x", 1, &[TYPE_MESSAGE, NAME_MESSAGE]),
        ("R2-D2", "droid", -1, &[NAME_MESSAGE, YEAR_MESSAGE]),
        (
            "",
            "x",
            -1,
            &[TYPE_MESSAGE, "name is required", YEAR_MESSAGE],
        ),
    ] {
        assert_messages(
            &session.post(&draft(name, robot_type, year)),
            session.rejected(),
            messages,
        );
    }
}

fn missing_members_are_reported(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for (body, messages) in [
        (
            "{}",
            &["type is required", "name is required", "year is required"][..],
        ),
        (
            r#"{"name":null,"type":null,"year":null}"#,
            &["type is required", "name is required", "year is required"],
        ),
        (r#"{"type":"droid","year":1}"#, &["name is required"]),
        (
            r#"{"name":"","type":"droid","year":1}"#,
            &["name is required"],
        ),
        (r#"{"name":"x","year":1}"#, &["type is required"]),
        (r#"{"name":"x","type":"droid"}"#, &["year is required"]),
        (
            r#"{"name":"x","type":"y"}"#,
            &[TYPE_MESSAGE, "year is required"],
        ),
        (
            r#"{"Name":"x","type":"droid","year":-1}"#,
            &["name is required", YEAR_MESSAGE],
        ),
    ] {
        assert_messages(&session.post(body), session.rejected(), messages);
        assert_messages(&session.put(&id, body), session.rejected(), messages);
    }
}

fn name_length_is_limited(session: &Session<'_>) {
    for character in ["a", "é", "🤖"] {
        session.add(&character.repeat(255));
        assert_failure(
            &session.post(&draft(&character.repeat(256), "droid", 1)),
            session.rejected(),
        );
    }
    for name in ["\0", "a\0", "\0a", "a\0b"] {
        assert_failure(&session.post(&draft(name, "droid", 1)), session.rejected());
    }
}

fn rejected_robot_is_not_stored(session: &Session<'_>) {
    session.add("a");
    session.post(&draft("b", "x", 1));
    session.post(&draft("c", "droid", -1));
    session.post(&draft("a", "droid", 1));
    session.post("{\"name\":\"d\",\"type\":\"droid\",\"year\":1");
    assert_eq!(session.names("/api/robots"), ["a"]);
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
    assert_answer(
        &session.put(&id, &draft("HAL", "virtual", 2001)),
        200,
        r#"{"status":"OK"}"#,
    );
    assert_answer(
        &session.get(&format!("/api/robots/{id}?fields=name,type,year,id")),
        200,
        &format!(
            r#"{{"status":"FOUND","data":{{"name":"HAL","type":"virtual","year":2001,"id":"{id}"}}}}"#
        ),
    );
    assert_eq!(session.names("/api/robots"), ["HAL"]);
}

fn put_can_keep_the_name(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for year in [1977, 1978] {
        assert_answer(
            &session.put(&id, &draft("R2-D2", "mechanical", year)),
            200,
            r#"{"status":"OK"}"#,
        );
    }
}

fn put_checks_the_rules(session: &Session<'_>) {
    let (id, _) = (session.add("a"), session.add("b"));
    for (name, robot_type, year, messages) in [
        ("b", "droid", 1, &[NAME_MESSAGE][..]),
        ("b", "x", -1, &[TYPE_MESSAGE, NAME_MESSAGE, YEAR_MESSAGE]),
        ("a", "x", -1, &[TYPE_MESSAGE, YEAR_MESSAGE]),
        ("c", "x", 1, &[TYPE_MESSAGE]),
    ] {
        assert_messages(
            &session.put(&id, &draft(name, robot_type, year)),
            session.rejected(),
            messages,
        );
    }
    assert_answer(
        &session.get(&format!("/api/robots/{id}?fields=name,type,year")),
        200,
        r#"{"status":"FOUND","data":{"name":"a","type":"droid","year":1977}}"#,
    );
}

fn put_of_missing_robot_returns_404(session: &Session<'_>) {
    session.add("a");
    let id = session.add("b");
    session.delete(&id);
    for body in [
        draft("c", "droid", 1),
        draft("a", "droid", 1),
        draft("c", "x", -1),
    ] {
        let message = format!("No robot has the id {id}");
        assert_messages(&session.put(&id, &body), 404, &[&message]);
        assert_failure(&session.put(0, &body), 404);
    }
    assert_eq!(session.names("/api/robots"), ["a"]);
}

fn delete_removes_a_robot(session: &Session<'_>) {
    let id = session.add("a");
    session.add("b");
    assert_answer(&session.delete(&id), 200, r#"{"status":"OK"}"#);
    assert_eq!(session.names("/api/robots"), ["b"]);
    assert_answer(
        &session.get(&format!("/api/robots/{id}")),
        200,
        r#"{"status":"NOT-FOUND"}"#,
    );
}

fn delete_of_missing_robot_returns_404(session: &Session<'_>) {
    let id = session.add("a");
    session.delete(&id);
    let message = format!("No robot has the id {id}");
    assert_messages(&session.delete(&id), 404, &[&message]);
    assert_failure(&session.delete(0), 404);
}

fn concurrent_posts_of_one_name_add_one_robot(session: &Session<'_>) {
    let answers = at_once(24, |_| session.post(&draft("R2-D2", "droid", 1977)));
    let (added, refused): (Vec<_>, Vec<_>) = answers
        .iter()
        .partition(|answer| answer.status == session.created());
    assert_eq!((added.len(), refused.len()), (1, 23));
    for answer in refused {
        assert_messages(answer, session.rejected(), &[NAME_MESSAGE]);
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
