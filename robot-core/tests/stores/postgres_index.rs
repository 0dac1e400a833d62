//! The search index of PostgreSQL: its creation, and searches that use it.

use robot_core::{Catalogue, CatalogueExt, Filter, Pages};

use crate::{
    backend::{Backend, Postgres},
    draft, names, wait_for, wait_for_progress,
};

/// The object identifier of the index, if it exists.
fn index(database: &Postgres) -> Vec<String> {
    database.query(
        "SELECT oid::text FROM pg_class WHERE relname = 'robots_search' AND relkind = 'i'
         AND relnamespace = current_schema()::regnamespace",
    )
}

/// A database has the extension once, here in the schema of another catalogue, which is not in the
/// search path.
#[test]
fn index_uses_the_extension_of_another_schema() {
    // Creates the extension, if no other test has.
    Postgres::new().open();
    let database = Postgres::new();
    let catalogue = database.open();
    let schema = "SELECT extnamespace::regnamespace::text FROM pg_extension
                  WHERE extname = 'pg_trgm'
                  AND extnamespace <> current_schema()::regnamespace";
    assert_eq!(database.query(schema).len(), 1);
    assert_eq!(index(&database).len(), 1);
    catalogue.add(draft("R2-D2")).unwrap();
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
}

#[test]
fn missing_index_is_created_at_the_next_start() {
    let database = Postgres::new();
    // The name is taken, so that the index cannot be created.
    database.execute("CREATE TABLE robots_search (id BIGINT)");
    let catalogue = database.open();
    catalogue.add(draft("R2-D2")).unwrap();
    assert_eq!(index(&database), [""; 0]);
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
    drop(catalogue);

    database.execute("DROP TABLE robots_search");
    let catalogue = database.open();
    assert_eq!(index(&database).len(), 1);
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
}

fn count(catalogue: &impl Catalogue, filter: Filter) -> usize {
    Pages::new(catalogue, filter).flatten().flatten().count()
}

/// Both kinds of searches, of three characters and more, in any frequent script.
#[test]
fn searches_use_the_index() {
    let database = Postgres::new();
    database.open();
    database.execute(
        "INSERT INTO robots (name, type, year)
         SELECT 'Kateřina ' || md5(number::text) || ' Ёлка' || number || ' తెలుగు' || number || chr(44032 + number % 9999),
             'droid', 1977 FROM generate_series(1, 30000) AS number",
    );
    // Adds the names to the index, some after the others.
    let catalogue = database.open();
    let waiting = || {
        let waiting = "SELECT count(*)::text FROM robots WHERE search_text IS NULL";
        database.query(waiting)[0].parse::<u32>().unwrap()
    };
    wait_for_progress("names in the index", waiting, |waiting| *waiting == 0);
    database.execute("ANALYZE robots");
    let scans = || {
        let scans = "SELECT pg_stat_get_numscans('robots_search'::regclass)::text";
        database.query(scans)[0].parse::<u32>().unwrap()
    };
    for (text, expected) in [
        ("c4ca4238a0b9", 1),
        ("C4CA4238A0B9", 0),
        ("Ёлка1999", 11),
        ("ёЛКА1999", 0),
        ("తెలుగు1999", 11),
        ("е\u{301}лка1999", 0),
        ("123\u{ac7b}", 1),
    ] {
        for (filter, expected) in [
            (Filter::from(text), expected),
            (Filter::from(text).folded(), expected.max(1)),
        ] {
            let before = scans();
            // The server counts later.
            wait_for("a scan of the index", || {
                let count = count(&catalogue, filter.clone());
                assert!(count >= expected, "{filter:?}: {count}");
                scans() > before
            });
        }
    }
}
