//! Proposals of the definition that a file needs.

use proptest::{collection::vec, prelude::*, sample::select};
use robot_core::{
    Definition,
    transfer::{Columns, Format, ImportError, OnConflict, Records},
};

/// The changes that are proposed for a file, and the records that fail with them.
fn proposed(format: Format, file: &str) -> (Vec<String>, Definition, Vec<String>) {
    let mut survey = Records::new(file.as_bytes(), format).survey().unwrap();
    survey.is_of_empty_catalogue = true;
    let proposal = survey.propose(true).unwrap();
    let changes = proposal.changes.iter();
    let changes = changes.map(|change| format!("{}: {}", change.field, change.reason));
    let records = Records::new(file.as_bytes(), format).with_columns(proposal.columns);
    let invalid = records.filter_map(|record| {
        let record = record.unwrap();
        let place = record.position;
        match record.values {
            Ok(values) => proposal
                .definition
                .validate(values.draft)
                .err()
                .map(|error| format!("{place}: {error}")),
            Err(messages) => Some(format!("{place}: {}", ImportError::Malformed(messages))),
        }
    });
    (
        changes.collect(),
        proposal.definition.clone(),
        invalid.collect(),
    )
}

#[test]
fn proposal_fits_a_file_of_a_stranger() {
    let file = "\u{feff}Name;Type;Year;Accession No;Wt (kg);On display;Acquired;Condition;Notes\r\n\
        Vase;vase;-753;0017;1.5;true;1920-05-31;good;\r\n\
        Vase;vase;c. 1890;1921.3;2;false;1921-01-01;poor;Found in Rome\r\n\
        Owl;coin;;1921.4;;true;;good;x\r\n\
        Bust;;1;1921.50;;;;good;\r\n";
    let (changes, definition, invalid) = proposed(Format::Csv, file);
    assert_eq!(
        changes,
        [
            "name: names are repeated, such as 'Vase'",
            "type: the file has other types; optional: 1 record has no value",
            "year_text: 'c. 1890' (line 3) is not a year",
            "accession_no: new; a text because of '0017' (line 2)",
            "wt_kg: new",
            "on_display: new",
            "acquired: new",
            "condition: new",
            "notes: new",
            "year: optional: 4 records have no value",
        ]
    );
    let limits = |name| definition.field(name).unwrap().limits();
    assert_eq!(
        [
            "type",
            "year_text",
            "accession_no",
            "wt_kg",
            "on_display",
            "acquired",
            "condition"
        ]
        .map(limits),
        [
            "coin or vase",
            "1 to 255 characters",
            "1 to 255 characters",
            "a number",
            "true or false",
            "a date, such as 2020-05-31",
            "good or poor",
        ]
    );
    // The same file needs nothing more.
    let records = Records::new(file.as_bytes(), Format::Csv)
        .with_columns(Columns::of(definition.clone().into()));
    let again = records.survey().unwrap().propose(true).unwrap();
    assert_eq!(again.changes, []);
    assert!(invalid.is_empty(), "{invalid:?}");
    assert_eq!(
        definition.field("accession_no").unwrap().title(),
        "Accession No"
    );
}

