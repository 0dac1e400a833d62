//! Plans of imports: the definition that a file needs, and what its records do.

use std::{collections::BTreeMap, fmt::Write};

use proptest::{collection::vec, prelude::*, sample::select};
use robot_core::{
    Catalogue, CatalogueExt, DateOrder, Definition, Field, MemoryCatalogue, Pages, Value,
    transfer::{
        ColumnReason, Columns, FileFormat, ImportCounts, ImportOptions, OnConflict, Outcome, Plan,
        PlanOptions, Records, RobotWriter, import,
    },
};

fn defining() -> PlanOptions {
    PlanOptions {
        defines: true,
        ..PlanOptions::default()
    }
}

fn catalogue(definition: &str) -> MemoryCatalogue {
    let catalogue = MemoryCatalogue::new();
    let definition: Definition = definition.parse().unwrap();
    catalogue
        .define(robot_core::Redefinition::new(definition))
        .unwrap();
    catalogue
}

fn plan(
    catalogue: &MemoryCatalogue,
    format: FileFormat,
    file: &str,
    choose: impl FnOnce(Columns) -> Columns,
    options: PlanOptions,
) -> Result<Plan, String> {
    let open = || Ok(Records::new(file.as_bytes(), format));
    let columns = choose(Columns::of(catalogue.definition()));
    Plan::new(catalogue, open, columns, options, 5).map_err(|error| error.to_string())
}

/// The plan of a CSV file whose columns are stored under their names.
fn plan_of(catalogue: &MemoryCatalogue, file: &str, options: PlanOptions) -> Plan {
    plan(catalogue, FileFormat::Csv, file, |columns| columns, options).unwrap()
}

/// What a plan changes, and the first failures.
fn changes(plan: &Plan) -> Vec<String> {
    let changes = plan.changes.iter();
    changes
        .map(|change| format!("{}: {}", change.field, change.reason))
        .collect()
}

/// The robots of a catalogue after the import of a file with new fields, as CSV; or why there is none.
fn imported(file: &str, choose: impl FnOnce(Columns) -> Columns) -> String {
    let catalogue = MemoryCatalogue::new();
    let plan = match plan(&catalogue, FileFormat::Csv, file, choose, defining()) {
        Ok(plan) => plan,
        Err(message) => return message,
    };
    if let Some(message) = plan.failures.first().and_then(Outcome::message) {
        return message;
    }
    if let Some(redefinition) = plan.redefinition() {
        catalogue.define(redefinition).unwrap();
    }
    let records = Records::new(file.as_bytes(), FileFormat::Csv).with_columns(plan.columns.clone());
    let outcomes = import(&catalogue, records, plan.options);
    assert!(
        outcomes
            .map(|outcome| outcome.result)
            .all(|result| result.is_ok()),
        "{file}"
    );
    let fields: Vec<_> = plan.definition.own().cloned().collect();
    let fields = [&[Field::NAME, Field::YEAR], &fields[..]].concat();
    let mut csv = Vec::new();
    let mut writer = RobotWriter::new(FileFormat::Csv, fields);
    for page in Pages::new(&catalogue, "") {
        writer.write(&page.unwrap(), &mut csv).unwrap();
    }
    writer.finish(&mut csv).unwrap();
    String::from_utf8(csv).unwrap().trim().replace("\r\n", "\n")
}

