//! Atomic import: all records are stored, or none, and every failing one is reported.

use std::io::{self, Read};

use robot_core::{
    Catalogue, CatalogueExt, Change, Draft, Error, RobotId,
    transfer::{
        ATOMIC_LIMIT, Format, ImportOptions, OnConflict, Position, ReadError, Record, Records,
        import_atomically,
    },
};

use crate::{
    importing::{
        MIXED, TAKEN, conflict_options, described, file, mixed_outcomes, on_both_kinds_of_store,
        stored,
    },
    racing::Racing,
};

/// Imports NDJSON, and returns the outcomes as texts.
fn outcomes(catalogue: &dyn Catalogue, file: &str, options: ImportOptions) -> Vec<String> {
    let records = Records::new(file.as_bytes(), Format::Ndjson);
    let outcomes = import_atomically(catalogue, records, options);
    outcomes.iter().map(described).collect()
}

#[test]
fn every_failing_record_is_reported_and_none_is_stored() {
    for on_conflict in [OnConflict::Fail, OnConflict::Skip, OnConflict::Replace] {
        for is_dry_run in [false, true] {
            on_both_kinds_of_store(|catalogue| {
                ok_insert(&catalogue, "old");
                let options = ImportOptions {
                    on_conflict,
                    is_dry_run,
                    keeps_going: false,
                };
                let mut expected = mixed_outcomes(on_conflict);
                expected.retain(|outcome| outcome.contains(':'));
                assert_eq!(outcomes(&catalogue, MIXED, options), expected);
                assert_eq!(stored(&catalogue), [("old".to_owned(), 0)]);
            });
        }
    }
}

fn ok_insert(catalogue: &dyn Catalogue, name: &str) -> RobotId {
    let draft = robot_core::ValidDraft::new(Draft::new(name, "droid", 0)).unwrap();
    catalogue.apply_all(vec![Change::Insert(draft)]).unwrap()[0]
}

#[test]
fn valid_records_are_stored_together() {
    let robots = file(&[("old", 1), ("a", 2), ("b", 3), ("a", 4), ("old", 5)]);
    for (on_conflict, verb, years, revision) in [
        (OnConflict::Skip, "skipped", [2, 3, 0], 1),
        (OnConflict::Replace, "replaced", [4, 3, 5], 2),
    ] {
        on_both_kinds_of_store(|catalogue| {
            let old = ok_insert(&catalogue, "old");
            let options = conflict_options(on_conflict);
            let expected = [
                format!("1 {verb}"),
                "2 added".to_owned(),
                "3 added".to_owned(),
                format!("4 {verb}"),
                format!("5 {verb}"),
            ];
            let dry_run = ImportOptions {
                is_dry_run: true,
                ..options
            };
            assert_eq!(outcomes(&catalogue, &robots, dry_run), expected);
            assert_eq!(stored(&catalogue), [("old".to_owned(), 0)]);
            assert_eq!(outcomes(&catalogue, &robots, options), expected);
            let names = ["a", "b", "old"].map(str::to_owned);
            let expected: Vec<_> = names.into_iter().zip(years).collect();
            assert_eq!(stored(&catalogue), expected);
            let old = catalogue.get(old).unwrap().unwrap();
            assert_eq!(old.revision().get(), revision);
        });
    }
}

#[test]
fn records_up_to_the_limit_are_stored() {
    let names: Vec<_> = (0..=ATOMIC_LIMIT)
        .map(|number| number.to_string())
        .collect();
    let robots: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
    on_both_kinds_of_store(|catalogue| {
        let too_many = outcomes(&catalogue, &file(&robots), ImportOptions::default());
        assert_eq!(too_many.len(), 1);
        let message = "10001: An atomic import has at most 10000 records";
        assert!(too_many[0].starts_with(message), "{}", too_many[0]);
        assert_eq!(stored(&catalogue), []);
        let all = outcomes(
            &catalogue,
            &file(&robots[..ATOMIC_LIMIT]),
            ImportOptions::default(),
        );
        assert_eq!(all.len(), ATOMIC_LIMIT);
        assert!(all.iter().all(|outcome| outcome.ends_with(" added")));
        assert_eq!(stored(&catalogue).len(), ATOMIC_LIMIT);
    });
}

