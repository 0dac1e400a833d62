//! The index of names in SQLite: that it is used, that the database keeps it right whoever
//! writes, and that it is made where it is missing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod unindexed;

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use robot_core::{Catalogue, CatalogueExt, Draft, SqliteCatalogue};
use tempfile::TempDir;

use unindexed::let_the_index_take_all;

fn open(folder: &TempDir) -> SqliteCatalogue {
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    SqliteCatalogue::open(&url).unwrap()
}

/// Does something as another program would.
fn beside(folder: &TempDir, statements: &str) {
    let path = folder.path().join("robots.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute(statements).unwrap();
}

fn found(catalogue: &SqliteCatalogue, containing: &str) -> Vec<String> {
    let robots = catalogue.search(containing).unwrap();
    robots.iter().map(|robot| robot.name().to_owned()).collect()
}

fn catalogue_of_two(folder: &TempDir) -> SqliteCatalogue {
    let catalogue = open(folder);
    for name in ["R2-D2", "R5-D4"] {
        catalogue.add(Draft::new(name, "droid", 1977)).unwrap();
    }
    catalogue
}

#[test]
fn three_characters_are_looked_up_and_fewer_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = catalogue_of_two(&folder);
    assert_eq!(found(&catalogue, "5-D"), ["R5-D4"]);
    // What neither the index has nor is to be looked at is not found.
    beside(&folder, "DELETE FROM robots_unindexed");
    assert_eq!(found(&catalogue, "5-D"), [""; 0]);
    assert_eq!(found(&catalogue, "5-"), ["R5-D4"]);
}

#[test]
fn the_index_takes_the_names_of_256_robots_at_once() {
    for (count, taken) in [(255, None), (256, Some("many 7"))] {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = open(&folder);
        beside(
            &folder,
            &format!(
                "WITH RECURSIVE numbers (number) AS
                     (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {count})
                 INSERT INTO robots (name, type, year)
                 SELECT 'many ' || number, 'droid', 1 FROM numbers"
            ),
        );
        assert_eq!(found(&catalogue, "many").len(), count);
        beside(&folder, "DELETE FROM robots_unindexed");
        assert_eq!(
            found(&catalogue, "many 7").first().map(String::as_str),
            taken
        );
    }
}

#[test]
fn names_that_the_index_has_and_has_not_taken_are_kept_right() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = catalogue_of_two(&folder);
    catalogue.add(Draft::new("R8-D8", "droid", 1977)).unwrap();
    let_the_index_take_all(folder.path());
    for name in ["T-800", "T-1000", "T-X"] {
        catalogue.add(Draft::new(name, "droid", 1984)).unwrap();
    }
    beside(
        &folder,
        "UPDATE robots SET name = 'C-3PO' WHERE name = 'R2-D2';
         UPDATE robots SET name = 'BB-8' WHERE name = 'T-800';
         UPDATE robots SET id = id + 100 WHERE name IN ('R5-D4', 'T-1000');
         DELETE FROM robots WHERE name IN ('R8-D8', 'T-X')",
    );
    let assert_right = || {
        for name in ["C-3PO", "BB-8", "R5-D4", "T-1000"] {
            assert_eq!(found(&catalogue, name), [name]);
        }
        for name in ["R2-D2", "T-800", "R8-D8", "T-X"] {
            assert_eq!(found(&catalogue, name), [""; 0], "{name}");
        }
    };
    assert_right();
    let_the_index_take_all(folder.path());
    assert_right();
    // SQLite itself finds that the index has what the table has.
    beside(
        &folder,
        "INSERT INTO robots_search (robots_search, rank) VALUES ('integrity-check', 1)",
    );
}

#[test]
fn what_other_programs_write_is_found() {
    for prepare in [
        |_: &TempDir| (),
        |folder: &TempDir| let_the_index_take_all(folder.path()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = catalogue_of_two(&folder);
        prepare(&folder);
        assert_finds_what_others_write(&folder, &catalogue);
    }
}

#[test]
fn what_the_trigger_of_another_program_adds_again_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = catalogue_of_two(&folder);
    beside(
        &folder,
        "CREATE TRIGGER theirs AFTER DELETE ON robots WHEN old.year < 2000 BEGIN
             INSERT INTO robots VALUES (old.id, 'gone: ' || old.name, old.type, 2000);
         END;
         DELETE FROM robots WHERE name = 'R2-D2';",
    );
    assert_eq!(found(&catalogue, "R2-D2"), ["gone: R2-D2"]);
    let_the_index_take_all(folder.path());
    beside(&folder, "DELETE FROM robots WHERE name = 'R5-D4'");
    assert_eq!(found(&catalogue, "gone: R5"), ["gone: R5-D4"]);
}

fn assert_finds_what_others_write(folder: &TempDir, catalogue: &SqliteCatalogue) {
    beside(
        folder,
        "INSERT INTO robots (name, type, year) VALUES ('T-800', 'droid', 1984);
         UPDATE robots SET name = 'BB-8' WHERE name = 'R2-D2';
         UPDATE robots SET id = 70 WHERE name = 'BB-8';
         INSERT OR REPLACE INTO robots (id, name, type, year) VALUES (2, 'R6-D5', 'droid', 1);",
    );
    for (containing, names) in [
        ("T-800", &["T-800"][..]),
        ("-80", &["T-800"]),
        ("BB-8", &["BB-8"]),
        ("R2-D2", &[]),
        ("R5-D4", &[]),
        ("6-D", &["R6-D5"]),
    ] {
        assert_eq!(found(catalogue, containing), names, "{containing}");
    }
    beside(folder, "DELETE FROM robots WHERE name <> 'BB-8'");
    assert_eq!(found(catalogue, "T-800"), [""; 0]);
    assert_eq!(found(catalogue, "BB-8"), ["BB-8"]);
    // SQLite itself finds nothing wrong with the index.
    beside(
        folder,
        "INSERT INTO robots_search (robots_search) VALUES ('integrity-check')",
    );
}

#[test]
fn what_is_missing_is_made_when_the_catalogue_is_opened() {
    for damage in [
        "DROP TABLE robots_search",
        "DROP TRIGGER robots_search_insert",
        "DROP TRIGGER robots_search_delete; DROP TABLE robots_search",
        "DROP TABLE robots_unindexed",
        "DROP TRIGGER robots_index",
    ] {
        let folder = tempfile::tempdir().unwrap();
        catalogue_of_two(&folder);
        beside(&folder, damage);
        if !damage.contains("TABLE") {
            beside(
                &folder,
                "INSERT INTO robots (name, type, year) VALUES ('T-800', 'droid', 1984)",
            );
        }
        let catalogue = open(&folder);
        catalogue.add(Draft::new("R8-D8", "droid", 1977)).unwrap();
        assert_eq!(found(&catalogue, "R8-"), ["R8-D8"], "{damage}");
        assert_eq!(found(&catalogue, "5-D"), ["R5-D4"], "{damage}");
        beside(
            &folder,
            "INSERT INTO robots_search (robots_search) VALUES ('integrity-check')",
        );
    }
}

#[test]
fn without_an_index_a_search_finds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = catalogue_of_two(&folder);
    beside(
        &folder,
        "DROP TRIGGER robots_search_insert; DROP TRIGGER robots_search_update;
         DROP TRIGGER robots_search_delete; DROP TABLE robots_search;",
    );
    assert_eq!(found(&catalogue, "5-D"), ["R5-D4"]);
    catalogue.add(Draft::new("R8-D8", "droid", 1977)).unwrap();
    assert_eq!(found(&catalogue, "8-D"), ["R8-D8"]);
}
