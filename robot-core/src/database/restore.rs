//! Insertion of rows with the ids that they have, and the last id, which new ids are greater than.

use diesel::{QueryResult, result::Error as DieselError};

use super::{
    dialect::Dialect,
    errors::{is_taken, taken, wrap},
    statements::{DIVISION, exists, last_id, taken_fields},
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
    if let Some(lock) = C::LOCK_IDS.filter(|_| raises_last) {
        connection.batch(lock).await?;
    }
    let mut parts: Vec<_> = restoration.robots().chunks(ROWS).rev().collect();
    while let Some(robots) = parts.pop() {
        connection.batch("SAVEPOINT before_rows").await?;
        match (connection.insert_robots(definition, robots).await, robots) {
            (Ok(()), _) => connection.batch("RELEASE SAVEPOINT before_rows").await?,
            (Err(error), _) if !is_taken(&error) => return Err(error),
            (Err(error), [robot]) => {
                return Err(conflict(connection, definition, robot, error).await?);
            }
            // Smaller parts find out which one.
            (Err(_), _) => {
                let rollback = "ROLLBACK TO SAVEPOINT before_rows";
                connection.batch(rollback).await?;
                parts.extend(robots.chunks(robots.len().div_ceil(DIVISION)).rev());
            }
        }
    }
    // Last, because a sequence keeps its new value if the transaction fails.
    if raises_last && last > last_id(connection).await? {
        connection.raise_last_id(last).await?;
    }
    Ok(())
}

/// The error of a row whose id or unique value is taken. If its id and its name are taken, it is that of the id: a server
/// may check either first, and the order changes when an index is created again.
async fn conflict<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    robot: &Robot,
    error: DieselError,
) -> QueryResult<DieselError> {
    let violation = taken(&error).ok_or(error)?;
    let rollback = "ROLLBACK TO SAVEPOINT before_rows";
    connection.batch(rollback).await?;
    let violation = if exists(connection, robot.id()).await? {
        Violation::ID_TAKEN
    } else {
        let value = |field: &_| robot.value_of(field);
        let taken = taken_fields(connection, definition, value, None).await?;
        let first = taken.first().map(|field| Violation::taken(field.name()));
        first.unwrap_or(violation)
    };
    Ok(wrap(Restoration::conflict(robot, violation)))
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
