//! Meaning of the errors of database servers.

use diesel::{
    ConnectionError,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::connect_error::{ConnectError, ConnectFailure};
use crate::{
    catalogue::Error,
    database::errors::{self, has_message},
};

/// The message when another process migrates the tables for too long.
pub(super) const MIGRATING: &str = "another process is migrating the tables";

/// Messages of retryable errors other than conflicts: waits that were too long, and role changes.
const TRANSIENT: &[&str] = &[
    // PostgreSQL: 55P03, 57014.
    "canceling statement due to lock timeout",
    "canceling statement due to statement timeout",
    // MariaDB and MySQL: 1205, 1047, 1969 and 3024, 1290.
    "Lock wait timeout exceeded",
    "WSREP has not yet prepared node",
    "maximum statement execution time exceeded",
    "max_statement_time exceeded",
    "read-only option",
    MIGRATING,
];

/// Messages of conflicts with other transactions: PostgreSQL's 40P01, MariaDB's and MySQL's 1020 and, at a commit, 1213.
const CONFLICTS: &[&str] = &[
    "deadlock detected",
    "Record has changed since last read",
    "Deadlock found when trying to get lock",
];

/// Parts of the messages about a full disk, or a quota that is reached: PostgreSQL's 53100, and
/// MariaDB's and MySQL's 1021, 1026, 1030 and 3.
const FULL: &[&str] = &[
    "No space left on device",
    "Disk quota exceeded",
    "Disk full (",
    // Whatever the language of the system: ENOSPC and EDQUOT on Linux.
    "Got error 28 ",
    "errno: 28 ",
    "errno: 122 ",
];

/// During the set-up of a connection, an error that a retry does not resolve means that the server must be
/// configured in another way.
impl From<DieselError> for ConnectError {
    fn from(error: DieselError) -> Self {
        if is_transient(&error) {
            Self(ConnectFailure::Unreachable, error.to_string())
        } else {
            Self(ConnectFailure::Refused, error.to_string())
        }
    }
}

impl From<ConnectionError> for ConnectError {
    fn from(error: ConnectionError) -> Self {
        Self(ConnectFailure::Unreachable, error.to_string())
    }
}

/// The error of a statement.
pub(super) fn classify(error: DieselError) -> Error {
    errors::classify(error, |error| is_transient(error), is_disk_full)
}

/// The message of an error without a kind. Those of other kinds may quote a name: MariaDB quotes the one
/// that is taken.
fn message_without_name(error: &DieselError) -> Option<&str> {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            Some(information.message())
        }
        _ => None,
    }
}

/// Whether the server's disk is full.
fn is_disk_full(error: &DieselError) -> bool {
    let Some(message) = message_without_name(error) else {
        return false;
    };
    // MariaDB and MySQL: 1114.
    let is_table_full = message.starts_with("The table '") && message.ends_with("' is full");
    is_table_full || FULL.iter().any(|part| message.contains(part))
}

/// Whether a retry may succeed.
pub(super) fn is_transient(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_transient_kind = |cause: &(dyn std::error::Error + 'static)| {
        matches!(
            cause.downcast_ref(),
            Some(DieselError::DatabaseError(
                DatabaseErrorKind::SerializationFailure
                    | DatabaseErrorKind::ReadOnlyTransaction
                    | DatabaseErrorKind::ClosedConnection,
                _
            ))
        )
    };
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(is_transient_kind) || has_message(error, TRANSIENT) || has_message(error, CONFLICTS)
}

/// Whether the server rejects writes, and another one may accept them: roles change in a failover.
pub(super) fn is_read_only(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _) => true,
        error => {
            message_without_name(error).is_some_and(|message| message.contains("read-only option"))
        }
    }
}

/// Whether the transaction conflicted with another one and may succeed if it is repeated: a deadlock, or
/// a commit that a cluster rejected.
pub(super) fn is_conflict(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        error => message_without_name(error)
            .is_some_and(|message| CONFLICTS.iter().any(|part| message.contains(part))),
    }
}

/// Whether the server has processed a statement that failed, and so has changed nothing. Otherwise it has changed
/// nothing if the connection still works, unless [`is_unknown`].
pub(super) fn is_processed(error: &DieselError) -> bool {
    matches!(
        error,
        // An error of the catalogue.
        DieselError::QueryBuilderError(_)
            | DieselError::DatabaseError(
                DatabaseErrorKind::UniqueViolation
                    | DatabaseErrorKind::CheckViolation
                    | DatabaseErrorKind::NotNullViolation,
                _
            )
    )
}

/// Whether a statement that failed may have taken effect.
pub(super) fn is_unknown(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::ClosedConnection, _) => true,
        // MariaDB's 1180 and 1317: a cluster may have split during a commit.
        error => message_without_name(error).is_some_and(|message| {
            message.contains("during COMMIT") || message == "Query execution was interrupted"
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_key_error_quoting_a_message_is_not_transient() {
        let error = |kind, message: String| DieselError::DatabaseError(kind, Box::new(message));
        for name in TRANSIENT.iter().chain(CONFLICTS) {
            let message = format!("Duplicate entry '{name}' for key 'robots_name'");
            let taken = error(DatabaseErrorKind::UniqueViolation, message);
            assert!(!is_read_only(&taken), "{name}");
            assert!(matches!(classify(taken), Error::Rejected(_)), "{name}");
        }
        for name in FULL.iter().chain(&["The table 'robots' is full"]) {
            let message = format!("{name}' for key 'robots_name'");
            let taken = error(DatabaseErrorKind::UniqueViolation, message);
            assert!(matches!(classify(taken), Error::Rejected(_)), "{name}");
        }
        let message = "The server is running with the --read-only option so it cannot execute this";
        assert!(is_read_only(&error(
            DatabaseErrorKind::Unknown,
            message.to_owned()
        )));
    }

    #[test]
    fn full_disk_is_recognised_by_its_message() {
        for message in [
            "could not extend file \"base/16384/16397\": No space left on device",
            "could not write to file \"base/pgsql_tmp/1\": Disk quota exceeded",
            "Disk full (/tmp/#sql-1); waiting for someone to free some space... (errno: 28)",
            "Error writing file '/tmp/x' (errno: 28 \"No space left on device\")",
            "Got error 28 \"No space left on device\" from storage engine InnoDB",
            "The table 'robots' is full",
        ] {
            let information = Box::new(message.to_owned());
            let error = DieselError::DatabaseError(DatabaseErrorKind::Unknown, information);
            assert!(matches!(classify(error), Error::DiskFull(_)), "{message}");
        }
    }
}
