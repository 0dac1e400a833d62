//! Lists, searches and single robots.

use super::{Case, Session, assert_answer, assert_failure, draft, encoded, search};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    an_empty_catalogue_lists_nothing,
    a_list_has_ids_and_names_in_the_order_of_the_names,
    a_robot_is_found_by_its_id,
    a_missing_robot_is_not_found_and_no_error,
    leading_zeros_of_an_id_count_for_nothing,
    an_id_past_64_bits_is_an_id_that_no_robot_has,
    an_encoded_digit_is_a_digit,
    a_search_finds_parts_anywhere,
    a_search_for_nothing_finds_everything,
    a_search_takes_every_character_for_itself,
    a_search_is_decoded_once,
    a_search_that_is_not_utf_8_is_refused,
    a_search_for_nul_finds_nothing,
    a_search_for_more_than_any_name_has_finds_nothing,
    names_come_back_as_they_went_in,
    markup_in_names_is_escaped,
    fields_are_chosen_by_the_query,
    a_field_that_is_none_is_refused,
    other_parameters_change_nothing,
];

fn an_empty_catalogue_lists_nothing(session: &Session<'_>) {
    assert_answer(&session.get("/api/robots"), 200, "[]");
    assert_answer(&session.get("/api/robots/search/x"), 200, "[]");
}

fn a_list_has_ids_and_names_in_the_order_of_the_names(session: &Session<'_>) {
    let (c, b, a) = (session.add("c"), session.add("B"), session.add("a"));
    assert_answer(
        &session.get("/api/robots"),
        200,
        &format!(
            r#"[{{"id":"{b}","name":"B"}},{{"id":"{a}","name":"a"}},{{"id":"{c}","name":"c"}}]"#
        ),
    );
}

fn a_robot_is_found_by_its_id(session: &Session<'_>) {
    let id = session.add("R2-D2");
    assert_answer(
        &session.get(&format!("/api/robots/{id}")),
        200,
        &format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#),
    );
}

fn a_missing_robot_is_not_found_and_no_error(session: &Session<'_>) {
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

fn leading_zeros_of_an_id_count_for_nothing(session: &Session<'_>) {
    let id = session.add("R2-D2");
    for zeros in ["0", "00", "0000000000000000000000000000000"] {
        assert_answer(
            &session.get(&format!("/api/robots/{zeros}{id}")),
            200,
            &format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#),
        );
    }
}

fn an_id_past_64_bits_is_an_id_that_no_robot_has(session: &Session<'_>) {
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

fn an_encoded_digit_is_a_digit(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let encoded = encoded(&id);
    assert_answer(
        &session.get(&format!("/api/robots/{encoded}")),
        200,
        &format!(r#"{{"status":"FOUND","data":{{"id":"{id}","name":"R2-D2"}}}}"#),
    );
}

fn a_search_finds_parts_anywhere(session: &Session<'_>) {
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

fn a_search_for_nothing_finds_everything(session: &Session<'_>) {
    session.add("b");
    session.add("a");
    assert_eq!(session.names("/api/robots/search/"), ["a", "b"]);
}

fn a_search_takes_every_character_for_itself(session: &Session<'_>) {
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

fn a_search_is_decoded_once(session: &Session<'_>) {
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

fn a_search_that_is_not_utf_8_is_refused(session: &Session<'_>) {
    session.add("é");
    for name in ["%FF", "%C3", "a%C3b", "%ED%A0%80", "%C0%AF", "%F4%90%80%80"] {
        assert_failure(&session.get(&format!("/api/robots/search/{name}")), 400);
    }
}

fn a_search_for_nul_finds_nothing(session: &Session<'_>) {
    session.add("a");
    for name in ["%00", "a%00", "%00a"] {
        assert_answer(
            &session.get(&format!("/api/robots/search/{name}")),
            200,
            "[]",
        );
    }
}

fn a_search_for_more_than_any_name_has_finds_nothing(session: &Session<'_>) {
    let longest = "é".repeat(255);
    session.add(&longest);
    assert_eq!(session.names(&search(&longest)), [longest.as_str()]);
    for length in [256, 1000, 10_000] {
        let target = search(&"é".repeat(length));
        assert_answer(&session.get(&target), 200, "[]");
    }
    let target = search(&"é".repeat(256));
    assert_failure(&session.get(&format!("{target}?limit=0")), 400);
}

fn names_come_back_as_they_went_in(session: &Session<'_>) {
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

fn fields_are_chosen_by_the_query(session: &Session<'_>) {
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

fn a_field_that_is_none_is_refused(session: &Session<'_>) {
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

fn other_parameters_change_nothing(session: &Session<'_>) {
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
