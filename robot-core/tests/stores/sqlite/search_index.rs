//! Search index of SQLite: it is used, and triggers maintain it.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use robot_core::{Catalogue, CatalogueExt, Filter, Pages, Redefinition, Sort, fold};

use crate::{
    backend::{Backend, Sqlite},
    draft, names,
};

/// Adds all names to the index, as the store does.
pub(crate) fn index_all_names(database: &Sqlite) {
    let names = database.query("SELECT name FROM robots WHERE search_text IS NULL");
    let quoted = |text: &str| text.replace('\'', "''");
    let update = |name: &String| {
        let (text, name) = (quoted(&fold(name)), quoted(name));
        format!("UPDATE robots SET search_text = '{text}' WHERE name = '{name}';")
    };
    let updates: String = names.iter().map(update).collect();
    database.execute(&format!("BEGIN IMMEDIATE; {updates} COMMIT"));
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

/// Checks by FTS5 itself that the index contains the search texts of all robots.
fn check_index(database: &Sqlite) {
    database
        .execute("INSERT INTO robots_search (robots_search, rank) VALUES ('integrity-check', 1)");
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
    index_all_names(&database);
    assert_eq!(names(&catalogue, "5-D"), ["R5-D4"]);
    database.execute("INSERT INTO robots_search (robots_search) VALUES ('delete-all')");
    assert_eq!(names(&catalogue, "5-D"), [""; 0]);
    assert_eq!(names(&catalogue, "5-"), ["R5-D4"]);
}

#[test]
fn triggers_maintain_the_index() {
    for prepare in [|_: &Sqlite| (), index_all_names] {
        let database = Sqlite::new();
        let catalogue = with_two_robots(&database);
        catalogue.add(draft("R8-D8")).unwrap();
        prepare(&database);
        database.execute(
            "INSERT INTO robots (name, type, year) VALUES ('T-800', 'droid', 1984);
             UPDATE robots SET name = 'BB-8' WHERE name = 'R2-D2';
             UPDATE robots SET id = 7000 WHERE name = 'BB-8';
             UPDATE robots SET name = 'R6-D5' WHERE name = 'R5-D4';
             DELETE FROM robots WHERE name = 'R8-D8'",
        );
        for _ in 0..2 {
            for (containing, expected) in [
                ("T-800", &["T-800"][..]),
                ("-80", &["T-800"]),
                ("BB-8", &["BB-8"]),
                ("R2-D2", &[]),
                ("R5-D4", &[]),
                ("6-D", &["R6-D5"]),
                ("8-D", &[]),
            ] {
                assert_eq!(names(&catalogue, containing), expected, "{containing}");
            }
            check_index(&database);
            index_all_names(&database);
        }
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
    for _ in 0..2 {
        assert_eq!(names(&catalogue, "R2-D2"), [""; 0]);
        assert_eq!(names(&catalogue, "5-D"), ["R5-D4"]);
        assert_eq!(names(&catalogue, "-800"), ["T-800"]);
        index_all_names(&database);
    }
    // As docs/stores.md says.
    database.execute("INSERT INTO robots_search (robots_search) VALUES ('rebuild')");
    check_index(&database);
    assert_eq!(names(&catalogue, "5-D"), ["R5-D4"]);
}

/// By a catalogue that is open, and that nothing is written to.
#[test]
fn rows_of_another_program_are_added_to_the_index() {
    let database = Sqlite::new();
    let _catalogue = database.open();
    database.execute(
        "WITH RECURSIVE numbers (number) AS
             (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 3000)
         INSERT INTO robots (name, type, year) SELECT 'robot ' || number, 'droid', 1 FROM numbers",
    );
    let waiting = "SELECT name FROM robots WHERE search_text IS NULL";
    let started = Instant::now();
    // The last ones wait for more.
    while database.query(waiting).len() >= 256 {
        assert!(started.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(50));
    }
    check_index(&database);
}

#[test]
fn pages_are_read_without_an_index_that_was_dropped() {
    let database = Sqlite::new();
    let catalogue = database.open();
    let definition = r#"{"properties": {"maker": {"type": "string", "index": true}}}"#;
    let definition = definition.parse().unwrap();
    let definition = catalogue.define(Redefinition::new(definition)).unwrap();
    for (name, maker) in [("R2-D2", "b"), ("R5-D4", "a"), ("C-3PO", "b")] {
        let mut draft = draft(name);
        draft.set("maker", maker);
        catalogue.add(draft).unwrap();
    }
    database.execute("DROP INDEX robots_index_text_maker; DROP INDEX robots_name");
    let maker = definition.field("maker").unwrap();
    for (filter, sort, expected) in [
        (Filter::all(), "name", &["C-3PO", "R2-D2", "R5-D4"][..]),
        (Filter::from("-D"), "name", &["R2-D2", "R5-D4"]),
        (Filter::all(), "maker", &["R5-D4", "R2-D2", "C-3PO"]),
        (
            Filter::all().with(maker.clone(), "b"),
            "-maker",
            &["C-3PO", "R2-D2"],
        ),
        (
            Filter::all().with(maker.clone(), "b"),
            "name",
            &["C-3PO", "R2-D2"],
        ),
    ] {
        let sort = Sort::parse(sort, &definition).unwrap();
        let pages = Pages::new(&catalogue, filter).sorted(sort.clone());
        let names = pages
            .flatten()
            .flatten()
            .map(|robot| robot.name().to_owned());
        assert!(names.eq(expected.iter().copied()), "{sort}");
    }
}