#[test]
fn values_become_the_kinds_that_they_are() {
    let table = "
        1|2 -> an integer -> 1|2
        12.0|63.50|4 -> a number -> 12|63.5|4
        1.1|1.10 -> 1 to 255 characters -> 1.1|1.10
        00601|2 -> 1 to 255 characters -> 00601|2
        -6.081689834590001|7.0 -> a number -> -6.081689834590001|7
        0.1234567890123456789|1 -> 1 to 255 characters -> 0.1234567890123456789|1
        9007199254740993.5|1 -> 1 to 255 characters -> 9007199254740993.5|1
        NA|1|- -> an integer -> |1|
        NA|x -> 1 to 255 characters -> NA|x
        2020-05-31|2021-01-01 00:00:00 -> a date, such as 2020-05-31 -> 2020-05-31|2021-01-01
        31.12.2020|1.2.2021 -> a date, such as 2020-05-31 -> 2020-12-31|2021-02-01
        12/31/2020|1/2/2021 -> a date, such as 2020-05-31 -> 2020-12-31|2021-01-02
        1/2/2020|3/4/2020 -> 1 to 255 characters -> 1/2/2020|3/4/2020
        http://a.b/c|https://d.e/ -> a URI, 1 to 255 characters -> http://a.b/c|https://d.e/
        http://a.b/c|x -> 1 to 255 characters -> http://a.b/c|x
        1,5|2 -> a number -> 1.5|2
        1,5|2.5 -> 1 to 255 characters -> \"1,5\"|2.5";
    for line in table.lines().skip(1) {
        let [values, kind, stored] = line.trim().split(" -> ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let mut file = "name;type;year;x\n".to_owned();
        for (name, value) in ('a'..).zip(values.split('|')) {
            writeln!(file, "{name};droid;1;{value}").unwrap();
        }
        let planned = plan_of(&MemoryCatalogue::new(), &file, defining());
        let field = planned.definition.field("x").unwrap();
        assert_eq!(field.limits(), kind, "{values}: {:?}", planned.changes);
        let rows = imported(&file, |columns| columns);
        let rows = rows
            .lines()
            .skip(1)
            .map(|row| row.splitn(3, ',').last().unwrap_or_default());
        assert_eq!(rows.collect::<Vec<_>>().join("|"), stored, "{values}");
    }
}

#[test]
fn files_become_the_catalogues_that_they_are() {
    let same = |columns: Columns| columns;
    let table = r"
        title,year\nA,1\n -> no column stands for the name; map one to it. The columns are: title, year
        name,Maker,maker\nA,x,y\n -> The columns 'Maker' and 'maker' both stand for the same field; leave one of them out
        name,year,tags\nA,1,x\n,2,y\n -> line 3: name is required
        id,name\n1,A\n2,A\n -> name,year,source_id\nA,,1\nA,,2
        name,placeOfBirth,Ort\nA,Köln,\n -> name,year,place_of_birth\nA,,Köln";
    for line in table.lines().skip(1) {
        let line = line.trim().replace("\\n", "\n");
        let (file, expected) = line.split_once(" -> ").unwrap();
        assert_eq!(imported(file, same), expected, "{file}");
    }
    let file = "name,Maker,maker,built\nA,x,y,1.2.2021\n";
    let chosen = |columns: Columns| columns.ignore("Maker").dates(DateOrder::DayFirst);
    assert_eq!(
        imported(file, chosen),
        "name,year,maker,built\nA,,y,2021-02-01"
    );
    let contradiction = |columns: Columns| columns.map("Maker", "maker").ignore("Maker");
    assert!(imported(file, contradiction).contains("mapped and left out"));
    let unknown = |columns: Columns| columns.ignore("nosuch");
    assert!(imported("name\nA\n", unknown).contains("no column 'nosuch'"));
    // A heading that is an identifier finds the field that was defined for it.
    let headings = "name,creditLine,object_ID,Maker\nA,x,y,z\n";
    let titled = |catalogue: &MemoryCatalogue| plan_of(catalogue, headings, defining());
    let first = titled(&MemoryCatalogue::new());
    let titles = first.definition.own().map(Field::title);
    assert_eq!(
        titles.collect::<Vec<_>>(),
        ["Credit line", "Object ID", "Maker"]
    );
    let again = titled(&catalogue(&first.definition.to_string()));
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    let kind = |columns: Columns| columns.ignore("Maker").kind("maker", "number");
    assert!(imported(file, kind).starts_with("line 2: maker must be a number"));
}

#[test]
fn plan_names_the_columns_and_the_value_that_decided() {
    let file = "\u{feff}Name;Type;Year;Accession No;Condition;Notes;Empty\r\n\
        Vase;vase;-753;0017;good;;\r\n\
        Vase;vase;c. 1890;1921.3;poor;Found in Rome;\r\n\
        Owl;coin;;1921.4;good;x;\r\n\
        Bust;;1;1921.50;good;;\r\n";
    let options = PlanOptions {
        finds_choices: true,
        ..defining()
    };
    let plan = plan_of(&MemoryCatalogue::new(), file, options.clone());
    assert_eq!(
        changes(&plan),
        [
            "name: names are repeated, such as 'Vase'",
            "type: the file has other types; optional: 1 record has no value",
            "year_text: new: a text because of 'c. 1890' (line 3); 'c. 1890' (line 3) is not a year",
            "accession_no: new: a text because of '0017' (line 2)",
            "condition: new: a few texts that repeat, such as 'good' (line 2)",
            "notes: new: a text because of 'Found in Rome' (line 3)",
            "year: left out: no record has a value",
        ]
    );
    assert_eq!(
        plan.definition.field("condition").unwrap().limits(),
        "good or poor"
    );
    assert_eq!((plan.counts.added, plan.counts.failed), (4, 0));
    let empty = plan.listed.last().unwrap();
    assert_eq!(
        (empty.field.as_deref(), &empty.reason),
        (None, &ColumnReason::Empty)
    );
    // With the new fields, the file needs no more.
    let defined = self::catalogue(&plan.definition.to_string());
    let again = plan_of(&defined, file, options);
    assert_eq!(changes(&again), [""; 0]);
}

#[test]
fn key_finds_the_robots_that_records_change() {
    let definition = r#"{"properties":{"name":{"unique":false},"code":{"type":"string","unique":true},
        "note":{"type":"string"}},"required":["name"]}"#;
    let catalogue = catalogue(definition);
    for (name, code) in [("A", "1"), ("A", "2"), ("B", "3")] {
        let mut draft = robot_core::Draft {
            name: Some(name.into()),
            ..robot_core::Draft::default()
        };
        draft.set("code", code);
        catalogue.add(draft).unwrap();
    }
    let file = "name,code\nA,1\nX,2\nC,4\nD,\nE,2\n";
    let plan = |file, choose: fn(Columns) -> Columns| {
        let options = PlanOptions::default();
        plan(&catalogue, FileFormat::Csv, file, choose, options).unwrap()
    };
    let without = plan(file, |columns| columns);
    assert_eq!((without.equal, without.counts.failed), (1, 3));
    let matched = plan(file, |columns| columns.matching("code"));
    let counts = matched.counts;
    let counts = [
        counts.unchanged,
        counts.replaced,
        counts.added,
        counts.failed,
    ];
    assert_eq!(counts, [1, 1, 1, 2]);
    assert_eq!(
        matched
            .failures
            .iter()
            .filter_map(Outcome::message)
            .collect::<Vec<_>>(),
        [
            "line 5: The record has no code, which finds its robot",
            "line 6: An earlier record has the code 2, too; give each code once",
        ]
    );
    let without = plan("name,code\nA,1\nX,2\nC,3\n", |columns| columns);
    assert_eq!(without.key.as_ref().map(Field::name), Some("code"));
}

