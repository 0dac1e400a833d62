//! What the index of names in SQLite has not taken in yet.

use std::path::Path;

use diesel::{
    Connection, RunQueryDsl, SqliteConnection, connection::SimpleConnection, dsl::sql, select,
    sql_types::Bool,
};

/// Lets the index take in all names that it does not have yet, as if there were many.
pub(crate) fn let_the_index_take_all(folder: &Path) {
    let path = folder.join("robots.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    // As many ids of no robots as it takes at once.
    connection
        .batch_execute(
            "WITH RECURSIVE numbers (number) AS
                 (SELECT -255 UNION ALL SELECT number + 1 FROM numbers WHERE number < 0)
             INSERT INTO robots_unindexed (id) SELECT number FROM numbers;
             DELETE FROM robots_unindexed WHERE id <= 0",
        )
        .unwrap();
    let nothing = sql::<Bool>("NOT EXISTS (SELECT * FROM robots_unindexed)");
    assert!(select(nothing).get_result::<bool>(&mut connection).unwrap());
}
