//! Lists, searches and single robots.

use super::{Case, Session, assert_answer, assert_failure, draft, encoded, search};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    empty_catalogue_lists_nothing,
    list_has_ids_and_names_in_name_order,
    get_returns_the_robot_with_the_id,
    get_of_missing_robot_returns_not_found,
    leading_zeros_of_an_id_are_ignored,
    id_beyond_64_bits_is_not_found,
    encoded_digits_are_digits_of_an_id,
    search_finds_parts_of_names,
    search_for_empty_text_finds_everything,
    search_has_no_wildcards,
    search_text_is_decoded_once,
    search_that_is_not_utf_8_returns_400,
    search_for_nul_finds_nothing,
    search_for_too_long_text_finds_nothing,
    names_are_returned_unchanged,
    markup_in_names_is_escaped,
    fields_selects_and_orders_members,
    unknown_field_returns_400,
    unknown_parameters_are_ignored,
];

fn empty_catalogue_lists_nothing(session: &Session<'_>) {
    assert_answer(&session.get("/api/robots"), 200, "[]");
    assert_answer(&session.get("/api/robots/search/x"), 200, "[]");
}

fn list_has_ids_and_names_in_name_order(session: &Session<'_>) {
    let (c, b, a) = (session.add("c"), session.add("B"), session.add("a"));
    assert_answer(
        &session.get("/api/robots"),
        200,
        &format!(
            r#"[{{"id":"{b}","name":"B"}},{{"id":"{a}","name":"a"}},{{"id":"{c}","name":"c"}}]"#
        ),
    );
}

fn get_returns_the_robot_with_the_id(session: &Session<'_>) {
    let id = session.add("R2-D2");
    assert_answer(
        &session.get(&format!("/api/robots/{id}")),
        200,
        &format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#),
    );
}

fn get_of_missing_robot_returns_not_found(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.delete(&id);
    for id in [id.as_str(), "0", "1234567", "9223372036854775807"] {
        assert_answer(
            &session.get(&format!("/api/robots/{id}")),
            200,
            r#"{"status":"NOT-FOUND"}"#,
        );
    }
}

fn leading_zeros_of_an_id_are_ignored(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for zeros in ["0", "00", "0000000000000000000000000000000"] {
        assert_answer(
            &session.get(&format!("/api/robots/{zeros}{id}")),
            200,
            &format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#),
        );
    }
}

fn id_beyond_64_bits_is_not_found(session: &Session<'_>) {
    for id in [
        "9223372036854775808",
        "18446744073709551617",
        &"1".repeat(1000),
    ] {
        assert_answer(
            &session.get(&format!("/api/robots/{id}")),
            200,
            r#"{"status":"NOT-FOUND"}"#,
        );
        assert_failure(&session.put(id, &draft("x", "droid", 1)), 404);
        assert_failure(&session.delete(id), 404);
    }
}

fn encoded_digits_are_digits_of_an_id(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let encoded = encoded(&id);
    assert_answer(
        &session.get(&format!("/api/robots/{encoded}")),
        200,
        &format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#),
    );
}

