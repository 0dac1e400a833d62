//! What a failure of Diesel, the pool or a driver means to the catalogue.

use diesel::{
    r2d2::PoolError,
    result::{DatabaseErrorKind, Error as DieselError},
};

use crate::{error::Error, rules::Violation};

/// The failure of a statement.
pub(super) fn classify(error: DieselError) -> Error {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, information)
            if information.message() == "UNIQUE constraint failed: robots.name" =>
        {
            Violation::NameTaken.into()
        }
        error if is_passing(&error) => Error::unavailable(error),
        error => Error::store(error),
    }
}

/// No connection came free, or none could be made, in time.
pub(super) fn no_connection(error: PoolError) -> Error {
    Error::unavailable(error)
}

/// Whether trying again may help: another process has a lock. SQLite's result codes
/// (`SQLITE_BUSY`, `SQLITE_LOCKED`) reach us as their words alone, and a failure to set up a
/// connection within another error.
pub(super) fn is_passing(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| {
        matches!(
            cause.to_string().as_str(),
            "database is locked" | "database table is locked"
        )
    })
}
