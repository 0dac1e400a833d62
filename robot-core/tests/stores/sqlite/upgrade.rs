//! Upgrade of SQLite files of the first version, whose search index was not a migration.

use std::{fs, ops::ControlFlow};

use robot_core::{
    Catalogue, CatalogueExt, Cursor, Existing, Filter, OpenOptions, PageRequest, Revision,
};

use super::search_index::{check_completeness, check_integrity};
use crate::{
    backend::{Backend, Sqlite, previous, version},
    draft, names,
};

#[test]
fn backup_of_the_previous_version_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    let restored =
        OpenOptions::new().restore_backup(previous("robots.db"), &url, Existing::Keep, |_| {
            ControlFlow::Continue(())
        });
    let robots = robot_core::open(&url).unwrap().list().unwrap();
    assert_eq!(restored.unwrap().robots, robots.len() as u64);
    let expected = fs::read_to_string(previous("robots.ndjson")).unwrap();
    assert_eq!(robots.len(), expected.lines().count());
}

/// Reads of a file that is not migrated show the columns that it does not have.
#[test]
fn file_of_the_previous_version_is_readable_unchanged() {
    let database = Sqlite::of_previous_version();
    let before = fs::read(database.file()).unwrap();
    let options = OpenOptions::new().unchanged();
    let catalogue = options.open(database.url()).unwrap();
    let robots = catalogue.list().unwrap();
    let expected = fs::read_to_string(previous("robots.ndjson")).unwrap();
    assert_eq!(robots.len(), expected.lines().count());
    for robot in &robots {
        assert_eq!(robot.revision(), Revision::FIRST);
        assert_eq!(catalogue.get(robot.id()).unwrap().as_ref(), Some(robot));
        assert_eq!(catalogue.find(robot.name()).unwrap().as_ref(), Some(robot));
    }
    assert_eq!(names(&catalogue, "renamed"), ["renamed 20"]);
    assert_eq!(names(&catalogue, "nit 2").len(), 109);
    let droids = Filter::all().of_type("droid");
    let count = robots.iter().filter(|robot| droids.matches(robot)).count();
    assert_eq!(catalogue.count(&droids).unwrap(), count as u64);
    let by_year = Cursor::start("year".parse().unwrap());
    let page = catalogue.page(PageRequest {
        filter: &droids,
        cursor: &by_year,
        limit: 1000,
    });
    assert_eq!(page.unwrap().len(), count);
    drop(catalogue);
    assert!(fs::read(database.file()).unwrap() == before);
}

/// Creates the tables of the first migration, with its record, and more than 256 robots.
fn first_version(search_objects: &str) -> Sqlite {
    let database = Sqlite::new();
    database.execute(include_str!(
        "../../../migrations/sqlite/2026-11-21-000000_create_robots/up.sql"
    ));
    database.execute(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE __diesel_schema_migrations (
             version VARCHAR(50) PRIMARY KEY NOT NULL,
             run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
         );
         INSERT INTO __diesel_schema_migrations (version) VALUES ('20261121000000')",
    );
    database.execute(search_objects);
    database.execute(
        "WITH RECURSIVE numbers (number) AS
             (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 300)
         INSERT INTO robots (name, type, year)
         SELECT 'old ' || number, 'droid', number FROM numbers;
         DELETE FROM robots WHERE year = 300",
    );
    database
}

/// Opens a database of the first version, and checks robots, ids, index and migrations.
fn assert_upgraded(database: &Sqlite) {
    for _ in 0..2 {
        let catalogue = database.open();
        assert_eq!(catalogue.list().unwrap().len(), 299);
        assert_eq!(names(&catalogue, "old 123"), ["old 123"]);
    }
    check_integrity(database);
    check_completeness(database);
    let versions: Vec<_> = Sqlite::migrations()
        .iter()
        .map(|path| version(path))
        .collect();
    assert_eq!(database.versions(), versions);

    let catalogue = database.open();
    let old = catalogue.find("old 7").unwrap().unwrap();
    catalogue.replace(old.id(), draft("renamed")).unwrap();
    assert_eq!(names(&catalogue, "old 7").len(), 10);
    assert_eq!(catalogue.add(draft("new one")).unwrap().id().get(), 301);
    assert_eq!(names(&catalogue, "w on"), ["new one"]);
    check_completeness(database);
}

const SEARCH_OBJECTS: &str = include_str!("first_version.sql");

#[test]
fn first_version_with_an_index_is_upgraded() {
    assert_upgraded(&first_version(SEARCH_OBJECTS));
}

#[test]
fn first_version_without_an_index_is_upgraded() {
    assert_upgraded(&first_version(""));
}

#[test]
fn first_version_with_a_partial_index_is_upgraded() {
    for damage in [
        "DROP TABLE robots_search",
        "DROP TABLE robots_unindexed",
        "DROP TRIGGER robots_index",
        "DROP TRIGGER robots_search_delete; DROP TABLE robots_search",
        // A name that the index does not contain.
        "DROP TRIGGER robots_search_update;
         UPDATE robots SET name = 'unindexed' WHERE name = 'old 1'",
    ] {
        let database = first_version(SEARCH_OBJECTS);
        database.execute(damage);
        assert_upgraded(&database);
    }
}
