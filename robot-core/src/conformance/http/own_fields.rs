//! The definition, and the fields that it has: in bodies, lists, summaries and files.

use super::{
    Case, Session, assert_answer, assert_messages, assert_ok, import::import, json, names,
    paging::follow_links,
};
use crate::{
    catalogue::Sort,
    conformance::{
        Answer, at_once, cases,
        store::own_fields::{OWN, ROWS, values},
    },
    model::{Definition, Field},
};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    definition_is_replaced_under_conditions,
    own_values_are_sent_and_returned,
    own_fields_choose_sort_and_count_robots,
    equal_names_are_paged,
    files_have_own_fields,
];

const DEFINITION: &str = "/api/definition";

fn define(session: &Session<'_>, headers: &[(&str, &str)], document: &str) -> Answer {
    session.call("PUT", DEFINITION, headers, document.as_bytes())
}

/// The body of a droid with these members, too.
fn body(name: &str, members: &str) -> String {
    let members = members.trim().trim_start_matches('{');
    format!(r#"{{"name":"{name}","type":"droid","year":1977,{members}"#)
}

/// Adds a robot for each row, with the names `a`, `b` and so on. Returns the ids.
fn add_rows(session: &Session<'_>) -> Vec<String> {
    let rows = ROWS.lines().zip('a'..);
    let rows = rows.map(|(row, name)| session.post(&body(&name.to_string(), row)));
    let ids = rows.map(|answer| json(&answer)["data"]["id"].take());
    ids.map(|id| id.as_str().unwrap_or_default().to_owned())
        .collect()
}

const BUILT_IN: &str = r#"{"properties":{"name":{"type":"string","maxLength":255,"unique":true,"title":"Name"},"type":{"type":"string","enum":["droid","mechanical","virtual"],"title":"Type"},"year":{"type":"integer","minimum":0,"title":"Year"}},"required":["name","type","year"]}"#;

fn definition_is_replaced_under_conditions(session: &Session<'_>) {
    session.get_is(DEFINITION, BUILT_IN);
    let stale = "The definition was changed since it was read; read it again before you change it";
    for (method, name, value, status) in [
        ("GET", "If-None-Match", "\"1\"", 304),
        ("HEAD", "If-None-Match", "W/\"1\"", 304),
        ("GET", "If-None-Match", "\"2\"", 200),
        ("GET", "If-Match", "\"2\"", 412),
        ("PUT", "If-Match", "\"2\"", 412),
        ("PUT", "If-Match", "\"2\", \"3\"", 412),
        ("PUT", "If-None-Match", "*", 412),
        ("PUT", "If-Match", "1", 400),
    ] {
        let answer = session.call(method, DEFINITION, &[(name, value)], b"{}");
        assert_eq!(answer.status, status, "{method} {name}: {value}");
        if status == 412 {
            assert_messages(&answer, 412, &[stale]);
        }
    }
    let if_first = [("If-Match", "\"1\"")];
    let statuses = at_once(4, |_| define(session, &if_first, OWN).status);
    let count = |status| statuses.iter().filter(|one| **one == status).count();
    assert_eq!((count(200), count(412)), (1, 3));
    let answer = session.get(DEFINITION);
    assert_eq!(answer.header("etag"), Some("\"2\""));
    assert_eq!(answer.text().parse::<Definition>(), OWN.parse());
    let answer = define(session, &[("If-Match", "\"1\", \"2\"")], &answer.text());
    assert_ok(&answer);
    assert_eq!(answer.header("etag"), Some("\"3\""));
    add_rows(session);
    session.assert_rejected(
        &define(session, &[], &OWN.replace("parts", "pieces")),
        &["parts cannot be removed or get another type, because 5 robots (ids 1, 2, 3, 5, 6) would lose the \
           value; to drop the values, send the definition with drop_values"],
    );
    let target = "/api/definition?drop_values=true";
    assert_ok(&session.call("PUT", target, &[], b"{}"));
    session.get_is(DEFINITION, BUILT_IN);
}

fn own_values_are_sent_and_returned(session: &Session<'_>) {
    assert_ok(&define(session, &[], OWN));
    // The members are in the order of the definition, and markup is escaped.
    let sent = r#"{"state":"good","x":[1],"lent":false,"weight":1.50,"notes":"","maker":"<b> \"\\ 🤖","serial":null}"#;
    let answer = session.post(&body("a", sent));
    let id = json(&answer)["data"]["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let robot = r#""name":"a","type":"droid","year":1977,"maker":"\u003cb\u003e \"\\ 🤖","weight":1.5,"lent":false,"state":"good""#;
    let created = format!(r#"{{"status":"OK","data":{{{robot},"id":"{id}"}}}}"#);
    assert_answer(&answer, session.created(), &created);
    let assert_found = |fields: &str, robot: &str| {
        let found = format!(r#"{{"status":"FOUND","data":{robot}}}"#);
        session.get_is(&format!("/api/robots/{id}?fields={fields}"), &found);
        session.get_is(
            &format!("/api/robots?fields={fields}"),
            &format!("[{robot}]"),
        );
    };
    assert_found("*", &format!(r#"{{"id":"{id}",{robot},"revision":1}}"#));
    let fields = "weight,notes,parts,acquired,lent,state";
    for (sent, kept) in values() {
        assert_ok(&session.put(&id, &body("a", &sent)));
        assert_found(fields, &kept);
    }
    assert_ok(&session.put(&id, &body("a", r#"{"parts":1,"lent":true,"state":"fair"}"#)));
    let headers = [("Content-Type", "application/merge-patch+json")];
    let patch = |body: &str| {
        session.call(
            "PATCH",
            &format!("/api/robots/{id}"),
            &headers,
            body.as_bytes(),
        )
    };
    for (sent, kept) in [
        (
            r#"{"weight":2}"#,
            r#"{"weight":2,"parts":1,"lent":true,"state":"fair"}"#,
        ),
        (
            r#"{"weight":null,"state":"","lent":false}"#,
            r#"{"parts":1,"lent":false}"#,
        ),
    ] {
        assert_ok(&patch(sent));
        assert_found(fields, kept);
    }
    session.assert_rejected(
        &patch(r#"{"year":null,"maker":"\u0000","state":"bad"}"#),
        &[
            super::NO_YEAR,
            "The maker must not contain the NUL character (U+0000)",
            "Value of field 'state' must be part of list: good, fair, it's \"poor\"",
        ],
    );
    assert_messages(
        &session.put(
            &id,
            &body(
                "a",
                r#"{"lent":"true","parts":1.5,"maker":{},"weight":1e400}"#,
            ),
        ),
        400,
        &[
            "maker must be a string",
            "weight must be a number",
            "parts must be an integer from -9223372036854775808 to 9223372036854775807",
            "lent must be true or false",
        ],
    );
}

fn own_fields_choose_sort_and_count_robots(session: &Session<'_>) {
    assert_ok(&define(session, &[], OWN));
    add_rows(session);
    let lists = "
        ?maker=ACME -> a|f
        ?maker= -> d|e|g|h
        ?maker=&maker=acme -> b|d|e|g|h
        ?maker=%C3%81cme+%22%26%3A%5C -> c
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
        ?q=%25 ->
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
        for query in ["", "maker=&maker=ACME&q=a&"] {
            let list = format!("/api/robots?{query}sort={sort}&");
            assert_eq!(
                follow_links(session, &list, 3).0,
                session.names(&list),
                "{list}"
            );
        }
    }
    let answer = session.get("/api/robots?count=true&limit=1&maker=");
    assert_eq!(answer.header("x-total-count"), Some("4"));
    for (query, groups) in [
        (
            "state",
            r#"{"state":"fair","count":1},{"state":"good","count":2},{"state":"it's \"poor\"","count":1},{"state":null,"count":4}"#,
        ),
        (
            "lent",
            r#"{"lent":false,"count":2},{"lent":true,"count":2},{"lent":null,"count":4}"#,
        ),
        ("type", r#"{"type":"droid","count":8}"#),
        (
            "acquired&parts_to=99&q=",
            r#"{"acquired":"2020","count":1},{"acquired":null,"count":2}"#,
        ),
    ] {
        let data =
            json(&session.get(&format!("/api/robots/summary?by={query}")))["data"]["groups"].take();
        assert_eq!(
            Ok(data),
            serde_json::from_str(&format!("[{groups}]")).map_err(drop),
            "{query}"
        );
    }
}

fn equal_names_are_paged(session: &Session<'_>) {
    assert_ok(&define(
        session,
        &[],
        r#"{"properties":{"name":{"unique":false}}}"#,
    ));
    let ids = ["b", "a", "c", "a", "b", "a"].map(|name| session.add(name));
    for (query, order) in [
        ("", [1, 3, 5, 0, 4, 2]),
        ("sort=-name&", [2, 4, 0, 5, 3, 1]),
        ("after=A&", [1, 3, 5, 0, 4, 2]),
    ] {
        let list = format!("/api/robots?fields=name,id&{query}");
        let (found, links) = follow_links(session, &list, 1);
        assert_eq!(found, session.names(&list), "{query}");
        let pages = links
            .iter()
            .map(|link| json(&session.get(link))[0]["id"].take());
        let expected = order[1..].iter().map(|index| ids[*index].as_str());
        assert!(pages.eq(expected), "{query}");
    }
    assert_eq!(session.names("/api/robots?name=a"), ["a"; 3]);
    assert_ok(&session.delete(&ids[1]));
    assert_eq!(names(&session.get("/api/robots?name=a&limit=1")), ["a"]);
}

fn files_have_own_fields(session: &Session<'_>) {
    assert_ok(&define(session, &[], OWN));
    let ids = add_rows(session);
    let definition: Definition = OWN.parse().unwrap_or_else(|error| panic!("{error}"));
    let names = Field::names(definition.settable());
    let export = |format| {
        let target = format!("/api/robots/export?format={format}&fields={names}");
        let answer = session.try_get(&target);
        answer.map_or_else(|error| error.to_string(), |answer| answer.text())
    };
    let files = ["csv", "json", "ndjson"].map(|format| (format, export(format)));
    assert!(files[0].1.starts_with(&format!(
        "{names}\na,droid,1977,,ACME,,10,-1,,2020-02-29,true,good\n"
    )));
    assert!(
        files[0]
            .1
            .contains("d,droid,1977,a,,,1e+300,,-2,2020-01-01,,\"it's \"\"poor\"\"\"\n")
    );
    let mut present = ids;
    for (index, (format, file)) in files.iter().enumerate() {
        present.drain(..).for_each(|id| drop(session.delete(&id)));
        let query = format!("?format={format}&atomic={}", index == 0);
        assert_eq!(import(session, &query, file).status, 200, "{format}");
        for (format, file) in &files {
            assert_eq!(export(format), *file);
        }
        let list = json(&session.get("/api/robots?fields=id"));
        let ids = list.as_array().into_iter().flatten();
        present.extend(ids.filter_map(|robot| robot["id"].as_str().map(str::to_owned)));
    }
    let file = "name,type,year,weight,lent,serial\nx,droid,1,x,,\ny,droid,1,,yes,\nz,droid,1,,,z\nv,droid,1,,,z\nw,droid,-1,,,b\n";
    let messages = [
        "line 2: weight must be a number",
        "line 3: lent must be true or false",
        "line 5: The serial must be unique",
        "line 6: The year cannot be less than zero",
        "line 6: The serial must be unique",
    ];
    for query in [
        "?format=csv&atomic=true",
        "?format=csv&dry_run=true",
        "?format=csv",
    ] {
        let answer = import(session, query, file);
        let found = json(&answer)["messages"].take();
        assert_eq!(found, serde_json::json!(messages), "{query}");
    }
    assert_eq!(session.names("/api/robots?serial=z"), ["z"]);
}
