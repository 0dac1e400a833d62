//! Import: the outcome of each record, and the robots in the catalogue after it.

use std::sync::Arc;

use robot_core::{
    Catalogue, CatalogueExt, Definition, Draft, MemoryCatalogue, Pages, Redefinition,
    transfer::{
        Columns, FileFormat, ImportOptions, OnConflict, Outcome, RecordPosition, Records, Stored,
        import,
    },
};

use crate::{atomic_importing::atomic_outcomes, racing::Racing};

pub(crate) const TAKEN: &str = "The robot name must be unique";

/// Runs a test on a store that executes one write at a time, and on one that executes many together.
pub(crate) fn on_both_kinds_of_store(test: impl Fn(Arc<dyn Catalogue>)) {
    test(Arc::new(MemoryCatalogue::new()));
    #[cfg(feature = "sqlite")]
    {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        test(robot_core::open(&url).unwrap());
    }
}

/// Imports NDJSON, and returns the outcomes as texts.
fn outcomes(catalogue: &Arc<dyn Catalogue>, file: &str, options: ImportOptions) -> Vec<String> {
    let records = Records::new(file.as_bytes(), FileFormat::Ndjson);
    import(Arc::clone(catalogue), records, options)
        .map(|outcome| described(&outcome))
        .collect()
}

pub(crate) fn described(outcome: &Outcome) -> String {
    let line = line(outcome);
    match &outcome.result {
        Ok(Stored::Added) => format!("{line} added"),
        Ok(Stored::Replaced) => format!("{line} replaced"),
        Ok(Stored::Unchanged) => format!("{line} unchanged"),
        Ok(Stored::Skipped) => format!("{line} skipped"),
        Err(error) => format!("{line}: {}", error.messages().join("; ")),
    }
}

/// The number of the line of a record, since no two records share one; 0 for all records.
fn line(outcome: &Outcome) -> u64 {
    match outcome.position {
        RecordPosition::Line(number) | RecordPosition::Record(number) => number,
        RecordPosition::All => 0,
    }
}

/// NDJSON of droids with these names and years.
pub(crate) fn file(robots: &[(&str, i64)]) -> String {
    let line = |(name, year): &(&str, i64)| {
        format!("{{\"name\":\"{name}\",\"type\":\"droid\",\"year\":{year}}}\n")
    };
    robots.iter().map(line).collect()
}

pub(crate) fn stored(catalogue: &Arc<dyn Catalogue>) -> Vec<(String, i64)> {
    Pages::new(catalogue, "")
        .flat_map(|page| page.unwrap())
        .map(|robot| (robot.name().to_owned(), robot.year().unwrap()))
        .collect()
}

pub(crate) fn owned<const N: usize>(robots: [(&str, i64); N]) -> Vec<(String, i64)> {
    let robots = robots.into_iter();
    robots.map(|(name, year)| (name.to_owned(), year)).collect()
}

pub(crate) fn conflict_options(on_conflict: OnConflict) -> ImportOptions {
    ImportOptions {
        on_conflict,
        ..ImportOptions::default()
    }
}

const MIXED: &str = "\
    {\"name\":\"a\",\"type\":\"droid\",\"year\":1}\n\
    {\"name\":\"c\",\"type\":\"toaster\",\"year\":-1}\n\
    {\"name\":\"a\",\"type\":\"droid\",\"year\":2}\n\
    {\"name\":\"a\",\"type\":\"toaster\",\"year\":3}\n\
    {\"name\":5}\n\
    {\"name\":\"old\",\"type\":\"virtual\",\"year\":4}\n\
    {\"name\":\"c\",\"type\":\"droid\",\"year\":5}\n";

const TYPE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual";

/// The outcomes of [`MIXED`] in a catalogue that contains `old`.
fn mixed_outcomes(on_conflict: OnConflict) -> Vec<String> {
    let twice = |line: u64, name: &str| {
        format!("{line}: An earlier record has the name {name}, too; give each name once")
    };
    let with_taken_name = |line: u64| match on_conflict {
        OnConflict::Fail => format!("{line}: {TAKEN}"),
        OnConflict::Skip => format!("{line} skipped"),
        OnConflict::Replace if line == 3 => twice(3, "a"),
        OnConflict::Replace => format!("{line} replaced"),
    };
    vec![
        "1 added".to_owned(),
        format!("2: {TYPE}; The year cannot be less than zero"),
        with_taken_name(3),
        match on_conflict {
            OnConflict::Fail => format!("4: {TYPE}; {TAKEN}"),
            OnConflict::Skip => format!("4: {TYPE}"),
            OnConflict::Replace => twice(4, "a"),
        },
        "5: name must be a string".to_owned(),
        with_taken_name(6),
        match on_conflict {
            OnConflict::Replace => twice(7, "c"),
            _ => "7 added".to_owned(),
        },
    ]
}

