//! Lists, searches and single robots.

use super::{Case, Session, assert_answer, assert_failure, draft, encoded, search};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    lists_have_ids_and_names_in_name_order,
    ids_in_paths_are_numbers,
    search_text_is_decoded_once,
    search_that_is_not_utf_8_returns_400,
    search_for_too_long_text_finds_nothing,
    names_are_returned_unchanged,
    markup_in_names_is_escaped,
    fields_selects_and_orders_members,
    unknown_field_returns_400,
    unknown_parameters_are_ignored,
];

const NOT_FOUND: &str = r#"{"status":"NOT-FOUND"}"#;

fn lists_have_ids_and_names_in_name_order(session: &Session<'_>) {
    for path in ["/api/robots", "/api/robots/search/", "/api/robots/search/x"] {
        session.get_is(path, "[]");
    }
    let robots = ["c", "B", "a"].map(|name| {
        let id = session.add(name);
        format!(r#"{{"id":"{id}","name":"{name}"}}"#)
    });
    let [c, b, a] = &robots;
    session.get_is("/api/robots", &format!("[{b},{a},{c}]"));
    session.get_is("/api/robots/search/", &format!("[{b},{a},{c}]"));
}

fn ids_in_paths_are_numbers(session: &Session<'_>) {
    let (id, deleted) = (session.add("R2-D2"), session.add("deleted"));
    session.delete(&deleted);
    let found = format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#);
    let zeros = "0".repeat(31);
    let others = [format!("0{id}"), format!("{zeros}{id}"), encoded(&id)];
    for path in [&id].into_iter().chain(&others) {
        session.get_is(&format!("/api/robots/{path}"), &found);
    }
    let digits = "1".repeat(1000);
    // The last three do not fit into 64 bits.
    let missing = "0 1234567 9223372036854775807 9223372036854775808 18446744073709551617";
    for id in missing.split(' ').chain([&*deleted, &*digits]) {
        session.get_is(&format!("/api/robots/{id}"), NOT_FOUND);
        assert_failure(&session.put(id, &draft("x", "droid", 1)), 404);
        assert_failure(&session.delete(id), 404);
    }
}

fn search_text_is_decoded_once(session: &Session<'_>) {
    for name in ["a+b", "a b", "a/b", "a%2Fb", "100%", "%zz"] {
        session.add(name);
    }
    let lists = "
        a+b -> a+b
        a%2Bb -> a+b
        a%20b -> a b
        a%2Fb -> a/b
        a%2fb -> a/b
        a%252Fb -> a%2Fb
        100%25 -> 100%
        %25zz -> %zz";
    session.assert_lists("/api/robots/search/", lists);
}

fn search_that_is_not_utf_8_returns_400(session: &Session<'_>) {
    session.add("é");
    for name in "%FF %C3 a%C3b %ED%A0%80 %C0%AF %F4%90%80%80".split(' ') {
        assert_failure(&session.get(&format!("/api/robots/search/{name}")), 400);
    }
}

fn search_for_too_long_text_finds_nothing(session: &Session<'_>) {
    let longest = "é".repeat(255);
    session.add(&longest);
    assert_eq!(session.names(&search(&longest)), [longest.as_str()]);
    for length in [256, 1000, 10_000] {
        session.get_is(&search(&"é".repeat(length)), "[]");
    }
    let target = search(&"é".repeat(256));
    let answer = session.get(&format!("{target}?count=true"));
    assert_eq!(answer.header("x-total-count"), Some("0"));
    assert_failure(&session.get(&format!("{target}?limit=0")), 400);
}

fn names_are_returned_unchanged(session: &Session<'_>) {
    let unusual = " | x |\t\r\n|\u{1b}[31m|\u{7f}|\u{feff}|\u{10ffff}|\"\\/";
    for name in unusual.split('|').chain([&*"🤖".repeat(255)]) {
        let id = session.add(name);
        let found = super::json(&session.get(&format!("/api/robots/{id}")));
        assert_eq!(found["data"]["name"], name);
        let found = session.names(&search(name));
        assert_eq!(found.iter().filter(|found| *found == name).count(), 1);
    }
}

fn markup_in_names_is_escaped(session: &Session<'_>) {
    let answer = session.post(&draft("<img src=x>&", "droid", 1));
    let id = super::json(&answer)["data"]["id"].clone();
    let name = r"\u003cimg src=x\u003e\u0026";
    let data = format!(r#"{{"name":"{name}","type":"droid","year":1,"id":{id}}}"#);
    let body = format!(r#"{{"status":"OK","data":{data}}}"#);
    assert_answer(&answer, session.created(), &body);
    assert_eq!(session.names("/api/robots"), ["<img src=x>&"]);
}

fn fields_selects_and_orders_members(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let all = format!(r#"{{"id":"{id}","name":"R2-D2","type":"droid","year":1977}}"#);
    for (fields, object) in [
        ("id,name,type,year", all.as_str()),
        ("year,name", r#"{"year":1977,"name":"R2-D2"}"#),
        ("type", r#"{"type":"droid"}"#),
        ("name%2Cyear", r#"{"name":"R2-D2","year":1977}"#),
    ] {
        let found = format!(r#"{{"status":"FOUND","data":{object}}}"#);
        session.get_is(&format!("/api/robots/{id}?fields={fields}"), &found);
        for list in ["", "/search/R2"] {
            let target = format!("/api/robots{list}?fields={fields}");
            session.get_is(&target, &format!("[{object}]"));
        }
    }
}

fn unknown_field_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for path in ["", "/search/R", &format!("/{id}"), "/0"] {
        for value in "=||=colour|=id,|=id,id|=ID|=id&fields=name".split('|') {
            let target = format!("/api/robots{path}?fields{value}");
            assert_failure(&session.get(&target), 400);
        }
    }
}

fn unknown_parameters_are_ignored(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let robot = format!(r#"{{"id":"{id}","name":"R2-D2"}}"#);
    let found = format!(r#"{{"status":"FOUND","data":{robot}}}"#);
    for query in "|_url=/api/robots|x|x=%FF&&=&y|Fields=x|FIELDS".split('|') {
        session.get_is(&format!("/api/robots?{query}"), &format!("[{robot}]"));
        session.get_is(&format!("/api/robots/{id}?{query}"), &found);
    }
}
