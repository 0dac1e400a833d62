//! Imports: `POST /api/robots/import`.

use std::fmt::Write;

use super::{
    Answer, Case, NAME_MESSAGE, Session, TYPE_MESSAGE, YEAR_MESSAGE, assert_answer, assert_failure,
    assert_messages, draft,
};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    import_accepts_each_format,
    import_in_another_format_stores_nothing,
    import_reports_the_line_of_each_failure,
    import_that_stores_nothing_returns_an_error,
    on_conflict_skips_or_replaces_taken_names,
    dry_run_stores_nothing,
    import_limits_the_number_of_messages,
    plan_of_an_import_is_proposed,
    import_can_exceed_the_body_limit,
    import_names_what_it_does_not_store,
    edited_export_changes_robots_by_id,
];

const IMPORT: &str = "/api/robots/import";

pub(super) const SKIP_MESSAGE: &str = "To skip names that are taken, add on_conflict=skip to the query; to \
                            update their robots, on_conflict=replace";

/// Imports a file, with this query.
pub(super) fn import(session: &Session<'_>, query: &str, file: &str) -> Answer {
    session.call("POST", &format!("{IMPORT}{query}"), &[], file.as_bytes())
}

/// The same, with a content type.
fn import_as(session: &Session<'_>, query: &str, kind: &str, file: &str) -> Answer {
    let headers = [("Content-Type", kind)];
    let target = format!("{IMPORT}{query}");
    session.call("POST", &target, &headers, file.as_bytes())
}

