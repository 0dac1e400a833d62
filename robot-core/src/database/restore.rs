//! Rows that are inserted with the ids that they have, and the number that new ids go on from.
//!
//! Where a statement cannot tell which of its rows is to blame, it is taken back, and each row gets
//! a statement of its own.

#[cfg(feature = "mysql")]
use std::hash::{BuildHasher, RandomState};

#[cfg(feature = "postgres")]
use diesel::sql_types::{Array, Text};
use diesel::{
    connection::SimpleConnection,
    dsl::sql,
    prelude::*,
    result::{DatabaseErrorKind, Error as DieselError},
    sql_types::BigInt,
};

#[cfg(any(feature = "sqlite", feature = "mysql"))]
use super::schema::{KeptRow, robots};
use super::{connection::AnyConnection, failure::taken};
use crate::{
    restoration::{Restoration, refused},
    robot::Robot,
};

/// How many rows a statement inserts. Each has four values, of which SQLite takes 32,766.
const ROWS: usize = 1000;

/// Where PostgreSQL has the ids from.
#[cfg(feature = "postgres")]
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

/// Restores robots, in a transaction that the caller has begun and ends.
pub(super) fn restore(
    connection: &mut AnyConnection,
    restoration: &Restoration,
) -> QueryResult<()> {
    let last = restoration.last_number();
    let moves_the_last = last > last_number(connection)?;
    #[cfg(feature = "postgres")]
    if let AnyConnection::Postgres(connection) = connection
        && moves_the_last
    {
        // Nobody else inserts from here on, and so nobody takes a number of the sequence between
        // the look at it and its change. Whoever held a lesser lock first could be in the way of
        // another who does the same.
        connection.batch_execute("LOCK TABLE robots IN SHARE ROW EXCLUSIVE MODE")?;
    }
    for robots in restoration.robots().chunks(ROWS) {
        insert_or_blame(connection, robots)?;
    }
    // Not before, for a sequence keeps what it is set to when the transaction fails.
    if moves_the_last && last > last_number(connection)? {
        go_on_from(connection, last)?;
    }
    Ok(())
}

/// The greatest number of which the database knows that it was an id; 0 where there is none.
pub(super) fn last_number(connection: &mut AnyConnection) -> QueryResult<i64> {
    match connection {
        #[cfg(feature = "sqlite")]
        AnyConnection::Sqlite(connection) => {
            sql::<BigInt>("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'robots'")
                .get_result(connection)
        }
        #[cfg(feature = "postgres")]
        AnyConnection::Postgres(connection) => {
            let query = format!("SELECT coalesce(pg_sequence_last_value({SEQUENCE}), 0)");
            sql::<BigInt>(&query).get_result(connection)
        }
        #[cfg(feature = "mysql")]
        AnyConnection::Mysql(connection) => sql::<BigInt>(
            "SELECT CAST(auto_increment AS SIGNED) - 1 FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'robots'",
        )
        .get_result(connection),
    }
}

/// Sees to it that new ids are greater than this number, which is greater than the last one.
fn go_on_from(connection: &mut AnyConnection, number: i64) -> QueryResult<()> {
    match connection {
        #[cfg(feature = "sqlite")]
        AnyConnection::Sqlite(connection) => {
            // The row is there from the first robot on.
            diesel::sql_query("DELETE FROM sqlite_sequence WHERE name = 'robots'")
                .execute(connection)?;
            diesel::sql_query("INSERT INTO sqlite_sequence (name, seq) VALUES ('robots', ?)")
                .bind::<BigInt, _>(number)
                .execute(connection)
                .map(drop)
        }
        #[cfg(feature = "postgres")]
        AnyConnection::Postgres(connection) => {
            diesel::sql_query(format!("SELECT setval({SEQUENCE}, $1)"))
                .bind::<BigInt, _>(number)
                .execute(connection)
                .map(drop)
        }
        // To set the number would end the transaction, and could take it back to a lesser one. A
        // row that comes and goes unseen can only raise it.
        #[cfg(feature = "mysql")]
        AnyConnection::Mysql(connection) => {
            let random = RandomState::new().hash_one(number);
            let name = format!("\u{10ffff}{random:016x}");
            let row = KeptRow::passing(number, &name);
            diesel::insert_into(robots::table)
                .values(row)
                .execute(connection)?;
            diesel::delete(robots::table.find(number))
                .execute(connection)
                .map(drop)
        }
    }
}

/// Inserts rows, by one statement where none of them is taken.
fn insert_or_blame(connection: &mut AnyConnection, robots: &[Robot]) -> QueryResult<()> {
    connection.batch_execute("SAVEPOINT before_rows")?;
    match insert(connection, robots) {
        Ok(()) => {}
        Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
            connection.batch_execute("ROLLBACK TO SAVEPOINT before_rows")?;
            for robot in robots {
                insert(connection, std::slice::from_ref(robot)).map_err(|error| {
                    match taken(&error) {
                        Some(violation) => {
                            DieselError::QueryBuilderError(Box::new(refused(robot, violation)))
                        }
                        None => error,
                    }
                })?;
            }
        }
        Err(error) => return Err(error),
    }
    connection.batch_execute("RELEASE SAVEPOINT before_rows")
}

/// Inserts rows by one statement.
fn insert(connection: &mut AnyConnection, robots: &[Robot]) -> QueryResult<()> {
    match connection {
        #[cfg(feature = "sqlite")]
        AnyConnection::Sqlite(connection) => {
            let rows: Vec<_> = robots.iter().map(KeptRow::from).collect();
            let insert = diesel::insert_into(robots::table).values(rows);
            insert.execute(connection)?;
        }
        #[cfg(feature = "postgres")]
        AnyConnection::Postgres(connection) => {
            insert_into_postgres(connection, robots)?;
        }
        #[cfg(feature = "mysql")]
        AnyConnection::Mysql(connection) => {
            let rows: Vec<_> = robots.iter().map(KeptRow::from).collect();
            let insert = diesel::insert_into(robots::table).values(rows);
            insert.execute(connection)?;
        }
    }
    Ok(())
}

/// Diesel has no word for what PostgreSQL wants to hear before it takes an id.
#[cfg(feature = "postgres")]
fn insert_into_postgres(
    connection: &mut diesel::PgConnection,
    robots: &[Robot],
) -> QueryResult<usize> {
    let numbers: Vec<_> = robots.iter().map(|robot| robot.id().get()).collect();
    let names: Vec<_> = robots.iter().map(Robot::name).collect();
    let types: Vec<_> = robots
        .iter()
        .map(|robot| robot.robot_type().as_str())
        .collect();
    let years: Vec<_> = robots.iter().map(Robot::year).collect();
    diesel::sql_query(
        "INSERT INTO robots (id, name, type, year) OVERRIDING SYSTEM VALUE
         SELECT * FROM unnest($1, $2, $3, $4)",
    )
    .bind::<Array<BigInt>, _>(numbers)
    .bind::<Array<Text>, _>(names)
    .bind::<Array<Text>, _>(types)
    .bind::<Array<BigInt>, _>(years)
    .execute(connection)
}
