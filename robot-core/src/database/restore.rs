//! Insertion of rows with the ids that they have, and the last id, which new ids are greater than.

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::{
    dialect::Dialect,
    errors::{taken, wrap},
    statements::{exists, last_id, taken_fields},
};
use crate::{
    catalogue::Restoration,
    model::{Definition, Robot, RobotId, Violation},
};

/// Rows per statement. SQLite allows 32,766 values in a statement, so up to 32 per row.
const ROWS: usize = 1000;

/// Restores robots, in a transaction that the caller begins and ends.
pub(super) async fn restore<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    restoration: &Restoration,
) -> QueryResult<()> {
    let last = restoration.last_id().map_or(0, RobotId::get);
    let raises_last = last > last_id(connection).await?;
    if raises_last {
        connection.lock_ids().await?;
    }
    for robots in restoration.robots().chunks(ROWS) {
        insert(connection, definition, robots).await?;
    }
    // Last, because a sequence keeps its new value if the transaction fails.
    if raises_last && last > last_id(connection).await? {
        connection.raise_last_id(last).await?;
    }
    Ok(())
}

/// Inserts rows by one statement. If an id or a name is taken, retries row by row to find which.
async fn insert<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    robots: &[Robot],
) -> QueryResult<()> {
    connection.batch("SAVEPOINT before_rows").await?;
    match connection.insert_robots(definition, robots).await {
        Ok(()) => {}
        Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            connection
                .batch("ROLLBACK TO SAVEPOINT before_rows")
                .await?;
            for robot in robots {
                insert_one(connection, definition, robot).await?;
            }
        }
        Err(error) => return Err(error),
    }
    connection.batch("RELEASE SAVEPOINT before_rows").await
}

/// Inserts a row. If its id and its name are taken, the error is that of the id: a server may check either
/// first, and the order changes when an index is created again.
async fn insert_one<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    robot: &Robot,
) -> QueryResult<()> {
    connection.batch("SAVEPOINT before_row").await?;
    let inserted = connection.insert_robots(definition, std::slice::from_ref(robot));
    if let Err(error) = inserted.await {
        let violation = taken(&error).ok_or(error)?;
        connection.batch("ROLLBACK TO SAVEPOINT before_row").await?;
        let violation = if exists(connection, robot.id()).await? {
            Violation::ID_TAKEN
        } else {
            let value = |field| robot.value_of(field);
            let taken = taken_fields(connection, definition, value, None).await?;
            let first = taken.first().map(|field| Violation::taken(field.name()));
            first.unwrap_or(violation)
        };
        return Err(wrap(Restoration::conflict(robot, violation)));
    }
    connection.batch("RELEASE SAVEPOINT before_row").await
}

#[cfg(test)]
#[cfg(all(feature = "conformance", feature = "postgres"))]
mod tests {
    use diesel::{Connection, connection::SimpleConnection};

    use crate::{
        Catalogue, CatalogueExt, Draft, Error, Restoration,
        conformance::{PostgresConnection, scratch_database},
        model::Violation,
    };

    /// PostgreSQL checks the newest index last. A backup creates the index of the ids again.
    #[test]
    fn taken_id_precedes_the_name_after_its_index_was_created_again() {
        let url = scratch_database("TEST_POSTGRES_URL");
        let catalogue = crate::open(&url).unwrap();
        let robot = catalogue.add(Draft::new("R2-D2", "droid", 1977)).unwrap();
        let id = robot.id();
        let mut connection = PostgresConnection::establish(&url).unwrap();
        for statements in [
            "SET default_transaction_read_only = off",
            "ALTER TABLE robots DROP CONSTRAINT robots_pkey;
             ALTER TABLE robots ADD CONSTRAINT robots_pkey PRIMARY KEY (id)",
        ] {
            connection.batch_execute(statements).unwrap();
        }
        let restoration = Restoration::new(vec![robot], None).unwrap();
        let result = catalogue.restore(&restoration);
        assert!(
            matches!(&result, Err(Error::NotRestored { id: found, violation })
                if (*found, violation) == (id, &Violation::ID_TAKEN)),
            "{result:?}"
        );
    }
}