/// Asserts the counts of an import: added, replaced, skipped, failed; and its messages.
#[track_caller]
pub(super) fn assert_imported(answer: &Answer, counts: [u64; 4], messages: &[&str]) {
    let [added, replaced, skipped, failed] = counts;
    let data = format!(
        r#"{{"added":{added},"replaced":{replaced},"skipped":{skipped},"failed":{failed}}}"#
    );
    let messages = match messages {
        [] => String::new(),
        messages => format!(r#","messages":{}"#, serde_json::json!(messages)),
    };
    let body = format!(r#"{{"status":"OK","data":{data}{messages}}}"#);
    assert_answer(answer, 200, &body);
}

const CSV: &str =
    "year,type,name\r\n1977,droid,R2-D2\r\n2996,mechanical,\"Bender, \"\"Bending\"\"\"\r\n";

fn assert_all_stored(session: &Session<'_>) {
    assert_eq!(
        session.names("/api/robots"),
        ["Bender, \"Bending\"", "R2-D2"]
    );
    session.get_is(
        "/api/robots/search/R2?fields=name,type,year",
        r#"[{"name":"R2-D2","type":"droid","year":1977}]"#,
    );
}

fn import_accepts_each_format(session: &Session<'_>) {
    let r2 = draft("R2-D2", "droid", 1977);
    let bender = draft("Bender, \"Bending\"", "mechanical", 2996);
    let json = format!("[{r2},\n{bender}]\n");
    let ndjson = format!("{r2}\n\n{bender}");
    // The query takes precedence over the content type.
    for (query, kind, file) in [
        ("?format=csv", "", CSV),
        ("?format=json", "text/csv", &json),
        ("?format=ndjson", "application/json", &ndjson),
        ("", "Text/CSV; charset=utf-8", CSV),
        ("", "application/json", &json),
        ("", "application/x-ndjson", &ndjson),
    ] {
        let answer = import_as(session, query, kind, file);
        assert_imported(&answer, [2, 0, 0, 0], &[]);
        assert_all_stored(session);
        for name in ["R2", "Bender"] {
            let found = super::json(&session.get(&super::search(name)));
            session.delete(found[0]["id"].as_str().unwrap_or_default());
        }
    }
}

fn import_in_another_format_stores_nothing(session: &Session<'_>) {
    for (query, kind) in [
        ("", "application/x-www-form-urlencoded"),
        ("", "text/plain"),
        ("", ""),
        ("", "application/json"),
        ("", "application/x-ndjson"),
        ("?format=json", "text/csv"),
        ("?format=xml", ""),
        ("?format=", ""),
        ("?format=csv&format=csv", ""),
        ("?format=csv&on_conflict=merge", ""),
        ("?format=csv&dry_run=yes", ""),
        ("?format=csv&dry_run", ""),
        ("?format=%FF", ""),
        ("?format=csv&atomic=yes", ""),
        (
            "?format=csv&columns=%7B%22a%22:null,%22b%22:null,%22a%22:%22name%22%7D",
            "",
        ),
        ("?format=csv&atomic=", ""),
        ("?format=csv&atomic=true&atomic=true", ""),
    ] {
        assert_failure(&import_as(session, query, kind, CSV), 400);
    }
    assert_failure(&import(session, "", CSV), 400);
    assert_eq!(session.names("/api/robots"), [""; 0]);
}

fn import_reports_the_line_of_each_failure(session: &Session<'_>) {
    session.add("HAL 9000");
    let file = "name,type,year\nR2-D2,toaster,-1\nHAL 9000,virtual,1968\nC-3PO,droid,soon\n\
                \"a\nb\",droid,1\nC-3PO\n";
    assert_imported(
        &import(session, "?format=csv", file),
        [1, 0, 0, 4],
        &[
            &format!("line 2: {TYPE_MESSAGE}"),
            &format!("line 2: {YEAR_MESSAGE}"),
            &format!("line 3: {NAME_MESSAGE}"),
            "line 4: year must be an integer from 0 to 9223372036854775807",
            "line 7: type is required",
            "line 7: year is required",
            SKIP_MESSAGE,
        ],
    );
    assert_eq!(session.names("/api/robots"), ["HAL 9000", "a\nb"]);
    let file = format!("[{},\n{{", draft("new", "droid", 1));
    assert_imported(
        &import(session, "?format=json", &file),
        [1, 0, 0, 1],
        &["line 2: What begins here does not end: the JSON is truncated or not valid"],
    );
}

fn import_that_stores_nothing_returns_an_error(session: &Session<'_>) {
    session.add("R2-D2");
    let taken = draft("R2-D2", "droid", 1);
    session.assert_rejected(
        &import(session, "?format=ndjson", &taken),
        &[&format!("line 1: {NAME_MESSAGE}"), SKIP_MESSAGE],
    );
    // The first failure determines the status.
    assert_messages(
        &import(session, "?format=ndjson", &format!("[]\n{taken}\n")),
        400,
        &[
            "line 1: The record must be a JSON object with name, type and year",
            &format!("line 2: {NAME_MESSAGE}"),
            SKIP_MESSAGE,
        ],
    );
    assert_messages(
        &import(session, "?format=csv", "name;year\n"),
        400,
        &[
            "line 1: Missing in the header: type; the first line must name the columns, separated by \
             commas: name,type,year",
        ],
    );
    assert_failure(&import(session, "?format=json", ""), 400);
    assert_failure(&import(session, "?format=csv", ""), 400);
    // An empty import is not a failure.
    assert_imported(&import(session, "?format=ndjson", ""), [0; 4], &[]);
    assert_imported(&import(session, "?format=json", "[]"), [0; 4], &[]);
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

fn on_conflict_skips_or_replaces_taken_names(session: &Session<'_>) {
    for atomic in [false, true] {
        let id = session.add("R2-D2");
        let query = format!("?format=ndjson&atomic={atomic}&on_conflict=");
        for (on_conflict, records, counts, r2, new) in [
            (
                "skip",
                &[("R2-D2", 1), ("new", 2), ("new", 3)][..],
                [1, 0, 2, 0],
                "R2-D2,droid,1977",
                "2",
            ),
            (
                "replace",
                &[("R2-D2", 1), ("new", 3)],
                [0, 2, 0, 0],
                "R2-D2,virtual,1",
                "3",
            ),
        ] {
            let file = records.iter();
            let file = file.map(|(name, year)| draft(name, "virtual", *year));
            let file = file.collect::<Vec<_>>().join("\n");
            let answer = import(session, &format!("{query}{on_conflict}"), &file);
            assert_imported(&answer, counts, &[]);
            let target = "/api/robots/export?format=csv&fields=id,name,type,year";
            let rows = session.get(target).text();
            let lines: Vec<_> = rows.lines().collect();
            assert_eq!(lines[1], format!("{id},{r2}"), "{rows}");
            assert!(lines[2].ends_with(&format!(",new,virtual,{new}")), "{rows}");
        }
        for robot in super::json(&session.get("/api/robots"))
            .as_array()
            .into_iter()
            .flatten()
        {
            session.delete(robot["id"].as_str().unwrap_or_default());
        }
    }
}

fn dry_run_stores_nothing(session: &Session<'_>) {
    session.add("R2-D2");
    let file = "name,type,year\nnew,droid,1\nnew,droid,1\nR2-D2,droid,1\nx,droid,-1\n";
    let answer = import(
        session,
        "?format=csv&on_conflict=replace&dry_run=true",
        file,
    );
    let message = format!("line 5: {YEAR_MESSAGE}");
    let twice = "line 3: An earlier record has the name new, too; give each name once";
    assert_imported(&answer, [1, 1, 0, 2], &[twice, &message]);
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
    let answer = import(session, "?format=csv&on_conflict=skip&dry_run=false", file);
    assert_imported(&answer, [1, 0, 2, 1], &[&message]);
    assert_eq!(session.names("/api/robots"), ["R2-D2", "new"]);
}

fn import_limits_the_number_of_messages(session: &Session<'_>) {
    let mut file = draft("R2-D2", "droid", 1977);
    for _ in 0..150 {
        file.push_str("\n{\"year\":-1}");
    }
    let answer = import(session, "?format=ndjson", &file);
    let body = super::json(&answer);
    assert_eq!(answer.status, 200);
    assert_eq!(body["data"]["failed"], 150);
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(messages.len(), 101);
    assert_eq!(messages[0], "line 2: type is required");
    // Each line violates three rules.
    assert_eq!(messages[100], "and 350 more messages");
}

fn plan_of_an_import_is_proposed(session: &Session<'_>) {
    let file = "name,maker,price\na,ACME,9.50\nb,,12\n";
    for prefix in ["/api", "/v1"] {
        let target = format!("{prefix}/robots/import/propose?format=csv");
        let answer = session.call("POST", &target, &[], file.as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = answer.text();
        for part in [
            r#""columns":{"name":"name","maker":"maker","price":"price"}"#,
            r#""price":{"type":"number","#,
            r#""type":false,"#,
            r#""added":2,"#,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let encoded = [("Content-Encoding", "gzip")];
        let answer = session.call("POST", &target, &encoded, file.as_bytes());
        assert_eq!(answer.status, 415);
    }
    let target = "/v1/robots/import/propose?format=csv&nulls=%5B%22b%22%2C%22z%22%5D";
    let file = "name,maker,price\na,b,9\nc, b,b\nd,b,\n";
    let answer = session.call("POST", target, &[], file.as_bytes()).text();
    for part in [r#""emptied":{"b":2}"#, r#""emptied":{"b":1}"#] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    session.get_is("/api/robots", "[]");
    let id = session.add("a");
    let target = "/v1/robots/import/propose?format=csv&on_conflict=replace";
    let answer = session
        .call("POST", target, &[], b"name,year\na,1980\nb,1\n")
        .text();
    let value = r#""name":"a","field":"year","before":1977,"after":1980"#;
    let values = format!(r#""values":[{{"id":"{id}",{value}}}]"#);
    assert!(answer.contains(&values), "{answer}");
}

fn import_can_exceed_the_body_limit(session: &Session<'_>) {
    let mut file = "name,type,year\n".to_owned();
    for number in 0..4000 {
        // Writing to a string does not fail.
        let _ = writeln!(file, "RX-{number:020},droid,{number}");
    }
    assert!(file.len() > 2 * crate::http::BODY_LIMIT);
    let answer = import(session, "?format=csv", &file);
    assert_imported(&answer, [4000, 0, 0, 0], &[]);
    let answer = session.get("/api/robots/export?format=csv&fields=name,type,year&sort=name");
    assert!(answer.text() == file, "what comes out is not what went in");
}

fn import_names_what_it_does_not_store(session: &Session<'_>) {
    let csv = "\u{feff}Name;TYPE; Year ;makr;id\r\nR2-D2;droid;1977;x;9\r\n";
    let ndjson = r#"{"name":"R2-D2","type":"droid","year":1977,"makr":[],"id":"9"}"#;
    for (format, file) in [("csv", csv), ("ndjson", ndjson)] {
        for (on_conflict, counts, ignored) in [
            ("fail", r#""added":1,"replaced":0"#, r#"["makr"]"#),
            (
                "replace",
                r#""added":0,"replaced":0,"unchanged":1"#,
                r#"["makr","id"]"#,
            ),
        ] {
            let query = format!("?format={format}&on_conflict={on_conflict}");
            let counts = format!(r#"{counts},"skipped":0,"failed":0,"ignored":{ignored}"#);
            let body = format!(r#"{{"status":"OK","data":{{{counts}}}}}"#);
            assert_answer(&import(session, &query, file), 200, &body);
        }
        let target = format!("{IMPORT}?format={format}");
        let strict = [("Prefer", "handling=strict")];
        let answer = session.call("POST", &target, &strict, file.as_bytes());
        assert_failure(&answer, 400);
        for part in ["'makr' is not a field", "match the robots with these ids"] {
            assert!(answer.text().contains(part), "{}", answer.text());
        }
        // A few messages, however many mistakes there are.
        let many = (0..99).fold(String::new(), |many, n| many + &format!("\"x{n}\":1,"));
        let answer = session.call(
            "POST",
            &format!("{IMPORT}?format=ndjson"),
            &strict,
            format!("{{{many}\"id\":1}}").as_bytes(),
        );
        assert_eq!(answer.text().matches("is not a field").count(), 10);
        let id = super::json(&session.get("/api/robots"))[0]["id"].clone();
        session.delete(id.as_str().unwrap_or_default());
    }
}

fn edited_export_changes_robots_by_id(session: &Session<'_>) {
    let ids = ["Bendr", "R2-D2", "Robby"].map(|name| session.add(name));
    let exported = session.get("/api/robots/export?format=csv").text();
    let edited = exported.replace("Bendr", "Bender");
    let query = "?format=csv&match=id&dry_run=";
    let counts = r#""added":0,"replaced":1,"unchanged":2,"skipped":0,"failed":0"#;
    let body = format!(r#"{{"status":"OK","data":{{{counts}}}}}"#);
    for dry_run in ["true", "false"] {
        let answer = import(session, &format!("{query}{dry_run}"), &edited);
        assert_answer(&answer, 200, &body);
    }
    assert_eq!(session.names("/api/robots"), ["Bender", "R2-D2", "Robby"]);
    let target = format!("/api/robots/{}?fields=name,revision", ids[0]);
    session.get_is(
        &target,
        r#"{"status":"FOUND","data":{"name":"Bender","revision":4}}"#,
    );
    assert_messages(
        &import(session, "?format=csv&match=id", "id,year\n99,5\n,5\n"),
        400,
        &[
            "line 2: No robot has the id 99; leave out the ids to add robots",
            "line 3: The record has no id, which finds its robot",
        ],
    );
}
