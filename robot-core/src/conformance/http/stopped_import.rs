//! Imports that the store stops, and writes to a full disk.

use std::fmt::Write;

use super::{
    Answer, Case, Session, YEAR_MESSAGE, assert_answer, assert_messages, draft,
    faulty::Fault,
    import::{assert_imported, import},
};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    import_stopped_by_a_full_disk_returns_503,
    stopped_import_with_an_unreadable_rest_has_no_count,
    import_stopped_before_the_first_robot_has_no_data,
    every_write_to_a_full_disk_returns_503,
];

const FULL_MESSAGE: &str =
    "The disk of the service is full; try again when its operator has freed space";

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
    assert_imported(&answer, [1299, 0, 700, 1], &[&line_2]);
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
