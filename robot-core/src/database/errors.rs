//! Meaning of Diesel's errors, as far as it is the same for every backend.

use diesel::result::{DatabaseErrorKind, Error as DieselError};

use crate::{catalogue::Error, model::Violation};

/// The prefixes of the names of unique indexes of own fields.
pub(super) const UNIQUE: &str = "robots_unique_";
pub(super) const INDEX: &str = "robots_index_";

/// The prefix of the names of columns with the values of an index.
pub(super) const VALUES: &str = "robots_value_";

/// Whether a name is that of the index of an own field, or of its column.
pub(super) fn is_of_index(name: &str) -> bool {
    [UNIQUE, INDEX, VALUES]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Whether a statement violated a unique constraint.
pub(super) fn is_taken(error: &DieselError) -> bool {
    matches!(
        error,
        DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)
    )
}

/// The unique constraint that a statement violated: that of the name, the id, or an own field.
pub(super) fn taken(error: &DieselError) -> Option<Violation> {
    let DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, information) = error else {
        return None;
    };
    // PostgreSQL names the constraint. The messages of MariaDB and MySQL end with its name in quotation marks, those of
    // MySQL as in `robots.PRIMARY`. SQLite names the column, or the index of an expression.
    let message = information.message();
    let name = information.constraint_name();
    let name = name.or_else(|| message.rsplit('\'').nth(1));
    let name = name.unwrap_or(message);
    match name.strip_prefix("robots.").unwrap_or(name) {
        "robots_name" | "UNIQUE constraint failed: robots.name" => Some(Violation::NAME_TAKEN),
        "robots_pkey" | "PRIMARY" | "UNIQUE constraint failed: robots.id" => {
            Some(Violation::ID_TAKEN)
        }
        name => {
            let (_, field) = name.strip_prefix(UNIQUE)?.split_once('_')?;
            Some(Violation::taken(field))
        }
    }
}

/// Whether a statement was for another definition than that of the database.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn is_stale_definition(error: &DieselError) -> bool {
    matches!(wrapped(error), Some(Error::DefinitionStale))
}

/// The catalogue's own error in one of Diesel.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) fn wrapped(error: &DieselError) -> Option<&Error> {
    match error {
        DieselError::QueryBuilderError(cause) => cause.downcast_ref(),
        _ => None,
    }
}

/// A catalogue error that a statement of several steps ended with, as an error of Diesel.
pub(super) fn wrap(error: Error) -> DieselError {
    DieselError::QueryBuilderError(Box::new(error))
}

/// The catalogue error of a failed statement. `is_transient` identifies retryable errors, and
/// `is_disk_full` a full disk.
pub(super) fn classify(
    error: DieselError,
    is_transient: fn(&DieselError) -> bool,
    is_disk_full: fn(&DieselError) -> bool,
) -> Error {
    match error {
        error if is_taken(&error) => match taken(&error) {
            Some(violation) if violation != Violation::ID_TAKEN => violation.into(),
            _ => Error::store(error),
        },
        DieselError::QueryBuilderError(cause) if cause.is::<Error>() => {
            cause.downcast().map_or_else(Error::store, |error| *error)
        }
        error if is_disk_full(&error) => Error::disk_full(error),
        error if is_transient(&error) => Error::unavailable(error),
        error => Error::store(error),
    }
}