/// Years that are none get another field, unless they change robots, or the user wants them to be years.
#[test]
fn years_of_corrections_stay_years() {
    let file = "name,type,year\nA,droid,1999\nB,droid,c. 1962\n";
    let used = MemoryCatalogue::new();
    used.add(robot_core::Draft::new("A", "droid", 1977))
        .unwrap();
    let plan = |catalogue, choose: fn(Columns) -> Columns| {
        let plan = plan(catalogue, FileFormat::Csv, file, choose, defining()).unwrap();
        let ImportCounts {
            added,
            replaced,
            failed,
            ..
        } = plan.counts;
        (plan.changes.len(), [added, replaced, failed])
    };
    let empty = MemoryCatalogue::new();
    assert_eq!(
        plan(&used, |columns| columns.matching("name")),
        (0, [0, 1, 1])
    );
    assert_eq!(
        plan(&empty, |columns| columns.map("year", "year")),
        (0, [1, 0, 1])
    );
    assert_eq!(plan(&empty, |columns| columns), (2, [2, 0, 0]));
    assert_eq!(plan(&used, |columns| columns), (2, [1, 0, 1]));
}

/// A robot or a record: its name, a code that may be missing, and a year.
fn row() -> impl Strategy<Value = (&'static str, &'static str, i64)> {
    (
        select(&["a", "b", "c"][..]),
        select(&["", "1", "2"][..]),
        1..3_i64,
    )
}