#[test]
fn import_handles_each_record_and_conflict() {
    for (on_conflict, expected) in [
        (OnConflict::Fail, owned([("a", 1), ("c", 5), ("old", 0)])),
        (OnConflict::Skip, owned([("a", 1), ("c", 5), ("old", 0)])),
        (OnConflict::Replace, owned([("a", 1), ("old", 4)])),
    ] {
        on_both_kinds_of_store(|catalogue| {
            let old = catalogue.add(Draft::new("old", "droid", 0)).unwrap();
            let options = ImportOptions {
                on_conflict,
                keeps_going: true,
                ..ImportOptions::default()
            };
            let dry_run = ImportOptions {
                is_dry_run: true,
                ..options.clone()
            };
            let dry_run = outcomes(&catalogue, MIXED, dry_run);
            assert_eq!(dry_run, mixed_outcomes(on_conflict));
            assert_eq!(stored(&catalogue), owned([("old", 0)]));
            let imported = outcomes(&catalogue, MIXED, options);
            assert_eq!(imported, mixed_outcomes(on_conflict));
            assert_eq!(stored(&catalogue), expected);
            assert_eq!(catalogue.find("old").unwrap().unwrap().id(), old.id());
        });
    }
}

#[test]
fn stopped_import_stores_only_records_before_the_failure() {
    let names: Vec<String> = (0..3000).map(|number| format!("RX-{number:04}")).collect();
    let good: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for (bad, message) in [
        (("taken", 1), TAKEN),
        (("RX-1999", 1), TAKEN),
        (("RX-0003", 1), TAKEN),
        (("new", -1), "The year cannot be less than zero"),
    ] {
        on_both_kinds_of_store(|catalogue| {
            catalogue.add(Draft::new("taken", "droid", 0)).unwrap();
            let mut robots = good.clone();
            robots.insert(2000, bad);
            let outcomes = outcomes(&catalogue, &file(&robots), ImportOptions::default());
            assert_eq!(outcomes.len(), 2001);
            assert_eq!(outcomes[2000], format!("2001: {message}"));
            let mut before = outcomes[..2000].iter();
            assert!(before.all(|outcome| outcome.ends_with(" added")));
            assert_eq!(stored(&catalogue).len(), 2001);
            assert!(catalogue.find("RX-1999").unwrap().is_some());
            assert!(catalogue.find("RX-2000").unwrap().is_none());
        });
    }
}

#[test]
fn name_taken_during_the_import_is_a_conflict() {
    let robots = file(&[("old", 7), ("new", 8)]);
    for (on_conflict, first, year) in [
        (OnConflict::Fail, format!("1: {TAKEN}"), 0),
        (OnConflict::Skip, "1 skipped".to_owned(), 0),
        (OnConflict::Replace, "1 replaced".to_owned(), 7),
    ] {
        let catalogue = Racing::with_old(2);
        let options = ImportOptions {
            keeps_going: true,
            ..conflict_options(on_conflict)
        };
        let found = outcomes(&catalogue, &robots, options);
        assert_eq!(found, [first, "2 added".to_owned()]);
        assert_eq!(stored(&catalogue), owned([("new", 8), ("old", year)]));
    }
    let catalogue = Racing::with_old(2);
    let found = outcomes(&catalogue, &robots, ImportOptions::default());
    assert_eq!(found, [format!("1: {TAKEN}")]);
    assert_eq!(stored(&catalogue), owned([("old", 0)]));
}

#[test]
fn robot_renamed_during_the_import_keeps_its_values() {
    let options = conflict_options(OnConflict::Replace);
    let robots = file(&[("old", 7)]);
    for is_atomic in [false, true] {
        let catalogue = Racing::renaming_old();
        let found = if is_atomic {
            atomic_outcomes(&*catalogue, &robots, &options)
        } else {
            outcomes(&catalogue, &robots, options.clone())
        };
        assert_eq!(found, ["1 added"]);
        assert_eq!(stored(&catalogue), owned([("old", 7), ("renamed", 0)]));
    }
}

