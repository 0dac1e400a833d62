//! Many robots at once: `POST /api/robots/import` and `GET /api/robots/export`.

use std::fmt::Write;

use super::{
    Answer, Case, NAME_MESSAGE, Session, TYPE_MESSAGE, YEAR_MESSAGE, assert_answer, assert_failure,
    assert_messages, draft, faulty::Fault,
};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    import_accepts_each_format,
    import_format_comes_from_query_or_content_type,
    import_with_invalid_query_stores_nothing,
    import_reports_the_line_of_each_failure,
    import_that_stores_nothing_returns_an_error,
    on_conflict_skips_or_replaces_taken_names,
    dry_run_stores_nothing,
    import_limits_the_number_of_messages,
    import_names_records_on_one_line_by_number,
    import_stopped_by_a_full_disk_returns_503,
    stopped_import_with_an_unreadable_rest_has_no_count,
    import_stopped_before_the_first_robot_has_no_data,
    every_write_to_a_full_disk_returns_503,
    import_can_exceed_the_body_limit,
    too_long_import_record_is_rejected,
    export_supports_each_format,
    export_has_the_requested_fields,
    export_does_not_escape_markup,
    export_for_spreadsheets_marks_formulas,
    export_of_empty_catalogue_is_an_empty_file,
    exported_robots_can_be_imported,
];

const IMPORT: &str = "/api/robots/import";

const SKIP_MESSAGE: &str = "To skip names that are taken, add on_conflict=skip to the query; to \
                            update their robots, on_conflict=replace";
const FULL_MESSAGE: &str =
    "The disk of the service is full; try again when its operator has freed space";

/// Imports a file, with this query.
fn import(session: &Session<'_>, query: &str, file: &str) -> Answer {
    session.call("POST", &format!("{IMPORT}{query}"), &[], file.as_bytes())
}

/// The counts in an answer: added, replaced, skipped, failed.
fn counts([added, replaced, skipped, failed]: [u64; 4]) -> String {
    format!(
        r#""data":{{"added":{added},"replaced":{replaced},"skipped":{skipped},"failed":{failed}}}"#
    )
}