proptest! {
    /// An import adds, changes, skips and rejects as many records as its plan has said, and changes the values that it
    /// has said.
    #[test]
    fn plan_counts_what_the_import_does(
        has_unique_names: bool,
        robots in vec(row(), 0..3),
        records in vec(row(), 1..5),
        on_conflict in select(&[OnConflict::Fail, OnConflict::Skip, OnConflict::Replace][..]),
        key in select(&[None, Some("id"), Some("name"), Some("code")][..]),
        [defines, adds_equal]: [bool; 2],
    ) {
        let catalogue = catalogue(&format!(
            r#"{{"properties":{{"name":{{"unique":{has_unique_names}}},"code":{{"type":"string","unique":true}}}}}}"#
        ));
        for (name, code, year) in robots {
            let mut draft = robot_core::Draft::new(name, "droid", year);
            if !code.is_empty() {
                draft.set("code", code);
            }
            let _ = catalogue.add(draft);
        }
        let mut file = "name,code,year,type,id\n".to_owned();
        for (number, (name, code, year)) in (1..).zip(records) {
            writeln!(file, "{name},{code},{year},droid,{number}").unwrap();
        }
        let mut options = PlanOptions { defines, ..PlanOptions::default() };
        options.import = ImportOptions { adds_equal, on_conflict, ..options.import };
        let columns = |columns: Columns| match key {
            Some("id") => columns.matching("id"),
            Some(key) => columns.matching(key).ignore("id"),
            None => columns.ignore("id"),
        };
        // Replaced robots need a unique field.
        let Ok(plan) = plan(&catalogue, FileFormat::Csv, &file, columns, options) else {
            return Ok(());
        };
        if let Some(redefinition) = plan.redefinition() {
            catalogue.define(redefinition).unwrap();
        }
        let robots = catalogue.list().unwrap();
        let mut counts = ImportCounts::default();
        let records = Records::new(file.as_bytes(), FileFormat::Csv).with_columns(plan.columns.clone());
        for outcome in import(&catalogue, records, plan.options) {
            counts.count(&outcome);
        }
        prop_assert_eq!(plan.counts, counts, "{}", file);
        let changes = robots.iter().flat_map(|robot| {
            let now = catalogue.get(robot.id()).unwrap().unwrap();
            let fields = plan.definition.settable().iter();
            let changed = fields.map(|field| {
                let [before, after] = [robot, &now].map(|robot| robot.value(field.name()).map(Value::into_owned));
                ((robot.id(), field.name()), (robot.name(), before, after))
            });
            changed.filter(|(_, (_, before, after))| before != after).collect::<Vec<_>>()
        });
        let planned = plan.changed.iter().map(|value| {
            let values = (&*value.name, value.before.clone(), value.after.clone());
            ((value.id, &*value.field), values)
        });
        let [planned, changes]: [BTreeMap<_, _>; 2] = [planned.collect(), changes.collect()];
        prop_assert_eq!(planned, changes, "{}", file);
    }
}