#[test]
fn full_store_is_reported_once_and_ends_the_import() {
    let names: Vec<_> = (0..200).map(|number| number.to_string()).collect();
    let robots: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for keeps_going in [false, true] {
        let catalogue = Racing::with_capacity(3);
        let options = ImportOptions {
            keeps_going,
            ..ImportOptions::default()
        };
        let outcomes = outcomes(&catalogue, &file(&robots), options);
        assert_eq!(outcomes[..3], ["1 added", "2 added", "3 added"]);
        let full = "4: The disk of the catalogue is full";
        assert!(outcomes[3].starts_with(full), "{}", outcomes[3]);
        assert_eq!(outcomes.len(), 4);
    }
}

#[test]
fn records_after_a_failure_are_counted_as_not_tried() {
    let names: Vec<_> = (0..5000).map(|number| number.to_string()).collect();
    let robots: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let file = file(&robots);
    for (end, not_tried) in [("", Some(4996)), ("]", Some(4997))] {
        let file = format!("{file}{end}");
        let records = Records::new(file.as_bytes(), FileFormat::Ndjson);
        let mut outcomes = import(Racing::with_capacity(3), records, ImportOptions::default());
        assert_eq!(outcomes.by_ref().count(), 4);
        assert_eq!(outcomes.not_tried(), not_tried);
    }
    // The rest of the input cannot be read.
    let file = "[{\"name\":\"a\",\"type\":\"droid\",\"year\":-1},\n{]";
    let records = Records::new(file.as_bytes(), FileFormat::Json);
    let mut outcomes = import(Racing::with_capacity(3), records, ImportOptions::default());
    assert_eq!(outcomes.by_ref().count(), 1);
    assert_eq!(outcomes.not_tried(), None);
}

#[test]
fn records_of_equal_names_are_skipped_by_unique_values() {
    on_both_kinds_of_store(|catalogue| {
        let file = "name,type,year,serial\nVase,droid,1,a\nVase,droid,2,b\nVase,droid,3,a\n";
        let json =
            r#"{"properties":{"name":{"unique":false},"serial":{"type":"string","unique":true}}}"#;
        let definition: Definition = json.parse().unwrap();
        let replacing = conflict_options(OnConflict::Replace).check(&definition);
        assert!(replacing.unwrap_err().contains("match serial or id"));
        catalogue.define(Redefinition::new(definition)).unwrap();
        let skipping = |is_dry_run| {
            let options = ImportOptions {
                on_conflict: OnConflict::Skip,
                is_dry_run,
                ..ImportOptions::default()
            };
            let columns = Columns::of(catalogue.definition());
            let records = Records::new(file.as_bytes(), FileFormat::Csv).with_columns(columns);
            let outcomes = import(Arc::clone(&catalogue), records, options);
            outcomes
                .map(|outcome| described(&outcome))
                .collect::<Vec<_>>()
        };
        for is_dry_run in [true, false] {
            assert_eq!(skipping(is_dry_run), ["2 added", "3 added", "4 skipped"]);
        }
        assert_eq!(skipping(false), ["2 skipped", "3 skipped", "4 skipped"]);
    });
}

#[test]
fn records_are_compared_by_the_members_that_they_have() {
    on_both_kinds_of_store(|catalogue| {
        let json = r#"{"properties":{"name":{"unique":false},"code":{"type":"string"}}}"#;
        let definition: Definition = json.parse().unwrap();
        catalogue.define(Redefinition::new(definition)).unwrap();
        let mut draft = Draft::new("Vase", "droid", 1);
        draft.set("code", "a");
        catalogue.add(draft).unwrap();
        let members = ["", r#","code":"b""#, r#","code":null"#, r#","code":"a""#];
        let lines = members
            .map(|code| format!("{{\"name\":\"Vase\",\"type\":\"droid\",\"year\":1{code}}}\n"));
        let file = lines.concat();
        let options = ImportOptions {
            keeps_going: true,
            ..ImportOptions::default()
        };
        let columns = Columns::of(catalogue.definition());
        let records = Records::new(file.as_bytes(), FileFormat::Ndjson).with_columns(columns);
        let outcomes = import(Arc::clone(&catalogue), records, options);
        let outcomes: Vec<_> = outcomes.map(|outcome| described(&outcome)).collect();
        let present = "The same robot is there already";
        let expected = [
            format!("1: {present}"),
            "2 added".to_owned(),
            "3 added".to_owned(),
            format!("4: {present}"),
        ];
        assert_eq!(outcomes, expected);
    });
}
