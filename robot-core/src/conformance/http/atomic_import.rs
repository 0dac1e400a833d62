//! Atomic imports: `POST /api/robots/import?atomic=true`.

use std::fmt::Write;

use super::{
    Case, NAME_MESSAGE, Session, TYPE_MESSAGE, YEAR_MESSAGE, assert_failure, assert_messages,
    draft,
    faulty::Fault,
    import::{SKIP_MESSAGE, assert_imported, import},
};
use crate::{conformance::cases, transfer::ATOMIC_LIMIT};

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    atomic_import_stores_all_records,
    atomic_import_with_failing_records_stores_nothing,
    atomic_import_names_every_failing_record,
    atomic_import_with_invalid_end_stores_nothing,
    too_many_records_of_an_atomic_import_return_413,
    atomic_dry_run_stores_nothing,
    atomic_import_on_a_full_disk_stores_nothing,
];

fn atomic_import_stores_all_records(session: &Session<'_>) {
    let file = "name,type,year\nR2-D2,droid,1977\nHAL 9000,virtual,1968\n";
    let answer = import(session, "?format=csv&atomic=true", file);
    assert_imported(&answer, [2, 0, 0, 0], &[]);
    assert_eq!(session.names("/api/robots"), ["HAL 9000", "R2-D2"]);
    let empty = import(session, "?format=json&atomic=true", "[]");
    assert_imported(&empty, [0; 4], &[]);
    // As without the parameter.
    let file = "name,type,year\nC-3PO,droid,1977\nx,droid,-1\n";
    let answer = import(session, "?format=csv&atomic=false", file);
    let message = format!("line 3: {YEAR_MESSAGE}");
    assert_imported(&answer, [1, 0, 0, 1], &[&message]);
    assert_eq!(session.names("/api/robots"), ["C-3PO", "HAL 9000", "R2-D2"]);
}

fn atomic_import_with_failing_records_stores_nothing(session: &Session<'_>) {
    session.add("taken");
    let good = [draft("a", "droid", 1), draft("b", "droid", 2)];
    let rejected = session.rejected();
    for (failing, status, messages) in [
        (draft("taken", "droid", 1), rejected, &[NAME_MESSAGE][..]),
        (
            draft("c", "toaster", -1),
            rejected,
            &[TYPE_MESSAGE, YEAR_MESSAGE],
        ),
        (
            "[]".to_owned(),
            400,
            &["The record must be a JSON object with name, type and year"],
        ),
    ] {
        for place in 0..=2 {
            let mut lines = good.to_vec();
            lines.insert(place, failing.clone());
            let answer = import(session, "?format=ndjson&atomic=true", &lines.join("\n"));
            let message = |message| format!("line {}: {message}", place + 1);
            let mut expected: Vec<_> = messages.iter().map(message).collect();
            if messages == [NAME_MESSAGE] {
                expected.push(SKIP_MESSAGE.to_owned());
            }
            let expected: Vec<_> = expected.iter().map(String::as_str).collect();
            assert_messages(&answer, status, &expected);
            assert_eq!(session.names("/api/robots"), ["taken"]);
        }
    }
    // The first failure determines the status. Of equal names, the later one fails.
    let lines = [&good[0], &good[0], "{}"].join("\n");
    let answer = import(session, "?format=ndjson&atomic=true", &lines);
    session.assert_rejected(
        &answer,
        &[
            &format!("line 2: {NAME_MESSAGE}"),
            "line 3: type is required",
            "line 3: name is required",
            "line 3: year is required",
            SKIP_MESSAGE,
        ],
    );
    assert_eq!(session.names("/api/robots"), ["taken"]);
}

fn atomic_import_names_every_failing_record(session: &Session<'_>) {
    let mut file = draft("R2-D2", "droid", 1977);
    for _ in 0..150 {
        file.push_str("\n{\"year\":-1}");
    }
    let answer = import(session, "?format=ndjson&atomic=true", &file);
    let body = super::json(&answer);
    assert_failure(&answer, session.rejected());
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    // Each line violates three rules.
    assert_eq!(messages.len(), 450);
    assert_eq!(messages[0], "line 2: type is required");
    assert_eq!(messages[447], "line 151: type is required");
    assert_eq!(session.names("/api/robots"), [""; 0]);
}

fn atomic_import_with_invalid_end_stores_nothing(session: &Session<'_>) {
    let file = format!("[{},\n{{}},\n{{", draft("R2-D2", "droid", 1977));
    let answer = import(session, "?format=json&atomic=true", &file);
    session.assert_rejected(
        &answer,
        &[
            "line 2: type is required",
            "line 2: name is required",
            "line 2: year is required",
            "line 3: What begins here does not end: the JSON is truncated or not valid",
        ],
    );
    assert_eq!(session.names("/api/robots"), [""; 0]);
}

fn too_many_records_of_an_atomic_import_return_413(session: &Session<'_>) {
    // Nothing is looked up, nor are other failures reported.
    let mut file = "name,type,year\nfirst,toaster,1\n".to_owned();
    for number in 0..ATOMIC_LIMIT {
        // Writing to a string does not fail.
        let _ = writeln!(file, "{number},droid,{number}");
    }
    let answer = import(session, "?format=csv&atomic=true", &file);
    assert_messages(
        &answer,
        413,
        &[
            "line 10002: An atomic import has at most 10000 records; divide the file, or import it \
           without 'atomic'",
        ],
    );
    assert_eq!(session.names("/api/robots"), [""; 0]);
}

fn atomic_dry_run_stores_nothing(session: &Session<'_>) {
    let query = "?format=csv&atomic=true&dry_run=true";
    let file = "name,type,year\na,droid,1\nb,droid,1\n";
    assert_imported(&import(session, query, file), [2, 0, 0, 0], &[]);
    assert_eq!(session.names("/api/robots"), [""; 0]);
    let answer = import(session, query, &format!("{file}b,droid,1\n"));
    let message = format!("line 4: {NAME_MESSAGE}");
    session.assert_rejected(&answer, &[&message, SKIP_MESSAGE]);
}

fn atomic_import_on_a_full_disk_stores_nothing(session: &Session<'_>) {
    let robots = ["a", "b", "c"]
        .map(|name| draft(name, "droid", 1))
        .join("\n");
    session.store.fail(Fault::DiskFull(2));
    let answer = import(session, "?format=ndjson&atomic=true", &robots);
    session.store.fail(None);
    assert_failure(&answer, 503);
    let text = answer.text();
    assert!(text.contains("\"all records: "), "{text}");
    let after = answer.header("retry-after").unwrap_or_default();
    assert!(after.parse::<u32>().is_ok(), "Retry-After: {after}");
    assert_eq!(session.names("/api/robots"), [""; 0]);
    let answer = import(session, "?format=ndjson&atomic=true", &robots);
    assert_imported(&answer, [3, 0, 0, 0], &[]);
}
