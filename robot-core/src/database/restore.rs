//! Insertion of rows with the ids that they have, and the last id, which new ids are greater than.

use diesel::{
    QueryResult,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::{
    errors::{taken, wrap},
    statements::Dialect,
};
use crate::{
    catalogue::Restoration,
    model::{Robot, RobotId},
};

/// Rows per statement. SQLite allows 32,766 values in a statement, so up to 32 per row.
const ROWS: usize = 1000;

/// Restores robots, in a transaction that the caller begins and ends.
pub(super) fn restore<C: Dialect>(
    connection: &mut C,
    restoration: &Restoration,
) -> QueryResult<()> {
    let last = restoration.last_id().map_or(0, RobotId::get);
    let raises_last = last > connection.last_id()?;
    if raises_last {
        connection.lock_ids()?;
    }
    for robots in restoration.robots().chunks(ROWS) {
        insert(connection, robots)?;
    }
    // Last, because a sequence keeps its new value if the transaction fails.
    if raises_last && last > connection.last_id()? {
        connection.raise_last_id(last)?;
    }
    Ok(())
}

/// Inserts rows by one statement. If an id or a name is taken, retries row by row to find which.
fn insert<C: Dialect>(connection: &mut C, robots: &[Robot]) -> QueryResult<()> {
    connection.batch_execute("SAVEPOINT before_rows")?;
    match connection.insert_robots(robots) {
        Ok(()) => {}
        Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            connection.batch_execute("ROLLBACK TO SAVEPOINT before_rows")?;
            for robot in robots {
                let inserted = connection.insert_robots(std::slice::from_ref(robot));
                inserted.map_err(|error| match taken(&error) {
                    Some(violation) => wrap(Restoration::conflict(robot, violation)),
                    None => error,
                })?;
            }
        }
        Err(error) => return Err(error),
    }
    connection.batch_execute("RELEASE SAVEPOINT before_rows")
}
