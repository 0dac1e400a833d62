//! The search index of PostgreSQL: its upgrade, and its creation at a later start.

use diesel::{PgConnection, RunQueryDsl, connection::SimpleConnection, dsl::sql, sql_types::Text};
use robot_core::{CatalogueExt, open};

use crate::{
    backend::{Backend, Postgres},
    draft, names,
};

const VERSION: &str = "20261122000000";

fn texts(connection: &mut PgConnection, query: &str) -> Vec<String> {
    sql::<Text>(query).load(connection).unwrap()
}

/// The object identifier of the index, if it exists.
fn index(connection: &mut PgConnection) -> Vec<String> {
    texts(
        connection,
        "SELECT oid::text FROM pg_class WHERE relname = 'robots_search'
         AND relnamespace = current_schema()::regnamespace",
    )
}

/// The extension exists once per database, here in the schema of another catalogue. The index needs
/// that schema in the search path.
#[test]
fn missing_index_is_created_when_the_extension_is_available() {
    // Creates the extension, if no other test has.
    Postgres::new().open();
    let database = Postgres::new();
    let mut other = database.connect();
    let catalogue = database.open();
    catalogue.add(draft("R2-D2")).unwrap();
    assert_eq!(index(&mut other), [""; 0]);
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
    drop(catalogue);

    let applied = "SELECT version::text FROM __diesel_schema_migrations";
    assert!(texts(&mut other, applied).contains(&VERSION.to_owned()));
    let extension = texts(
        &mut other,
        "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'pg_trgm'",
    );
    let schema = texts(&mut other, "SELECT current_schema()::text").concat();
    let url = database.url().replacen(
        &format!("search_path%3D{schema}"),
        &format!("search_path%3D{schema}%2C{}", extension.concat()),
        1,
    );
    let catalogue = open(&url).unwrap();
    assert_eq!(index(&mut other).len(), 1);
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);

    // A database of the previous version has the index without a record of its migration.
    drop(catalogue);
    let before = index(&mut other);
    other
        .batch_execute(&format!(
            "DELETE FROM __diesel_schema_migrations WHERE version = '{VERSION}'"
        ))
        .unwrap();
    let catalogue = open(&url).unwrap();
    assert!(texts(&mut other, applied).contains(&VERSION.to_owned()));
    assert_eq!(index(&mut other), before);
    assert_eq!(names(&catalogue, "2-D"), ["R2-D2"]);
}