#[test]
fn input_that_fails_is_the_only_outcome() {
    let catalogue = Racing::with_old(0);
    let failing = file(&[("a", -1), ("b", 1)]);
    let broken = failing.as_bytes().chain(Broken);
    let read = import_atomically(
        &*catalogue,
        Records::new(broken, Format::Ndjson),
        ImportOptions::default(),
    );
    assert_eq!(read.len(), 1);
    assert_eq!(described(&read[0]), "3: The input cannot be read: broken");
    // Malformed input is reported with the records before it.
    let json = "[{\"name\":\"a\",\"type\":\"droid\",\"year\":-1},\n{]";
    let read: Vec<Result<Record, ReadError>> =
        Records::new(json.as_bytes(), Format::Json).collect();
    assert_eq!(
        import_atomically(&*catalogue, read, ImportOptions::default()).len(),
        2
    );
    assert_eq!(stored(&catalogue), [("old".to_owned(), 0)]);
}

/// An input that fails.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }
}

#[test]
fn name_taken_during_the_import_is_looked_up_again() {
    let robots = file(&[("new", 8), ("old", 7)]);
    for (on_conflict, expected, all) in [
        (
            OnConflict::Fail,
            vec![format!("2: {TAKEN}")],
            vec![("old", 0)],
        ),
        (
            OnConflict::Skip,
            vec!["1 added".to_owned(), "2 skipped".to_owned()],
            vec![("new", 8), ("old", 0)],
        ),
        (
            OnConflict::Replace,
            vec!["1 added".to_owned(), "2 replaced".to_owned()],
            vec![("new", 8), ("old", 7)],
        ),
    ] {
        // Both look-ups of the first attempts find nothing.
        let catalogue = Racing::with_old(4);
        let options = conflict_options(on_conflict);
        assert_eq!(outcomes(&*catalogue, &robots, options), expected);
        let all = all.iter().map(|(name, year)| ((*name).to_owned(), *year));
        assert_eq!(stored(&catalogue), all.collect::<Vec<_>>());
    }
}

#[test]
fn robot_renamed_during_the_import_keeps_its_values() {
    let catalogue = Racing::renaming_old();
    let options = conflict_options(OnConflict::Replace);
    let found = outcomes(&*catalogue, &file(&[("old", 7)]), options);
    assert_eq!(found, ["1 added"]);
    assert_eq!(
        stored(&catalogue),
        [("old".to_owned(), 7), ("renamed".to_owned(), 0)]
    );
}

#[test]
fn store_that_is_busy_for_a_moment_is_tried_again() {
    let catalogue = Racing::busy(3);
    let found = outcomes(&*catalogue, &file(&[("new", 7)]), ImportOptions::default());
    assert_eq!(found, ["1 added"]);
    let catalogue = Racing::busy(u32::MAX);
    let records = Records::new("name,type,year\nnew,droid,1\n".as_bytes(), Format::Csv);
    let failed = import_atomically(&*catalogue, records, ImportOptions::default());
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].position, Position::All);
    assert!(stored(&catalogue).is_empty());
}

#[test]
fn names_that_change_all_the_time_end_the_import() {
    let catalogue = Racing::with_old(u32::MAX);
    let records = Records::new(
        "name,type,year\nnew,droid,1\nold,droid,1\n".as_bytes(),
        Format::Csv,
    );
    let read = import_atomically(&*catalogue, records, ImportOptions::default());
    assert_eq!(read.len(), 1);
    let error = read[0].result.as_ref().unwrap_err();
    assert!(
        matches!(
            error,
            robot_core::transfer::ImportError::Store(Error::Unavailable(_))
        ),
        "{error:?}"
    );
    assert_eq!(stored(&catalogue), [("old".to_owned(), 0)]);
}
