//! Filters, orders, cursors, counts, summaries, and strict requests.

use super::{
    Case, Session, assert_answer, assert_failure, draft, json, names,
    paging::{follow_links, link},
};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    filters_and_orders_choose_robots,
    cursors_lead_through_all_pages,
    count_returns_the_total_number,
    summary_counts_types_and_decades,
    export_contains_only_the_filter,
    folded_search_ignores_case_and_diacritics,
    links_of_a_search_for_dots_are_lists,
    former_choices_are_found,
    wrong_parameters_return_400,
    strict_request_with_unknown_parameter_returns_400,
];

/// Robots keep values that are no choices any more, and lists find them.
fn former_choices_are_found(session: &Session<'_>) {
    let define = |document: &str| {
        let answer = session.call("PUT", "/api/definition", &[], document.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
    };
    define(r#"{"properties":{"type":{"enum":["droid","vase"]}}}"#);
    session.post(&draft("Owl", "vase", 1));
    define("{}");
    session.get_is("/api/robots?type=vase&fields=name", r#"[{"name":"Owl"}]"#);
    session.get_is("/api/robots?type=vase&year=2", "[]");
    assert_failure(&session.get("/api/robots?type=vases"), 400);
}

fn add_six(session: &Session<'_>) {
    for (name, robot_type, year) in [
        ("R2-D2", "droid", 1977),
        ("HAL 9000", "virtual", 1968),
        ("C-3PO", "droid", 1977),
        ("Maria", "mechanical", 1927),
        ("BB-8", "droid", 2015),
        ("Zora", "virtual", 2363),
    ] {
        let answer = session.post(&draft(name, robot_type, year));
        assert_eq!(answer.status, session.created(), "{name}");
    }
}

fn filters_and_orders_choose_robots(session: &Session<'_>) {
    add_six(session);
    let lists = "
        ?type=droid -> BB-8|C-3PO|R2-D2
        ?type=virtual&type=mechanical -> HAL 9000|Maria|Zora
        ?type=virtual&type=virtual -> HAL 9000|Zora
        ?year=1977 -> C-3PO|R2-D2
        ?year_from=1977 -> BB-8|C-3PO|R2-D2|Zora
        ?year_to=1968 -> HAL 9000|Maria
        ?year_from=1968&year_to=1977&type=droid -> C-3PO|R2-D2
        ?year_from=0&year_to=9223372036854775807&limit=2 -> BB-8|C-3PO
        ?name=HAL+9000 -> HAL 9000
        ?name=HAL ->
        ?type=droid&after=BB-8 -> C-3PO|R2-D2
        ?type=droid&after=C%00 -> C-3PO|R2-D2
        ?containing=-&year_to=2000 -> C-3PO|R2-D2
        ?containing=a&fold=true -> HAL 9000|Maria|Zora
        /search/-?type=droid&year_to=2000 -> C-3PO|R2-D2
        /search/a?name=Maria -> Maria
        /search/x?name=Maria ->
        /search/%00?type=droid ->
        ?name=%00 ->
        ?sort=name -> BB-8|C-3PO|HAL 9000|Maria|R2-D2|Zora
        ?sort=-name -> Zora|R2-D2|Maria|HAL 9000|C-3PO|BB-8
        ?sort=year -> Maria|HAL 9000|R2-D2|C-3PO|BB-8|Zora
        ?sort=-year&fields=name,year -> Zora|BB-8|C-3PO|R2-D2|HAL 9000|Maria
        ?sort=id -> R2-D2|HAL 9000|C-3PO|Maria|BB-8|Zora
        ?sort=-id -> Zora|BB-8|Maria|C-3PO|HAL 9000|R2-D2
        /search/-?sort=-year -> BB-8|C-3PO|R2-D2";
    session.assert_lists("/api/robots", lists);
    session.get_is(
        "/api/robots?year=1977&fields=year,type",
        r#"[{"year":1977,"type":"droid"},{"year":1977,"type":"droid"}]"#,
    );
}

fn cursors_lead_through_all_pages(session: &Session<'_>) {
    add_six(session);
    for target in [
        "?sort=year",
        "?sort=-year&type=droid",
        "?sort=-name&year_from=1968",
        "?sort=id&fields=id,name",
        "?sort=-id",
        "?type=virtual&type=droid",
        "?year_from=1000&fields=name,year",
        "?sort=name",
        "/search/%C3%81?sort=-name&fold=true",
        "/search/%CC%81?fold=true&type=droid&fields=name",
    ] {
        let target = format!("/api/robots{target}");
        let whole = session.names(&target);
        assert!(whole.len() >= 3, "{whole:?}");
        for limit in 1..4 {
            let (found, links) = follow_links(session, &format!("{target}&"), limit);
            assert!(
                links.iter().all(|link| link.contains("cursor=")),
                "{links:?}"
            );
            assert_eq!(found, whole, "{target}, pages of {limit}");
        }
    }
    // The robot of a cursor may be deleted.
    let first = session.get("/api/robots?sort=-year&limit=2");
    assert_eq!(names(&first), ["Zora", "BB-8"]);
    let found = json(&session.get("/api/robots?name=BB-8"));
    let id = found[0]["id"].as_str().unwrap_or_default();
    assert_eq!(session.delete(id).status, 200);
    let next = link("/api/robots", &first).unwrap_or_default();
    assert_eq!(names(&session.get(&next)), ["C-3PO", "R2-D2"]);
    // Without a limit, the rest of the list.
    let rest = next.replace("limit=2&", "");
    let all = ["C-3PO", "R2-D2", "HAL 9000", "Maria"];
    assert_eq!(session.names(&rest), all);
}

fn count_returns_the_total_number(session: &Session<'_>) {
    add_six(session);
    for (target, expected) in [
        ("?count=true", "6"),
        ("?count=true&limit=1", "6"),
        ("?count=true&type=droid&limit=1", "3"),
        ("?count=true&year=1", "0"),
        ("/search/-?count=true&sort=id", "3"),
        ("/search/%F0%9F%A4%96?count=true", "0"),
    ] {
        let list = format!("/api/robots{target}");
        let answer = session.get(&list);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("x-total-count"), Some(expected), "{target}");
        // The next page has it, too.
        if let Some(next) = link(&list, &answer) {
            let next = session.get(&next);
            assert_eq!(next.header("x-total-count"), Some(expected), "{target}");
        }
    }
    for target in ["?count=false", ""] {
        let answer = session.get(&format!("/api/robots{target}"));
        assert_eq!(answer.header("x-total-count"), None);
    }
}

fn summary_counts_types_and_decades(session: &Session<'_>) {
    let empty = r#"{"status":"OK","data":{"count":0,"groups":[]}}"#;
    session.get_is("/api/robots/summary", empty);
    add_six(session);
    session.get_is(
        "/api/robots/summary",
        concat!(
            r#"{"status":"OK","data":{"count":6,"groups":["#,
            r#"{"type":"droid","decade":1970,"count":2},"#,
            r#"{"type":"droid","decade":2010,"count":1},"#,
            r#"{"type":"mechanical","decade":1920,"count":1},"#,
            r#"{"type":"virtual","decade":1960,"count":1},"#,
            r#"{"type":"virtual","decade":2360,"count":1}]}}"#,
        ),
    );
    session.get_is(
        "/api/robots/summary?type=droid&year_to=2000",
        concat!(
            r#"{"status":"OK","data":{"count":2,"groups":["#,
            r#"{"type":"droid","decade":1970,"count":2}]}}"#,
        ),
    );
    session.get_is(
        "/api/robots/summary?containing=3P&type=droid",
        r#"{"status":"OK","data":{"count":1,"groups":[{"type":"droid","decade":1970,"count":1}]}}"#,
    );
}

fn export_contains_only_the_filter(session: &Session<'_>) {
    add_six(session);
    for (query, rows) in [
        ("type=droid&year=1977", "R2-D2\nC-3PO\n"),
        ("type=droid&year=1977&sort=name", "C-3PO\nR2-D2\n"),
        ("containing=3P", "C-3PO\n"),
        ("name=unknown", ""),
    ] {
        let answer = session.get(&format!(
            "/api/robots/export?format=csv&fields=name&{query}"
        ));
        assert_eq!(answer.text(), format!("name\n{rows}"));
    }
}

fn add_folded(session: &Session<'_>) {
    for (name, year) in [
        ("Kate\u{159}ina", 1977),
        ("KATERINA 2", 1978),
        ("Kater\u{30c}ina 3", 1979),
        ("katarina", 1980),
        ("\u{1fb}ngstro\u{308}m %", 1981),
        ("\u{3a3}\u{3af}\u{3c3}\u{3c5}\u{3c6}\u{3bf}\u{3c2}", 1982),
    ] {
        let answer = session.post(&draft(name, "droid", year));
        assert_eq!(answer.status, session.created(), "{name}");
    }
}

fn folded_search_ignores_case_and_diacritics(session: &Session<'_>) {
    add_folded(session);
    let lists = "
        katerina?fold=true -> KATERINA 2|Kater\u{30c}ina 3|Kate\u{159}ina
        KATE%C5%98INA?fold=true -> KATERINA 2|Kater\u{30c}ina 3|Kate\u{159}ina
        Kater%CC%8Cina?fold=true&sort=year -> Kate\u{159}ina|KATERINA 2|Kater\u{30c}ina 3
        KA?fold=true&year=1980 -> katarina
        KATERINA?fold=true&name=katarina ->
        katerina?fold=true&after=Kate -> Kater\u{30c}ina 3|Kate\u{159}ina
        katerina?fold=true&limit=1 -> KATERINA 2
        %C3%85NGSTR%C3%96M%20%25?fold=true -> \u{1fb}ngstro\u{308}m %
        %25?fold=true -> \u{1fb}ngstro\u{308}m %
        %CE%A3%CE%99%CE%A3%CE%A5%CE%A6%CE%9F%CE%A3?fold=true -> \u{3a3}\u{3af}\u{3c3}\u{3c5}\u{3c6}\u{3bf}\u{3c2}
        katerina ->
        katerina?fold=false ->
        KATERINA?fold=false -> KATERINA 2
        x?fold=true ->
        %00?fold=true ->";
    session.assert_lists("/api/robots/search/", lists);
    let long = "%CC%81".repeat(300);
    // A text that consists of diacritics, also a long one, is in every name.
    for text in ["", "%CC%81", &long] {
        let all = session.names(&format!("/api/robots/search/{text}?fold=true"));
        assert_eq!(all.len(), 6, "{text}");
    }
    session.get_is(&format!("/api/robots/search/{long}"), "[]");
    let answer = session.get("/api/robots/search/KATERINA?fold=true&count=true&limit=1");
    assert_eq!(answer.header("x-total-count"), Some("3"));
    session.get_is(
        "/api/robots/summary?containing=KATERINA&fold=true&year_from=1978",
        r#"{"status":"OK","data":{"count":2,"groups":[{"type":"droid","decade":1970,"count":2}]}}"#,
    );
    let export = "/api/robots/export?format=csv&fields=name&containing=KATERINA&fold";
    for (fold, rows) in [
        ("true", "Kate\u{159}ina\nKATERINA 2\nKater\u{30c}ina 3\n"),
        ("false", "KATERINA 2\n"),
    ] {
        let answer = session.get(&format!("{export}={fold}"));
        assert_eq!(answer.text(), format!("name\n{rows}"));
    }
}

/// A client removes the segments `.` and `..` from a path.
fn links_of_a_search_for_dots_are_lists(session: &Session<'_>) {
    for name in ["a.", "b..", "c", "d."] {
        session.add(name);
    }
    for (text, expected) in [("%2E", &["a.", "b..", "d."][..]), ("..", &["b.."])] {
        let target = format!("/api/robots/search/{text}?limit=1&fields=name");
        let answer = session.get(&target);
        let link = answer.header("link").unwrap_or_default().to_owned();
        assert!(!link.contains("search"), "{link}");
        let (found, _) = follow_links(session, &format!("/api/robots/search/{text}?"), 1);
        assert_eq!(found, expected);
    }
}

fn wrong_parameters_return_400(session: &Session<'_>) {
    let of_filters = "type=Droid type= type=droid&type=toaster year=x year=-1 year=1&year=1 year=1&year_to=2 \
                      year_from=1&year=2 year_from=2&year_to=1 name=%FF name=a&name=b";
    let of_lists = "sort=price sort=Name sort=name&sort=year cursor= cursor=x cursor=name:a%00 \
                    cursor=-year:1:1&sort=year cursor=name:a&after=a after=a&sort=year count=1";
    let of_texts = "containing=%FF containing=a&containing=b";
    let of_folds = "fold= fold fold=1 fold=True fold=true&fold=true";
    let (filtered, lists) = (["/summary", "/export"], ["", "/search/x"]);
    for (paths, queries) in [
        (filtered, of_filters),
        (filtered, of_texts),
        (filtered, of_folds),
        (["/search/x", "/search/"], of_folds),
        (lists, of_filters),
        (lists, of_lists),
    ] {
        for path in paths {
            for query in queries.split(' ') {
                assert_failure(&session.get(&format!("/api/robots{path}?{query}")), 400);
            }
        }
    }
}

fn strict_request_with_unknown_parameter_returns_400(session: &Session<'_>) {
    let strict = [("Prefer", "respond-async, handling=strict")];
    let targets = [
        ("GET", "/api/robots?limt=5", "limit"),
        ("GET", "/api/robots/search/x?year_form=5", "year_from"),
        ("GET", "/api/robots/1?field=id", "fields"),
        ("GET", "/api/robots/search/x?fol=true", "fold"),
        ("GET", "/api/robots/summary?types=droid", "type"),
        ("GET", "/api/robots/export?fromat=csv", "format"),
        ("POST", "/api/robots/import?dryrun=true", "dry_run"),
    ];
    for (method, target, nearest) in targets {
        let answer = session.call(method, target, &strict, b"");
        assert_failure(&answer, 400);
        assert!(
            answer.text().contains(&format!("did you mean {nearest}?")),
            "{target}"
        );
    }
    let body = br#"{"name":"a","type":"droid","year":1}"#;
    assert_failure(&session.call("POST", "/api/robots?x=1", &strict, body), 400);
    assert_eq!(session.names("/api/robots"), [""; 0]);

    let answer = session.call("GET", "/api/robots?limit=5&fields=id", &strict, b"");
    assert_answer(&answer, 200, "[]");
    assert_eq!(answer.header("preference-applied"), Some("handling=strict"));
    for path in ["search/x?", "summary?containing=x&", "export?containing=x&"] {
        let answer = session.call("GET", &format!("/api/robots/{path}fold=true"), &strict, b"");
        assert_eq!(answer.status, 200, "{path}");
    }
    for preference in ["handling=lenient", "x"] {
        let headers = [("Prefer", preference)];
        let answer = session.call("GET", "/api/robots?limt=5", &headers, b"");
        assert_answer(&answer, 200, "[]");
        assert_eq!(answer.header("preference-applied"), None);
    }
}
