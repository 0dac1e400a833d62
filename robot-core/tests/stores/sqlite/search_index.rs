//! Search index of SQLite: it is used, triggers maintain it, and searches work without it.

use std::sync::Arc;

use diesel::{RunQueryDsl, dsl::sql, select, sql_types::Bool};
use robot_core::{Catalogue, CatalogueExt, Draft, Filter};

use crate::{
    backend::{Backend, Sqlite},
    draft, names,
};

/// Makes the trigger index all names now, by as many ids without robots as it waits for.
pub(crate) fn index_all_names(database: &Sqlite) {
    database.execute(
        "WITH RECURSIVE numbers (number) AS
             (SELECT -255 UNION ALL SELECT number + 1 FROM numbers WHERE number < 0)
         INSERT INTO robots_unindexed (id) SELECT number FROM numbers;
         DELETE FROM robots_unindexed WHERE id <= 0",
    );
    let is_empty = sql::<Bool>("NOT EXISTS (SELECT * FROM robots_unindexed)");
    let mut connection = database.connect();
    assert!(
        select(is_empty)
            .get_result::<bool>(&mut connection)
            .unwrap()
    );
}

/// The beginning of [`add_leading_names`].
pub(crate) const LEADING: &str = "\u{1}";

/// Adds names before all others, so many that a search for a part of another name, with pages of 1,000,
/// uses the index.
pub(crate) fn add_leading_names(database: &Sqlite) {
    database.execute(&format!(
        "WITH RECURSIVE numbers (number) AS
             (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1500)
         INSERT INTO robots (name, type, year)
         SELECT '{LEADING}' || number, 'droid', 1 FROM numbers"
    ));
    index_all_names(database);
}

/// Checks by FTS5 itself that the index is consistent.
pub(super) fn check_integrity(database: &Sqlite) {
    database.execute("INSERT INTO robots_trigrams (robots_trigrams) VALUES ('integrity-check')");
}

/// Checks by FTS5 itself that the index contains the names of all robots.
pub(super) fn check_completeness(database: &Sqlite) {
    index_all_names(database);
    database.execute(
        "INSERT INTO robots_trigrams (robots_trigrams, rank) VALUES ('integrity-check', 1)",
    );
}

/// A catalogue of two robots with the ids 1501 and 1502, after the leading names.
fn with_two_robots(database: &Sqlite) -> Arc<dyn Catalogue> {
    let catalogue = database.open();
    add_leading_names(database);
    for name in ["R2-D2", "R5-D4"] {
        catalogue.add(draft(name)).unwrap();
    }
    catalogue
}

#[test]
fn texts_of_three_characters_use_the_index() {
    let database = Sqlite::new();
    let catalogue = with_two_robots(&database);
    assert_eq!(names(&catalogue, "5-D"), ["R5-D4"]);
    // A robot that is neither indexed nor marked as unindexed is not found.
    database.execute("DELETE FROM robots_unindexed");
    assert_eq!(names(&catalogue, "5-D"), [""; 0]);
    assert_eq!(names(&catalogue, "5-"), ["R5-D4"]);
}

#[test]
fn names_are_indexed_in_batches_of_256() {
    for (count, expected) in [(255, None), (256, Some("many 7"))] {
        let database = Sqlite::new();
        let catalogue = database.open();
        add_leading_names(&database);
        database.execute(&format!(
            "WITH RECURSIVE numbers (number) AS
                 (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {count})
             INSERT INTO robots (name, type, year)
             SELECT 'many ' || number, 'droid', 1 FROM numbers"
        ));
        assert_eq!(names(&catalogue, "many").len(), count);
        database.execute("DELETE FROM robots_unindexed");
        let found = names(&catalogue, "many 7");
        assert_eq!(found.first().map(String::as_str), expected);
    }
}

#[test]
fn index_covers_indexed_and_unindexed_names() {
    let database = Sqlite::new();
    let catalogue = with_two_robots(&database);
    catalogue.add(draft("R8-D8")).unwrap();
    index_all_names(&database);
    for name in ["T-800", "T-1000", "T-X"] {
        catalogue.add(Draft::new(name, "droid", 1984)).unwrap();
    }
    database.execute(
        "UPDATE robots SET name = 'C-3PO' WHERE name = 'R2-D2';
         UPDATE robots SET name = 'BB-8' WHERE name = 'T-800';
         UPDATE robots SET id = id + 100 WHERE name IN ('R5-D4', 'T-1000');
         DELETE FROM robots WHERE name IN ('R8-D8', 'T-X')",
    );
    let assert_correct = || {
        for name in ["C-3PO", "BB-8", "R5-D4", "T-1000"] {
            assert_eq!(names(&catalogue, name), [name]);
        }
        for name in ["R2-D2", "T-800", "R8-D8", "T-X"] {
            assert_eq!(names(&catalogue, name), [""; 0], "{name}");
        }
    };
    assert_correct();
    check_completeness(&database);
    assert_correct();
}