/// Values that are numbers, dates or texts, and some that only look so, separated by `|`.
const CELLS: &str = "|1|\"5\"|-0|007|1.50|1.5|+1|NaN|-inf|1e3|1e400|true|2020-05-31|x|9007199254740993|\
                     0.30000000000000004|-1.2345678901234567e-9|99999999999999999999";

fn cell() -> impl Strategy<Value = &'static str> {
    select(CELLS.split('|').collect::<Vec<_>>())
}

proptest! {
    /// Each record is stored with the definition that is planned. Each value is stored as it is, or as the same number,
    /// and different values stay different.
    #[test]
    fn plan_fits_its_own_file(
        rows in vec([cell(), cell()], 1..4),
        format in select(&[FileFormat::Csv, FileFormat::Ndjson][..]),
        finds_choices: bool,
    ) {
        let is_csv = format == FileFormat::Csv;
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
        let options = PlanOptions { finds_choices, ..defining() };
        let catalogue = MemoryCatalogue::new();
        let Ok(plan) = plan(&catalogue, format, &file, |columns| columns, options) else {
            prop_assert!(!is_csv, "{}", file);
            return Ok(());
        };
        prop_assert_eq!(plan.counts.added, rows.len() as u64, "{}{:?}", file, plan.failures);
        let records = Records::new(file.as_bytes(), format).with_columns(plan.columns.clone());
        let mut texts = std::collections::HashMap::new();
        for (record, row) in records.zip(rows) {
            let draft = record.unwrap().values.unwrap().draft;
            for (column, cell) in plan.listed.iter().skip(1).zip(row) {
                let field = column.field.as_deref().and_then(|name| plan.definition.field(name));
                let value = field.and_then(|field| draft.value(field));
                let stored = value.map_or(String::new(), |value| value.to_string());
                let sent = cell.trim_matches('"');
                let is_equal = || match sent.parse::<i64>() {
                    Ok(integer) => stored.parse() == Ok(integer),
                    Err(_) => stored.parse::<f64>() == sent.parse(),
                };
                prop_assert!(stored == sent || is_equal(), "{}{} {}", file, stored, sent);
                let earlier = texts.insert((column.number, stored.clone()), cell);
                prop_assert!(earlier.is_none_or(|earlier| earlier == cell || !is_csv), "{}{}", file, stored);
            }
        }
    }
}

#[test]
fn workbook_is_read_again_by_the_kinds_of_its_cells() {
    let definition = r#"{"properties":{"code":{"type":"string"},"weight":{"type":"number"},"lent":{"type":"boolean"},
        "found":{"type":"string","format":"date"}},"required":["name"]}"#;
    let catalogue = catalogue(definition);
    for (name, code, found) in [
        ("a\nb", "+49", "2020-05-31"),
        ("=1+1", "0017", "0800-01-01"),
    ] {
        let mut draft = robot_core::Draft::new(name, "droid", -0);
        draft.set("code", code);
        draft.set("weight", robot_core::Value::number(12.5).unwrap());
        draft.set("lent", true);
        draft.set("found", found);
        catalogue.add(draft).unwrap();
    }
    let fields = catalogue.definition().default_fields().to_vec();
    let mut writer = RobotWriter::new(FileFormat::Xlsx, fields);
    let mut file = Vec::new();
    for page in Pages::new(&catalogue, "") {
        writer.write(&page.unwrap(), &mut file).unwrap();
    }
    writer.finish(&mut file).unwrap();
    let options = PlanOptions::default();
    let plan = |file: &[u8], columns: Columns| {
        let open = || Ok(Records::new(file, FileFormat::Xlsx));
        Plan::new(&catalogue, open, columns, options.clone(), 5).map_err(|error| error.to_string())
    };
    let columns = || Columns::of(catalogue.definition()).matching("id");
    assert_eq!(plan(&file, columns()).unwrap().counts.unchanged, 2);
    for damaged in [&file[..file.len() / 2], b"PK\x03\x04", b""] {
        let message = plan(damaged, columns()).unwrap_err();
        assert!(message.contains("not a workbook"), "{message}");
    }
}