#[track_caller]
fn assert_imported(answer: &Answer, expected: [u64; 4]) {
    assert_answer(
        answer,
        200,
        &format!(r#"{{"status":"OK",{}}}"#, counts(expected)),
    );
}

#[track_caller]
fn assert_partly(answer: &Answer, expected: [u64; 4], messages: &[&str]) {
    let messages = serde_json::json!(messages);
    let counts = counts(expected);
    assert_answer(
        answer,
        200,
        &format!(r#"{{"status":"OK",{counts},"messages":{messages}}}"#),
    );
}

fn csv() -> &'static str {
    "year,type,name\r\n1977,droid,R2-D2\r\n2996,mechanical,\"Bender, \"\"Bending\"\"\"\r\n"
}

fn assert_all_stored(session: &Session<'_>) {
    assert_eq!(
        session.names("/api/robots"),
        ["Bender, \"Bending\"", "R2-D2"]
    );
    let answer = session.get("/api/robots/search/R2?fields=name,type,year");
    assert_answer(
        &answer,
        200,
        r#"[{"name":"R2-D2","type":"droid","year":1977}]"#,
    );
}

fn import_accepts_each_format(session: &Session<'_>) {
    let r2 = draft("R2-D2", "droid", 1977);
    let bender = draft("Bender, \"Bending\"", "mechanical", 2996);
    let json = format!("[{r2},\n{bender}]\n");
    let ndjson = format!("{r2}\n\n{bender}");
    for (format, file) in [("csv", csv()), ("json", &json), ("ndjson", &ndjson)] {
        let answer = import(session, &format!("?format={format}"), file);
        assert_imported(&answer, [2, 0, 0, 0]);
        assert_all_stored(session);
        for name in ["R2", "Bender"] {
            let found = super::json(&session.get(&super::search(name)));
            session.delete(found[0]["id"].as_str().unwrap_or_default());
        }
    }
}

fn import_format_comes_from_query_or_content_type(session: &Session<'_>) {
    let send = |query: &str, kind: &str| {
        let headers = [("Content-Type", kind)];
        session.call(
            "POST",
            &format!("{IMPORT}{query}"),
            &headers,
            csv().as_bytes(),
        )
    };
    assert_failure(&import(session, "", csv()), 400);
    for kind in ["application/x-www-form-urlencoded", "text/plain", ""] {
        assert_failure(&send("", kind), 400);
    }
    // The query takes precedence over the content type: this is not JSON.
    assert_failure(&send("?format=json", "text/csv"), 400);
    assert_failure(&send("", "application/json"), 400);
    assert_failure(&send("", "application/x-ndjson"), 400);
    assert_eq!(session.names("/api/robots"), [""; 0]);
    assert_imported(&send("", "Text/CSV; charset=utf-8"), [2, 0, 0, 0]);
    let answer = send("?format=csv&on_conflict=skip", "application/json");
    assert_imported(&answer, [0, 0, 2, 0]);
    assert_all_stored(session);
}

fn import_with_invalid_query_stores_nothing(session: &Session<'_>) {
    for query in [
        "?format=xml",
        "?format=",
        "?format=csv&format=csv",
        "?format=csv&on_conflict=merge",
        "?format=csv&dry_run=yes",
        "?format=csv&dry_run",
        "?format=%FF",
    ] {
        assert_failure(&import(session, query, csv()), 400);
    }
    assert_eq!(session.names("/api/robots"), [""; 0]);
}

fn import_reports_the_line_of_each_failure(session: &Session<'_>) {
    session.add("HAL 9000");
    let file = "name,type,year\nR2-D2,toaster,-1\nHAL 9000,virtual,1968\nC-3PO,droid,soon\n\
                \"a\nb\",droid,1\nC-3PO\n";
    assert_partly(
        &import(session, "?format=csv", file),
        [1, 0, 0, 4],
        &[
            &format!("line 2: {TYPE_MESSAGE}"),
            &format!("line 2: {YEAR_MESSAGE}"),
            &format!("line 3: {NAME_MESSAGE}"),
            "line 4: year must be an integer from 0 to 9223372036854775807",
            "line 7: The record has a different number of fields (1) than the header (3); put a \
             field with commas, quotes or line breaks into quotes",
            SKIP_MESSAGE,
        ],
    );
    assert_eq!(session.names("/api/robots"), ["HAL 9000", "a\nb"]);
    let file = format!("[{},\n{{", draft("new", "droid", 1));
    assert_partly(
        &import(session, "?format=json", &file),
        [1, 0, 0, 1],
        &["line 2: What begins here does not end: the JSON is truncated or not valid"],
    );
}

fn import_that_stores_nothing_returns_an_error(session: &Session<'_>) {
    session.add("R2-D2");
    let taken = draft("R2-D2", "droid", 1);
    assert_messages(
        &import(session, "?format=ndjson", &taken),
        session.rejected(),
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
        &import(session, "?format=csv", "name;type;year\n"),
        400,
        &[
            "line 1: Missing in the header: name, type, year; the first line must name the columns, \
             separated by commas: name,type,year",
        ],
    );
    assert_failure(&import(session, "?format=json", ""), 400);
    assert_failure(&import(session, "?format=csv", ""), 400);
    // An empty import is not a failure.
    assert_imported(&import(session, "?format=ndjson", ""), [0; 4]);
    assert_imported(&import(session, "?format=json", "[]"), [0; 4]);
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

fn on_conflict_skips_or_replaces_taken_names(session: &Session<'_>) {
    let id = session.add("R2-D2");
    let file = [("R2-D2", 1), ("new", 2), ("new", 3)]
        .map(|(name, year)| draft(name, "virtual", year))
        .join("\n");
    let robots = |r2: &str, new: &str| {
        let answer = session.get("/api/robots?fields=name,type,year");
        let expected =
            format!(r#"[{{"name":"R2-D2",{r2}}},{{"name":"new","type":"virtual","year":{new}}}]"#);
        assert_answer(&answer, 200, &expected);
    };
    let answer = import(session, "?format=ndjson&on_conflict=skip", &file);
    assert_imported(&answer, [1, 0, 2, 0]);
    robots(r#""type":"droid","year":1977"#, "2");
    let answer = import(session, "?format=ndjson&on_conflict=replace", &file);
    assert_imported(&answer, [0, 3, 0, 0]);
    robots(r#""type":"virtual","year":1"#, "3");
    let found = session.get(&format!("/api/robots/{id}?fields=name"));
    assert_answer(&found, 200, r#"{"status":"FOUND","data":{"name":"R2-D2"}}"#);
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
    assert_partly(&answer, [1, 2, 0, 1], &[&message]);
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
    let answer = import(session, "?format=csv&on_conflict=skip&dry_run=false", file);
    assert_partly(&answer, [1, 0, 2, 1], &[&message]);
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

fn import_names_records_on_one_line_by_number(session: &Session<'_>) {
    let file = format!("[{},{{}},7,{{x}}]", draft("R2-D2", "droid", 1977));
    assert_partly(
        &import(session, "?format=json", &file),
        [1, 0, 0, 3],
        &[
            "record 2: type is required",
            "record 2: name is required",
            "record 2: year is required",
            "record 3: The record must be a JSON object with name, type and year",
            "record 4: The JSON is not valid here; nothing after it can be read",
        ],
    );
}

/// Asserts a reply to an import that was stopped by a full disk after it had stored something.
#[track_caller]
fn assert_stopped(answer: &Answer, data: &str, messages: &[&str]) {
    let messages = serde_json::json!(messages);
    let body = format!(r#"{{"status":"ERROR","data":{data},"messages":{messages}}}"#);
    assert_answer(answer, 503, &body);
    let after = answer.header("retry-after").unwrap_or_default();
    assert!(after.parse::<u32>().is_ok(), "Retry-After: {after}");
}

fn import_stopped_by_a_full_disk_returns_503(session: &Session<'_>) {
    let mut file = "name,type,year\nR2-D2,droid,-1\n".to_owned();
    for number in 0..1999 {
        // Writing to a string does not fail.
        let _ = writeln!(file, "RX-{number},droid,{number}");
    }
    session.store.fail(Fault::DiskFull(700));
    let answer = import(session, "?format=csv", &file);
    session.store.fail(None);
    let counts = r#"{"added":700,"replaced":0,"skipped":0,"failed":2,"not_tried":1298}"#;
    let advice = "To import the rest, send the file again with on_conflict=skip in the query";
    let (line_2, line_703) = (
        format!("line 2: {YEAR_MESSAGE}"),
        format!("line 703: {FULL_MESSAGE}"),
    );
    assert_stopped(&answer, counts, &[&line_2, &line_703, advice]);
    assert_eq!(session.names("/api/robots").len(), 700);

    session.store.fail(Fault::DiskFull(0));
    let answer = import(session, "?format=csv&on_conflict=skip", &file);
    session.store.fail(None);
    let counts = r#"{"added":0,"replaced":0,"skipped":700,"failed":2,"not_tried":1298}"#;
    let advice = "To import the rest, send the file again";
    assert_stopped(&answer, counts, &[&line_2, &line_703, advice]);

    let answer = import(session, "?format=csv&on_conflict=skip", &file);
    assert_partly(&answer, [1299, 0, 700, 1], &[&line_2]);
}

fn stopped_import_with_an_unreadable_rest_has_no_count(session: &Session<'_>) {
    let robots = ["a", "b", "c"]
        .map(|name| draft(name, "droid", 1))
        .join(",");
    session.store.fail(Fault::DiskFull(1));
    let answer = import(session, "?format=json", &format!("[{robots},{{"));
    session.store.fail(None);
    let advice = "To import the rest, send the file again with on_conflict=skip in the query";
    assert_stopped(
        &answer,
        r#"{"added":1,"replaced":0,"skipped":0,"failed":1}"#,
        &[&format!("record 2: {FULL_MESSAGE}"), advice],
    );
    assert_eq!(session.names("/api/robots"), ["a"]);
}

fn import_stopped_before_the_first_robot_has_no_data(session: &Session<'_>) {
    let robots = ["a", "b"].map(|name| draft(name, "droid", 1)).join("\n");
    session.store.fail(Fault::DiskFull(0));
    let answer = import(session, "?format=ndjson", &robots);
    session.store.fail(None);
    assert_messages(&answer, 503, &[&format!("line 1: {FULL_MESSAGE}")]);
    assert_eq!(session.names("/api/robots"), [""; 0]);
}

fn every_write_to_a_full_disk_returns_503(session: &Session<'_>) {
    let id = session.add("R2-D2");
    session.store.fail(Fault::DiskFull(0));
    let answers = [
        session.post(&draft("C-3PO", "droid", 1977)),
        session.put(&id, &draft("R2", "droid", 1977)),
        session.delete(&id),
    ];
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
    session.store.fail(None);
    for answer in answers {
        assert_messages(&answer, 503, &[FULL_MESSAGE]);
        let after = answer.header("retry-after").unwrap_or_default();
        assert!(after.parse::<u32>().is_ok(), "Retry-After: {after}");
    }
    assert_eq!(session.names("/api/robots"), ["R2-D2"]);
}

fn import_can_exceed_the_body_limit(session: &Session<'_>) {
    let mut file = "name,type,year\n".to_owned();
    for number in 0..4000 {
        // Writing to a string does not fail.
        let _ = writeln!(file, "RX-{number:020},droid,{number}");
    }
    assert!(file.len() > 2 * crate::http::BODY_LIMIT);
    let answer = import(session, "?format=csv", &file);
    assert_imported(&answer, [4000, 0, 0, 0]);
    let answer = session.get("/api/robots/export?format=csv&fields=name,type,year");
    assert!(answer.text() == file, "what comes out is not what went in");
}

fn too_long_import_record_is_rejected(session: &Session<'_>) {
    let long = "x".repeat(crate::transfer::RECORD_LIMIT);
    let file = format!("{{\"x\":\"{long}\"}}\n{}\n", draft("R2-D2", "droid", 1977));
    assert_partly(
        &import(session, "?format=ndjson", &file),
        [1, 0, 0, 1],
        &["line 1: The record has more than 65536 bytes"],
    );
}

fn export_supports_each_format(session: &Session<'_>) {
    let hal = session.add("HAL, 9000");
    let r2 = session.add("R2-D2");
    let rest = r#""type":"droid","year":1977}"#;
    let (first, second) = (
        format!(r#"{{"id":"{hal}","name":"HAL, 9000",{rest}"#),
        format!(r#"{{"id":"{r2}","name":"R2-D2",{rest}"#),
    );
    let csv = format!("id,name,type,year\n{hal},\"HAL, 9000\",droid,1977\n{r2},R2-D2,droid,1977\n");
    for (query, kind, file, body) in [
        (
            "",
            "application/x-ndjson",
            "ndjson",
            format!("{first}\n{second}\n"),
        ),
        (
            "?format=json",
            "application/json",
            "json",
            format!("[\n{first},\n{second}\n]\n"),
        ),
        (
            "?format=csv",
            "text/csv; charset=utf-8; header=present",
            "csv",
            csv,
        ),
    ] {
        let target = format!("/api/robots/export{query}");
        for (method, body) in [("GET", body.as_str()), ("HEAD", "")] {
            let answer = session.call(method, &target, &[("Accept", "application/json")], b"");
            assert_eq!((answer.status, answer.text().as_str()), (200, body));
            let of_kind = |name: &str| {
                let named = |known: &&(String, String)| known.0 == name;
                answer.headers.iter().filter(named).count()
            };
            assert_eq!(
                (answer.header("content-type"), of_kind("content-type")),
                (Some(kind), 1)
            );
            let disposition = format!("attachment; filename=\"robots.{file}\"");
            assert_eq!(
                answer.header("content-disposition"),
                Some(disposition.as_str())
            );
        }
    }
}

fn export_has_the_requested_fields(session: &Session<'_>) {
    session.add("R2-D2");
    let answer = session.get("/api/robots/export?fields=year,name");
    assert_eq!(answer.text(), "{\"year\":1977,\"name\":\"R2-D2\"}\n");
    for query in ["?fields=colour", "?format=xml", "?format=csv&format=csv"] {
        assert_failure(&session.get(&format!("/api/robots/export{query}")), 400);
    }
}

fn export_does_not_escape_markup(session: &Session<'_>) {
    session.add("<b>&</b>");
    for format in ["csv", "json", "ndjson"] {
        let target = format!("/api/robots/export?format={format}&fields=name");
        let answer = session
            .try_get(&target)
            .unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(answer.text().contains("<b>&</b>"), "{}", answer.text());
        // So no browser shows it as HTML.
        let header = |name| answer.header(name).unwrap_or_default();
        assert!(!header("content-type").contains("html"), "{format}");
        assert!(
            header("content-disposition").starts_with("attachment"),
            "{format}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff", "{format}");
        assert!(
            header("content-security-policy").contains("sandbox"),
            "{format}"
        );
    }
}

fn export_for_spreadsheets_marks_formulas(session: &Session<'_>) {
    let names = ["\t=1", "+1", "-1", "=1+1", "@A1", "R2-D2"].map(str::to_owned);
    session.add_all(&names);
    let export = "/api/robots/export?format=csv&fields=name";
    let plain = "name\n\t=1\n+1\n-1\n=1+1\n@A1\nR2-D2\n";
    let marked = "name\n'\t=1\n'+1\n'-1\n'=1+1\n'@A1\nR2-D2\n";
    for (query, file) in [
        ("", plain),
        ("&spreadsheet=false", plain),
        ("&spreadsheet=true", marked),
    ] {
        let answer = session.get(&format!("{export}{query}"));
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, file),
            "{query}"
        );
    }
    for query in [
        "?format=json&spreadsheet=true",
        "?spreadsheet=true",
        "?format=csv&spreadsheet=yes",
        "?format=csv&spreadsheet",
    ] {
        assert_failure(&session.get(&format!("/api/robots/export{query}")), 400);
    }
}

fn export_of_empty_catalogue_is_an_empty_file(session: &Session<'_>) {
    for (format, file) in [
        ("ndjson", ""),
        ("json", "[]\n"),
        ("csv", "id,name,type,year\n"),
    ] {
        let answer = session.get(&format!("/api/robots/export?format={format}"));
        assert_eq!((answer.status, answer.text().as_str()), (200, file));
    }
}

fn exported_robots_can_be_imported(session: &Session<'_>) {
    let names: Vec<String> = ["\"", "a,b", "\r\n", "\u{feff}x", " ", "🤖", "=1", "\u{1}"]
        .map(str::to_owned)
        .into();
    session.add_all(&names);
    for format in ["csv", "json", "ndjson"] {
        let file = session.get(&format!("/api/robots/export?format={format}"));
        let query = format!("?format={format}&on_conflict=skip");
        let answer = import(session, &query, &file.text());
        assert_imported(&answer, [0, 0, 8, 0]);
    }
}
