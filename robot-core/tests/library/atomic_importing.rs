//! Atomic import: all records are stored, or none, and every failing one is reported.

use robot_core::{
    Catalogue, Error,
    transfer::{
        FileFormat, ImportError, ImportOptions, OnConflict, RecordPosition, Records,
        import_atomically,
    },
};

use crate::{
    importing::{TAKEN, conflict_options, described, file, owned, stored},
    racing::Racing,
};

/// Imports NDJSON, and returns the outcomes as texts.
pub(crate) fn atomic_outcomes(
    catalogue: &dyn Catalogue,
    file: &str,
    options: &ImportOptions,
) -> Vec<String> {
    let records = Records::new(file.as_bytes(), FileFormat::Ndjson);
    let outcomes = import_atomically(catalogue, records, options);
    outcomes.iter().map(described).collect()
}

#[test]
fn name_taken_during_the_import_is_looked_up_again() {
    let robots = file(&[("new", 8), ("old", 7)]);
    let (is_taken, new) = (format!("2: {TAKEN}"), ("new", 8));
    for (on_conflict, expected, all) in [
        (OnConflict::Fail, &*is_taken, owned([("old", 0)])),
        (
            OnConflict::Skip,
            "1 added|2 skipped",
            owned([new, ("old", 0)]),
        ),
        (
            OnConflict::Replace,
            "1 added|2 replaced",
            owned([new, ("old", 7)]),
        ),
    ] {
        // Both look-ups of the first attempts find nothing.
        let catalogue = Racing::with_old(4);
        let options = conflict_options(on_conflict);
        let found = atomic_outcomes(&*catalogue, &robots, &options);
        assert_eq!(found.join("|"), expected);
        assert_eq!(stored(&catalogue), all);
    }
}

#[test]
fn store_that_is_busy_for_a_moment_is_tried_again() {
    let catalogue = Racing::busy(3);
    let robots = file(&[("new", 7), ("old", 8)]);
    let found = atomic_outcomes(&*catalogue, &robots, &ImportOptions::default());
    assert_eq!(found, ["1 added", "2 added"]);
    // Of these stores, one is always busy, and the names in the other one change all the time.
    for (catalogue, left) in [
        (Racing::busy(u32::MAX), Vec::new()),
        (Racing::with_old(u32::MAX), owned([("old", 0)])),
    ] {
        let records = Records::new(robots.as_bytes(), FileFormat::Ndjson);
        let failed = import_atomically(&*catalogue, records, &ImportOptions::default());
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0].position, RecordPosition::All);
        let error = failed[0].result.as_ref().unwrap_err();
        let is_unavailable = matches!(error, ImportError::Store(Error::Unavailable(_)));
        assert!(is_unavailable, "{error:?}");
        assert_eq!(stored(&catalogue), left);
    }
}
