//! The changes of the catalogue at `/v1`, the history of a robot, and how they are undone.

use std::{thread, time::Duration};

use serde_json::{Value, json};

use super::{Answer, Case, Session, json as parsed};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    changes_are_followed_from_a_list,
    many_changes_are_read_by_one_request,
    waiting_ends_with_a_change,
    events_are_streamed,
    positions_of_others_are_410,
    versions_come_back,
    changes_are_undone_by_their_positions,
];

fn cursor(session: &Session<'_>, target: &str) -> String {
    let answer = session.get(target);
    let cursor = answer.header("changes-cursor");
    cursor
        .unwrap_or_else(|| panic!("{target}: no cursor"))
        .to_owned()
}

/// The changes after a position: the action, the id and the name of each.
fn changes(session: &Session<'_>, query: &str) -> (Vec<Value>, Value) {
    let answer = session.get(&format!("/v1/changes?{query}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let page = parsed(&answer);
    let changes = page["changes"].as_array().cloned().unwrap_or_default();
    let shown = changes.iter().map(|change| {
        assert!(
            change["at"].as_str().is_some_and(|at| at.ends_with('Z')),
            "{change}"
        );
        json!([change["action"], change["id"], change["robot"]["name"]])
    });
    (shown.collect(), page)
}

fn send(session: &Session<'_>, method: &str, target: &str, body: &Value) -> Answer {
    let (headers, body) = ([("Content-Type", "application/json")], body.to_string());
    session.call(method, target, &headers, body.as_bytes())
}

fn post(session: &Session<'_>, target: &str, body: &Value) -> Answer {
    send(session, "POST", target, body)
}

fn changes_are_followed_from_a_list(session: &Session<'_>) {
    let now = parsed(&session.get("/v1/changes"));
    assert_eq!(now["changes"], json!([]));
    assert!(
        session
            .get("/api/robots")
            .header("changes-cursor")
            .is_none()
    );
    let start = cursor(session, "/v1/robots?limit=1");
    assert_eq!(start, now["next"]);
    assert_eq!(cursor(session, "/v1/robots/export?format=csv"), start);
    let [a, b, c] = ["A", "B", "C"].map(|name| session.add(name));
    session.delete(&b);
    let of_a = format!("/v1/robots/{a}");
    let patched = send(session, "PATCH", &of_a, &json!({"year": 5}));
    assert_eq!(patched.status, 200);
    let (all, page) = changes(session, &format!("after={start}"));
    let expected = [
        json!(["added", c, "C"]),
        json!(["deleted", b, null]),
        json!(["changed", a, "A"]),
    ];
    assert_eq!(all, expected);
    assert_eq!(page["more"], false);
    let (every, rest) = changes(session, &format!("after={start}&every=true&limit=3"));
    let added = [(&a, "A"), (&b, "B"), (&c, "C")];
    assert_eq!(every, added.map(|(id, name)| json!(["added", id, name])));
    let next = rest["next"].as_str().unwrap_or_default();
    let (late, every) = changes(session, &format!("after={next}&every=true"));
    assert_eq!(late, expected[1..]);
    let before = ["B", "A"].map(|name| json!(name));
    let names = |index: usize| every["changes"][index]["before"]["name"].clone();
    assert_eq!([names(0), names(1)], before);
    let robots =
        parsed(&session.get("/v1/robots?fields=id,updated_at,updated_by&sort=-updated_at&year=5"));
    assert_eq!(
        robots,
        json!([{"id": a, "updated_at": page["changes"][2]["at"]}])
    );
    let whole = session.get(&format!("{of_a}?fields=name,type,year,updated_at"));
    let put = send(session, "PUT", &of_a, &parsed(&whole));
    assert_eq!(put.status, 200, "{}", put.text());
    assert_eq!(
        page["changes"][2]["robot"]["revision"],
        page["changes"][2]["revision"]
    );
    let (first, page) = changes(session, &format!("after={start}&limit=1"));
    assert_eq!((&first[..], &page["more"]), (&expected[..1], &json!(true)));
    let next = page["next"].as_str().unwrap_or_default();
    assert_eq!(changes(session, &format!("after={next}")).0, expected[1..]);
    let (filtered, _) = changes(session, &format!("after={start}&year=5"));
    let excluded = json!(["excluded", c, null]);
    assert_eq!(
        filtered,
        [excluded, expected[1].clone(), expected[2].clone()]
    );
    let last = page["next"].as_str().unwrap_or_default();
    assert!(
        !changes(session, &format!("after={last}&wait=1"))
            .0
            .is_empty()
    );
}

/// More than the service reads together.
fn many_changes_are_read_by_one_request(session: &Session<'_>) {
    const COUNT: usize = 450;
    let start = cursor(session, "/v1/robots?limit=1");
    let robots = (0..COUNT).fold(String::new(), |file, number| {
        let robot = json!({"name": number.to_string(), "type": "droid", "year": 1});
        format!("{file}{robot}\n")
    });
    let headers = [("Content-Type", "application/x-ndjson")];
    let target = "/v1/robots/import?atomic=true";
    let answer = session.call("POST", target, &headers, robots.as_bytes());
    assert_eq!(answer.status, 200, "{:.300}", answer.text());
    for (limit, count) in [(COUNT - 1, COUNT - 1), (1000, COUNT)] {
        let (changes, page) = changes(session, &format!("after={start}&limit={limit}"));
        assert_eq!(
            (changes.len(), &page["more"]),
            (count, &json!(count < COUNT))
        );
        let revisions = page["changes"].as_array().into_iter().flatten();
        let revisions: Vec<_> = revisions.filter_map(|it| it["revision"].as_i64()).collect();
        assert!(revisions.is_sorted() && revisions.len() == count);
    }
}

fn waiting_ends_with_a_change(session: &Session<'_>) {
    let start = cursor(session, "/v1/robots");
    thread::scope(|scope| {
        let target = format!("after={start}&wait=60");
        let waiting = scope.spawn(move || changes(session, &target).0);
        thread::sleep(Duration::from_millis(100));
        assert!(!waiting.is_finished());
        session.add("A");
        let changes = waiting.join().unwrap_or_default();
        assert_eq!(changes.len(), 1);
    });
    let now = cursor(session, "/v1/robots");
    assert_eq!(changes(session, &format!("after={now}&wait=1")).0.len(), 0);
}

/// The ids and the data of the events of a stream, which ends after a second.
fn events(session: &Session<'_>, query: &str, last: Option<&str>) -> Vec<(String, Value)> {
    let mut headers = vec![("Accept", "text/event-stream")];
    headers.extend(last.map(|last| ("Last-Event-ID", last)));
    let answer = session.call("GET", &format!("/v1/changes?wait=1{query}"), &headers, b"");
    assert_eq!(answer.status, 200, "{}", answer.text());
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    let text = answer.text();
    let events = text.split("\n\n").filter(|event| !event.is_empty());
    let events = events.map(|event| {
        let id = event.lines().find_map(|line| line.strip_prefix("id: "));
        let data = event.lines().find_map(|line| line.strip_prefix("data: "));
        let data = data.map(|data| serde_json::from_str(data).unwrap_or_default());
        (id.unwrap_or_default().to_owned(), data.unwrap_or_default())
    });
    events.collect()
}

fn events_are_streamed(session: &Session<'_>) {
    let start = cursor(session, "/v1/robots");
    let names = |events: &[(String, Value)]| -> Vec<Value> {
        let events = events.iter().filter(|(_, data)| !data.is_null());
        events
            .map(|(_, data)| data["robot"]["name"].clone())
            .collect()
    };
    thread::scope(|scope| {
        let streamed = scope.spawn(|| events(session, "", None));
        thread::sleep(Duration::from_millis(300));
        session.add("A");
        let streamed = streamed.join().unwrap_or_default();
        assert_eq!(streamed.first().map(|(id, _)| id), Some(&start));
        assert_eq!(names(&streamed), ["A"]);
    });
    let b = session.add("B");
    let all = events(session, &format!("&after={start}"), None);
    assert_eq!(names(&all), ["A", "B"]);
    let (page, _) = changes(session, &format!("after={start}"));
    assert_eq!(page.len(), 2);
    // The id of an event continues after it, and takes precedence.
    let last = Some(all[1].0.as_str());
    let rest = events(session, &format!("&after={start}"), last);
    assert_eq!(names(&rest), ["B"]);
    let none = events(session, &format!("&after={start}&name=A"), None);
    let actions: Vec<_> = none.iter().map(|(_, data)| &data["action"]).collect();
    assert_eq!(actions, [&Value::Null, &json!("added"), &json!("excluded")]);
    session.delete(&b);
    let every = events(session, &format!("&after={start}&every=true"), None);
    assert_eq!(names(&every), [json!("A"), json!("B"), Value::Null]);
    for (last, status) in [("x", 400), ("other-0", 410)] {
        let headers = [("Accept", "text/event-stream"), ("Last-Event-ID", last)];
        let answer = session.call("GET", "/v1/changes", &headers, b"");
        assert_eq!(answer.status, status);
    }
}

fn positions_of_others_are_410(session: &Session<'_>) {
    let start = cursor(session, "/v1/robots");
    let (identity, _) = start.rsplit_once('-').unwrap_or_default();
    for (position, status) in [
        (format!("{identity}-999"), 410),
        ("other-0".to_owned(), 410),
        ("x".to_owned(), 400),
        (format!("{identity}--1"), 400),
        (String::new(), 400),
    ] {
        let answer = session.get(&format!("/v1/changes?after={position}&wait=5"));
        assert_eq!(answer.status, status, "{position}: {}", answer.text());
        if status == 410 {
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            assert_eq!(parsed(&answer)["errors"][0]["code"], "position_gone");
        }
        let body = json!({"after": position, "until": start});
        assert_eq!(post(session, "/v1/revert", &body).status, status);
    }
    for query in ["wait=61", "wait=x", "limit=0", "limit=1001"] {
        assert_eq!(
            session
                .get(&format!("/v1/changes?after={start}&{query}"))
                .status,
            400
        );
    }
}

fn versions_come_back(session: &Session<'_>) {
    for path in ["history", "revert"] {
        let target = format!("/v1/robots/x/{path}");
        assert_eq!(session.call("OPTIONS", &target, &[], b"").status, 404);
    }
    let id = session.add("A");
    let robot = format!("/v1/robots/{id}");
    let history = |query: &str| parsed(&session.get(&format!("{robot}/history{query}")));
    let first = history("")["changes"][0]["revision"].clone();
    send(session, "PATCH", &robot, &json!({"name": "B"}));
    session.delete(&id);
    let all = history("");
    let actions = |page: &Value| {
        let changes = page["changes"].as_array().into_iter().flatten();
        changes
            .map(|change| change["action"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(actions(&all), ["deleted", "changed", "added"]);
    assert_eq!((&all["more"], &all["next"]), (&json!(false), &Value::Null));
    let page = history("?limit=2");
    assert_eq!((actions(&page).len(), &page["more"]), (2, &json!(true)));
    let rest = history(&format!("?limit=2&before={}", page["next"]));
    assert_eq!(actions(&rest), ["added"]);
    let revert = format!("{robot}/revert");
    // Times are in milliseconds.
    thread::sleep(Duration::from_millis(2));
    let reverted = post(session, &revert, &json!({"revision": first}));
    assert_eq!(
        (reverted.status, &parsed(&reverted)["name"]),
        (200, &json!("A"))
    );
    assert_eq!(parsed(&session.get(&robot))["name"], "A");
    let (last, _) = changes(session, "after=last-1&every=true");
    assert_eq!(last, [json!(["restored", id, "A"])]);
    let body = json!({"revision": first}).to_string();
    let stale = [
        ("Content-Type", "application/json"),
        ("If-Match", "\"9999\""),
    ];
    let stale = session.call("POST", &revert, &stale, body.as_bytes());
    assert_eq!(stale.status, 412, "{}", stale.text());
    let minimal = session.call(
        "POST",
        &revert,
        &[("Prefer", "return=minimal")],
        json!({"revision": first}).to_string().as_bytes(),
    );
    assert_eq!(minimal.status, 204);
    session.delete(&id);
    session.add("A");
    let taken = post(session, &revert, &json!({"revision": first}));
    assert_eq!(taken.status, 409, "{}", taken.text());
    for (target, body, status) in [
        (&*revert, json!({"revision": 99}), 404),
        (&revert, json!({"revision": 0}), 400),
        (&revert, json!({"version": 1}), 400),
        ("/v1/robots/99/revert", json!({"revision": 1}), 404),
    ] {
        assert_eq!(
            post(session, target, &body).status,
            status,
            "{target} {body}"
        );
    }
    assert_eq!(session.get("/v1/robots/99/history").status, 404);
    for target in [&*revert, "/v1/revert"] {
        let encoded = session.call("POST", target, &[("Content-Encoding", "gzip")], b"{}");
        assert_eq!(encoded.status, 415, "{target}");
    }
}

fn changes_are_undone_by_their_positions(session: &Session<'_>) {
    let [a, b] = ["A", "B"].map(|name| session.add(name));
    let bulk = json!({"ids": [a, b], "changes": {"year": 5}});
    let bulk = parsed(&send(session, "PATCH", "/v1/robots", &bulk));
    let file = "name,type,year\nC,droid,1\nD,droid,2\n";
    let imported = session.call("POST", "/v1/robots/import?format=csv", &[], file.as_bytes());
    let imported = parsed(&imported)["changes"].clone();
    let of_b = format!("/v1/robots/{b}");
    send(session, "PATCH", &of_b, &json!({"year": 6}));
    let dry_run = post(session, "/v1/revert?dry_run=true", &imported);
    let expected = json!({"count": 2, "left": []});
    let shown = |answer: &Answer| {
        let done = parsed(answer);
        assert_eq!(answer.status, 200, "{done}");
        json!({"count": done["count"], "left": done["left"]})
    };
    assert_eq!(
        (shown(&dry_run), &parsed(&dry_run)["changes"]),
        (expected.clone(), &Value::Null)
    );
    let reverted = post(session, "/v1/revert", &imported);
    assert_eq!(shown(&reverted), expected);
    assert_eq!(session.names("/v1/robots"), ["A", "B"]);
    let left = json!([{"id": b, "reason": "Other changes have followed"}]);
    let of_bulk = post(session, "/v1/revert", &bulk["changes"]);
    assert_eq!(shown(&of_bulk), json!({"count": 1, "left": left}));
    let years = session.get("/v1/robots?fields=year").text();
    assert_eq!(years, r#"[{"year":1977},{"year":6}]"#);
    // The robots of the import come back under their ids.
    let again = post(session, "/v1/revert", &parsed(&reverted)["changes"]);
    assert_eq!(shown(&again), expected);
    let mut by_nobody = imported;
    by_nobody["by"] = json!("nobody");
    assert_eq!(
        shown(&post(session, "/v1/revert", &by_nobody)),
        json!({"count": 0, "left": []})
    );
    // A name that is taken meanwhile refuses all.
    session.delete(&a);
    let positions = parsed(&session.get("/v1/changes"))["next"].clone();
    session.delete(&b);
    let until = parsed(&session.get("/v1/changes"))["next"].clone();
    session.add("B");
    let refused = post(
        session,
        "/v1/revert",
        &json!({"after": positions, "until": until}),
    );
    assert_eq!(refused.status, 409, "{}", refused.text());
}
