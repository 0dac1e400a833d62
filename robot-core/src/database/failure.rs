//! What a failure of Diesel, the pool or a driver means to the catalogue.

use diesel::{
    r2d2::PoolError,
    result::{DatabaseErrorKind, Error as DieselError},
};

use crate::{error::Error, rules::Violation};

/// The failure of a statement.
pub(super) fn classify(error: DieselError) -> Error {
    match error {
        error if taken(&error) == Some(Violation::NameTaken) => Violation::NameTaken.into(),
        DieselError::QueryBuilderError(cause) if cause.is::<Error>() => {
            cause.downcast().map_or_else(Error::store, |error| *error)
        }
        error if is_passing(&error) || is_out_of_room(&error) => Error::unavailable(error),
        error => Error::store(error),
    }
}

/// The failure of a commit in SQLite. Nobody knows whether it reached the log, unless there was no
/// room for it: then its end is missing there, and with it all of it.
#[cfg(feature = "sqlite")]
pub(super) fn commit_failure(error: DieselError) -> Error {
    if is_out_of_room(&error) {
        Error::unavailable(error)
    } else {
        Error::unknown(error)
    }
}

/// Whether SQLite found no room on the disk (`SQLITE_FULL`).
fn is_out_of_room(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(_, information) => {
            information.message() == "database or disk is full"
        }
        _ => false,
    }
}

/// What it was that is there already: the name or, where it was not given by the database, the id.
pub(super) fn taken(error: &DieselError) -> Option<Violation> {
    /// The constraints, and the words in which SQLite, MariaDB and MySQL tell of them.
    const OF_THE_ID: [&str; 4] = [
        "robots_pkey",
        "UNIQUE constraint failed: robots.id",
        " for key 'PRIMARY'",
        " for key 'robots.PRIMARY'",
    ];
    const OF_THE_NAME: [&str; 4] = [
        "robots_name",
        "UNIQUE constraint failed: robots.name",
        " for key 'robots_name'",
        " for key 'robots.robots_name'",
    ];
    let DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, information) = error else {
        return None;
    };
    let is_one_of = |[constraint, sqlite, mariadb, mysql]: [&str; 4]| {
        let words = information.message();
        match information.constraint_name() {
            Some(name) => name == constraint,
            None => words == sqlite || words.ends_with(mariadb) || words.ends_with(mysql),
        }
    };
    if is_one_of(OF_THE_NAME) {
        Some(Violation::NameTaken)
    } else {
        is_one_of(OF_THE_ID).then_some(Violation::IdTaken)
    }
}

/// Makes the failure of what followed a change into one of which nobody knows whether the
/// change was made.
#[cfg(feature = "mysql")]
pub(super) fn outcome_unknown(error: DieselError) -> DieselError {
    DieselError::QueryBuilderError(Box::new(Error::unknown(error)))
}

/// No connection came free, or none could be made, in time.
pub(super) fn no_connection(error: PoolError) -> Error {
    Error::unavailable(error)
}

/// Whether trying again may help: somebody else is in the way. Most of the codes that say so
/// reach us as words alone, and a failure to set up a connection within another error.
pub(super) fn is_passing(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| {
        let is_passing_kind = cause.downcast_ref().is_some_and(|error| {
            matches!(
                error,
                DieselError::DatabaseError(
                    DatabaseErrorKind::SerializationFailure
                        | DatabaseErrorKind::ReadOnlyTransaction
                        | DatabaseErrorKind::ClosedConnection,
                    _
                )
            )
        });
        let words = cause.to_string();
        is_passing_kind || PASSING.iter().any(|part| words.contains(part))
    })
}

/// Whether the server takes no writes, and another one may: roles change in a fail-over.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn is_read_only(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _) => true,
        // Other kinds repeat what a client wrote: MariaDB shows the name that is taken.
        DieselError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            information.message().contains("read-only option")
        }
        _ => false,
    }
}

/// What we say when another process has been at the tables for too long.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) const LOCKED: &str = "another process is bringing the tables up to date";

/// What databases say when another caller, or their own state, is in the way.
const PASSING: &[&str] = &[
    // SQLite: SQLITE_BUSY, SQLITE_LOCKED.
    "database is locked",
    "database table is locked",
    // PostgreSQL: 40P01, 55P03, 57014.
    "deadlock detected",
    "canceling statement due to lock timeout",
    "canceling statement due to statement timeout",
    // MariaDB and MySQL: 1205, 1020, 1047, 1969 and 3024, 1290.
    "Lock wait timeout exceeded",
    "Record has changed since last read",
    "WSREP has not yet prepared node",
    "maximum statement execution time exceeded",
    "max_statement_time exceeded",
    "read-only option",
    // Ourselves.
    "another process is bringing the tables up to date",
];

#[cfg(all(test, any(feature = "postgres", feature = "mysql")))]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_reads_like_a_failure_is_none() {
        let told = |kind, words: String| DieselError::DatabaseError(kind, Box::new(words));
        for name in PASSING {
            let words = format!("Duplicate entry '{name}' for key 'robots_name'");
            let taken = told(DatabaseErrorKind::UniqueViolation, words);
            assert!(!is_read_only(&taken), "{name}");
            assert!(matches!(classify(taken), Error::Rejected(_)), "{name}");
        }
        let words = "The server is running with the --read-only option so it cannot execute this";
        assert!(is_read_only(&told(
            DatabaseErrorKind::Unknown,
            words.to_owned()
        )));
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests_of_sqlite {
    use diesel::{Connection, SqliteConnection, connection::SimpleConnection};

    use super::*;

    /// Not every statement leaves it to the commit to find out.
    #[test]
    fn a_statement_without_room_may_be_tried_again() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        connection
            .batch_execute("CREATE TABLE texts (text TEXT); PRAGMA max_page_count = 3")
            .unwrap();
        let full = connection
            .batch_execute("INSERT INTO texts VALUES (zeroblob(1000000))")
            .unwrap_err();
        assert!(matches!(classify(full), Error::Unavailable(_)));
    }
}