fn search_finds_parts_of_names(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.add("C-3PO");
    for part in ["R2-D2", "R2", "2-D", "D2", "2"] {
        assert_answer(
            &session.get(&format!("/api/robots/search/{part}")),
            200,
            &format!(r#"[{{"id":"{id}","name":"R2-D2"}}]"#),
        );
    }
    assert_eq!(session.names("/api/robots/search/-"), ["C-3PO", "R2-D2"]);
    assert_eq!(session.names("/api/robots/search/r2"), [""; 0]);
    assert_eq!(session.names("/api/robots/search/7"), [""; 0]);
}

fn search_for_empty_text_finds_everything(session: &Session<'_>) {
    session.add("b");
    session.add("a");
    assert_eq!(session.names("/api/robots/search/"), ["a", "b"]);
}

fn search_has_no_wildcards(session: &Session<'_>) {
    let names = [
        "%", "_", "\\", "*", "'", "\"", "?", "#", "/", "+", " ", ";", "é", "e\u{301}", "🤖", "\n",
    ];
    for name in names {
        session.add(&format!("x{name}y"));
    }
    for name in names {
        assert_eq!(
            session.names(&search(name)),
            [format!("x{name}y")],
            "{name:?}"
        );
    }
}

fn search_text_is_decoded_once(session: &Session<'_>) {
    for name in ["a+b", "a b", "a/b", "a%2Fb", "100%", "%zz"] {
        session.add(name);
    }
    for (target, found) in [
        ("a+b", "a+b"),
        ("a%2Bb", "a+b"),
        ("a%20b", "a b"),
        ("a%2Fb", "a/b"),
        ("a%2fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("100%25", "100%"),
        ("%25zz", "%zz"),
    ] {
        let found_names = session.names(&format!("/api/robots/search/{target}"));
        assert_eq!(found_names, [found], "{target}");
    }
}

fn search_that_is_not_utf_8_returns_400(session: &Session<'_>) {
    session.add("é");
    for name in ["%FF", "%C3", "a%C3b", "%ED%A0%80", "%C0%AF", "%F4%90%80%80"] {
        assert_failure(&session.get(&format!("/api/robots/search/{name}")), 400);
    }
}

fn search_for_nul_finds_nothing(session: &Session<'_>) {
    session.add("a");
    for name in ["%00", "a%00", "%00a"] {
        assert_answer(
            &session.get(&format!("/api/robots/search/{name}")),
            200,
            "[]",
        );
    }
}

fn search_for_too_long_text_finds_nothing(session: &Session<'_>) {
    let longest = "é".repeat(255);
    session.add(&longest);
    assert_eq!(session.names(&search(&longest)), [longest.as_str()]);
    for length in [256, 1000, 10_000] {
        let target = search(&"é".repeat(length));
        assert_answer(&session.get(&target), 200, "[]");
    }
    let target = search(&"é".repeat(256));
    let answer = session.get(&format!("{target}?count=true"));
    assert_eq!(answer.header("x-total-count"), Some("0"));
    assert_failure(&session.get(&format!("{target}?limit=0")), 400);
}

fn names_are_returned_unchanged(session: &Session<'_>) {
    let longest = "🤖".repeat(255);
    for name in [
        " ",
        " x ",
        "\t\r\n",
        "\u{1b}[31m",
        "\u{7f}",
        "\u{feff}",
        "\u{10ffff}",
        "\"\\/",
        &longest,
    ] {
        let id = session.add(name);
        let found = super::json(&session.get(&format!("/api/robots/{id}")));
        assert_eq!(found["data"]["name"], name);
        assert_eq!(
            session
                .names(&search(name))
                .iter()
                .filter(|found| *found == name)
                .count(),
            1
        );
    }
}

fn markup_in_names_is_escaped(session: &Session<'_>) {
    let answer = session.post(&draft("<img src=x>&", "droid", 1));
    let id = super::json(&answer)["data"]["id"].clone();
    assert_answer(
        &answer,
        session.created(),
        &format!(
            r#"{{"status":"OK","data":{{"name":"\u003cimg src=x\u003e\u0026","type":"droid","year":1,"id":{id}}}}}"#
        ),
    );
    assert_eq!(session.names("/api/robots"), ["<img src=x>&"]);
}

fn fields_selects_and_orders_members(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for (fields, object) in [
        (
            "id,name,type,year",
            format!(r#"{{"id":"{id}","name":"R2-D2","type":"droid","year":1977}}"#),
        ),
        ("year,name", r#"{"year":1977,"name":"R2-D2"}"#.to_owned()),
        ("type", r#"{"type":"droid"}"#.to_owned()),
        ("name%2Cyear", r#"{"name":"R2-D2","year":1977}"#.to_owned()),
    ] {
        assert_answer(
            &session.get(&format!("/api/robots?fields={fields}")),
            200,
            &format!("[{object}]"),
        );
        assert_answer(
            &session.get(&format!("/api/robots/search/R2?fields={fields}")),
            200,
            &format!("[{object}]"),
        );
        assert_answer(
            &session.get(&format!("/api/robots/{id}?fields={fields}")),
            200,
            &format!(r#"{{"status":"FOUND","data":{object}}}"#),
        );
    }
}

fn unknown_field_returns_400(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let by_id = format!("/api/robots/{id}");
    for path in [
        "/api/robots",
        "/api/robots/search/R",
        &by_id,
        "/api/robots/0",
    ] {
        for query in [
            "fields=",
            "fields",
            "fields=colour",
            "fields=id,",
            "fields=id,id",
            "fields=ID",
            "fields=id&fields=name",
        ] {
            assert_failure(&session.get(&format!("{path}?{query}")), 400);
        }
    }
}

fn unknown_parameters_are_ignored(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for query in [
        "",
        "_url=/api/robots",
        "x",
        "x=%FF&&=&y",
        "Fields=x",
        "FIELDS",
    ] {
        assert_answer(
            &session.get(&format!("/api/robots?{query}")),
            200,
            &format!(r#"[{{"id":"{id}","name":"R2-D2"}}]"#),
        );
        assert_answer(
            &session.get(&format!("/api/robots/{id}?{query}")),
            200,
            &format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#),
        );
    }
}