#[test]
fn proposals_lose_nothing() {
    let define = |json: &str| -> Definition { json.parse().unwrap() };
    let built_in = define("{}");
    let long = format!(
        "A heading of more than forty characters, {}",
        "x".repeat(50)
    );
    for (definition, format, file, expected) in [
        // A member in another case is the same column.
        (
            built_in.clone(),
            Format::Ndjson,
            "{\"name\":\"a\",\"type\":\"droid\",\"year\":1,\"Maker\":\"x\"}\n\
             {\"name\":\"b\",\"type\":\"droid\",\"year\":1,\"maker\":\"y\"}"
                .to_owned(),
            vec!["maker: new"],
        ),
        // A file without years below the minimum.
        (
            define(r#"{"properties":{"year":{"minimum":1900}}}"#),
            Format::Csv,
            "name,type,year,maker\na,droid,1950,x\n".to_owned(),
            vec!["maker: new"],
        ),
        // Malformed records, and columns without values, need nothing.
        (
            built_in.clone(),
            Format::Csv,
            "name,type,year,empty,,\na,droid,0450,,,\nb,droid\n".to_owned(),
            vec![],
        ),
        (built_in.clone(), Format::Json, "[]".to_owned(), vec![]),
        (
            built_in.clone(),
            Format::Csv,
            "name,type,year,x\n".to_owned(),
            vec!["x: new"],
        ),
        (
            built_in.clone(),
            Format::Csv,
            format!("name,type,year,\"{long}\"\na,droid,1,x\n"),
            vec!["a_heading_of_more_than_forty_characters_xxxxxxxxxx: new"],
        ),
    ] {
        let records = |definition: Definition| {
            Records::new(file.as_bytes(), format).with_columns(Columns::of(definition.into()))
        };
        let proposal = records(definition)
            .survey()
            .unwrap()
            .propose(false)
            .unwrap();
        let changes = proposal.changes.iter();
        let changes = changes.map(|change| format!("{}: {}", change.field, change.reason));
        assert_eq!(changes.collect::<Vec<_>>(), expected, "{file}");
        // With the new fields, the file needs no more.
        let again = records(proposal.definition).survey().unwrap();
        assert_eq!(again.propose(false).unwrap().changes, [], "{file}");
    }
    // Records that find robots by their names need unique names.
    let file = "name,type,year\na,droid,1\na,droid,2\n";
    for (on_conflict, changes) in [
        (OnConflict::Fail, 1),
        (OnConflict::Skip, 0),
        (OnConflict::Replace, 0),
    ] {
        let columns = Columns::of(Definition::built_in().clone()).matching(on_conflict);
        let records = Records::new(file.as_bytes(), Format::Csv).with_columns(columns);
        let proposal = records.survey().unwrap().propose(false).unwrap();
        assert_eq!(proposal.changes.len(), changes, "{on_conflict:?}");
    }
    let twice = Records::new("name,Notes,notes\n".as_bytes(), Format::Csv).survey();
    assert!(twice.unwrap_err().to_string().contains("'notes' twice"));
}

#[test]
fn proposal_fits_json() {
    let file = r#"{"name":"a","type":"droid","year":-12,"tags":"x","size":1,"code":"007"}
        {"name":"b","type":"droid","year":5,"size":2.5,"code":"8","limit":true}"#;
    let (changes, definition, invalid) = proposed(Format::Ndjson, file);
    let names = definition
        .own()
        .map(|field| (field.name(), field.kind().is_text()));
    assert!(names.eq([
        ("tags", true),
        ("size", false),
        ("code", true),
        ("limit_value", false)
    ]));
    assert_eq!(changes[0], "year: the least is -12");
    assert_eq!(
        definition.field("year").unwrap().limits(),
        "an integer, -100 or greater"
    );
    assert!(invalid.is_empty(), "{invalid:?}");

    for (file, message) in [
        (
            r#"{"name":"a","tags":[1]}"#,
            "no field can store the values of 'tags', which are lists",
        ),
        (
            r#"{"title":"a"}"#,
            "no column stands for the name; map one to it. The columns are: title",
        ),
    ] {
        let survey = Records::new(file.as_bytes(), Format::Ndjson)
            .survey()
            .unwrap();
        let error = survey.propose(false).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    // Records that change robots by their ids need no values.
    let columns = Columns::of(Definition::built_in().clone()).matching(OnConflict::MatchId);
    let records = Records::new("id,year\n1,5\n".as_bytes(), Format::Csv).with_columns(columns);
    let proposal = records.survey().unwrap().propose(false).unwrap();
    assert!(proposal.changes.is_empty(), "{:?}", proposal.changes);
}

/// Values that are numbers, dates or texts, and some that only look so, separated by `|`.
const CELLS: &str = "|1|\"5\"|-0|007|1.50|NaN|-inf|1e3|1e400|true|2020-05-31|x| x|9007199254740993|\
                     0.30000000000000004|-1.2345678901234567e-9|99999999999999999999";

fn cell() -> impl Strategy<Value = &'static str> {
    select(CELLS.split('|').collect::<Vec<_>>())
}

proptest! {
    /// Each record is valid with the definition that is proposed, and each value is stored as it is.
    #[test]
    fn proposal_fits_its_own_file(
        rows in vec([cell(), cell()], 1..4),
        format in select(&[Format::Csv, Format::Ndjson][..]),
        finds_choices: bool,
    ) {
        let is_csv = format == Format::Csv;
        let json = |cell: &str| match serde_json::from_str::<serde_json::Value>(cell) {
            Ok(_) => cell.to_owned(),
            Err(_) => format!("{cell:?}"),
        };
        let mut file = if is_csv { "name,type,x\n" } else { "" }.to_owned();
        for (name, [kind, x]) in rows.iter().enumerate() {
            let (row, kind, x) = (format!("{name},{kind},{x}\n"), json(kind), json(x));
            let object = format!("{{\"name\":\"{name}\",\"type\":{kind},\"x\":{x}}}\n");
            file.push_str(if is_csv { &row } else { &object });
        }
        let mut survey = Records::new(file.as_bytes(), format).survey().unwrap();
        survey.is_of_empty_catalogue = true;
        let Ok(proposal) = survey.propose(finds_choices) else {
            prop_assert!(!is_csv, "{}", file);
            return Ok(());
        };
        let fields = survey.fields(&proposal.columns).skip(1);
        let fields: Vec<_> = fields.map(|(_, name)| name).collect();
        let records = Records::new(file.as_bytes(), format);
        let records = records.with_columns(proposal.columns.clone());
        for (record, row) in records.zip(rows) {
            let draft = record.unwrap().values.unwrap().draft;
            let valid = proposal.definition.validate(draft.clone());
            prop_assert!(valid.is_ok(), "{}{:?}", file, draft);
            for (name, cell) in fields.iter().zip(row) {
                let field = name.and_then(|name| proposal.definition.field(name));
                let value = field.and_then(|field| draft.value(field));
                let stored = value.map_or(String::new(), |value| value.to_string());
                let sent = cell.trim_matches('"');
                let is_equal = || match sent.parse::<i64>() {
                    Ok(integer) => stored.parse() == Ok(integer),
                    Err(_) => stored.parse::<f64>() == sent.parse(),
                };
                let is_kept = stored == sent || !is_csv && is_equal();
                prop_assert!(is_kept, "{}{} {}", file, stored, sent);
            }
        }
    }
}
