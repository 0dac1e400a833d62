//! The search index of PostgreSQL: its upgrade, and its creation at a later start.

use robot_core::CatalogueExt;

use crate::{
    backend::{Backend, Postgres},
    draft, names,
};

const VERSION: &str = "20261122000000";

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
    assert!(database.versions().contains(&VERSION.to_owned()));
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
    drop(catalogue);

    database.execute("DROP TABLE robots_search");
    let catalogue = database.open();
    assert_eq!(index(&database).len(), 1);
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
}

/// A database of the first version has the index without a record of its migration.
#[test]
fn index_without_a_record_is_kept() {
    let database = Postgres::new();
    database.open().add(draft("R2-D2")).unwrap();
    let before = index(&database);
    database.execute(&format!(
        "DELETE FROM __diesel_schema_migrations WHERE version = '{VERSION}'"
    ));
    let catalogue = database.open();
    assert!(database.versions().contains(&VERSION.to_owned()));
    assert_eq!(index(&database), before);
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
}
