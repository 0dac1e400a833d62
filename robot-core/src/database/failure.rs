//! What a failure of Diesel, the pool or a driver means to the catalogue.

use diesel::{
    r2d2::PoolError,
    result::{DatabaseErrorKind, Error as DieselError},
};

use crate::{error::Error, rules::Violation};

/// The failure of a statement.
pub(super) fn classify(error: DieselError) -> Error {
    match error {
        // The statements set no unique column but the name; ids are the database's.
        DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => {
            Violation::NameTaken.into()
        }
        error if is_passing(&error) => Error::Unavailable(error.into()),
        error => Error::Store(error.into()),
    }
}

/// No connection came free, or none could be made, in time.
pub(super) fn no_connection(error: PoolError) -> Error {
    Error::Unavailable(error.into())
}

/// Whether trying again may help. SQLite's result codes reach us as their words alone
/// (`SQLITE_BUSY`, `SQLITE_LOCKED`).
pub(super) fn is_passing(error: &DieselError) -> bool {
    matches!(
        error,
        DieselError::DatabaseError(_, information)
            if matches!(information.message(), "database is locked" | "database table is locked")
    )
}