/// A program may set this for its connection, which reads the rows of a table in another order then.
#[test]
fn order_of_unordered_rows_does_not_matter() {
    const REVERSED: &str = "PRAGMA reverse_unordered_selects = ON";
    let database = Sqlite::new();
    let catalogue = with_two_robots(&database);
    database.execute(&format!(
        "{REVERSED}; INSERT INTO robots (name, type, year) VALUES ('Kateřina', 'droid', 1), ('Zoë', 'droid', 1);
         WITH RECURSIVE numbers (number) AS
             (SELECT -255 UNION ALL SELECT number + 1 FROM numbers WHERE number < 0)
         INSERT INTO robots_unindexed (id) SELECT number FROM numbers"
    ));
    let found = catalogue.count(&Filter::from("KATER").folded()).unwrap();
    assert_eq!(found, 1);
    database.execute(&format!(
        "{REVERSED}; UPDATE robots SET name = 'Katka' WHERE name = 'Kateřina'"
    ));
    database.execute(&format!(
        "{REVERSED}; DELETE FROM robots WHERE name = 'Zoë'"
    ));
    check_completeness(&database);
}

#[test]
fn changes_of_another_program_are_found() {
    for prepare in [|_: &Sqlite| (), index_all_names] {
        let database = Sqlite::new();
        let catalogue = with_two_robots(&database);
        prepare(&database);
        database.execute(
            "INSERT INTO robots (name, type, year) VALUES ('T-800', 'droid', 1984);
             UPDATE robots SET name = 'BB-8' WHERE name = 'R2-D2';
             UPDATE robots SET id = 7000 WHERE name = 'BB-8';
             INSERT OR REPLACE INTO robots (id, name, type, year) VALUES (1502, 'R6-D5', 'droid', 1);",
        );
        for (containing, expected) in [
            ("T-800", &["T-800"][..]),
            ("-80", &["T-800"]),
            ("BB-8", &["BB-8"]),
            ("R2-D2", &[]),
            ("R5-D4", &[]),
            ("6-D", &["R6-D5"]),
        ] {
            assert_eq!(names(&catalogue, containing), expected, "{containing}");
        }
        database.execute("DELETE FROM robots WHERE name <> 'BB-8'");
        assert_eq!(names(&catalogue, "T-800"), [""; 0]);
        assert_eq!(names(&catalogue, "BB-8"), ["BB-8"]);
        check_integrity(&database);
    }
}

/// SQLite runs no delete triggers for the rows that REPLACE removes.
#[test]
fn replaced_robots_are_found_and_the_index_repairable() {
    let database = Sqlite::new();
    let catalogue = with_two_robots(&database);
    index_all_names(&database);
    database.execute(
        "REPLACE INTO robots (id, name, type, year) VALUES (1501, 'T-800', 'droid', 1);
         REPLACE INTO robots (name, type, year) VALUES ('R5-D4', 'droid', 1);",
    );
    let assert_found = || {
        assert_eq!(names(&catalogue, "R2-D2"), [""; 0]);
        assert_eq!(names(&catalogue, "5-D"), ["R5-D4"]);
        assert_eq!(names(&catalogue, "-800"), ["T-800"]);
    };
    assert_found();
    index_all_names(&database);
    assert_found();
    // As docs/stores.md says.
    database.execute(
        "BEGIN IMMEDIATE; DELETE FROM robots_unindexed;
         INSERT INTO robots_trigrams (robots_trigrams) VALUES ('rebuild'); COMMIT",
    );
    check_completeness(&database);
    assert_found();
}

#[test]
fn robots_added_by_a_trigger_are_found() {
    let database = Sqlite::new();
    let catalogue = with_two_robots(&database);
    database.execute(
        "CREATE TRIGGER theirs AFTER DELETE ON robots WHEN old.year < 2000 BEGIN
             INSERT INTO robots (id, name, type, year)
             VALUES (old.id, 'gone: ' || old.name, old.type, 2000);
         END;
         DELETE FROM robots WHERE name = 'R2-D2';",
    );
    assert_eq!(names(&catalogue, "R2-D2"), ["gone: R2-D2"]);
    index_all_names(&database);
    database.execute("DELETE FROM robots WHERE name = 'R5-D4'");
    assert_eq!(names(&catalogue, "gone: R5"), ["gone: R5-D4"]);
}

#[test]
fn search_without_index_returns_same_robots() {
    let database = Sqlite::new();
    let catalogue = with_two_robots(&database);
    database.execute(
        "DROP TRIGGER robots_search_insert; DROP TRIGGER robots_search_update;
         DROP TRIGGER robots_search_delete; DROP TABLE robots_trigrams; DROP TABLE robots_unindexed",
    );
    assert_eq!(names(&catalogue, "5-D"), ["R5-D4"]);
    catalogue.add(draft("R8-D8")).unwrap();
    assert_eq!(names(&catalogue, "8-D"), ["R8-D8"]);
    // The migration is recorded, so the index is not created again.
    assert_eq!(names(&database.open(), "8-D"), ["R8-D8"]);
}
