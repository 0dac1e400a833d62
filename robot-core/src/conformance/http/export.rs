//! Exports: `GET /api/robots/export`.

use super::{Case, Session, assert_failure};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    export_supports_each_format,
    export_has_the_requested_fields,
    export_does_not_escape_markup,
    export_for_spreadsheets_marks_formulas,
    export_of_empty_catalogue_is_an_empty_file,
];

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
    let export = "/api/robots/export?format=csv&fields=name&sort=name";
    let plain = "name\n\t=1\n+1\n-1\n=1+1\n@A1\nR2-D2\n";
    let marked = "\u{feff}name\n'\t=1\n'+1\n'-1\n'=1+1\n'@A1\nR2-D2\n";
    for (query, file) in [
        ("", plain),
        ("&spreadsheet=false", plain),
        ("&spreadsheet=true", marked),
        ("&headings=titles", plain.replacen('n', "N", 1).as_str()),
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
        "?format=csv&headings=labels",
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
