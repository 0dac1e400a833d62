//! The definition, and the fields that it has: in bodies, lists, summaries and files.

use super::{
    Case, Session, assert_answer, assert_messages, assert_ok, draft,
    import::{assert_imported, import},
    json,
    paging::follow_links,
};
use crate::{
    catalogue::Sort,
    conformance::{
        Answer, cases,
        store::own_fields::{OWN, ROWS, values},
    },
    model::{Definition, Field},
};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    definition_is_replaced_under_conditions,
    definition_is_returned_as_preferred,
    own_values_are_sent_and_returned,
    own_fields_choose_sort_and_count_robots,
    equal_names_are_paged,
    files_have_own_fields,
    versions_follow_the_present_rules,
];

const DEFINITION: &str = "/api/definition";

fn define(session: &Session<'_>, document: &str) -> Answer {
    session.call("PUT", DEFINITION, &[], document.as_bytes())
}

/// The body of a droid with these members, too.
fn body(name: &str, members: &str) -> String {
    let members = members.trim().trim_start_matches('{');
    format!(r#"{{"name":"{name}","type":"droid","year":1977,{members}"#)
}

/// Adds a robot for each row, with the names `a`, `b` and so on.
fn add_rows(session: &Session<'_>) {
    for (row, name) in ROWS.lines().zip('a'..) {
        let answer = session.post(&body(&name.to_string(), row));
        assert_eq!(answer.status, session.created(), "{}", answer.text());
    }
}

/// The ids of all robots, by name.
fn ids(session: &Session<'_>) -> Vec<String> {
    let list = session.get("/api/robots?fields=id").text();
    let ids = list.split('"').filter(|text| text.parse::<u64>().is_ok());
    ids.map(str::to_owned).collect()
}

const BUILT_IN: &str = r#"{"properties":{"name":{"type":"string","maxLength":255,"unique":true,"title":"Name"},"type":{"type":"string","enum":["droid","mechanical","virtual"],"title":"Type"},"year":{"type":"integer","minimum":0,"title":"Year"}},"required":["name","type","year"]}"#;

fn definition_is_returned_as_preferred(session: &Session<'_>) {
    let data = format!(r#"{{"status":"OK","data":{BUILT_IN}}}"#);
    for (path, prefer, status, body) in [
        (DEFINITION, "return=minimal", 204, ""),
        (DEFINITION, "return=representation", 200, &*data),
        ("/v1/definition", "return=minimal", 204, ""),
        ("/v1/definition", "", 200, BUILT_IN),
    ] {
        let headers = [("Prefer", prefer)];
        let answer = session.call("PUT", path, &headers, BUILT_IN.as_bytes());
        let found = (answer.status, answer.text());
        assert_eq!(found, (status, body.to_owned()), "{path} {prefer}");
        assert!(answer.header("etag").is_some());
    }
}

fn definition_is_replaced_under_conditions(session: &Session<'_>) {
    session.get_is(DEFINITION, BUILT_IN);
    let is_described = || session.get("/openapi.json").text().contains("weight_from");
    assert!(!is_described());
    let stale = "Another client has made a change since the ETag in If-Match was read; read again, and \
                 send the request with the new ETag";
    let excluded = "If-None-Match has the present ETag; to change this state, send the request without that ETag";
    for (method, name, value, status) in [
        ("GET", "If-None-Match", "\"1\"", 304),
        ("HEAD", "If-None-Match", "W/\"1\"", 304),
        ("GET", "If-None-Match", "\"2\"", 200),
        ("GET", "If-Match", "\"2\"", 412),
        ("PUT", "If-Match", "\"2\"", 412),
        ("PUT", "If-None-Match", "*", 412),
        ("PUT", "If-Match", "1", 400),
    ] {
        let answer = session.call(method, DEFINITION, &[(name, value)], b"{}");
        assert_eq!(answer.status, status, "{method} {name}: {value}");
        if status == 412 {
            let is_stale = name == "If-Match";
            assert_messages(&answer, 412, &[if is_stale { stale } else { excluded }]);
        }
    }
    assert_ok(&define(session, OWN));
    assert!(is_described());
    let answer = session.get(DEFINITION);
    assert_eq!(answer.header("etag"), Some("\"2\""));
    assert_eq!(answer.text().parse::<Definition>(), OWN.parse());
    let (text, condition) = (answer.text(), [("If-Match", "\"1\", \"2\"")]);
    let answer = session.call("PUT", DEFINITION, &condition, text.as_bytes());
    assert_ok(&answer);
    assert_eq!(answer.header("etag"), Some("\"3\""));
    add_rows(session);
    let holders = [0, 1, 2, 4, 5].map(|index| ids(session)[index].clone());
    let holders = holders.join(", ");
    let message = format!(
        "parts cannot be removed, because 5 robots (ids {holders}) would lose the value; \
         to drop the values, send the definition with drop_values"
    );
    let refused = define(session, &text.replace("parts", "pieces"));
    session.assert_rejected(&refused, &[&message]);
    session.get_is(DEFINITION, &text);
    // Robots may be older than a rule.
    let stricter = text.replace("\"weight\":{", "\"weight\":{\"minimum\":1000,");
    assert_ok(&define(session, &stricter));
    let all = session.get("/api/robots?fields=*").text();
    assert!(all.contains("\"weight\":9.5"), "{all}");
    // An index permits short texts only.
    let long = format!(r#""notes":"{}"}}"#, "x".repeat(501));
    session.post(&body("z", &long));
    let id = ids(session).pop().unwrap_or_default();
    let indexed = text.replace("\"maxLength\":10000", "\"maxLength\":500,\"index\":true");
    let message = format!(
        "notes cannot have an index, because the texts of 1 robot (id {id}) have more than 500 characters; change \
         these first"
    );
    session.assert_rejected(&define(session, &indexed), &[&message]);
    // Values that cannot be converted are dropped on request.
    let target = "/api/definition?drop_values=true";
    let converted = text.replace("\"boolean\"", "\"integer\"");
    assert_eq!(define(session, &converted).status, session.rejected());
    assert_ok(&session.call("PUT", target, &[], converted.as_bytes()));
    assert_ok(&session.call("PUT", target, &[], b"{}"));
    session.get_is(DEFINITION, BUILT_IN);
}

fn own_values_are_sent_and_returned(session: &Session<'_>) {
    assert_ok(&define(session, OWN));
    // The members are in the order of the definition, and markup is escaped.
    let sent = r#"{"state":"good","x":[1],"lent":false,"weight":1.50,"notes":"","maker":"<b> \"\\ 🤖","serial":null}"#;
    let answer = session.post(&body("a", sent));
    let id = &ids(session)[0];
    let robot = r#""name":"a","type":"droid","year":1977,"maker":"\u003cb\u003e \"\\ 🤖","weight":1.5,"lent":false,"state":"good""#;
    let created = format!(r#"{{"status":"OK","data":{{{robot},"id":"{id}"}}}}"#);
    assert_answer(&answer, session.created(), &created);
    let assert_found = |fields: &str, robot: &str| {
        let found = format!(r#"{{"status":"FOUND","data":{robot}}}"#);
        session.get_is(&format!("/api/robots/{id}?fields={fields}"), &found);
        let list = format!("/api/robots?fields={fields}");
        session.get_is(&list, &format!("[{robot}]"));
    };
    assert_found("*", &format!(r#"{{"id":"{id}",{robot},"revision":1}}"#));
    let fields = "weight,notes,parts,acquired,lent,state";
    for (sent, kept) in values() {
        assert_ok(&session.put(id, &body("a", &sent)));
        assert_found(fields, &kept);
    }
    let target = format!("/api/robots/{id}");
    let headers = [("Content-Type", "application/merge-patch+json")];
    let patch = |body: &str| session.call("PATCH", &target, &headers, body.as_bytes());
    let table = r#"{"parts":1,"state":"fair"} -> {"parts":1,"lent":false,"state":"fair"}
        {"weight":2.0,"parts":null,"x":0} -> {"weight":2,"lent":false,"state":"fair"}
        {"weight":null,"state":"","lent":true,"serial":null} -> {"lent":true}"#;
    assert_ok(&session.put(id, &body("a", r#"{"lent":false}"#)));
    for (sent, kept) in table.lines().filter_map(|line| line.split_once(" -> ")) {
        assert_ok(&patch(sent));
        assert_found(fields, kept);
    }
    let choice = "Value of field 'state' must be part of list: good, fair, it's \"poor\"";
    let nul = "The maker must not contain the NUL character (U+0000)";
    let wrong = patch(r#"{"state":"bad","maker":"\u0000","year":null}"#);
    session.assert_rejected(&wrong, &[super::NO_YEAR, nul, choice]);
}

fn own_fields_choose_sort_and_count_robots(session: &Session<'_>) {
    assert_ok(&define(session, OWN));
    add_rows(session);
    let lists = "
        ?maker=ACME -> a|f
        ?maker= -> d|e|g|h
        ?maker=&maker=acme -> b|d|e|g|h
        ?maker=%C3%81cme+%22%26%3A%5C -> c
        ?maker_contains=%C3%A1CM -> a|b|c|f
        ?maker_contains=acme&maker_contains=%26 -> c
        ?maker_not=ACME -> b|c|d|e|g|h
        ?maker_not=&maker_not=ACME&sort=-name -> c|b
        ?state_not=good&acquired_not= -> b|d
        ?name_contains=B&type_not=virtual&lent_not=true -> b
        ?weight=1.0e1&weight=1e300 -> a|d|g
        ?weight= -> e|h
        ?weight_from=-0.1&weight_to=9.5 -> b|c|f
        ?parts=9007199254740993 -> b
        ?parts_from=10 -> b|c|e
        ?parts_to=9 -> a|f
        ?acquired_from=2020-01-01 -> a|d|g
        ?acquired=2020-02-29&weight_to=10 -> a|g
        ?lent=true -> a|e
        ?lent=true&lent= -> a|c|d|e|f|h
        ?state=good&state=it's+%22poor%22 -> a|d|g
        ?serial=%C3%A9%3A1 -> e
        ?slot_to=0.1 -> c|d
        ?q=ACME -> a|b|c|e|f
        ?q=+MADE++acme -> e
        ?q=%22%26 -> c
        ?q=acme&lent=true -> a|e
        ?sort=weight -> c|f|b|a|g|d|e|h
        ?sort=-weight -> d|g|a|b|f|c|h|e
        ?sort=parts -> a|f|e|c|b|d|g|h
        ?sort=-lent -> e|a|g|b|h|f|d|c
        ?sort=state -> f|a|g|d|b|c|e|h
        ?sort=-serial -> e|c|d|f|h|g|b|a
        ?sort=slot -> d|c|g|e|a|b|f|h
        ?sort=maker -> a|f|b|c|d|e|g|h
        ?sort=-maker&maker=ACME&maker= -> f|a|h|g|e|d
        ?sort=acquired&limit=3 -> b|d|a";
    session.assert_lists("/api/robots", lists);
    let definition: Definition = OWN.parse().unwrap_or_else(|error| panic!("{error}"));
    for sort in Sort::all(&definition) {
        for query in [
            "",
            "maker=&maker=ACME&q=a&",
            "maker_not=acme&maker_contains=A&",
        ] {
            let list = format!("/api/robots?{query}sort={sort}&");
            let (found, _) = follow_links(session, &list, 3);
            assert_eq!(found, session.names(&list), "{list}");
        }
    }
    let answer = session.get("/api/robots?count=true&limit=1&maker=");
    assert_eq!(answer.header("x-total-count"), Some("4"));
    let summaries = r#"by=lent -> 8 {"lent":false,"count":2},{"lent":true,"count":2},{"lent":null,"count":4}
        by=type&state=good -> 2 {"type":"droid","count":2}
        by=state&q=acme -> 5 {"state":"fair","count":1},{"state":"good","count":1},{"state":null,"count":3}
        by=acquired&weight_to=10 -> 5 {"acquired":"1999","count":1},{"acquired":"2020","count":2},{"acquired":null,"count":2}
        by=maker&limit=2 -> 8 {"maker":"ACME","count":2},{"maker":"acme","count":1},{"maker":null,"count":4} 1 1
        by=maker -> 8 {"maker":"ACME","count":2},{"maker":"acme","count":1},{"maker":"Ácme \"\u0026:\\","count":1},{"maker":null,"count":4} 0 0
        by=weight&maker_not= -> 4 {"weight":-0.1,"count":1},{"weight":0,"count":1},{"weight":9.5,"count":1},{"weight":10,"count":1} 0 0
        by=weight&limit=1 -> 8 {"weight":10,"count":2},{"weight":null,"count":2} 4 4
        by=acquired&limit=1000 -> 8 {"acquired":"2020-02-29","count":2},{"acquired":"1999-12-31","count":1},{"acquired":"2020-01-01","count":1},{"acquired":null,"count":4} 0 0
        by=lent&limit=1 -> 8 {"lent":false,"count":2},{"lent":null,"count":4} 1 2
        by=parts&limit=1&weight=10 -> 2 {"parts":-1,"count":1},{"parts":null,"count":1} 0 0
        by=year&limit=1&q=acme -> 5 {"year":1977,"count":5} 0 0
        by=name&limit=1&type=virtual -> 0  0 0"#;
    for (query, counts) in summaries.lines().filter_map(|line| line.split_once(" -> ")) {
        let (count, groups) = counts.split_once(' ').unwrap_or_default();
        let parts = groups.rsplitn(3, ' ').collect::<Vec<_>>();
        let (groups, others) = match parts[..] {
            [count, values, groups] if values.parse::<u64>().is_ok() => (
                groups,
                format!(r#","others":{{"count":{count},"values":{values}}}"#),
            ),
            _ => (groups, String::new()),
        };
        let data = format!(r#"{{"count":{count},"groups":[{groups}]{others}}}"#);
        let target = format!("/api/robots/summary?{}", query.trim());
        session.get_is(&target, &format!(r#"{{"status":"OK","data":{data}}}"#));
    }
}

fn equal_names_are_paged(session: &Session<'_>) {
    let document = r#"{"properties":{"name":{"unique":false}}}"#;
    assert_ok(&define(session, document));
    let added = ["b", "a", "c", "a", "b", "a"].map(|name| session.add(name));
    let expected = [1, 3, 5, 0, 4, 2].map(|index| added[index].as_str());
    assert_eq!(ids(session), expected);
    for query in ["", "after=A&", "sort=name&", "sort=-name&"] {
        let list = format!("/api/robots?fields=name,id&{query}");
        let (found, mut pages) = follow_links(session, &list, 1);
        assert_eq!(found, session.names(&list), "{query}");
        pages.insert(0, format!("{list}limit=1"));
        let pages = pages.iter().map(|page| session.get(page).text());
        let whole = pages.collect::<Vec<_>>().join(",").replace("],[", ",");
        session.get_is(&list, &whole);
    }
    assert_eq!(session.names("/api/robots?name=a"), ["a"; 3]);
}

fn files_have_own_fields(session: &Session<'_>) {
    assert_ok(&define(session, OWN));
    add_rows(session);
    let definition: Definition = OWN.parse().unwrap_or_else(|error| panic!("{error}"));
    let names = Field::names(definition.settable());
    let export = |format| {
        let target = format!("/api/robots/export?format={format}&fields={names}&sort=name");
        let answer = session.try_get(&target);
        answer.map_or_else(|error| error.to_string(), |answer| answer.text())
    };
    let files = ["csv", "json", "ndjson"].map(|format| (format, export(format)));
    let rows: Vec<_> = files[0].1.lines().collect();
    let first = "a,droid,1977,,ACME,,10,-1,,2020-02-29,true,good";
    let fourth = r#"d,droid,1977,a,,,1e+300,,-2,2020-01-01,,"it's ""poor""""#;
    assert_eq!((rows[0], rows[1], rows[4]), (&*names, first, fourth));
    for (format, file) in &files {
        for atomic in [false, true] {
            for id in ids(session) {
                assert_ok(&session.delete(id));
            }
            let query = format!("?format={format}&atomic={atomic}");
            assert_imported(&import(session, &query, file), [8, 0, 0, 0], &[]);
            for (format, file) in &files {
                assert_eq!(export(format), *file);
            }
        }
    }
}

fn versions_follow_the_present_rules(session: &Session<'_>) {
    let id = session.add("A");
    let target = format!("/v1/robots/{id}");
    let changed = session.call("PUT", &target, &[], draft("A", "droid", 2001).as_bytes());
    assert_eq!(changed.status, 200);
    let rule = r#"{"properties":{"year":{"minimum":2000}}}"#;
    assert_eq!(define(session, rule).status, 200);
    let revert = format!("{target}/revert");
    let revert = || session.call("POST", &revert, &[], br#"{"revision":1}"#);
    assert_eq!(revert().status, 422);
    assert_eq!(define(session, "{}").status, 200);
    assert_eq!(json(&revert())["year"], 1977);
    // Values of fields that have another kind now.
    let field = |kind: &str| format!(r#"{{"properties":{{"code":{{"type":"{kind}"}}}}}}"#);
    assert_eq!(define(session, &field("integer")).status, 200);
    let headers = [("Content-Type", "application/merge-patch+json")];
    let change = |code: &str| {
        session
            .call("PATCH", &target, &headers, code.as_bytes())
            .status
    };
    assert_eq!(
        (change(r#"{"code":5}"#), change(r#"{"code":6}"#)),
        (200, 200)
    );
    assert_eq!(define(session, &field("string")).status, 200);
    let history = json(&session.get(&format!("{target}/history?limit=3")));
    let codes = [0, 1, 2].map(|place| history["changes"][place]["robot"]["code"].clone());
    assert_eq!(codes, ["6", "6", "5"]);
}
